package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// parts is how many goroutines share the work on a twin.
const parts = 4

// twin is a range of blocks, and for each how often it was written again. Of
// each the last acknowledged write is known: block i is written by the
// goroutine i%parts alone.
type twin struct {
	first  occ.BlockID
	writes []uint8
}

func (w *twin) content(i int) []byte { return content(w.first+occ.BlockID(i), uint64(w.writes[i])) }

// inParts calls work for each part side by side.
func inParts(work func(part int) error) error {
	var all errgroup.Group
	for part := range parts {
		all.Go(func() error { return work(part) })
	}
	return all.Wait()
}

// fill writes every block, so many of them in a commit.
func (w *twin) fill(ctx context.Context, db *client.DB, perCommit int) error {
	return inParts(func(part int) error {
		for at := part * perCommit; at < len(w.writes); at += parts * perCommit {
			err := db.Update(ctx, func(tx *client.Tx) error {
				for i := at; i < min(at+perCommit, len(w.writes)); i++ {
					if err := tx.Write(w.first+occ.BlockID(i), w.content(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// overwrite makes so many commits in each part, each of one to perCommit
// blocks, and calls acked after each that was acknowledged.
func (w *twin) overwrite(ctx context.Context, db *client.DB, commits, perCommit int, acked func()) error {
	return inParts(func(part int) error {
		rng := rand.New(rand.NewPCG(5, uint64(part)))
		for range commits {
			var chosen []int
			for range perCommit {
				if i := rng.IntN(len(w.writes)/parts)*parts + part; !slices.Contains(chosen, i) {
					chosen = append(chosen, i)
					w.writes[i]++
				}
			}
			err := db.Update(ctx, func(tx *client.Tx) error {
				for _, i := range chosen {
					if err := tx.Write(w.first+occ.BlockID(i), w.content(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			acked()
		}
		return nil
	})
}

// verify compares every block with what was written last.
func (w *twin) verify(ctx context.Context, db *client.DB) error {
	const perRead = 256
	return inParts(func(part int) error {
		for at := part * perRead; at < len(w.writes); at += parts * perRead {
			if err := w.compare(ctx, db, at, min(at+perRead, len(w.writes))); err != nil {
				return err
			}
		}
		return nil
	})
}

// compare compares the blocks from one to before another.
func (w *twin) compare(ctx context.Context, db *client.DB, from, to int) error {
	ids := make([]occ.BlockID, 0, to-from)
	for i := from; i < to; i++ {
		ids = append(ids, w.first+occ.BlockID(i))
	}
	return db.View(ctx, func(tx *client.Tx) error {
		data, err := tx.ReadMany(ids)
		for i := range data {
			if !bytes.Equal(data[i], w.content(from+i)) {
				return fmt.Errorf("block %d does not hold write %d", from+i, w.writes[from+i])
			}
		}
		return err
	})
}

// sample compares n random blocks, one after the other, and returns how long
// that took for each.
func (w *twin) sample(ctx context.Context, db *client.DB, n int) (p50, p99 time.Duration, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	for range n {
		i, begun := rng.IntN(len(w.writes)), time.Now()
		if err := w.compare(ctx, db, i, i+1); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return times[n/2], times[n*99/100], nil
}
