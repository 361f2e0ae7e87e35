package take

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

func TestFullAndIncremental(t *testing.T) {
	r := newRig(t)
	r.lease(100)
	r.write("a", 1, 2, 3)
	r.write("", 2)
	var full, inc, same bytes.Buffer
	one, err := Backup(r.ctx, r.db, &full, Options{})
	r.check(err)
	r.write("b", 2, 5)
	r.lease(1)
	two, err := Backup(r.ctx, r.db, &inc, Options{Earlier: &one.Header})
	r.check(err)
	three, err := Backup(r.ctx, r.db, &same, Options{Since: two.At})
	r.check(err)
	for _, c := range []struct {
		b    []byte
		want string
	}{{full.Bytes(), " 1a 2 3a"}, {inc.Bytes(), " 2b 5b"}, {same.Bytes(), ""}} {
		if got := records(t, c.b); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	h := backup.Header{Store: r.db.Store(), BlockSize: 512, Epoch: r.db.Epoch(), At: 2, Next: 101}
	if one.Header != h || one.Records != 3 || one.DataBytes != 2 || one.FileBytes != int64(full.Len()) || one.Pinned != "" {
		t.Errorf("%+v", one)
	}
	h.At, h.Since, h.Next = 3, 2, 102
	if two.Header != h {
		t.Errorf("%+v", two)
	}
	if h.Since = 3; three.Header != h {
		t.Errorf("%+v", three)
	}
	if pins := r.pins(); len(pins) > 0 {
		t.Errorf("pinned afterwards: %+v", pins)
	}
}

func TestMismatch(t *testing.T) {
	r := newRig(t)
	r.write("a", 1)
	var out bytes.Buffer
	one, err := Backup(r.ctx, r.db, &out, Options{})
	r.check(err)
	for want, change := range map[string]func(*backup.Header){
		"that is of store":                  func(h *backup.Header) { h.Store[0]++ },
		"the store has been restored since": func(h *backup.Header) { h.Epoch += 1 << 32 },
		"timestamp 9, the store is at 1":    func(h *backup.Header) { h.At = 9 },
	} {
		h := one.Header
		change(&h)
		out.Reset()
		_, err := Backup(r.ctx, r.db, &out, Options{Earlier: &h})
		if !errors.As(err, new(*MismatchError)) || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%v, not %s; %d bytes written", err, want, out.Len())
		}
	}
	if _, err := Backup(r.ctx, r.db, &out, Options{Since: 2}); !errors.As(err, new(*MismatchError)) {
		t.Errorf("since a timestamp to come: %v", err)
	}
	if pins := r.pins(); len(pins) > 0 {
		t.Errorf("pinned afterwards: %+v", pins)
	}
}

// A block whose data are damaged is named, with what can be done.
func TestDamagedBlock(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(t.TempDir(), "store")
	srv := r.open(server.Options{Dir: dir, BlockSize: 512})
	var err error
	r.db, err = client.Local(r.backend, client.Options{})
	r.check(err)
	r.write("whole", 1, 2)
	r.write("to be damaged", 3)
	r.write("whole", 4)
	r.check(errors.Join(r.db.Close(), srv.Shutdown(r.ctx)))
	path := filepath.Join(dir, "blocks", "blocks")
	b, err := os.ReadFile(path)
	r.check(err)
	b[bytes.Index(b, []byte("to be damaged"))] ^= 1
	r.check(os.WriteFile(path, b, 0o600))

	r.open(server.Options{Dir: dir, BlockSize: 512})
	var out bytes.Buffer
	_, err = Backup(r.ctx, r.another(), &out, Options{})
	var damaged *DamagedError
	want := "no backup can be made, as block 3 has damaged data since timestamp 2: write the whole block anew, or make a new store of what is whole " +
		"with tidemark store salvage (the server says: data cannot be read: block 3 from 2: checksum mismatch (the server's log says more))"
	if !errors.As(err, &damaged) || damaged.Block != 3 || damaged.From != 2 || err.Error() != want {
		t.Errorf("%v", err)
	}
	// What changed since does not include it.
	out.Reset()
	_, err = Backup(r.ctx, r.another(), &out, Options{Since: 2})
	r.check(err)
	if got := records(t, out.Bytes()); got != " 4whole" {
		t.Errorf("it holds %q", got)
	}
}

// many are blocks of which there are several frames.
func many() (blocks []occ.BlockID) {
	for b := range occ.BlockID(1500) {
		blocks = append(blocks, b+1)
	}
	return blocks
}

// another connects a client that has nothing in its cache.
func (r *rig) another() *client.DB {
	r.Helper()
	db, err := client.Local(r.backend, client.Options{})
	r.check(err)
	r.Cleanup(func() { db.Close() })
	return db
}

// hooked calls do once: in the middle of the data, or with the header.
type hooked struct {
	bytes.Buffer
	header bool
	writes int
	do     func()
}

