package gen

import "github.com/tidemark/tidemark/traces"

// transaction makes the operations of one transaction.
func (g *generator) transaction(c card, s start) {
	h := &g.hosts[s.host]
	switch c.kind {
	case getAttr:
		g.emit(h, s.at, traces.Attr, traces.Read, g.looked(h, s.at).fid, 0, 0)
	case readDir:
		at := g.r.below(2)
		g.emit(h, s.at, traces.Dir, traces.Read, g.directory(h, g.r.below(2)), at*dirBytes, dirBytes)
	case readOpen:
		g.reading(h, s.at, int64(c.blocks))
	case setAttr:
		g.emit(h, s.at, traces.Attr, traces.Write, g.home(h).fid, 0, 0)
	case writeDir:
		g.emit(h, s.at, traces.Dir, traces.Write, g.directory(h, g.r.below(2)), 0, dirBytes/2)
	case remove:
		g.removing(h, s.at)
	case writeOpen:
		g.writing(h, s.at, int64(c.blocks))
	}
}

// reading is an open that moves blocks, or none.
func (g *generator) reading(h *host, at, blocks int64) {
	if blocks == 0 {
		f := g.fitting(h, at, 1, func() file { return g.looked(h, at) })
		g.emit(h, at, traces.Open, traces.Read, f.fid, f.size(), 0)
		g.close(h, at, at+1+g.r.exponential(meanGlance), f, traces.Read)
		return
	}
	each := g.transfer()
	f := g.read(h, at, blocks*each)
	g.emit(h, at, traces.Open, traces.Read, f.fid, f.size(), 0)
	last := g.blocks(h, at, f, blocks, each, blocks)
	g.close(h, at, last+g.r.octaves(leastHold, readDoublings), f, traces.Read)
}

// writing is an open that writes blocks.
func (g *generator) writing(h *host, at, blocks int64) {
	each := g.transfer()
	f, group := g.overwritten(h, at, blocks*each)
	f.blocks = max(f.blocks, blocks*each)
	reads := int64(0)
	if blocks > 1 && g.r.chance(editShare) {
		reads = 1
	}
	g.emit(h, at, traces.Open, traces.Write, f.fid, f.size(), 0)
	last := g.blocks(h, at, f, blocks, each, reads)
	g.close(h, at, last+g.r.octaves(leastHold, writeDoublings), f, traces.Write)
	if group >= 0 {
		g.groups[group] = h.number
	} else {
		h.writes(f, last)
	}
}

// removing deletes a file that the host wrote, or one that is older than the
// trace.
func (g *generator) removing(h *host, at int64) {
	f := g.unused(h, 1)
	if n := int64(len(h.wrote)); n > 0 {
		if w := h.wrote[g.r.below(n)]; !h.isOpen(w.fid, at) {
			f = w.file
			h.forget(f.fid)
		}
	}
	g.emit(h, at, traces.Delete, traces.Write, f.fid, 0, 0)
}

// transfer is how many blocks each transfer of an open moves.
func (g *generator) transfer() int64 {
	if g.r.chance(doubleShare) {
		return 2
	}
	return 1
}

// blocks moves a run of a file from its beginning, in so many transfers of
// each blocks, of which the first are reads, and returns the time of the last.
func (g *generator) blocks(h *host, at int64, f file, transfers, each, reads int64) int64 {
	for i := range transfers {
		at += 1 + g.r.exponential(meanTransfer)
		action := traces.Write
		if i < reads {
			action = traces.Read
		}
		off := i * each * blockBytes
		g.emit(h, at, traces.Block, action, f.fid, off, min(each*blockBytes, f.size()-off))
	}
	return at
}

func (g *generator) close(h *host, from, at int64, f file, action traces.Action) {
	at = g.emit(h, at, traces.Close, action, f.fid, f.size(), 0)
	h.opens(f.fid, from, at+answer)
}
