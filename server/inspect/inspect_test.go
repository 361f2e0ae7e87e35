package inspect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

var alice = occ.SessionID{7}

func commit(at occ.Timestamp, seq uint64, blocks ...occ.BlockID) *record.Commit {
	c := &record.Commit{At: at, Session: alice, Seq: seq, Acked: seq - 1, Digest: 0xabc}
	for _, b := range blocks {
		c.Writes = append(c.Writes, occ.Write{Block: b, Data: bytes.Repeat([]byte{byte(b)}, int(8*b))})
	}
	return c
}

// opening are the records of a store before its first transaction.
func opening() []record.Record {
	return []record.Record{&record.Epoch{Epoch: 1}, &record.Session{ID: alice}, &record.Lease{Session: alice, First: 1, Count: 64}}
}

// makeStore writes a store whose log has these payloads.
func makeStore(t testing.TB, epoch uint64, payloads ...[]byte) string {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := t.TempDir()
	d, err := storedir.Open(path, storedir.Options{BlockSize: 64})
	check(err)
	_, err = d.NextEpoch()
	check(err)
	log, _, err := wal.Open(d.LogDir(), d.StoreID(), wal.Options{})
	check(err)
	_, err = log.Fence(epoch)
	check(err)
	for _, p := range payloads {
		_, err := log.Append(p)
		check(err)
	}
	check(log.Close())
	check(d.Close())
	return path
}

func group(records ...record.Record) []byte {
	return record.Append(nil, record.Group{Records: records})
}

// tree is every file below a directory.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var b []byte
		if !e.IsDir() {
			b, err = os.ReadFile(path)
		}
		files[path] = info.Mode().String() + info.ModTime().String() + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mustCheck checks and dumps a store, which changes nothing, and returns what
