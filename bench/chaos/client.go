package chaos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// counter is what the block of one client says: how many commits it has made,
// and how many of them counted in a shared counter, too.
type counter struct{ all, shared uint64 }

func (c counter) bytes() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, c.all), c.shared)
}

func parse(data []byte) counter {
	return counter{binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])}
}

func read(tx *client.Tx, id occ.BlockID) (counter, error) {
	data, err := tx.Read(id)
	if err != nil {
		return counter{}, err
	}
	return parse(data), nil
}

// counting is a client that counts, with what it knows to have happened.
type counting struct {
	fleet  *Fleet
	db     *client.DB
	number int
	rng    *rand.Rand
	own    counter
	shared []uint64 // its part of each

	acked  int64 // guarded by the fleet's mu
	doubts int64 // likewise
}

func (c *counting) block() occ.BlockID { return block(c.fleet.opts.Shared + c.number) }

// step makes one commit and compares what it found with what was acknowledged
// before: a commit that is lost, or there twice, shows at the next one.
func (c *counting) step(ctx context.Context) error {
	share := -1
	if c.rng.IntN(4) == 0 {
		share = c.rng.IntN(len(c.shared))
	}
	var found, next counter
	err := c.db.Update(ctx, func(tx *client.Tx) (err error) {
		if found, err = read(tx, c.block()); err != nil {
			return err
		}
		next = counter{found.all + 1, found.shared}
		if share >= 0 {
			next.shared++
			all, err := read(tx, block(share))
			if err != nil {
				return err
			}
			all.all++
			if err := tx.Write(block(share), all.bytes()); err != nil {
				return err
			}
		}
		return tx.Write(c.block(), next.bytes())
	})
	if errors.Is(err, client.ErrOutcomeUnknown) && ctx.Err() == nil {
		return c.resolve(ctx, share)
	}
	if err != nil {
		return fmt.Errorf("client %d: %w", c.number, err)
	}
	if found != c.own {
		return fmt.Errorf("client %d: its counter was %+v before a commit; acknowledged were %+v", c.number, found, c.own)
	}
	c.happened(next, share)
	c.fleet.reached(func() { c.acked++; c.fleet.acked++ })
	return nil
}

func (c *counting) happened(next counter, share int) {
	c.own = next
	if share >= 0 {
		c.shared[share]++
	}
}

// resolve finds out how a commit ended whose outcome the library does not
// know.
func (c *counting) resolve(ctx context.Context, share int) error {
	next := counter{c.own.all + 1, c.own.shared}
	if share >= 0 {
		next.shared++
	}
	var found counter
	err := c.db.View(ctx, func(tx *client.Tx) (err error) { found, err = read(tx, c.block()); return err })
	switch {
	case err != nil:
		return fmt.Errorf("client %d, after an unknown outcome: %w", c.number, err)
	case found == next:
		c.happened(next, share)
	case found != c.own:
		return fmt.Errorf("client %d: its counter is %+v after an unknown outcome; acknowledged were %+v", c.number, found, c.own)
	}
	c.fleet.reached(func() { c.doubts++ })
	return nil
}

// reading is a client that looks on.
type reading struct {
	fleet *Fleet
	db    *client.DB
	done  int64 // guarded by the fleet's mu
}

// readerPause lies between the transactions of a reader, which could
// otherwise take a processor for itself.
const readerPause = 2 * time.Millisecond

// step reads all counters in one transaction: the sums agree in every state
// that the store was ever in.
func (r *reading) step(ctx context.Context) error {
	own, shared, err := r.fleet.sums(ctx, r.db)
	if err != nil {
		return fmt.Errorf("a reader: %w", err)
	}
	if own.shared != shared {
		return fmt.Errorf("a reader saw a state that never was: clients have counted %d in shared counters, which say %d", own.shared, shared)
	}
	r.fleet.reached(func() { r.done++ })
	pause := time.NewTimer(readerPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return nil
}

// sums adds up the clients' counters, and the shared ones.
func (f *Fleet) sums(ctx context.Context, db *client.DB) (own counter, shared uint64, err error) {
	ids := make([]occ.BlockID, f.opts.Shared+f.opts.Clients)
	for i := range ids {
		ids[i] = block(i)
	}
	err = db.View(ctx, func(tx *client.Tx) error {
		own, shared = counter{}, 0
		all, err := tx.ReadMany(ids)
		if err != nil {
			return err
		}
		for i, data := range all {
			c := parse(data)
			if i < f.opts.Shared {
				shared += c.all
			} else {
				own.all += c.all
				own.shared += c.shared
			}
		}
		return nil
	})
	return own, shared, err
}
