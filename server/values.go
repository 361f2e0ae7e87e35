package server

import "github.com/tidemark/tidemark/server/core"

// values keeps the data of versions. Data is immutable; whoever gets it must
// not change it. Only the owner calls it.
type values interface {
	// put carries out a Put: the data of its base, if it has one, is there.
	put(core.Put)
	drop(core.Ref)
	// get returns the data of a version, nil if it has none or was dropped.
	get(core.Ref) []byte
}

// memoryValues keeps everything in memory; core.Config.MemoryBytes bounds it.
type memoryValues map[core.Ref][]byte

func (m memoryValues) put(p core.Put)        { m[p.Ref()] = p.Value(m.get) }
func (m memoryValues) drop(r core.Ref)       { delete(m, r) }
func (m memoryValues) get(r core.Ref) []byte { return m[r] }