// was found.
func mustCheck(t testing.TB, path string) (*Summary, []Finding) {
	t.Helper()
	before := tree(t, path)
	defer func() {
		if !maps.Equal(before, tree(t, path)) {
			t.Error("the directory was changed")
		}
	}()
	if err := Dump(t.Context(), path, io.Discard, DumpOptions{Blocks: true}); err != nil {
		t.Fatal(err)
	}
	var found []Finding
	told := int64(0)
	s, err := Check(t.Context(), path, CheckOptions{Progress: func(done, of int64) {
		if done <= told || done > of {
			t.Errorf("progress went from %d to %d of %d bytes", told, done, of)
		}
		told = done
	}, Report: func(f Finding) error {
		found = append(found, f)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s, found
}

func TestSummary(t *testing.T) {
	path := makeStore(t, 1, group(opening()...),
		group(commit(1, 1, 1, 2), commit(2, 2, 3)), group(commit(3, 5, 1), &record.Trim{Session: alice, UpTo: 4}),
		group(&record.Horizon{At: 2}, &record.SessionEnd{ID: alice}))
	s, found := mustCheck(t, path)
	if len(found) > 0 || s.Verdict != Clean {
		t.Fatalf("%+v, found %v", s, found)
	}
	want := Summary{
		Verdict: Clean, Store: s.Store, BlockSize: 64, Epoch: 1, Segments: 1, Bytes: s.Bytes,
		Entries: 4, First: 1, Last: 4, LogEpoch: 1, Replayed: 4, Transactions: 3, FirstAt: 1, LastAt: 3,
		Blocks: 4, BlockBytes: 8 + 16 + 24 + 8, Sessions: 1, SessionsEnded: 1, Leases: 1, Leased: 64, Trims: 1, Horizon: 2, Epochs: 1,
	}
	want.Leftover = s.Leftover
	var got, expected strings.Builder
	s.WriteTo(&got)
	want.WriteTo(&expected)
	if got.String() != expected.String() || s.Bytes == 0 || s.Replayed != want.Replayed || s.Trims != 1 || s.Epochs != 1 {
		t.Errorf("got\n%swant\n%s", &got, &expected)
	}
}

// TestWhoseStoreItIs: without a store file, the block store or the log says whose
// it is, if there is anything in them.
func TestWhoseStoreItIs(t *testing.T) {
	for name, c := range map[string]struct {
		keep []string // of the directory
		says string   // behind the id
	}{
		"log":    {[]string{"log"}, ", says what is in it"},
		"blocks": {[]string{"blocks"}, ", says what is in it"},
		"all":    {[]string{"log", "blocks", "tidemark.store"}, ""},
		"none":   {nil, "unknown: nothing says whose it is"},
	} {
		t.Run(name, func(t *testing.T) {
			path, part := makeStore(t, 1, group(opening()...)), t.TempDir()
			withCheckpoint(t, path, checkpointState())
			in, err := storedir.Inspect(path)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			want, line := in.Store.String(), in.Store.String()+c.says
			if c.keep == nil { // as half of a restore has it
				want, line = "", c.says
				err = os.Mkdir(filepath.Join(part, "log"), 0o700)
			}
			for _, keep := range c.keep {
				err = errors.Join(err, os.Rename(filepath.Join(path, keep), filepath.Join(part, keep)))
			}
			if err != nil {
				t.Fatal(err)
			}
			s, _ := mustCheck(t, part)
			var text strings.Builder
			s.WriteTo(&text)
			if first, _, _ := strings.Cut(text.String(), "\n"); s.Store != want || strings.Fields(first)[0] != "store" || !strings.HasSuffix(first, " "+line) {
				t.Errorf("%q, %q, not %q", s.Store, first, line)
			}
		})
	}
}

// TestRecordsThatCannotBe: whole entries whose content no server takes.
func TestRecordsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		epoch    uint64
		payloads [][]byte
		kind     Kind
		index    uint64
		reason   string
		places   int
		replayed uint64
	}{
		"timestamps out of order": {1, [][]byte{group(opening()...), group(commit(1, 1, 1)), group(commit(3, 2, 1)), group(commit(4, 3, 1))},
			Replay, 3, "timestamp 3 after 1", 1, 2},
		"unknown session": {1, [][]byte{group(commit(1, 1, 1))}, Replay, 1, "unknown session", 1, 0},
		"block too large": {1, [][]byte{group(append(opening(), commit(1, 1, 9))...)}, Replay, 1, "block 9 has 72 bytes", 1, 0},
		"lease twice":     {1, [][]byte{group(opening()...), group(&record.Lease{Session: alice, First: 1, Count: 5})}, Replay, 2, "lease", 1, 1},
		"no records":      {1, [][]byte{group(opening()...), []byte("\x01arbage"), group(commit(1, 1, 1))}, Record, 2, "record count at byte 1: input ends too early", 1, 1},
		"older store file": {3, [][]byte{group(opening()...)}, StoreFile, 0, "epoch 1 is older than the log, which was written under epoch 3",
			1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, found := mustCheck(t, makeStore(t, c.epoch, c.payloads...))
			if len(found) != c.places || s.Places != c.places || s.Verdict != Damaged || s.Replayed != c.replayed {
				t.Fatalf("%+v, found %v", s, found)
			}
			f := found[0]
			if f.Kind != c.kind || f.Index != c.index || !strings.Contains(f.Reason, c.reason) || !strings.HasPrefix(f.String(), "corruption: ") {
				t.Errorf("found %v", f)
			}
			if s.Entries != uint64(len(c.payloads)) {
				t.Errorf("%d entries", s.Entries)
			}
		})
	}
}

