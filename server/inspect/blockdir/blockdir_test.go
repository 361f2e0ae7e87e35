package blockdir

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

var owner = layout.Owner{Store: occ.StoreID{1}, BlockSize: 100}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// make2 writes a directory with two checkpoints; in the second, block 1 has a
// newer version, and the slot of the older one is free.
func make2(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	s, _, err := blocks.Open(disk.OS(path), blocks.Options{Store: owner.Store, BlockSize: owner.BlockSize})
	must(t, err)
	for at := occ.Timestamp(1); at <= 2; at++ {
		if at == 2 {
			s.Drop(1, 1)
		}
		s.Put(1, at, []byte{byte(at)})
		must(t, s.Begin(blocks.Moment{LogIndex: uint64(at), Stable: at}, strings.NewReader("state")))
		for done := false; !done; {
			done, err = s.Step()
			must(t, err)
		}
	}
	must(t, s.Close())
	return path
}

func open(t *testing.T, path string, o layout.Owner) *Dir {
	t.Helper()
	d, err := Open(path, o)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDir(t *testing.T) {
	path := make2(t)
	d := open(t, path, layout.Owner{})
	newest := d.Newest()
	if d.Owner != owner || d.Empty() || d.BlocksPage != nil || newest == nil || newest.Header.Checkpoint != 2 || !slices.Equal(d.Indexes, []uint64{2}) {
		t.Fatalf("%+v", d)
	}
	guess, ok, err := d.Guess(2)
	must(t, err)
	h := newest.Header
	h.LogIndex, h.Stable, h.Slots = 0, occ.Open, layout.MaxSlots
	if !ok || guess != h {
		t.Errorf("%+v, not %+v", guess, h)
	}
	var state []byte
	var versions []layout.Version
	damage, err := d.ReadIndex(guess, layout.Visitor{
		State:   func(b []byte) { state = append(state, b...) },
		Version: func(v layout.Version) error { versions = append(versions, v); return nil },
	})
	if err != nil || damage != nil || string(state) != "state" || len(versions) != 1 || versions[0].From != 2 {
		t.Fatalf("%v, %v, %q, %+v", damage, err, state, versions)
	}
	if data, damage, err := d.Read(versions[0]); err != nil || damage != nil || !bytes.Equal(data, []byte{2}) {
		t.Errorf("%x, %v, %v", data, damage, err)
	}
	other := versions[0]
	other.From = 1
	if _, damage, err := d.Read(other); err != nil || damage == nil || damage.From != 1 || damage.Block != 1 {
		t.Errorf("another version: %v, %v", damage, err)
	}
	oops := errors.New("oops")
	if _, err := d.ReadIndex(guess, layout.Visitor{State: func([]byte) {}, Version: func(layout.Version) error { return oops }}); !errors.Is(err, oops) {
		t.Error(err)
	}
}

// TestSlots: a checkpoint needs the slots that its versions name, and one for
// each.
func TestSlots(t *testing.T) {
	d := open(t, make2(t), owner)
	h := d.Newest().Header
	h.Slots = d.Slots()
	if damage := d.Short(h); damage != nil {
		t.Error(damage)
	}
	h.Slots++
	if damage := d.Short(h); damage == nil || damage.File != d.BlocksPath() || damage.Offset != d.BlocksBytes {
		t.Errorf("a block file that is too short: %v", damage)
	}
	for second, want := range []string{"version (2, 2): slot 0 is another version's", ""} {
		w := layout.NewIndexWriter(owner, 3)
		w.Add(layout.Version{Block: 1, From: 1, Size: 1, Slot: 0})
		w.Add(layout.Version{Block: 2, From: 2, Size: 1, Slot: uint32(second)})
		w.Add(layout.Version{Block: 3, From: 2, Slot: layout.NoSlot})
		w.Add(layout.Version{Block: 4, From: 2, Slot: layout.NoSlot})
		w.End()
		must(t, os.WriteFile(d.IndexPath(3), w.Bytes, 0o600))
		h := layout.Header{
			Owner: owner, Checkpoint: 3, Stable: 2, Slots: 2, Versions: 4,
			IndexBytes: uint64(len(w.Bytes)), IndexCRC: layout.Checksum(0, w.Bytes),
		}
		damage, err := d.ReadIndex(h, layout.Visitor{Version: func(layout.Version) error { return nil }})
		must(t, err)
		if (damage == nil) != (want == "") || damage != nil && damage.Reason != want {
			t.Errorf("slot %d: %v, want %q", second, damage, want)
		}
	}
}

// TestScan finds versions that no index names any more.
func TestScan(t *testing.T) {
	path := make2(t)
	scan := func() (whole []occ.Timestamp, damaged int) {
		d := open(t, path, owner)
		must(t, d.Scan(func(s layout.Slot) error { whole = append(whole, s.From); return nil },
			func(*Damage) error { damaged++; return nil }))
		return whole, damaged
	}
	whole, damaged := scan()
	if slices.Sort(whole); !slices.Contains(whole, 2) || damaged > 0 {
		t.Fatalf("%v, %d", whole, damaged)
	}
	n := len(whole)
	f, err := os.OpenFile(filepath.Join(path, "blocks"), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	tail := bytes.Repeat([]byte{0}, 3*owner.SlotSize()+20)
	layout.EncodeSlot(tail[:owner.SlotSize()], layout.Slot{Block: 9, From: 9, Data: []byte("x")})
	tail[2*owner.SlotSize()] = 1 // no slot
	_, err = f.WriteAt(tail, owner.SlotOffset(uint32(open(t, path, owner).Slots())))
	must(t, err)
	if whole, damaged := scan(); len(whole) != n+1 || damaged != 1 {
		t.Errorf("%v, %d", whole, damaged)
	}
}

func TestWhose(t *testing.T) {
	path := make2(t)
	other := owner
	other.BlockSize++
	d := open(t, path, other)
	if d.Newest() != nil || !d.Headers[0].Foreign || d.BlocksPage == nil || !d.Foreign || d.Owner != other {
		t.Errorf("%+v", d)
	}
	must(t, d.Scan(func(s layout.Slot) error { t.Errorf("%+v", s); return nil }, func(*Damage) error { return nil }))
	if _, err := Open(filepath.Join(path, "missing"), owner); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if d := open(t, t.TempDir(), owner); !d.Empty() || d.Slots() != 0 {
		t.Errorf("an empty directory: %+v", d)
	}
	// A newer format is no damage.
	for _, name := range []string{"header", "blocks"} {
		path := make2(t)
		b, err := os.ReadFile(filepath.Join(path, name))
		must(t, err)
		b[8] = 2
		sum := crc32.Checksum(b[:layout.PageSize-4], crc32.MakeTable(crc32.Castagnoli))
		copy(b[layout.PageSize-4:], []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
		must(t, os.WriteFile(filepath.Join(path, name), b, 0o600))
		var version *VersionError
		if _, err := Open(path, owner); !errors.As(err, &version) || version.Version != 2 || filepath.Base(version.File) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
