package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// builder makes an image in transactions of about batchBlocks blocks.
type builder struct {
	ctx     context.Context
	db      *client.DB
	v       *Volume
	tx      *client.Tx
	written int
	now     int64
	buf     []byte
}

// begin makes sure that a transaction is running.
func (b *builder) begin() (err error) {
	if b.tx == nil {
		b.tx, err = b.db.Begin(b.ctx)
	}
	return err
}

// wrote counts blocks and commits when it is time.
func (b *builder) wrote(blocks int) error {
	if b.written += blocks; b.written < batchBlocks {
		return nil
	}
	return b.commit()
}

func (b *builder) commit() error {
	if b.tx == nil {
		return nil
	}
	err := b.tx.Commit()
	b.tx, b.written = nil, 0
	return err
}

func (b *builder) mkfs(base occ.BlockID, geo fsim.Geometry) (err error) {
	if err = b.begin(); err != nil {
		return err
	}
	if b.v.FS, err = fsim.Mkfs(b.tx, base, geo, b.now); err != nil {
		return err
	}
	for i := range b.v.dirs {
		name := fmt.Sprintf("%02x", i)
		if b.v.dirs[i], err = b.v.FS.Create(b.tx, b.v.FS.Root(), name, fsim.Dir, uint32(i), b.now); err != nil {
			return err
		}
	}
	return b.commit()
}

// tree makes all files of the image: first those whose places are not known,
// then the entries, which lead to the others.
func (b *builder) tree(plan *Plan) error {
	image := plan.Image
	placed, parents := make(map[traces.FID]bool), make(map[traces.FID]bool)
	for _, e := range image.Entries {
		placed[e.FID], parents[e.Dir] = true, true
	}
	for _, f := range image.Files {
		if placed[f.FID] {
			continue
		}
		dir, name := b.v.place(f.FID)
		err := b.file(f, dir, name, plan.affinity(f.FID))
		if err == nil && f.Dir && !parents[f.FID] {
			err = b.fill(f)
		}
		if err != nil {
			return fmt.Errorf("making file %v of the starting image: %w", f.FID, err)
		}
	}
	for _, e := range image.Entries {
		i, _ := slices.BinarySearchFunc(image.Files, e.FID, func(f infer.File, id traces.FID) int { return cmp.Compare(f.FID, id) })
		if err := b.entry(e, image.Files[i], plan.affinity(e.FID)); err != nil {
			return fmt.Errorf("making %q in directory %v of the starting image: %w", e.Name, e.Dir, err)
		}
	}
	for _, f := range image.Files {
		if f.Dir && (placed[f.FID] || parents[f.FID]) {
			if err := b.fill(f); err != nil {
				return fmt.Errorf("filling directory %v of the starting image: %w", f.FID, err)
			}
		}
	}
	return nil
}

// entry makes a file at its place, or gives it one place more. Names beyond
// as many as a file can have are left out.
func (b *builder) entry(e infer.Entry, f infer.File, affinity uint32) error {
	dir, known := b.v.files[e.Dir].Handle, b.v.files[e.FID].Handle
	if known == (fsim.Handle{}) {
		if err := b.file(f, dir, e.Name, affinity); err != nil {
			return err
		}
	} else {
		if err := b.begin(); err != nil {
			return err
		}
		err := b.v.FS.Link(b.tx, dir, e.Name, known, b.now)
		if errors.Is(err, fsim.ErrTooManyLinks) {
			return nil
		}
		if err == nil {
			err = b.wrote(2)
		}
		if err != nil {
			return err
		}
	}
	b.v.moved(e.FID, place{e.Dir, e.Name}, true)
	return nil
}

func (b *builder) file(f infer.File, dir fsim.Handle, name string, affinity uint32) error {
	if err := b.begin(); err != nil {
		return err
	}
	kind := fsim.File
	if f.Dir {
		kind = fsim.Dir
	}
	h, err := b.v.FS.Create(b.tx, dir, name, kind, affinity, b.now)
	if err != nil {
		return err
	}
	b.v.files[f.FID] = file{Handle: h}
	if !f.Dir {
		if err = b.blocks(h, f); err != nil {
			return err
		}
	}
	return b.wrote(4)
}

// blocks writes the extents of a file and sets its size. What lies beyond the
// largest file that there can be is left out: operations there are odd.
func (b *builder) blocks(h fsim.Handle, f infer.File) error {
	size := int64(b.v.FS.Geometry().BlockSize)
	b.buf = make([]byte, size)
	for _, e := range f.Extents {
		for n := e.First; n < min(e.First+e.Count, b.v.FS.MaxFileSize()/size); n++ {
			if err := b.begin(); err != nil {
				return err
			}
			Content(b.buf, f.FID, n*size, 0)
			if err := b.v.FS.Write(b.tx, h, n*size, b.buf, b.now); err != nil {
				return err
			}
			if err := b.wrote(1); err != nil {
				return err
			}
		}
	}
	if err := b.begin(); err != nil {
		return err
	}
	return b.v.FS.Truncate(b.tx, h, min(f.Size, b.v.FS.MaxFileSize()), b.now)
}
