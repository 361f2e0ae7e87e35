package infer

import "github.com/tidemark/tidemark/traces"

// imagePass finds what was there before a trace began.
type imagePass struct {
	blockSize int64
	files     map[traces.FID]*past
	blocks    map[blockKey]coverage // of files that existed
	tree      tree
}

// past is what is known of a file before the trace.
type past struct {
	fate  fate
	kind  traces.Type // Block or Dir once known
	gone  bool        // has been deleted: nothing more to learn
	names int         // the entries that it is known to have now
	size  int64
}

type fate uint8

const (
	unknown fate = iota // so far there were only Open lines
	existed
	assumed // made by a write to it, unless a name shows that it existed
	created
)

type blockKey struct {
	fid   traces.FID
	block int64
}

// coverage says of a block whether the image needs it, and if not, which
// bytes [from, to) were written before anything else was read.
type coverage struct {
	from, to int32
	needed   bool
}

// file returns what is known of a file.
func (p *imagePass) file(fid traces.FID) *past {
	f := p.files[fid]
	if f == nil {
		f = &past{}
		p.files[fid] = f
	}
	return f
}

// operation takes the next operation in order of time.
func (p *imagePass) operation(op traces.Op) {
	f := p.file(op.FID)
	if f.fate == unknown || f.fate == assumed && fateOf(op) == created {
		f.fate = fateOf(op)
	}
	if !f.gone {
		f.learnKind(op.Type)
	}
	if op.Place != nil {
		p.place(f, op)
	}
	if f.fate != existed || f.gone {
		return
	}
	switch {
	case op.Type == traces.Delete || op.Type == traces.Rmdir:
		f.gone = f.names == 0 || op.Place == nil
	case op.Type == traces.Dir && f.kind == traces.Dir:
		f.size = max(f.size, op.End(), 1)
	case op.Type == traces.Block && f.kind == traces.Block:
		p.transfer(f, op)
	}
}

// wasThere reports whether the file belongs to the image, once all operations
// have passed.
func (f *past) wasThere() bool { return f.fate == unknown || f.fate == existed }

// fateOf returns what the first telling line of a file tells.
func fateOf(op traces.Op) fate {
	switch op.Type {
	case traces.Open:
		return unknown
	case traces.Attr, traces.Block:
		if op.Action == traces.Write {
			return assumed
		}
	case traces.Create, traces.Mkdir, traces.Symlink:
		return created
	}
	return existed
}

// learnKind notes whether the file is a directory, if an operation on it is
// the first to tell. No write makes a directory, so one that was assumed to be
// made so existed.
func (f *past) learnKind(t traces.Type) {
	if f.kind != 0 {
		return
	}
	switch t {
	case traces.Dir, traces.Mkdir, traces.Rmdir:
		f.kind = traces.Dir
		if f.fate == assumed {
			f.fate = existed
		}
	case traces.Block, traces.Create, traces.Symlink, traces.Truncate:
		f.kind = traces.Block
	}
}

// transfer notes which blocks an operation on file data reads or writes.
func (p *imagePass) transfer(f *past, op traces.Op) {
	for off := op.Off; off < op.End(); {
		key := blockKey{op.FID, off / p.blockSize}
		start := off - off%p.blockSize
		length := min(p.blockSize-(off-start), op.End()-off)
		from, to := int32(off-start), int32(off-start+length)
		c := p.blocks[key]
		switch {
		case op.Action == traces.Write:
			c = c.written(from, to)
		case c.needed || from < c.from || to > c.to:
			c = coverage{needed: true}
			f.size = max(f.size, off+length)
		}
		p.blocks[key] = c
		off += length
	}
}

// written adds bytes [from, to). Of pieces that do not touch, the longest is
// kept.
func (c coverage) written(from, to int32) coverage {
	switch {
	case c.needed:
	case c.from == c.to:
		c.from, c.to = from, to
	case from <= c.to && to >= c.from:
		c.from, c.to = min(c.from, from), max(c.to, to)
	case to-from > c.to-c.from:
		c.from, c.to = from, to
	}
	return c
}
