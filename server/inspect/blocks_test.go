package inspect

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// withCheckpoint adds a checkpoint to a store of makeStore: of timestamp 3, with
// versions of blocks 1 to 3, the log up to entry 1.
func withCheckpoint(t testing.TB, path string, state record.State) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := storedir.Open(path, storedir.Options{})
	check(err)
	defer d.Close()
	dir := filepath.Join(path, "blocks")
	check(os.MkdirAll(dir, 0o700))
	s, _, err := blocks.Open(disk.OS(dir), blocks.Options{Store: d.StoreID(), BlockSize: d.BlockSize()})
	check(err)
	s.Put(1, 1, []byte("one"))
	s.Put(2, 2, nil)
	s.Put(3, 3, []byte("three"))
	check(s.Begin(blocks.Moment{LogIndex: 1, Stable: 3}, bytes.NewReader(record.AppendState(nil, &state))))
	for done := false; !done; {
		done, err = s.Step()
		check(err)
	}
	check(s.Close())
}

func checkpointState() record.State {
	return record.State{
		Stable: 3, Horizon: 2, Epoch: 1, Next: 65,
		Sessions: []record.SessionState{{ID: alice, Mark: 2, Next: 4, Outcomes: []record.Outcome{{Seq: 3, Digest: 0xabc, At: 3}}}},
		Pins:     []record.Pin{{Name: "night", At: 3, Lease: time.Hour}},
	}
}

func TestCheckpoint(t *testing.T) {
	path := makeStore(t, 1, group(opening()...), group(commit(4, 4, 1)))
	withCheckpoint(t, path, checkpointState())
	s, found := mustCheck(t, path)
	c := s.Checkpoint
	if len(found) > 0 || s.Verdict != Clean || c == nil || s.Replayed != 2 {
		t.Fatalf("%+v, %v", s, found)
	}
	want := Checkpoint{Number: 1, LogIndex: 1, Stable: 3, Horizon: 2, Epoch: 1, Sessions: 1, Pins: 1, Versions: 3, Bytes: 8, Slots: 2,
		BlockBytes: layout.PageSize + 2*96, IndexBytes: c.IndexBytes}
	if *c != want {
		t.Errorf("%+v, not %+v", *c, want)
	}
	var out strings.Builder
	s.WriteTo(&out)
	for _, line := range []string{"checkpoint       1, up to entry 1, timestamp 3", "versions         3, 8 bytes, in 4288 bytes"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, &out)
		}
	}
	out.Reset()
	if err := Dump(t.Context(), path, &out, DumpOptions{Blocks: true}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"header   file=header offset=0 checkpoint=0 log_index=0 stable=0 ",
		"header   file=header offset=4096 checkpoint=1 log_index=1 stable=3 ",
		"slots    file=blocks bytes=4288 slots=2\n",
		"index    file=index-0000000000000001 named=true\n",
		"state    file=index-0000000000000001 stable=3 horizon=2 epoch=1 next_block=65 sessions=1 pins=1\n",
		"session  file=index-0000000000000001 session=07000000000000000000000000000000 mark=2 next=4 outcomes=1\n",
		"pin      file=index-0000000000000001 name=\"night\" at=3 lease=1h0m0s\n",
		"version  file=index-0000000000000001 block=1 from=1 bytes=3 slot=0 offset=4096 crc=",
		"version  file=index-0000000000000001 block=2 from=2 bytes=0\n",
		"version  file=index-0000000000000001 block=3 from=3 bytes=5 slot=1 offset=4192 crc=",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, &out)
		}
	}
}

