package replay

import (
	"errors"

	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
)

// An operation that has a place acts on the entry there, as a server does,
// whatever file that names.

// where is the directory and the name at which an operation makes its file.
func (a *attempt) where(op traces.Op) (fsim.Handle, string, error) {
	if op.Place == nil {
		dir, name := a.job.r.volume.place(op.FID)
		return dir, name, nil
	}
	dir, err := a.directory(op.Place.Dir)
	return dir, op.Place.Name, err
}

func (a *attempt) directory(fid traces.FID) (fsim.Handle, error) {
	h, exists := a.handle(fid)
	if !exists {
		return h, fsim.ErrNotExist
	}
	return h, nil
}

// lookup finds a file in its directory and reads its attributes. It is absent
// if its name is another's, now or at the transaction's place in time.
func (a *attempt) lookup(op traces.Op) error {
	fs := a.job.r.volume.FS
	dir, err := a.directory(op.Place.Dir)
	if err != nil {
		return err
	}
	h, err := fs.Lookup(a.tx, dir, op.Place.Name)
	if err != nil {
		return err
	}
	if known, exists := a.handle(op.FID); exists && known != h {
		return fsim.ErrNotExist
	}
	_, err = fs.Stat(a.tx, h)
	return err
}

// make makes a file, directory or symbolic link.
func (a *attempt) make(op traces.Op) error {
	fs, affinity := a.job.r.volume.FS, a.job.host.affinity
	dir, name, err := a.where(op)
	if err != nil {
		return err
	}
	var h fsim.Handle
	switch op.Type {
	case traces.Symlink:
		h, err = fs.Symlink(a.tx, dir, name, target(op), affinity, op.Time)
	case traces.Mkdir:
		h, err = fs.Create(a.tx, dir, name, fsim.Dir, affinity, op.Time)
	default:
		h, err = fs.Create(a.tx, dir, name, fsim.File, affinity, op.Time)
	}
	if errors.Is(err, fsim.ErrExist) {
		return a.remake(op, dir, name, err)
	}
	if err == nil {
		a.made(op, h)
	}
	return err
}

// remake does with an entry that exists what a creation does that is not
// exclusive: after a Create the file is empty. A directory that exists is odd,
// but it is the one that is meant from now on.
func (a *attempt) remake(op traces.Op, dir fsim.Handle, name string, exists error) error {
	fs := a.job.r.volume.FS
	h, err := fs.Lookup(a.tx, dir, name)
	if err != nil {
		return err
	}
	info, err := fs.Stat(a.tx, h)
	switch {
	case err != nil:
		return err
	case op.Type == traces.Create && info.Kind == fsim.File:
		if err := fs.Truncate(a.tx, h, 0, op.Time); err != nil {
			return err
		}
		a.made(op, h)
		return nil
	case op.Type == traces.Mkdir && info.Kind == fsim.Dir:
		a.made(op, h)
	}
	return exists
}

// target is the text of a symbolic link, of which the trace tells the length.
func target(op traces.Op) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	p := make([]byte, min(max(op.Size, 1), fsim.MaxTarget+1))
	Content(p, op.FID, 0, op.Line)
	for i := range p {
		p[i] = letters[p[i]%64]
	}
	return string(p)
}

// made notes the file that op made, or found made.
func (a *attempt) made(op traces.Op, h fsim.Handle) {
	a.change(op.FID, h)
	if op.Place != nil {
		a.move(op.FID, place{op.Place.Dir, op.Place.Name}, true)
	}
}

func (a *attempt) link(h fsim.Handle, op traces.Op) error {
	dir, err := a.directory(op.Place.Dir)
	if err != nil {
		return err
	}
	if err := a.job.r.volume.FS.Link(a.tx, dir, op.Place.Name, h, op.Time); err != nil {
		return err
	}
	a.move(op.FID, place{op.Place.Dir, op.Place.Name}, true)
	return nil
}

func (a *attempt) rename(op traces.Op) error {
	p, fs := op.Place, a.job.r.volume.FS
	from, err := a.directory(p.Dir)
	if err != nil {
		return err
	}
	to, err := a.directory(p.ToDir)
	if err != nil {
		return err
	}
	h, err := fs.Lookup(a.tx, from, p.Name)
	if err != nil {
		return err
	}
	if err := fs.Rename(a.tx, from, p.Name, to, p.ToName, op.Time); err != nil {
		return err
	}
	a.suspect(op.FID, h)
	a.move(op.FID, place{p.Dir, p.Name}, false)
	a.move(op.FID, place{p.ToDir, p.ToName}, true)
	return nil
}

// suspect counts an operation as odd that acted on an entry of another file
// than the trace says.
func (a *attempt) suspect(fid traces.FID, h fsim.Handle) {
	if known, exists := a.handle(fid); exists && known != h {
		a.odd++
	}
}
