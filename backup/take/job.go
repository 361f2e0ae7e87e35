package take

import (
	"context"
	"fmt"
	"io"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// job is a backup under way, of a timestamp that is pinned.
type job struct {
	db     *client.DB
	o      Options
	h      backup.Header
	blocks uint64 // that the store has, about
	w      *backup.Writer
	done   uint64
}

// begin finds out what the header says.
func (j *job) begin(ctx context.Context, at occ.Timestamp) error {
	status, err := j.db.ServerStatus(ctx)
	if err != nil {
		return err
	}
	j.blocks = status["blocks"]
	j.h = backup.Header{
		Store: j.db.Store(), BlockSize: j.db.BlockSize(), Epoch: j.db.Epoch(), At: at, Since: j.o.Since,
		// Ids that were leased before at are below it, and those above it have
		// no place in what is restored.
		Next: occ.BlockID(status["next_block"]),
	}
	e := j.o.Earlier
	switch {
	case e == nil && j.h.Since > at:
		return &MismatchError{fmt.Sprintf("timestamp %d is to come, the newest is %d", j.h.Since, at)}
	case e == nil:
		return nil
	case e.Store != j.h.Store:
		return &MismatchError{fmt.Sprintf("that is of store %v, this is store %v", e.Store, j.h.Store)}
	case e.Generation() != j.h.Generation():
		return &MismatchError{"the store has been restored since; make a full one"}
	case e.At > at:
		return &MismatchError{fmt.Sprintf("that is of timestamp %d, the store is at %d", e.At, at)}
	}
	j.h.Since = e.At
	return nil
}

// run writes the backup. All blocks are read at its timestamp, so it does not
// matter when. If another server takes the place of the one that pinned it, of
// a restored store, the DB answers nothing more.
func (j *job) run(ctx context.Context, w io.Writer) (Result, error) {
	var err error
	if j.w, err = backup.NewWriter(w, j.h); err != nil {
		return Result{}, err
	}
	for first, last := occ.BlockID(0), false; !last; {
		c, err := j.db.Changes(ctx, client.ChangesOptions{Since: j.h.Since, At: j.h.At, First: first})
		if err != nil {
			return Result{}, err
		}
		if err := j.add(ctx, c.Blocks); err != nil {
			return Result{}, err
		}
		first, last = c.Next, c.Last
	}
	sum, err := j.w.Close()
	return Result{Header: j.h, Summary: sum}, err
}

// add reads blocks, a batch at a time, and writes them.
func (j *job) add(ctx context.Context, blocks []occ.Read) error {
	size := max(1, min(int(j.db.Limits().ReadBlocks), maxBatchBytes/j.h.BlockSize))
	ids := make([]occ.BlockID, 0, size)
	for len(blocks) > 0 {
		batch := blocks[:min(size, len(blocks))]
		blocks = blocks[len(batch):]
		ids = ids[:0]
		for _, b := range batch {
			ids = append(ids, b.Block)
		}
		data, err := j.read(ctx, ids)
		if err != nil {
			return j.blame(ctx, batch, err)
		}
		for i, b := range batch {
			if err := j.w.Add(backup.Record{Block: b.Block, From: b.From, Data: data[i]}); err != nil {
				return err
			}
		}
		j.done += uint64(len(batch))
		if j.o.Progress != nil {
			j.o.Progress(j.done, j.blocks)
		}
	}
	return nil
}

// read returns the data of blocks.
func (j *job) read(ctx context.Context, ids []occ.BlockID) (data [][]byte, err error) {
	err = j.db.View(ctx, func(tx *client.Tx) (err error) {
		data, err = tx.ReadMany(ids)
		return err
	}, client.At(j.h.At))
	return data, err
}
