package infer

import "github.com/tidemark/tidemark/traces"

// tree is what a trace tells of names.
type tree struct {
	names map[entryName]named
	// found are the entries that must have been there at the start, in the
	// order in which they were met.
	found []Entry
	// misplaced counts what the trace says of places that cannot be.
	misplaced int64
}

// entryName is a name in a directory, whatever it names.
type entryName struct {
	dir  traces.FID
	name string
}

// named is what a name that was met stands for now: a file, or nothing.
type named struct {
	fid  traces.FID
	live bool
}

// place notes what an operation on f tells of names.
func (p *imagePass) place(f *past, op traces.Op) {
	from, to := entryName{op.Place.Dir, op.Place.Name}, entryName{op.Place.ToDir, op.Place.ToName}
	p.directory(from.dir)
	switch op.Type {
	case traces.Create, traces.Mkdir, traces.Symlink, traces.Link:
		p.enter(from, op.FID, f)
		return
	}
	p.see(from, op.FID, f)
	switch op.Type {
	case traces.Delete, traces.Rmdir:
		p.leave(from)
	case traces.Rename:
		p.directory(to.dir)
		if p.tree.names[to] != (named{op.FID, true}) { // else it does nothing
			p.leave(from)
			p.enter(to, op.FID, f)
		}
	}
}

// directory notes that a name in it shows a file to be a directory, which
// existed unless a Mkdir made it.
func (p *imagePass) directory(fid traces.FID) {
	d := p.file(fid)
	d.learnKind(traces.Dir)
	if d.fate == unknown {
		d.fate = existed
	}
}

// see notes that a file has a name. If the name was not met before and the
// trace did not make the file, both were there at the start; else the name was
// given without the trace telling. A name that stands for another file keeps
// to that.
func (p *imagePass) see(n entryName, fid traces.FID, f *past) {
	now, met := p.tree.names[n]
	switch {
	case met && now == named{fid, true}:
	case met || f.fate == created || p.files[n.dir].fate == created:
		p.tree.misplaced++
	default:
		f.fate = existed
		p.tree.found = append(p.tree.found, Entry{Dir: n.dir, Name: n.name, FID: fid})
		p.enter(n, fid, f)
	}
}

// enter gives a file a name, which another then loses.
func (p *imagePass) enter(n entryName, fid traces.FID, f *past) {
	if p.tree.names[n] == (named{fid, true}) {
		return
	}
	p.leave(n)
	p.tree.names[n] = named{fid, true}
	f.names++
	f.gone = false
}

// leave notes that a name stands for nothing. A file is gone with its last.
func (p *imagePass) leave(n entryName) {
	if now := p.tree.names[n]; now.live {
		old := p.files[now.fid]
		old.names--
		old.gone = old.names == 0
	}
	p.tree.names[n] = named{}
}
