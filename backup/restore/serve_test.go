package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/backup/take"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// switching is a backend whose server can be replaced.
type switching struct{ srv atomic.Pointer[server.Server] }

func (s *switching) ServeConn(c net.Conn) error { return s.srv.Load().ServeConn(c) }

// read returns what a client sees of blocks.
func read(ctx context.Context, db *client.DB, blocks []occ.BlockID) (map[occ.BlockID]string, error) {
	seen := make(map[occ.BlockID]string)
	err := db.View(ctx, func(tx *client.Tx) error {
		data, err := tx.ReadMany(blocks)
		for i := range data {
			seen[blocks[i]] = string(trim(data[i]))
		}
		return err
	})
	return seen, err
}

// A restored directory is served like any other, also after it was restarted.
// A client that was connected to the original notices, even if what was
// restored has gone further meanwhile; ids that were leased before the backup
// are never leased again.
func TestRestoredStoreServes(t *testing.T) {
	for name, commits := range map[string]int{"behind the client": 0, "ahead of the client": 500} {
		t.Run(name, func(t *testing.T) { serveRestored(t, commits) })
	}
}

func serveRestored(t *testing.T, commits int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	original, restored := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "data")
	options := server.Options{Dir: original, BlockSize: blockSize, CheckpointBytes: 4096}
	first := serve(t, options)
	var backend switching
	backend.srv.Store(first)
	db, err := client.Local(&backend, client.Options{})
	check(err)
	defer db.Close()
	write := func(db *client.DB, text string, blocks ...occ.BlockID) {
		t.Helper()
		check(db.Update(ctx, func(tx *client.Tx) error {
			for _, b := range blocks {
				if err := tx.Write(b, fmt.Appendf(nil, "%s %d", text, b)); err != nil {
					return err
				}
			}
			return nil
		}))
	}

	// Some commits, a full backup, more commits, what changed since, and then
	// commits that are lost.
	id, err := db.CreateRange(ctx, 100)
	check(err)
	blocks := make([]occ.BlockID, 100)
	for i := range blocks {
		blocks[i] = id + occ.BlockID(i)
	}
	var f files
	l := &load{t: t, ctx: ctx, db: db}
	write(db, "one", blocks[:60]...)
	l.take(&f)
	write(db, "two", blocks[50:80]...)
	write(db, "", blocks[5])
	l.take(&f)
	want, err := read(ctx, db, blocks)
	check(err)
	write(db, "lost", blocks...)
	_, err = db.CreateRange(ctx, 1)
	check(err)
	known := db.Store()

	r, err := restore.Directory(ctx, restored, f.chain(t, 2), restore.Options{})
	check(err)
	options.Dir = restored
	second, err := server.Open(options)
	check(err)
	stranger, err := client.Local(second, client.Options{})
	check(err)
	seen, err := read(ctx, stranger, blocks)
	check(err)
	for b, text := range want {
		if seen[b] != text {
			t.Errorf("block %d is %q, not %q", b, seen[b], text)
		}
	}
	if next, err := stranger.CreateRange(ctx, 10); err != nil || next != f.headers[1].Next {
		t.Errorf("leased from %d, %v; the backup says %d", next, err, f.headers[1].Next)
	}
	for n := range commits {
		write(stranger, fmt.Sprintf("new %d", n), blocks[n%100])
	}
	// What it is told of the original means nothing here.
	if err := stranger.View(ctx, func(*client.Tx) error { return nil }, client.After(db.Token())); !errors.As(err, new(*client.TokenError)) {
		t.Errorf("a token of the original: %v", err)
	}
	place := stranger.Token()

	// The client that was connected finds the restored store in its place.
	backend.srv.Store(second)
	check(first.Shutdown(ctx))
	_, err = read(ctx, db, blocks)
	for err == nil { // as long as its cache serves it
		_, err = read(ctx, db, blocks)
	}
	var changed *client.StoreChangedError
	if !errors.As(err, &changed) || changed.Was != known || changed.StoreChange.Is != known {
		t.Fatalf("the client that was connected: %v", err)
	}
	db.AcceptStore()
	write(db, "after", blocks[7])
	check(stranger.Close())
	check(second.Shutdown(ctx))

	// It can be restarted and backed up, but what went before cannot go on.
	third := serve(t, options)
	again := connect(t, third)
	seen, err = read(ctx, again, blocks[7:8])
	check(err)
	if seen[blocks[7]] != fmt.Sprintf("after %d", blocks[7]) {
		t.Errorf("after a restart block %d is %q", blocks[7], seen[blocks[7]])
	}
	check(again.View(ctx, func(*client.Tx) error { return nil }, client.After(place)))
	if again.Epoch()>>32 != r.Epoch>>32 || again.Epoch() == r.Epoch {
		t.Errorf("served in epoch %d, restored in %d", again.Epoch(), r.Epoch)
	}
	if _, err := take.Backup(ctx, again, io.Discard, take.Options{Earlier: &f.headers[1]}); !errors.As(err, new(*take.MismatchError)) {
		t.Errorf("an incremental backup across a restore: %v", err)
	}
	full, err := take.Backup(ctx, again, io.Discard, take.Options{})
	check(err)
	if full.Generation() != occ.Generation(r.Epoch) || full.Records != uint64(max(80, min(commits, 100))) {
		t.Errorf("%+v", full)
	}
}

// An empty store can be backed up and restored, too.
func TestEmptyStore(t *testing.T) {
	l := newLoad(t)
	var f files
	l.take(&f)
	dir := filepath.Join(t.TempDir(), "data")
	if r, err := restore.Directory(l.ctx, dir, f.chain(t, 1), restore.Options{}); err != nil || r.Blocks != 0 || r.At != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	db := connect(t, serve(t, server.Options{Dir: dir}))
	first, err := db.CreateRange(l.ctx, 1)
	if err != nil || first != l.first+leased || db.BlockSize() != blockSize {
		t.Errorf("leased %d, %v, blocks of %d bytes", first, err, db.BlockSize())
	}
}
