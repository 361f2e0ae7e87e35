package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/occ"
)

var testOwner = Owner{Store: occ.StoreID{9, 8, 7}, BlockSize: 100}

func isDamage(err error) bool {
	var damage *Damage
	return errors.As(err, &damage)
}

func TestPages(t *testing.T) {
	h := Header{testOwner, 1, 2, 3, 4, 5, 6, 7}
	page := h.Encode()
	if got, err := DecodeHeader(page); err != nil || got != h {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if got, err := DecodeBlocksPage(EncodeBlocksPage(testOwner)); err != nil || got != testOwner {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if _, err := DecodeBlocksPage(page); !isDamage(err) {
		t.Errorf("a header passes for the page of a block file: %v", err)
	}
	if _, err := DecodeHeader(page[1:]); !isDamage(err) {
		t.Errorf("a short page: %v", err)
	}
	for name, spoil := range map[string]func(b []byte){
		"zeros":            func(b []byte) { clear(b) },
		"block size 0":     func(b []byte) { clear(b[offBlockSize:offStore]); seal(b) },
		"large block size": func(b []byte) { b[offBlockSize+3] = 1; seal(b) },
		"not zero":         func(b []byte) { b[2000] = 1; seal(b) },
		"flip":             func(b []byte) { b[offStable] ^= 1 },
	} {
		b := bytes.Clone(page)
		spoil(b)
		if _, err := DecodeHeader(b); !isDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var version *VersionError
	binary.LittleEndian.PutUint32(page[offVersion:], 2)
	if _, err := DecodeHeader(seal(page)); !errors.As(err, &version) || version.Version != 2 {
		t.Errorf("version 2: %v", err)
	}
}

func TestSlots(t *testing.T) {
	b := bytes.Repeat([]byte{0xee}, testOwner.SlotSize())
	want := Slot{Block: 5, From: 6, Data: []byte("data")}
	EncodeSlot(b, want)
	for _, n := range []int{SlotHeader + 4, len(b)} {
		got, err := DecodeSlot(b[:n])
		if err != nil || got.Block != 5 || got.From != 6 || string(got.Data) != "data" || cap(got.Data) != 4 {
			t.Errorf("%d bytes decode to %+v, %v", n, got, err)
		}
	}
	if slices.ContainsFunc(b[SlotHeader+4:], func(x byte) bool { return x != 0 }) {
		t.Error("what is behind the data is not zero")
	}
	for n := range SlotHeader + 4 {
		if _, err := DecodeSlot(b[:n]); !isDamage(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
		flipped := bytes.Clone(b)
		flipped[n] ^= 0x10
		if _, err := DecodeSlot(flipped); !isDamage(err) {
			t.Errorf("flip at %d: %v", n, err)
		}
	}
	EncodeDamaged(b, 5, 6)
	for _, n := range []int{SlotHeader + 1, len(b)} {
		var damage *Damage
		if _, err := DecodeSlot(b[:n]); !errors.As(err, &damage) || damage.Reason != MadeOfDamaged {
			t.Errorf("damaged on purpose, %d bytes: %v", n, err)
		}
	}
	if at := testOwner.SlotOffset(3); at != PageSize+3*132 {
		t.Errorf("slot 3 is at %d", at)
	}
}

// index makes an index file and its header.
func index(versions []Version, state ...string) ([]byte, Header) {
	w := NewIndexWriter(testOwner, 3)
	for _, s := range state {
		w.State([]byte(s))
	}
	for _, v := range versions {
		w.Add(v)
	}
	w.End()
	return w.Bytes, Header{
		Owner: testOwner, Checkpoint: 3, Stable: 1 << 40, IndexBytes: uint64(len(w.Bytes)),
		IndexCRC: Checksum(0, w.Bytes), Slots: 1 << 20, Versions: w.Versions(),
	}
}

func read(b []byte, h Header) (versions []Version, state []byte, err error) {
	err = ReadIndex(bytes.NewReader(b), h, Visitor{
		State:   func(s []byte) { state = append(state, s...) },
		Version: func(v Version) error { versions = append(versions, v); return nil },
	})
	return versions, state, err
}

func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want []Version
	for b := occ.BlockID(0); len(want) < 30_000; b += occ.BlockID(rng.IntN(3) * rng.IntN(1000)) {
		v := Version{Block: b, From: 1 + occ.Timestamp(rng.IntN(1<<30)), Size: uint32(rng.IntN(101)), Slot: uint32(rng.IntN(1 << 20))}
		if n := len(want); n > 0 && want[n-1].Block == b {
			v.From += want[n-1].From
		}
		if v.Size == 0 {
			v.Slot = NoSlot
		}
		want = append(want, v)
	}
	want = append(want, Version{Block: 1<<64 - 1, From: 1 << 40, Slot: NoSlot})
	b, h := index(want, "some ", "", "state")
	got, state, err := read(b, h)
	if err != nil || !slices.Equal(got, want) || string(state) != "some state" {
		t.Fatalf("%d versions, state %q, %v", len(got), state, err)
	}
	if len(b) < 4*MaxFrame {
		t.Errorf("%d bytes are too few to test several frames", len(b))
	}
	t.Logf("%.1f bytes a version", float64(len(b))/float64(len(want)))
	if empty, h := index(nil); true {
		if got, state, err := read(empty, h); err != nil || got != nil || state != nil {
			t.Errorf("an empty index: %v, %q, %v", got, state, err)
		}
	}
}

// TestIndexRefuses goes through what an index must not be.
func TestIndexRefuses(t *testing.T) {
	b, good := index([]Version{{1, 2, 3, 4}, {1, 5, 0, NoSlot}, {9, 1, 100, 7}}, "state")
	for n := range b {
		h := good
		if _, _, err := read(b[:n], h); !isDamage(err) {
			t.Errorf("cut at %d: %v", n, err)
		}
		h.IndexBytes = uint64(n)
		h.IndexCRC = Checksum(0, b[:n])
		if _, _, err := read(b[:n], h); !isDamage(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
		flipped := bytes.Clone(b)
		flipped[n] ^= 4
		h = good
		h.IndexCRC = Checksum(0, flipped)
		if _, _, err := read(flipped, h); !isDamage(err) {
			t.Errorf("flip at %d: %v", n, err)
		}
	}
	for name, spoil := range map[string]func(h *Header){
		"checksum": func(h *Header) { h.IndexCRC++ }, "checkpoint": func(h *Header) { h.Checkpoint++ },
		"store": func(h *Header) { h.Store[0]++ }, "block size": func(h *Header) { h.BlockSize-- },
		"stable": func(h *Header) { h.Stable = 4 }, "slots": func(h *Header) { h.Slots = 7 },
		"no slots": func(h *Header) { h.Slots = 0 }, "versions": func(h *Header) { h.Versions++ },
	} {
		h := good
		spoil(&h)
		if _, _, err := read(b, h); !isDamage(err) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for name, versions := range map[string][]Version{
		"from 0":       {{1, 0, 3, 4}},
		"same version": {{1, 2, 3, 4}, {1, 2, 3, 5}},
		"older":        {{1, 2, 3, 4}, {1, 1, 3, 5}},
		"lower block":  {{2, 2, 3, 4}, {1, 3, 3, 5}},
		"too large":    {{1, 2, 101, 4}},
		"slot":         {{1, 2, 3, 1 << 20}},
	} {
		b, h := index(versions)
		if _, _, err := read(b, h); !isDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	longer, h := index(nil)
	longer = append(longer, 0)
	h.IndexBytes, h.IndexCRC = h.IndexBytes+1, Checksum(0, longer)
	if _, _, err := read(longer, h); !isDamage(err) {
		t.Errorf("a byte behind the end: %v", err)
	}
	late := NewIndexWriter(testOwner, 3)
	late.Add(Version{1, 2, 3, 4})
	late.Flush()
	late.State([]byte("late"))
	late.End()
	h = Header{Owner: testOwner, Checkpoint: 3, Stable: 9, IndexBytes: uint64(len(late.Bytes)), IndexCRC: Checksum(0, late.Bytes), Slots: 9, Versions: 1}
	if _, _, err := read(late.Bytes, h); !isDamage(err) {
		t.Errorf("state behind versions: %v", err)
	}
	oops := errors.New("oops")
	if err := ReadIndex(iotest.ErrReader(oops), good, Visitor{}); !errors.Is(err, oops) {
		t.Errorf("an error of the reader: %v", err)
	}
	if err := ReadIndex(bytes.NewReader(b), good, Visitor{State: func([]byte) {}, Version: func(Version) error { return oops }}); !isDamage(err) {
		t.Errorf("an error of the visitor: %v", err)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(Header{testOwner, 1, 2, 3, 4, 5, 6, 7}.Encode()[:PageSize-4])
	f.Add(EncodeBlocksPage(testOwner)[:PageSize-4])
	f.Add([]byte(headerMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		page := make([]byte, PageSize)
		copy(page, b)
		for _, sealed := range []bool{false, true} {
			if sealed {
				seal(page) // so that fuzzing gets behind the checksum
			}
			h, err := DecodeHeader(page)
			if err == nil && !bytes.Equal(h.Encode(), page) {
				t.Fatalf("%+v encodes to other bytes", h)
			}
			o, blocksErr := DecodeBlocksPage(page)
			if blocksErr == nil && !bytes.Equal(EncodeBlocksPage(o), page) {
				t.Fatalf("%+v encodes to other bytes", o)
			}
			for _, err := range []error{err, blocksErr} {
				var version *VersionError
				if err != nil && !isDamage(err) && !errors.As(err, &version) {
					t.Fatal(err)
				}
			}
		}
	})
}

func FuzzSlot(f *testing.F) {
	b := make([]byte, testOwner.SlotSize())
	EncodeSlot(b, Slot{Block: 5, From: 6, Data: []byte("data")})
	f.Add(b)
	f.Add(b[:SlotHeader+4])
	f.Add(b[:SlotHeader])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, sealed := range []bool{false, true} {
			if n := uint64(0); sealed && len(b) >= SlotHeader {
				b = bytes.Clone(b)
				n = min(uint64(binary.LittleEndian.Uint32(b[offLength:])), uint64(len(b)-SlotHeader))
				binary.LittleEndian.PutUint32(b[offSlotCRC:], slotChecksum(b[:SlotHeader+n]))
			}
			s, err := DecodeSlot(b)
			if err != nil {
				if !isDamage(err) {
					t.Fatal(err)
				}
				continue
			}
			again := make([]byte, SlotHeader+len(s.Data))
			if EncodeSlot(again, s); !bytes.Equal(again, b[:len(again)]) {
				t.Fatalf("%+v encodes to other bytes", s)
			}
		}
	})
}

// FuzzIndex reads arbitrary bytes as an index, and as the payload of a frame
// of versions, which is otherwise behind several checksums.
func FuzzIndex(f *testing.F) {
	b, _ := index([]Version{{1, 2, 3, 4}, {1, 5, 0, NoSlot}, {9, 1, 100, 7}}, "state")
	f.Add(b)
	f.Add(b[IndexHead:])
	only, _ := index([]Version{{1, 2, 3, 4}, {1, 5, 0, NoSlot}, {1 << 63, 1, 100, 7}})
	f.Add(only[IndexHead+FrameHead : len(only)-FrameHead-endLen])
	f.Add([]byte{1, 2, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, h := index(nil)
		h.IndexBytes, h.IndexCRC = uint64(len(b)), Checksum(0, b)
		if _, _, err := read(b, h); err != nil && !isDamage(err) {
			var version *VersionError
			if !errors.As(err, &version) {
				t.Fatal(err)
			}
		}
		var versions []Version
		d := &indexReader{r: io.MultiReader(), h: h}
		err := d.add(b, 0, func(v Version) error { versions = append(versions, v); return nil })
		if len(versions) > len(b)/3 {
			t.Fatalf("%d versions in %d bytes", len(versions), len(b))
		}
		if err != nil || len(b) == 0 {
			if err != nil && !isDamage(err) {
				t.Fatal(err)
			}
			return
		}
		again, h := index(versions)
		got, _, err := read(again, h)
		if err != nil || !slices.Equal(got, versions) {
			t.Fatalf("%d of %d versions again, %v", len(got), len(versions), err)
		}
		if len(b) < MaxFrame-maxVersionLen && !bytes.Contains(again, b) {
			t.Fatalf("%v encode to other bytes", versions)
		}
	})
}

func ExampleIndexWriter() {
	w := NewIndexWriter(Owner{BlockSize: 4096}, 1)
	w.Add(Version{Block: 1, From: 7, Size: 4096, Slot: 0})
	w.Add(Version{Block: 2, From: 9, Slot: NoSlot})
	w.End()
	fmt.Println(w.Versions(), "versions in", len(w.Bytes), "bytes")
	// Output: 2 versions in 104 bytes
}
