package restore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/backup/take"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// patience is how long anything that a test waits for may take.
const patience = 60 * time.Second

const (
	blockSize = 512
	leased    = 400 // blocks of the load
)

// load are clients that commit, and what they committed.
type load struct {
	t     *testing.T
	ctx   context.Context
	srv   *server.Server
	db    *client.DB
	first occ.BlockID

	mu      sync.Mutex
	commits map[occ.Timestamp][]occ.Write
	more    *sync.Cond // told of each
}

func serve(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	srv, err := server.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func connect(t *testing.T, srv *server.Server) *client.DB {
	t.Helper()
	db, err := client.Local(srv, client.Options{MaxAttempts: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// newLoad starts a server and clients that commit until the test ends.
func newLoad(t *testing.T) *load {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	l := &load{t: t, ctx: ctx, srv: serve(t, server.Options{BlockSize: blockSize}), commits: make(map[occ.Timestamp][]occ.Write)}
	l.more = sync.NewCond(&l.mu)
	l.db = connect(t, l.srv)
	var err error
	if l.first, err = l.db.CreateRange(ctx, leased); err != nil {
		t.Fatal(err)
	}
	return l
}

// commitDuring has clients commit while do runs, some of it before.
func (l *load) commitDuring(do func()) {
	l.t.Helper()
	ctx, stop := context.WithCancel(l.ctx)
	var running sync.WaitGroup
	l.mu.Lock()
	before := len(l.commits)
	l.mu.Unlock()
	for n := range uint64(3) {
		db := connect(l.t, l.srv)
		rng := rand.New(rand.NewPCG(n, uint64(before)))
		running.Go(func() {
			for ctx.Err() == nil {
				if err := l.commit(db, rng); err != nil {
					l.t.Error(err)
					stop()
				}
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.more.Broadcast()
		})
	}
	l.mu.Lock()
	for len(l.commits) < before+200 && ctx.Err() == nil {
		l.more.Wait()
	}
	l.mu.Unlock()
	do()
	stop()
	running.Wait()
}

// commit writes a few blocks in a transaction, some of them with zeros. It is
// never given up, so that every commit is known.
func (l *load) commit(db *client.DB, rng *rand.Rand) error {
	tx, err := db.Begin(l.ctx)
	if err != nil {
		return err
	}
	var writes []occ.Write
	for range 1 + rng.IntN(4) {
		w := occ.Write{Block: l.first + occ.BlockID(rng.IntN(leased)), Data: make([]byte, blockSize)}
		for i := range w.Data[:rng.IntN(2)*rng.IntN(blockSize+1)] {
			w.Data[i] = byte(rng.Uint32())
		}
		if err := tx.Write(w.Block, bytes.Clone(w.Data)); err != nil {
			return err
		}
		writes = append(writes, w)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commits[tx.CommitTimestamp()] = writes
	l.more.Broadcast()
	return nil
}

// state is what the commits say that the store was at a timestamp.
func (l *load) state(at occ.Timestamp) map[occ.BlockID]backup.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := make(map[occ.BlockID]backup.Record)
	for from, writes := range l.commits {
		for _, w := range writes {
			if from <= at && from >= state[w.Block].From { // a later write of the same transaction counts
				state[w.Block] = backup.Record{Block: w.Block, From: from, Data: w.Data}
			}
		}
	}
	return state
}

// files are backups of a load, each going on from the one before.
type files struct {
	bytes   [][]byte
	headers []backup.Header
}

// take makes the next backup.
func (l *load) take(f *files) {
	l.t.Helper()
	o := take.Options{}
	if n := len(f.headers); n > 0 {
		o.Earlier = &f.headers[n-1]
	}
	var out bytes.Buffer
	r, err := take.Backup(l.ctx, l.db, &out, o)
	if err != nil {
		l.t.Fatal(err)
	}
	f.bytes, f.headers = append(f.bytes, out.Bytes()), append(f.headers, r.Header)
}

// chain opens the first n backups.
func (f *files) chain(t *testing.T, n int) *backup.Chain {
	t.Helper()
	var readers []*backup.Reader
	for i, b := range f.bytes[:n] {
		r, err := backup.NewReader(bytes.NewReader(b), fmt.Sprintf("file %d", i))
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	c, err := backup.NewChain(readers)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// equal reports how two contents differ.
func equal(got, want map[occ.BlockID]backup.Record) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d blocks, not %d", len(got), len(want))
	}
	for b, w := range want {
		if g := got[b]; g.From != w.From || !bytes.Equal(trim(g.Data), trim(w.Data)) {
			return fmt.Errorf("block %d from %d (%d bytes), not %d (%d bytes)", b, g.From, len(trim(g.Data)), w.From, len(trim(w.Data)))
		}
	}
	return nil
}

func trim(b []byte) []byte { return bytes.TrimRight(b, "\x00") }

func content(c *backup.Chain) (map[occ.BlockID]backup.Record, error) {
	all := make(map[occ.BlockID]backup.Record)
	for {
		r, err := c.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		r.Data = bytes.Clone(r.Data)
		all[r.Block] = r
	}
}
