package server

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// values keeps the data of versions. Data is immutable; whoever gets it must
// not change it. The owner alone puts and drops.
type values interface {
	// put carries out a Put. If the base of ranges did not come with it, as in
	// recovery, it reads that from disk, and fails if the disk does. Of a base
	// that is damaged it makes a version that is.
	put(core.Put) error
	drop(core.Ref)
	// get returns the data of a version if it is in memory.
	get(core.Ref) (data []byte, inMemory bool)
	// read returns the data of a version, from disk if need be. Any goroutine
	// may call it; the owner should not.
	read(core.Ref) ([]byte, error)
}

// memoryValues keeps everything in memory; core.Config.MemoryBytes bounds it.
type memoryValues map[core.Ref][]byte

func (m memoryValues) put(p core.Put) error {
	m[p.Ref()] = p.Value(func(r core.Ref) []byte { return m[r] })
	return nil
}

func (m memoryValues) drop(r core.Ref)                 { delete(m, r) }
func (m memoryValues) get(r core.Ref) ([]byte, bool)   { return m[r], true }
func (m memoryValues) read(r core.Ref) ([]byte, error) { return m[r], nil }

// diskValues keeps them in a block store.
type diskValues struct {
	store  *blocks.Store
	logger *slog.Logger
}

func (d diskValues) put(p core.Put) error {
	var failed error
	data := p.Value(func(r core.Ref) []byte {
		data, err := d.store.Read(r.Block, r.From)
		if err != nil {
			failed = fmt.Errorf("reading block %d of timestamp %d, to change it: %w", r.Block, r.From, err)
		}
		return data
	})
	var damage *blocks.CorruptError
	switch {
	case failed == nil:
		d.store.Put(p.Block, p.From, data)
	case errors.As(failed, &damage):
		d.logger.Error("a change is lost", "block", p.Block, "timestamp", p.From, "error", failed)
		d.store.PutDamaged(p.Block, p.From, damage)
	default:
		return failed
	}
	return nil
}

func (d diskValues) drop(r core.Ref)                 { d.store.Drop(r.Block, r.From) }
func (d diskValues) get(r core.Ref) ([]byte, bool)   { return d.store.Get(r.Block, r.From) }
func (d diskValues) read(r core.Ref) ([]byte, error) { return d.store.Read(r.Block, r.From) }
