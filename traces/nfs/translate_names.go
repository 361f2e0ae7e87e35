package nfs

import "github.com/tidemark/tidemark/traces"

// entry handles what acts on a name in a directory.
func (t *Translator) entry(x *Exchange, dir traces.FID) {
	switch x.Proc {
	case Lookup:
		t.lookup(x, dir)
	case Create, Mknod:
		t.create(x, dir)
	case Mkdir:
		if op, ok := t.make(x, dir, traces.Mkdir); ok && t.emit(op) {
			t.names.isDirectory(op.FID)
		}
	case Symlink:
		if op, ok := t.make(x, dir, traces.Symlink); ok {
			op.Size = amount(x.Count)
			t.emit(op)
		}
	case Remove, Rmdir:
		t.remove(x, dir)
	case Rename:
		t.rename(x, dir)
	}
}

// lookup also handles the names that are no entries, "." and "..": attributes
// of the file that was found are read.
func (t *Translator) lookup(x *Exchange, dir traces.FID) {
	var fid traces.FID
	if len(x.Result) > 0 {
		fid = FileID(x.Result)
	} else if m := t.names.find(dir, x.Name); m != nil {
		fid = m.fid
	} else {
		t.unresolved++
		return
	}
	op := x.op(fid, traces.Lookup, traces.Read)
	if op.Place = t.names.learn(dir, x.Name, fid); op.Place == nil {
		op.Type = traces.Attr
	}
	t.emit(op)
}

// create handles the creation of a file, which in version 2 and in version 3
// unless it is guarded may be one of a file that exists.
func (t *Translator) create(x *Exchange, dir traces.FID) {
	m := t.names.find(dir, x.Name)
	if x.Proc == Create && m != nil && (len(x.Result) == 0 || FileID(x.Result) == m.fid) {
		if x.SetSize {
			t.truncate(x, m.fid)
		} else {
			t.emit(x.op(m.fid, traces.Attr, traces.Write))
		}
		return
	}
	op, ok := t.make(x, dir, traces.Create)
	if ok && t.emit(op) && x.SetSize && x.Size > 0 {
		t.truncate(x, op.FID)
	}
}

// make returns the operation that makes a file of some kind, and learns its
// name. It reports false if there can be no such name.
func (t *Translator) make(x *Exchange, dir traces.FID, typ traces.Type) (traces.Op, bool) {
	fid := traces.FID(0)
	if len(x.Result) > 0 {
		fid = FileID(x.Result)
	} else {
		fid = t.guess(dir, x.Name)
	}
	op := x.op(fid, typ, traces.Write)
	if op.Place = t.names.learn(dir, x.Name, fid); op.Place == nil {
		t.impossible++
		return op, false
	}
	return op, true
}

// guess returns a FID for a name of which no handle is known.
func (t *Translator) guess(dir traces.FID, name []byte) traces.FID {
	t.guessed++
	return nameID(dir, name)
}

// named returns the file that a name stands for and the name as a place, nil if
// there can be no such name.
func (t *Translator) named(dir traces.FID, name []byte) (traces.FID, *traces.Place) {
	if m := t.names.find(dir, name); m != nil {
		return m.fid, m.place
	}
	p := placeOf(dir, name)
	if p == nil {
		t.impossible++
		return 0, nil
	}
	return t.guess(dir, name), p
}

// remove also handles the directories that version 4 removes like files.
func (t *Translator) remove(x *Exchange, dir traces.FID) {
	fid, place := t.named(dir, x.Name)
	if place == nil {
		return
	}
	op := x.op(fid, traces.Delete, traces.Write)
	if _, directory := t.names.known(fid); directory || x.Proc == Rmdir {
		op.Type = traces.Rmdir
	}
	op.Place = place
	t.emit(op)
	t.names.forget(dir, x.Name)
	t.names.files.remove(fid)
}

func (t *Translator) rename(x *Exchange, dir traces.FID) {
	if len(x.ToDir) == 0 {
		t.without(x)
		return
	}
	toDir := FileID(x.ToDir)
	fid, place := t.named(dir, x.Name)
	if place == nil {
		return
	}
	t.names.forget(dir, x.Name)
	to := t.names.learn(toDir, x.ToName, fid)
	if to == nil {
		t.impossible++
		return
	}
	t.names.isDirectory(toDir)
	op := x.op(fid, traces.Rename, traces.Write)
	op.Place = &traces.Place{Dir: dir, Name: place.Name, ToDir: toDir, ToName: to.Name}
	t.emit(op)
}

func (t *Translator) link(x *Exchange, file traces.FID) {
	if len(x.ToDir) == 0 {
		t.without(x)
		return
	}
	dir := FileID(x.ToDir)
	op := x.op(file, traces.Link, traces.Write)
	if op.Place = t.names.learn(dir, x.ToName, file); op.Place == nil {
		t.impossible++
		return
	}
	t.names.isDirectory(dir)
	t.emit(op)
}

// open handles the opening of a file by its name, or, without one, by its
// handle. It makes the file if that was asked for and it was not known.
func (t *Translator) open(x *Exchange, file traces.FID) {
	op := x.op(file, traces.Open, traces.Read)
	if x.WriteAccess {
		op.Action = traces.Write
	}
	made := false
	if len(x.Name) > 0 {
		t.names.isDirectory(file)
		m := t.names.find(file, x.Name)
		switch {
		case len(x.Result) > 0:
			op.FID = FileID(x.Result)
		case m != nil:
			op.FID = m.fid
		case !x.Creates:
			t.unresolved++
			return
		default:
			op.FID = t.guess(file, x.Name)
		}
		exists, _ := t.names.known(op.FID)
		made = x.Creates && !exists && (m == nil || m.fid != op.FID)
		if op.Place = t.names.learn(file, x.Name, op.FID); op.Place == nil {
			t.impossible++
			return
		}
	}
	if made {
		create := op
		create.Type, create.Action = traces.Create, traces.Write
		t.emit(create)
	}
	t.emit(op)
	if x.SetSize && !(made && x.Size == 0) {
		t.truncate(x, op.FID)
	}
}
