package client_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// The twin of a store with transactions that write parts of blocks knows whole
// blocks only: what a transaction reads and writes are copies, and it commits
// if what it read is unchanged.
type twinStore struct {
	content map[occ.BlockID][]byte
	version map[occ.BlockID]int
}

type twinTx struct {
	tx      *client.Tx
	db      *client.DB
	read    map[occ.BlockID]int
	written map[occ.BlockID][]byte
}

// doomed reports whether something that t has read was overwritten.
func (s *twinStore) doomed(t *twinTx) bool {
	for b, v := range t.read {
		if s.version[b] != v {
			return true
		}
	}
	return false
}

// sees is what t reads in b.
func (s *twinStore) sees(t *twinTx, b occ.BlockID) []byte {
	if own, ok := t.written[b]; ok {
		return own
	}
	if _, again := t.read[b]; !again {
		t.read[b] = s.version[b]
	}
	return s.content[b]
}

const (
	twinBlocks = 5
	twinSize   = 64
)

// twinRig is a store in a directory with two clients.
type twinRig struct {
	*testing.T
	rng     *rand.Rand
	dir     string
	srv     *server.Server
	dbs     [2]*client.DB
	running []*twinTx
	twin    twinStore

	commits, conflicts int
}

func (r *twinRig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *twinRig) start() {
	var err error
	r.srv, err = server.Open(server.Options{Dir: r.dir, BlockSize: twinSize})
	r.ok(err)
	for i := range r.dbs {
		r.dbs[i], err = client.Local(r.srv, client.Options{CacheBytes: 2000, NoActiveAborts: i == 1})
		r.ok(err)
	}
}

func (r *twinRig) stop() {
	for _, t := range r.running {
		t.tx.Abort()
	}
	r.running = nil
	for _, db := range r.dbs {
		r.ok(db.Close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r.ok(r.srv.Shutdown(ctx))
}

// compare reads everything.
func (r *twinRig) compare() {
	r.Helper()
	for _, db := range r.dbs {
		r.ok(db.View(r.Context(), func(tx *client.Tx) error {
			for b := range occ.BlockID(twinBlocks) {
				got, err := tx.Read(b)
				if err != nil {
					return err
				}
				if !bytes.Equal(got, r.twin.content[b]) {
					r.Fatalf("block %d reads\n%v, want\n%v", b, got, r.twin.content[b])
				}
			}
			return nil
		}))
	}
}

// bytes are content with many zeros.
func (r *twinRig) bytes(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.rng.IntN(3))
	}
	return p
}

// step lets one of the transactions do something.
func (r *twinRig) step() {
	if len(r.running) < 4 {
		db := r.dbs[r.rng.IntN(2)]
		tx, err := db.Begin(r.Context())
		r.ok(err)
		r.running = append(r.running, &twinTx{tx, db, map[occ.BlockID]int{}, map[occ.BlockID][]byte{}})
	}
	i := r.rng.IntN(len(r.running))
	t := r.running[i]
	r.ok(t.db.Ping(r.Context())) // all that was committed is known to the client now
	b := occ.BlockID(r.rng.IntN(twinBlocks))
	doomed := r.twin.doomed(t)
	var err error
	switch r.rng.IntN(7) {
	case 0:
		var got []byte
		if got, err = t.tx.Read(b); err == nil && !doomed && !bytes.Equal(got, r.twin.sees(t, b)) {
			r.Fatalf("block %d reads\n%v, want\n%v", b, got, r.twin.sees(t, b))
		}
	case 1:
		whole := make([]byte, twinSize)
		copy(whole, r.bytes(r.rng.IntN(twinSize+1)))
		err = t.tx.Write(b, whole)
		t.written[b] = whole
	case 2, 3, 4:
		off := r.rng.IntN(twinSize)
		p := r.bytes(1 + r.rng.IntN(min(9, twinSize-off)))
		err = t.tx.WriteAt(b, off, p)
		whole := bytes.Clone(r.twin.sees(t, b))
		copy(whole[off:], p)
		t.written[b] = whole
	default:
		r.running = append(r.running[:i], r.running[i+1:]...)
		err = t.tx.Commit()
		if doomed != errors.Is(err, client.ErrConflict) {
			r.Fatalf("commit: %v; what was read had changed: %v", err, doomed)
		}
		if doomed {
			r.conflicts++
			return
		}
		r.ok(err)
		r.commits++
		for b, data := range t.written {
			r.twin.content[b] = data
			r.twin.version[b]++
		}
		return
	}
	// A client that is told of conflicts gives up a transaction before its end.
	if err != nil && !(doomed && errors.Is(err, client.ErrConflict)) {
		r.Fatal(err)
	}
}

// TestWriteAtAgainstTwin compares random transactions of two clients with the
// twin, and what the log makes of them when the server starts again.
func TestWriteAtAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &twinRig{T: t, rng: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir()}
	r.twin = twinStore{map[occ.BlockID][]byte{}, map[occ.BlockID]int{}}
	for b := range occ.BlockID(twinBlocks) {
		r.twin.content[b] = make([]byte, twinSize)
	}
	begun := time.Now()
	for range 4 {
		r.start()
		r.compare()
		for range 400 {
			r.step()
		}
		r.compare()
		r.stop()
	}
	r.start()
	r.compare()
	r.stop()
	t.Logf("%d commits, %d conflicts in %v", r.commits, r.conflicts, time.Since(begun))
	if r.commits < 50 || r.conflicts < 50 {
		t.Error("the run says little")
	}
}
