package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
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
	// names are the places of files other than the one that v.place gives, as
	// far as commits have told. Two that changed them at once may have told in
	// the wrong order, so each must be looked at.
	names map[traces.FID][]place
}

// place is a name in a directory.
type place struct {
	dir  traces.FID
	name string
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
	v := &Volume{files: make(map[traces.FID]file), names: make(map[traces.FID][]place)}
	b := &builder{ctx: ctx, db: db, v: v, now: plan.First}
	defer func() {
		if b.tx != nil {
			b.tx.Abort()
		}
	}()
	if err := b.mkfs(base, geometry); err != nil {
		return nil, fmt.Errorf("making the file system: %w", err)
	}
	if err := b.tree(plan); err != nil {
		return nil, err
	}
	return v, b.commit()
}

// place is the directory and the name of a file whose place the trace does not
// tell.
func (v *Volume) place(fid traces.FID) (dir fsim.Handle, name string) {
	return v.dirs[mix(uint64(fid))%names], fid.String()
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
