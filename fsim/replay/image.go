package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

const (
	// names is the number of directories that files are spread over.
	names = 256
	// batchBlocks is about how many blocks one transaction of the image
	// writes.
	batchBlocks = 1024
	// maxDirectory bounds how large a directory of the trace is made, in
	// bytes: servers may use any number for a position in a directory.
	maxDirectory = 64 << 10
)

// Volume is a file system with what a trace needs to begin.
type Volume struct {
	FS    *fsim.FS
	dirs  [names]fsim.Handle
	files map[traces.FID]file
}

// file is what is known of a file: its handle, zero once it is deleted, and
// the commit that made it so.
type file struct {
	fsim.Handle
	since occ.Timestamp
}

// Build makes the volume of plan through db, in transactions of its own.
func Build(ctx context.Context, db *client.DB, plan *Plan) (*Volume, error) {
	geometry, err := plan.geometry(uint32(db.BlockSize()))
	if err != nil {
		return nil, err
	}
	base, err := db.CreateRange(ctx, uint64(geometry.Blocks))
	if err != nil {
		return nil, fmt.Errorf("leasing the volume: %w", err)
	}
	v := &Volume{files: make(map[traces.FID]file)}
	b := &builder{ctx: ctx, db: db, v: v, now: plan.First}
	defer func() {
		if b.tx != nil {
			b.tx.Abort()
		}
	}()
	if err := b.mkfs(base, geometry); err != nil {
		return nil, fmt.Errorf("making the file system: %w", err)
	}
	for _, f := range plan.Image.Files {
		if err := b.file(f, plan.affinity(f.FID)); err != nil {
			return nil, fmt.Errorf("making file %v of the starting image: %w", f.FID, err)
		}
	}
	return v, b.commit()
}

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

// place is the directory and the name of a file.
func (v *Volume) place(fid traces.FID) (dir fsim.Handle, name string) {
	return v.dirs[mix(uint64(fid))%names], fid.String()
}

func (b *builder) file(f infer.File, affinity uint32) error {
	if err := b.begin(); err != nil {
		return err
	}
	kind := fsim.File
	if f.Dir {
		kind = fsim.Dir
	}
	dir, name := b.v.place(f.FID)
	h, err := b.v.FS.Create(b.tx, dir, name, kind, affinity, b.now)
	if err != nil {
		return err
	}
	b.v.files[f.FID] = file{Handle: h}
	if f.Dir {
		err = b.entries(h, f)
	} else {
		err = b.blocks(h, f)
	}
	if err != nil {
		return err
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

// entries fills a directory with links to one empty file until it is as
// large as the trace shows it, at most maxDirectory.
func (b *builder) entries(dir fsim.Handle, f infer.File) error {
	target := fsim.Handle{}
	for n := 0; ; n++ {
		if err := b.begin(); err != nil {
			return err
		}
		info, err := b.v.FS.Stat(b.tx, dir)
		if err != nil {
			return err
		}
		if n > 0 && info.Size >= min(f.Size, maxDirectory) {
			return nil
		}
		name := fmt.Sprintf("%08x%08x", uint32(f.FID), n)
		if n == 0 {
			target, err = b.v.FS.Create(b.tx, dir, name, fsim.File, uint32(f.FID), b.now)
		} else {
			err = b.v.FS.Link(b.tx, dir, name, target, b.now)
		}
		if err != nil {
			return err
		}
		if n%64 == 63 {
			if err := b.wrote(4); err != nil {
				return err
			}
		}
	}
}

// Verify runs the file system's own check through db on the newest state.
func (v *Volume) Verify(ctx context.Context, db *client.DB) (*fsim.Report, error) {
	var report *fsim.Report
	err := db.View(ctx, func(tx *client.Tx) (err error) {
		report, err = v.FS.Check(tx)
		return err
	}, client.Freshness(0))
	if err != nil {
		return nil, fmt.Errorf("checking the file system: %w", err)
	}
	return report, report.Err()
}

// Tree is the paths of the volume with their contents, in a stable order.
func (v *Volume) Tree(ctx context.Context, db *client.DB) ([]fsim.Node, error) {
	var nodes []fsim.Node
	err := db.View(ctx, func(tx *client.Tx) (err error) {
		nodes, err = v.FS.Tree(tx)
		return err
	}, client.Freshness(0))
	return nodes, err
}

// absent reports whether err says that a file does not exist at the
// transaction's place in time: it was deleted since, or is created later.
func absent(err error) bool {
	return errors.Is(err, fsim.ErrStale) || errors.Is(err, fsim.ErrNotExist)
}