func (h *hooked) Write(b []byte) (int, error) {
	if h.writes++; h.writes == 2 && !h.header || h.writes == 1 && h.header {
		h.do()
	}
	return h.Buffer.Write(b)
}

// What is backed up stays readable however long it takes: the lease of the pin
// is renewed, and commits and time go on.
func TestSlowBackup(t *testing.T) {
	r := newRig(t)
	r.check(r.db.SetServerClock(r.ctx, time.Second))
	text := strings.Repeat("a", 500)
	r.write(text, many()...)
	ticks := make(chan time.Time)
	w := &hooked{}
	w.do = func() {
		// Several leases pass, but never a whole one between two renewals.
		for n := range time.Duration(6) {
			r.check(r.db.SetServerClock(r.ctx, time.Second+(n+1)*30*time.Minute))
			ticks <- time.Time{}
			ticks <- time.Time{} // it is taken when the first has been dealt with
			r.write("b", many()...)
		}
		if pins := r.pins(); len(pins) != 1 || pins[0].At != 1 || !strings.HasPrefix(pins[0].Name, "backup-") {
			t.Errorf("pinned meanwhile: %+v", pins)
		}
	}
	_, err := Backup(r.ctx, r.another(), w, Options{Lease: time.Hour, renew: ticks})
	r.check(err)
	if got := records(t, w.Bytes()); strings.Count(got, text) != len(many()) || strings.Contains(got, "b") {
		t.Errorf("it holds %d of %d blocks as they were", strings.Count(got, text), len(many()))
	}
}

// A backup whose timestamp is no longer kept ends, and says so.
func TestLeaseLost(t *testing.T) {
	r := newRig(t)
	r.check(r.db.SetServerClock(r.ctx, time.Second))
	r.write(strings.Repeat("a", 500), many()...)
	for name, renewed := range map[string]bool{"the renewal finds out": true, "a read finds out": false} {
		ticks := make(chan time.Time)
		w := &hooked{}
		w.do = func() {
			status, err := r.db.ServerStatus(r.ctx)
			r.check(err)
			for at := status["stable"]; status["horizon"] <= at; {
				r.clock += time.Hour
				r.check(r.db.SetServerClock(r.ctx, r.clock))
				r.write("b", many()...)
				status, err = r.db.ServerStatus(r.ctx)
				r.check(err)
			}
			if renewed {
				ticks <- time.Time{}
			}
		}
		_, err := Backup(r.ctx, r.another(), w, Options{Lease: time.Minute, renew: ticks})
		if !errors.Is(err, client.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
		r.write(strings.Repeat("a", 500), many()...)
	}
}

// A server that is replaced by one of a restored store gives no backup of both,
// even if there is nothing to be read there.
func TestStoreGoesBackMeanwhile(t *testing.T) {
	for _, since := range []occ.Timestamp{0, 1} {
		for name, epoch := range map[string]uint64{"the server is restarted": 1, "the store is restored": 1 << 32} {
			r := newRig(t)
			r.write(strings.Repeat("a", 500), many()...)
			w := &hooked{header: since > 0, do: func() { r.replace(epoch) }}
			_, err := Backup(r.ctx, r.another(), w, Options{Since: since})
			if changed := errors.Is(err, client.ErrStoreChanged); changed != (epoch > 1) || err != nil && !changed {
				t.Errorf("%s, since %d: %v", name, since, err)
			}
		}
	}
}

// replace has another server take the place of the one before, of a store with
// the same id, above an epoch.
func (r *rig) replace(epoch uint64) {
	before := r.backend.srv.Load()
	memory := wal.NewMemory(r.db.Store(), 1<<30)
	log := memory.Open()
	_, err := log.Fence(epoch)
	r.check(err)
	_, err = log.Append(record.Append(nil, record.Group{Records: []record.Record{&record.Epoch{Epoch: epoch}}}))
	r.check(err)
	r.open(server.Options{BlockSize: 512, Log: memory.Open(), Store: r.db.Store()})
	other := r.another()
	for range 3 { // it has got further already
		r.check(other.Update(r.ctx, func(tx *client.Tx) error { return tx.Write(1, []byte("x")) }))
	}
	r.check(before.Shutdown(r.ctx))
}

func TestInterrupted(t *testing.T) {
	r := newRig(t)
	r.write(strings.Repeat("a", 500), many()...)
	ctx, cancel := context.WithCancel(r.ctx)
	w := &hooked{do: cancel}
	_, err := Backup(ctx, r.another(), w, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if pins := r.pins(); len(pins) > 0 {
		t.Errorf("pinned afterwards: %+v", pins)
	}
	if _, err := backup.NewReader(bytes.NewReader(w.Bytes()), "b"); err != nil {
		t.Errorf("not even the header: %v", err)
	}
}

var errDisk = errors.New("the disk is full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

func TestOutputFails(t *testing.T) {
	r := newRig(t)
	if _, err := Backup(r.ctx, r.db, failing{}, Options{}); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if pins := r.pins(); len(pins) > 0 {
		t.Errorf("pinned afterwards: %+v", pins)
	}
}