// TestMisfits: files that are whole, but not of one store or one moment.
func TestMisfits(t *testing.T) {
	for name, c := range map[string]struct {
		state    func(s *record.State)
		payloads [][]byte
		do       func(t *testing.T, path string)
		kind     Kind
		reason   string
	}{
		"state of another moment": {state: func(s *record.State) { s.Stable = 4 }, kind: Index, reason: "its state is of timestamp 4, its header of 3"},
		"state that cannot be":    {state: func(s *record.State) { s.Next = 0 }, kind: Index, reason: "no block id is the next"},
		"newer epoch":             {state: func(s *record.State) { s.Epoch = 9 }, kind: StoreFile, reason: "epoch 1 is older than the checkpoint, which was written under epoch 9"},
		"log that does not follow": {payloads: [][]byte{group(opening()...), group(commit(6, 4, 1))}, kind: Replay,
			reason: "timestamp 6 after 3"},
		"log that is older": {do: func(t *testing.T, path string) {
			if err := os.RemoveAll(filepath.Join(path, "log")); err != nil {
				t.Fatal(err)
			}
		}, kind: Fit, reason: "the log ends with entry 0, but the checkpoint with entry 1"},
		"log that is newer": {payloads: [][]byte{group(opening()...), group(commit(4, 4, 1)), group(commit(5, 5, 1)), group(commit(6, 6, 1))},
			do: func(t *testing.T, path string) {
				in, err := storedir.Inspect(path)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				log, _, err := wal.Open(in.LogDir(), in.Store, wal.Options{SegmentBytes: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer log.Close()
				if _, err := log.Fence(2); err != nil {
					t.Fatal(err)
				}
				if _, err := log.Append(group(commit(7, 7, 1))); err != nil {
					t.Fatal(err)
				}
				if err := log.Trim(4); err != nil {
					t.Fatal(err)
				}
			}, kind: Fit, reason: "the log begins with entry 5, but the checkpoint ends with entry 1"},
		"blocks of another store": {do: func(t *testing.T, path string) {
			other := makeStore(t, 1)
			withCheckpoint(t, other, checkpointState())
			replace(t, filepath.Join(path, "blocks"), filepath.Join(other, "blocks"))
		}, kind: Header, reason: "it belongs to store"},
		"block file of another store": {do: func(t *testing.T, path string) {
			other := makeStore(t, 1)
			withCheckpoint(t, other, checkpointState())
			replace(t, filepath.Join(path, "blocks/blocks"), filepath.Join(other, "blocks/blocks"))
		}, kind: BlockFile, reason: "it belongs to store"},
	} {
		t.Run(name, func(t *testing.T) {
			payloads := c.payloads
			if payloads == nil {
				payloads = [][]byte{group(opening()...), group(commit(4, 4, 1))}
			}
			path := makeStore(t, 1, payloads...)
			state := checkpointState()
			if c.state != nil {
				c.state(&state)
			}
			withCheckpoint(t, path, state)
			if c.do != nil {
				c.do(t, path)
			}
			s, found := mustCheck(t, path)
			if s.Verdict != Damaged || len(found) == 0 || !containsFinding(found, c.kind, c.reason) {
				t.Errorf("%s, found %v", s.Verdict, found)
			}
		})
	}
}

func containsFinding(found []Finding, k Kind, reason string) bool {
	for _, f := range found {
		if f.Kind == k && strings.Contains(f.Reason, reason) {
			return true
		}
	}
	return false
}

func replace(t *testing.T, path, by string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(by, path); err != nil {
		t.Fatal(err)
	}
}

// FuzzBlockStore puts any bytes over a file of the block store: there is
// always a verdict, within bounded memory.
func FuzzBlockStore(f *testing.F) {
	path := makeStore(f, 1, group(opening()...), group(commit(4, 4, 1)))
	withCheckpoint(f, path, checkpointState())
	names := []string{"header", "blocks", "index-0000000000000001"}
	sound := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if sound[i], err = os.ReadFile(filepath.Join(path, "blocks", name)); err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), uint16(40), []byte{0xff}, false)
		f.Add(uint8(i), uint16(len(sound[i])-5), []byte{1, 2, 3}, true)
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, b []byte, cut bool) {
		i := int(which) % len(names)
		content := bytes.Clone(sound[i])
		at = min(at, uint16(len(content)))
		content = append(content[:at], append(bytes.Clone(b), content[min(len(content), int(at)+len(b)):]...)...)
		if cut {
			content = content[:at]
		}
		name := filepath.Join(path, "blocks", names[i])
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(name, sound[i], 0o600)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, found := mustCheck(t, path)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20+1000*uint64(len(content)) {
			t.Errorf("%d bytes were allocated", n)
		}
		if (s.Verdict == Clean) != (len(found) == 0) {
			t.Errorf("%s with %v", s.Verdict, found)
		}
		if bytes.Equal(content, sound[i]) && s.Verdict != Clean {
			t.Errorf("a sound store has %v", found)
		}
	})
}
