package replay

import (
	"errors"
	"slices"

	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
)

// move is a name that a file has from now on, or no longer has.
type move struct {
	fid   traces.FID
	place place
	there bool
}

// move notes a name. The runner learns of it when the attempt commits.
func (a *attempt) move(fid traces.FID, p place, there bool) {
	a.moves = append(a.moves, move{fid, p, there})
}

// maxNames bounds how many names of a file are remembered, for a Delete that
// does not tell which one goes.
const maxNames = 64

// moved enters a name of a file, or takes it out.
func (v *Volume) moved(fid traces.FID, p place, there bool) {
	at := slices.Index(v.names[fid], p)
	switch {
	case there && at < 0 && len(v.names[fid]) < maxNames:
		v.names[fid] = append(v.names[fid], p)
	case !there && at >= 0 && len(v.names[fid]) == 1:
		delete(v.names, fid)
	case !there && at >= 0:
		v.names[fid] = slices.Delete(slices.Clone(v.names[fid]), at, at+1)
	}
}

// removeEntry removes what the entry at the operation's place names. A file
// with other entries lives on under these.
func (a *attempt) removeEntry(op traces.Op) error {
	fs := a.job.r.volume.FS
	dir, err := a.directory(op.Place.Dir)
	if err != nil {
		return err
	}
	h, err := fs.Lookup(a.tx, dir, op.Place.Name)
	if err != nil {
		return err
	}
	info, err := fs.Stat(a.tx, h)
	if err != nil {
		return err
	}
	if op.Type == traces.Rmdir && info.Kind != fsim.Dir {
		return fsim.ErrNotDir
	}
	if err := a.unlink(dir, op.Place.Name, h, op.FID); err != nil {
		return err
	}
	a.suspect(op.FID, h)
	if known, _ := a.handle(op.FID); known == h && info.Links == 1 {
		a.change(op.FID, fsim.Handle{})
	}
	a.move(op.FID, place{op.Place.Dir, op.Place.Name}, false)
	return nil
}

// remove deletes a file or directory, under whatever names it is known to
// have.
func (a *attempt) remove(h fsim.Handle, fid traces.FID) error {
	v := a.job.r.volume
	a.job.r.mu.Lock()
	names := v.names[fid]
	a.job.r.mu.Unlock()
	err := error(fsim.ErrNotExist)
	for _, p := range names {
		dir, known := a.handle(p.dir)
		if !known {
			continue
		}
		switch got, lost := v.FS.Lookup(a.tx, dir, p.name); {
		case lost != nil && !absent(lost) && !odd(lost):
			return lost
		case lost != nil || got != h:
			continue
		}
		if err = a.unlink(dir, p.name, h, fid); err != nil {
			return err
		}
		a.move(fid, p, false)
	}
	dir, name := v.place(fid)
	if unplaced := a.unlink(dir, name, h, fid); err != nil || !absent(unplaced) {
		err = unplaced
	}
	if err == nil {
		a.change(fid, fsim.Handle{})
	}
	return err
}

// unlink removes an entry, of a directory with what only fills it.
func (a *attempt) unlink(dir fsim.Handle, name string, h fsim.Handle, fid traces.FID) error {
	fs := a.job.r.volume.FS
	err := fs.Remove(a.tx, dir, name)
	if !errors.Is(err, fsim.ErrNotEmpty) {
		return err
	}
	entries, err := fs.ReadDir(a.tx, h)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !isFiller(fid, e.Name) {
			continue
		}
		if err := fs.Remove(a.tx, h, e.Name); err != nil {
			return err
		}
	}
	return fs.Remove(a.tx, dir, name)
}
