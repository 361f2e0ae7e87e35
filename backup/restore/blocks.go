package restore

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
)

// ErrUsed: the disk holds a block store already.
var ErrUsed = errors.New("there is a block store already")

const (
	// dirtyBytes is the memory for data that waits to be written.
	dirtyBytes = 16 << 20
	// cacheBytes is the memory for data that has been written. Nobody reads
	// it, but there must be some.
	cacheBytes = 1 << 20
	// progressRecords is how many records are read between two reports.
	progressRecords = 1024
)

// Blocks makes a block store on an empty disk of what the backups say: one
// checkpoint, of a log with one entry. Sessions and pins are not
// restored. epoch is the one that the state has. Unless it returns nil there is
// no checkpoint, or one of everything.
func Blocks(ctx context.Context, d disk.Disk, epoch uint64, chain *backup.Chain, o Options) (Result, error) {
	h := chain.Header()
	s, loaded, err := blocks.Open(d, blocks.Options{
		Store: h.Store, BlockSize: h.BlockSize, CacheBytes: cacheBytes, DirtyBytes: dirtyBytes,
	})
	if err != nil {
		return Result{}, err
	}
	r := Result{Store: h.Store, At: h.At, Epoch: epoch}
	if loaded != nil {
		err = ErrUsed
	} else if err = putAll(ctx, s, chain, &r, o); err == nil {
		err = checkpoint(ctx, s, &record.State{Stable: h.At, Horizon: h.At, Epoch: epoch, Next: h.Next})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return Result{}, err
	}
	return r, nil
}

// putAll puts every record.
func putAll(ctx context.Context, s *blocks.Store, chain *backup.Chain, r *Result, o Options) error {
	for {
		record, err := chain.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.Put(record.Block, record.From, bytes.Clone(record.Data))
		r.Blocks++
		r.DataBytes += uint64(len(record.Data))
		for done := s.Dirty() <= dirtyBytes; !done; {
			if done, err = s.WriteBack(); err != nil {
				return err
			}
		}
		if r.Blocks%progressRecords != 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if o.Progress != nil {
			o.Progress(chain.FileBytes())
		}
	}
}

// checkpoint makes everything durable.
func checkpoint(ctx context.Context, s *blocks.Store, state *record.State) error {
	m := blocks.Moment{LogIndex: 1, Stable: state.Stable}
	if err := s.Begin(m, bytes.NewReader(record.AppendState(nil, state))); err != nil {
		return err
	}
	for {
		done, err := s.Step()
		if done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
