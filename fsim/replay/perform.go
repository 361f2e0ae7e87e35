package replay

import (
	"errors"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
)

// readChunk bounds the buffer of one read, in bytes.
const readChunk = 256 << 10

// handle finds the file that an operation names: as this attempt left it, or
// as the last commit that the runner knows of did.
func (a *attempt) handle(fid traces.FID) (fsim.Handle, bool) {
	if h, ok := a.changed[fid]; ok {
		return h, h != fsim.Handle{}
	}
	r := a.job.r
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.volume.files[fid]
	return f.Handle, f.Handle != fsim.Handle{}
}

// change notes that this attempt created a file, or deleted it (the zero
// handle). The runner learns of it when the attempt commits.
func (a *attempt) change(fid traces.FID, h fsim.Handle) {
	if a.changed == nil {
		a.changed = make(map[traces.FID]fsim.Handle)
	}
	a.changed[fid] = h
}

// perform carries out one operation of the trace. Operations on files that do
// not exist count as absent; those that do not fit the kind of the file as
// odd; neither is an error.
func (a *attempt) perform(op traces.Op) error {
	err := a.dispatch(op)
	switch {
	case err == nil:
		return nil
	case absent(err):
		a.absent++
		return nil
	case odd(err):
		a.odd++
		return nil
	}
	return err
}

// odd reports whether err says that an operation does not fit the files and
// directories that it meets.
func odd(err error) bool {
	for _, is := range [...]error{
		fsim.ErrIsDir, fsim.ErrNotDir, fsim.ErrIsSymlink, fsim.ErrExist, fsim.ErrNotEmpty,
		fsim.ErrLoop, fsim.ErrTooDeep, fsim.ErrTooLarge, fsim.ErrTooManyLinks,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

func (a *attempt) dispatch(op traces.Op) error {
	switch op.Type {
	case traces.Lookup:
		return a.lookup(op)
	case traces.Create, traces.Mkdir, traces.Symlink:
		return a.make(op)
	case traces.Rename:
		return a.rename(op)
	case traces.Delete, traces.Rmdir:
		if op.Place != nil {
			return a.removeEntry(op)
		}
	}
	creates := op.Action == traces.Write && (op.Type == traces.Attr || op.Type == traces.Block)
	h, exists := a.handle(op.FID)
	err := fsim.ErrNotExist
	if exists {
		err = a.on(h, op)
	}
	if !creates || !absent(err) {
		return err
	}
	if h, err = a.create(op); err != nil {
		return err
	}
	return a.on(h, op)
}

// on carries out op on the file with handle h.
func (a *attempt) on(h fsim.Handle, op traces.Op) error {
	fs := a.job.r.volume.FS
	switch op.Type {
	case traces.Open, traces.Close:
		_, err := fs.Stat(a.tx, h)
		return err
	case traces.Attr:
		if op.Action == traces.Write {
			return fs.SetTime(a.tx, h, op.Time)
		}
		_, err := fs.Stat(a.tx, h)
		return err
	case traces.Block:
		if op.Action == traces.Write {
			return a.write(h, op)
		}
		return a.read(h, op)
	case traces.Dir:
		if op.Action == traces.Write {
			_, err := fs.ReplaceEntry(a.tx, h, op.Off)
			return err
		}
		_, err := fs.ReadDirRange(a.tx, h, op.Off, min(op.Size, maxDirectory))
		return err
	case traces.Delete, traces.Rmdir:
		return a.remove(h, op.FID)
	case traces.Link:
		return a.link(h, op)
	case traces.Truncate:
		return fs.Truncate(a.tx, h, op.Off, op.Time)
	}
	return op.Check()
}

// create makes the file that op writes. Another host may have made it since
// the runner last heard of it.
func (a *attempt) create(op traces.Op) (fsim.Handle, error) {
	v := a.job.r.volume
	dir, name, err := a.where(op)
	if err != nil {
		return fsim.Handle{}, err
	}
	h, err := v.FS.Create(a.tx, dir, name, fsim.File, a.job.host.affinity, op.Time)
	if errors.Is(err, fsim.ErrExist) {
		h, err = v.FS.Lookup(a.tx, dir, name)
	}
	if err == nil {
		a.made(op, h)
	}
	return h, err
}

func (a *attempt) read(h fsim.Handle, op traces.Op) error {
	for off, end := op.Off, op.End(); ; {
		p := a.job.host.buffer(min(end-off, readChunk))
		n, err := a.job.r.volume.FS.Read(a.tx, h, off, p)
		a.job.host.release(p)
		if err != nil {
			return err
		}
		if off += int64(n); n == 0 || off >= end {
			return nil
		}
	}
}

func (a *attempt) write(h fsim.Handle, op traces.Op) error {
	p := make([]byte, op.Size)
	Content(p, op.FID, op.Off, op.Line)
	return a.job.r.volume.FS.Write(a.tx, h, op.Off, p, op.Time)
}

// fatal reports whether err ends the replay: not a conflict, a restart or a
// lost connection, but something that should not happen, such as a server that
// refuses a commit because its store is full.
func fatal(err error) bool {
	if errors.Is(err, client.ErrGone) || hopeless(err) {
		return false
	}
	var aborted *client.AbortError
	return !errors.As(err, &aborted) || aborted.Reason == occ.AbortRefused
}

// hopeless reports whether err will come again however often the transaction
// is tried: it is larger than the server takes. It counts as given up.
func hopeless(err error) bool {
	var limit *client.LimitError
	return errors.As(err, &limit)
}
