package gen

// tries is how often a file is chosen again because it does not fit.
const tries = 4

// fitting chooses files until there is one that has so many blocks and that
// the host does not have open, or takes one that is unused.
func (g *generator) fitting(host *host, at, blocks int64, choose func() file) file {
	for range tries {
		if f := choose(); f.blocks >= blocks && !host.isOpen(f.fid, at) {
			return f
		}
	}
	return g.unused(host, blocks)
}

// looked chooses a file that a host looks at. One that the host wrote is
// there only when the open that wrote it has ended.
func (g *generator) looked(host *host, at int64) file {
	switch {
	case g.r.chance(g.sharing):
		if g.r.chance(commonShare) {
			return g.common()
		}
		return g.groupFile(g.inGroup(host))
	case len(host.wrote) > 0 && g.r.chance(writtenBy):
		if f := host.wrote[g.r.below(int64(len(host.wrote)))].file; !host.isOpen(f.fid, at) {
			return f
		}
	}
	return g.home(host)
}

// read chooses a file of which a host reads so many blocks.
func (g *generator) read(host *host, at, blocks int64) file {
	if g.r.chance(firstShare) {
		return g.unused(host, blocks)
	}
	return g.fitting(host, at, blocks, func() file { return g.looked(host, at) })
}

// overwritten chooses a file for a host to write. Of a group's file it returns
// the number, else -1.
func (g *generator) overwritten(host *host, at, blocks int64) (f file, group int64) {
	pick := func(from []written) (file, bool) {
		if len(from) == 0 {
			return file{}, false
		}
		f := from[g.r.below(int64(len(from)))].file
		return f, !host.isOpen(f.fid, at)
	}
	if g.r.chance(foreignShare) {
		for range tries {
			i := g.inGroup(host)
			last, known := g.groups[i]
			f := g.groupFile(i)
			if known && last != host.number && f.blocks >= blocks && !host.isOpen(f.fid, at) {
				return f, i
			}
		}
	}
	quick := host.since(at)
	if g.r.chance(quickShare) {
		if f, ok := pick(host.wrote[quick:]); ok {
			return f, -1
		}
	}
	if g.r.chance(againShare) {
		if f, ok := pick(host.wrote[:quick]); ok {
			return f, -1
		}
	}
	if g.r.chance(g.sharing) {
		i := g.inGroup(host)
		if f := g.groupFile(i); f.blocks >= blocks && !host.isOpen(f.fid, at) {
			if last, known := g.groups[i]; !known || last == host.number {
				return f, i
			}
		}
	}
	return g.unused(host, blocks), -1
}
