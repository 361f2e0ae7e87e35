package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// image is the content of a disk.
type image map[string][]byte

func readDisk(d disk.Disk) (image, error) {
	img := image{}
	names, err := d.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := d.Open(name)
		if err != nil {
			return nil, err
		}
		size, err := f.Size()
		if err != nil {
			return nil, err
		}
		b := make([]byte, size)
		if _, err := f.ReadAt(b, 0); err != nil {
			return nil, err
		}
		img[name] = b
	}
	return img, nil
}

func imageOf(t *testing.T, d disk.Disk) image {
	t.Helper()
	img, err := readDisk(d)
	must(t, err)
	return img
}

func (img image) disk(t *testing.T) *disk.Memory {
	t.Helper()
	d := disk.NewMemory()
	for name, b := range img {
		f, err := d.Open(name)
		must(t, err)
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// with returns the image with another content of one file; nil: without it.
func (img image) with(name string, b []byte) image {
	img = maps.Clone(img)
	if img[name] = b; b == nil {
		delete(img, name)
	}
	return img
}

// closedWorld returns a world whose store is closed, and its files.
func closedWorld(t *testing.T, seed uint64) (*world, image) {
	t.Helper()
	w := newWorld(seed, tiny)
	must(t, w.run(disk.NewMemory(), 9))
	must(t, w.begin())
	must(t, w.finish())
	must(t, w.s.Close())
	return w, imageOf(t, w.disk)
}

// TestEveryFlip inverts a bit in every byte of every file. Either the store
// opens and all is exact, or it says what is damaged.
func TestEveryFlip(t *testing.T) {
	w, img := closedWorld(t, 21)
	number := w.s.Durable().Checkpoint
	newest := layout.HeaderOffset(number)
	places := w.slotsOf()
	refused, named, harmless := 0, 0, 0
	for name, content := range img {
		for at := range content {
			inPage := name == headerName || name == blocksName && at < layout.PageSize
			if inPage && at%layout.PageSize > 100 && at%layout.PageSize < layout.PageSize-8 && at%97 != 0 {
				continue // zeros, all alike
			}
			b := bytes.Clone(content)
			b[at] ^= 1 << (at % 8)
			d := img.with(name, b).disk(t)
			found, unusable := img.with(name, b).check(w.opts)
			s, _, err := Open(d, w.opts)
			if (err != nil) != (unusable != nil) {
				t.Fatalf("flip at %d of %s: opened with %v, check finds %v", at, name, err, unusable)
			}
			if err != nil {
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) {
					t.Fatalf("flip at %d of %s: %v", at, name, err)
				}
				older := name == headerName && (int64(at) < newest || int64(at) >= newest+layout.PageSize)
				slot := name == blocksName && at >= layout.PageSize
				if older || slot || name != headerName && corrupt.File != name {
					t.Fatalf("flip at %d of %s: %v", at, name, err)
				}
				refused++
				continue
			}
			var damaged []*CorruptError
			v := *w
			v.s = s
			for r := range w.live {
				var corrupt *CorruptError
				switch err := v.verifyOne(r); {
				case errors.As(err, &corrupt):
					damaged = append(damaged, corrupt)
				case err != nil:
					t.Fatalf("flip at %d of %s: %v", at, name, err)
				}
			}
			slot := w.s.owner.SlotOffset(0) + (int64(at)-layout.PageSize)/int64(w.s.owner.SlotSize())*int64(w.s.owner.SlotSize())
			r, inUse := places[slot]
			inData := inUse && int64(at) < slot+layout.SlotHeader+int64(len(w.live[r]))
			switch {
			case name != blocksName || !inData:
				if len(damaged) > 0 || name != blocksName && name != headerName {
					t.Fatalf("flip at %d of %s: %v", at, name, damaged)
				}
				harmless++
			case len(damaged) != 1 || damaged[0].File != name || damaged[0].Block != r.block || damaged[0].From != r.from ||
				damaged[0].Offset < slot || damaged[0].Offset >= slot+layout.SlotHeader:
				t.Fatalf("flip at %d of %s, in version %v: %v", at, name, r, damaged)
			default:
				named++
			}
			if len(found.damaged) != len(damaged) || len(damaged) > 0 && found.damaged[0].Offset != damaged[0].Offset {
				t.Fatalf("flip at %d of %s: check finds %v, not %v", at, name, found.damaged, damaged)
			}
		}
	}
	t.Logf("%d flips refused, %d named, %d harmless", refused, named, harmless)
	if refused == 0 || named == 0 || harmless == 0 {
		t.Error("the test sees too little")
	}
}

// slotsOf returns the versions by the offsets of their slots.
func (w *world) slotsOf() map[int64]ref {
	places := make(map[int64]ref)
	for r := range w.live {
		if where, ok := w.s.mu.index.get(r); ok && where.slot != layout.NoSlot {
			places[w.s.owner.SlotOffset(where.slot)] = r
		}
	}
	return places
}

// TestEveryCut shortens each file to every length, or takes it away.
func TestEveryCut(t *testing.T) {
	w, img := closedWorld(t, 22)
	end := w.s.owner.SlotOffset(0)
	for at := range w.slotsOf() {
		end = max(end, at+int64(w.s.owner.SlotSize()))
	}
	for name, content := range img {
		for n := -1; n < len(content); n++ {
			if n > 0 && n%13 != 0 && n != len(content)-1 {
				continue
			}
			var b []byte
			if n >= 0 {
				b = content[:n:n]
			}
			d := img.with(name, b).disk(t)
			before := d.Operations()
			_, unusable := img.with(name, b).check(w.opts)
			_, _, err := Open(d, w.opts)
			if (err != nil) != (unusable != nil) {
				t.Fatalf("%s cut to %d bytes: opened with %v, check finds %v", name, n, err, unusable)
			}
			var corrupt *CorruptError
			if name == headerName && w.s.Durable().Checkpoint%2 == 0 && n >= layout.PageSize {
				must(t, err) // the newest header is whole
				continue
			}
			if !errors.As(err, &corrupt) || name == blocksName && corrupt.File != name {
				t.Fatalf("%s cut to %d bytes: %v", name, n, err)
			}
			if d.Operations() != before {
				t.Fatalf("%s cut to %d bytes: the disk was changed", name, n)
			}
		}
	}
}

// TestMissingHeader is refused as long as anything shows that there was a
// store.
func TestMissingHeader(t *testing.T) {
	w, img := closedWorld(t, 23)
	var corrupt *CorruptError
	for _, left := range []image{img.with(headerName, nil), {blocksName: img[blocksName]}, {indexName(3): nil}} {
		if _, _, err := Open(left.disk(t), w.opts); !errors.As(err, &corrupt) || corrupt.File != headerName {
			t.Errorf("opened with %v", err)
		}
	}
}

// TestRefusedIsUnchanged: whoever opens can refuse what is found, and nothing is
// changed by that, nor by damage that is found.
func TestRefusedIsUnchanged(t *testing.T) {
	w, img := closedWorld(t, 23)
	unwanted := errors.New("unwanted")
	crashed := img.with(newName, []byte("unfinished")).with(indexName(1<<40), []byte("unfinished"))
	for name, c := range map[string]struct {
		left   image
		asked  bool
		exists bool
	}{
		"nothing":              {left: image{}, asked: true},
		"a store":              {left: crashed, asked: true, exists: true},
		"no header":            {left: crashed.with(headerName, nil)},
		"no header, no index":  {left: image{blocksName: img[blocksName]}},
		"no block file":        {left: crashed.with(blocksName, nil)},
		"a block file's start": {left: image{blocksName: img[blocksName][:10]}, asked: true},
	} {
		d, asked := c.left.disk(t), false
		before := d.Operations()
		o := w.opts
		o.Accept = func(found *Loaded, exists bool) error {
			asked = true
			if exists != c.exists || (found != nil) != exists || exists && (found.LogIndex != w.durable || !bytes.Equal(found.State, w.known[w.durable].state)) {
				t.Errorf("%s: found %+v, %t", name, found, exists)
			}
			return unwanted
		}
		if _, _, err := Open(d, o); errors.Is(err, unwanted) != c.asked || err == nil || asked != c.asked {
			t.Errorf("%s: asked %t, %v", name, asked, err)
		}
		if n := d.Operations() - before; n > 0 {
			t.Errorf("%s: %d operations", name, n)
		}
	}
}

// TestFirstHeaderLost loses the header of the only checkpoint there was: that
// is no new store.
func TestFirstHeaderLost(t *testing.T) {
	w := newWorld(24, tiny)
	must(t, w.open(disk.NewMemory()))
	w.put()
	must(t, w.begin())
	must(t, w.finish())
	must(t, w.s.Close())
	img := imageOf(t, w.disk)
	clear(img[headerName][layout.HeaderOffset(1):])
	var corrupt *CorruptError
	if _, _, err := Open(img.disk(t), w.opts); !errors.As(err, &corrupt) || corrupt.File != indexName(0) {
		t.Errorf("opened with %v", err)
	}
}

// TestOwner refuses files of another store, and options that fit none.
func TestOwner(t *testing.T) {
	w, img := closedWorld(t, 25)
	other := w.opts
	other.Store[0]++
	larger := w.opts
	larger.BlockSize++
	for i, o := range []Options{other, larger} {
		var owner *OwnerError
		if _, _, err := Open(img.disk(t), o); !errors.As(err, &owner) || owner.File != headerName {
			t.Errorf("options %d: %v", i, err)
		}
		if _, _, err := Open(img.with(blocksName, layout.EncodeBlocksPage(o.owner())).disk(t), w.opts); !errors.As(err, &owner) || owner.File != blocksName {
			t.Errorf("block file %d: %v", i, err)
		}
	}
	for i, o := range []Options{{}, {BlockSize: layout.MaxBlockSize + 1}, {BlockSize: 1, CacheBytes: -1}, {BlockSize: 1, DirtyBytes: -1}, {BlockSize: 1, StepBytes: -1}} {
		var bad *OptionsError
		if _, _, err := Open(disk.NewMemory(), o); !errors.As(err, &bad) {
			t.Errorf("bad options %d: %v", i, err)
		}
	}
}

// TestErrorsSayWhere pins what the errors print.
func TestErrorsSayWhere(t *testing.T) {
	for want, err := range map[string]error{
		"block store is damaged: blocks, offset 4096, block 7 from 9: why":         &CorruptError{blocksName, 4096, 7, 9, "why"},
		"block store is damaged: header, offset 0: why":                            &CorruptError{File: headerName, Reason: "why"},
		"block store has format version 3, this program knows 1: blocks, offset 0": &VersionError{blocksName, 0, 3},
		"block store: option StepBytes cannot be -1":                               &OptionsError{"StepBytes", -1},
		"write blocks: oops": &IOError{"write", blocksName, fmt.Errorf("oops")},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