func TestDump(t *testing.T) {
	path := makeStore(t, 1, group(opening()...), group(commit(1, 1, 1, 2)), []byte("\x01arbage"),
		group(&record.Horizon{At: 1}, &record.Trim{Session: alice, UpTo: 1}, &record.SessionEnd{ID: alice},
			&record.Pin{Name: "night", At: 1, Lease: time.Hour}, &record.Unpin{Name: "night"}))
	dump := func(opts DumpOptions) []string {
		var b bytes.Buffer
		if err := Dump(t.Context(), path, &b, opts); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	var words []string
	lines := dump(DumpOptions{Blocks: true})
	for _, line := range lines {
		words = append(words, strings.Fields(line)[0])
	}
	want := "store segment entry epoch session lease entry commit block block entry damage entry horizon trim end pin unpin"
	if got := strings.Join(words, " "); got != want {
		t.Errorf("lines of\n%s, not\n%s", got, want)
	}
	const id = "07000000000000000000000000000000"
	for i, want := range map[int]string{
		3:  "epoch    index=1 epoch=1 offset=0 record=0 number=1",
		5:  "lease    index=1 epoch=1 offset=0 record=2 session=" + id + " first=1 count=64",
		7:  "at=1 session=" + id + " seq=1 acked=0 digest=00000abc blocks=2 bytes=24",
		8:  "block=1 bytes=8 crc=",
		11: "log record: record count at byte 1: input ends too early",
		15: "record=2 session=" + id,
		16: `record=3 name="night" at=1 lease=1h0m0s`,
		17: `record=4 name="night"`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, without %q", i, lines[i], want)
		}
	}
	if lines := dump(DumpOptions{From: 4}); len(lines) != 8 {
		t.Errorf("from entry 4: %q", lines)
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWhatEndsThem(t *testing.T) {
	path := makeStore(t, 1, group(opening()...), []byte("\x01arbage"))
	enough := errors.New("enough")
	if err := Dump(t.Context(), path, full{enough}, DumpOptions{}); !errors.Is(err, enough) {
		t.Errorf("a full disk: %v", err)
	}
	if _, err := Check(t.Context(), path, CheckOptions{Report: func(Finding) error { return enough }}); !errors.Is(err, enough) {
		t.Errorf("who is told: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := Dump(ctx, path, &bytes.Buffer{}, DumpOptions{}); !errors.Is(err, enough) {
		t.Errorf("dump interrupted: %v", err)
	}
	if _, err := Check(ctx, path, CheckOptions{Report: func(Finding) error { return nil }}); !errors.Is(err, enough) {
		t.Errorf("check interrupted: %v", err)
	}
}

// FuzzInspect puts any bytes where a segment should be, alone or behind a
// sound one, with the store file or without: there is always a verdict, within
// bounded memory.
func FuzzInspect(f *testing.F) {
	path := makeStore(f, 1, group(opening()...), group(commit(1, 1, 1, 2)), group(commit(2, 2, 3)))
	segment := filepath.Join(path, "log", "00000000000000000001")
	sound, err := os.ReadFile(segment)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound, false)
	f.Add(sound[:len(sound)-3], false)
	f.Add(sound[70:], false)
	f.Add(sound, true)
	f.Add(bytes.Repeat([]byte{0xff}, 70), true)
	f.Add(append(make([]byte, 200), sound...), false)
	f.Fuzz(func(t *testing.T, b []byte, behind bool) {
		content := b
		if behind {
			content = append(bytes.Clone(sound), b...)
		}
		if err := os.WriteFile(segment, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, found := mustCheck(t, path)
		runtime.ReadMemStats(&after)
		// Each damaged place costs two buffers of the reader; nothing else
		// exceeds what is there.
		limit := uint64(4<<20) + uint64(len(found)+1)*4*(64<<10) + 1000*uint64(len(content))
		if n := after.TotalAlloc - before.TotalAlloc; n > limit {
			t.Errorf("%d bytes were allocated for a segment of %d with %d damaged places", n, len(content), len(found))
		}
		if (s.Verdict == Clean) != (len(found) == 0) {
			t.Errorf("%s with %v", s.Verdict, found)
		}
		if behind && s.Entries < 3 {
			t.Errorf("%d entries", s.Entries)
		}
		for _, f := range found {
			if line := f.String(); strings.Contains(line, "\n") {
				t.Errorf("%q", line)
			}
		}
	})
}
