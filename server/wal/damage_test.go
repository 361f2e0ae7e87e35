package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// entries is how many entries the damaged logs hold: three segments, of which
// the last has several entries.
const entries = 13

func last(spans []span) span { return spans[len(spans)-1] }

func TestPristineHasThreeSegments(t *testing.T) {
	spans := pristine(t, entries).spans()
	if len(spans) != entries {
		t.Fatalf("%d entries", len(spans))
	}
	segments := map[string]int{}
	for _, s := range spans {
		segments[s.segment]++
	}
	if len(segments) != 3 || segments[last(spans).segment] < 2 {
		t.Fatalf("entries per segment: %v", segments)
	}
}

func TestTailCutAtEveryByte(t *testing.T) {
	img := pristine(t, entries)
	torn := last(img.spans())
	dir := t.TempDir()
	for end := torn.at + 1; end < torn.end; end++ {
		img.with(torn.segment, img[torn.segment][:end]).put(t, dir)
		wantTorn(t, dir, torn)
	}
	// At the boundary of entries there is nothing to cut.
	img.with(torn.segment, img[torn.segment][:torn.at]).put(t, dir)
	d, report := mustOpen(t, dir, small)
	if report.Torn != nil {
		t.Fatalf("%+v", report.Torn)
	}
	wantEntries(t, d, 1, entries-1)
}

func TestSegmentCutAtEveryByte(t *testing.T) {
	// A cut anywhere in the last segment is a torn end or a shorter log; a
	// cut in any other one is corruption.
	img := pristine(t, entries)
	spans := img.spans()
	dir := t.TempDir()
	for _, s := range slices.Backward(spans) {
		if s.end == len(img[s.segment]) {
			img.put(t, dir)
		}
		for end := s.end - 1; end >= s.at; end-- {
			if err := os.Truncate(filepath.Join(dir, s.segment), int64(end)); err != nil {
				t.Fatal(err)
			}
			report, err := Verify(dir, testStore)
			switch {
			case s.segment != last(spans).segment:
				checkCorrupt(t, err, s.segment, s.at, s.index)
			case err != nil || report.Last != s.index-1 || (report.Torn == nil) != (end == s.at):
				t.Fatalf("cut at %d in entry %d: %+v, %v", end, s.index, report, err)
			}
		}
	}
}

func TestTailOfGarbage(t *testing.T) {
	img := pristine(t, entries)
	end := last(img.spans())
	torn := span{segment: end.segment, index: entries + 1, at: end.end}
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 3))
	noise := make([]byte, 3*walkBuffer)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	tails := map[string][]byte{
		"one zero":           make([]byte, 1),
		"few zeros":          make([]byte, 60),
		"a page of zeros":    make([]byte, 4096),
		"zeros over windows": make([]byte, 2*walkBuffer+17),
		"noise":              noise,
		"short noise":        noise[:9],
		"phantom entries":    bytes.Repeat([]byte{3, 'a', 'b', 'c'}, 40), // parses for the library
		"header only":        img[end.segment][end.at : end.at+end.prefix+headerLen],
		"huge length":        binary.AppendUvarint(nil, 1<<62),
		"magic alone":        magic[:],
		"many magics":        bytes.Repeat(magic[:], 5000),
	}
	for name, tail := range tails {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			img.with(end.segment, append(bytes.Clone(img[end.segment]), tail...)).put(t, dir)
			wantTorn(t, dir, torn)
		})
	}
}

func TestEveryFlip(t *testing.T) {
	img := pristine(t, entries)
	spans := img.spans()
	dir := t.TempDir()
	img.put(t, dir)
	for _, s := range spans {
		path := filepath.Join(dir, s.segment)
		for at := s.at; at < s.end; at++ {
			for _, mask := range []byte{1 << (at % 8), 0x80, 0xff} {
				setByte(t, path, at, img[s.segment][at]^mask)
				report, err := Verify(dir, testStore)
				// Damage in the last entry is a torn end, unless it only
				// hits the library's length: then the entry itself stands
				// behind it.
				if s != last(spans) || at < s.at+s.prefix {
					checkCorrupt(t, err, s.segment, s.at, s.index)
				} else if err != nil || report.Torn == nil || report.Torn.Index != s.index || report.Last != s.index-1 {
					t.Fatalf("flip %#x at %d of the last entry: %+v, %v", mask, at-s.at, report, err)
				}
			}
			setByte(t, path, at, img[s.segment][at])
		}
	}
}

// TestPrepare changes nothing: it creates no directory, cuts nothing off and
// removes no leftover. Opening what was prepared does.
func TestPrepare(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "log")
	left := func() image { // nil: there is no directory
		if _, err := os.Lstat(dir); err != nil {
			return nil
		}
		return takeImage(t, dir)
	}
	for last := uint64(0); last < 12; last += 4 {
		before := left()
		p, report, err := Prepare(dir, testStore)
		if err != nil || report.First != 1 || report.Last != last || (report.Torn != nil) != (last > 0) || len(report.Leftovers) != min(int(last), 1) {
			t.Fatalf("%+v, %v", report, err)
		}
		if after := left(); (after == nil) != (last == 0) || !maps.EqualFunc(before, after, bytes.Equal) {
			t.Fatalf("with %d entries the directory was changed", last)
		}
		d, err := p.Open(small)
		if err != nil {
			t.Fatal(err)
		}
		wantEntries(t, d, 1, last)
		mustFence(t, d)
		fill(t, d, last+4)
		mustClose(t, d)
		if report, err := Verify(dir, testStore); err != nil || report.Torn != nil || len(report.Leftovers) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		names, _ := filepath.Glob(filepath.Join(dir, "0*"))
		torn, err := os.OpenFile(slices.Max(names), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = torn.WriteString("\x80\x01torn")
			err = errors.Join(err, torn.Close(), os.WriteFile(filepath.Join(dir, tailTemp), nil, filePerm))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenRefusesFlips(t *testing.T) {
	img := pristine(t, entries)
	spans := img.spans()
	dir := t.TempDir()
	end := last(spans)
	for _, s := range spans[:len(spans)-1] {
		at := s.at + s.prefix + int(s.index)*3%headerLen
		b := bytes.Clone(img[s.segment])
		b[at] ^= 4
		img.with(s.segment, b).put(t, dir)
		wantCorrupt(t, dir, s.segment, s.at, s.index)
	}
	for at := end.at + end.prefix; at < end.end; at += 5 {
		b := bytes.Clone(img[end.segment])
		b[at] ^= 4
		img.with(end.segment, b).put(t, dir)
		wantTorn(t, dir, end)
	}
}

func TestMissingAndEmptySegments(t *testing.T) {
	img := pristine(t, entries)
	spans := img.spans()
	var names []string
	first := map[string]uint64{}
	for _, s := range spans {
		if first[s.segment] == 0 {
			names = append(names, s.segment)
			first[s.segment] = s.index
		}
	}
	dir := t.TempDir()

	img.with(names[0], nil).put(t, dir)
	wantCorrupt(t, dir, names[0], 0, 1)
	img.with(names[1], nil).put(t, dir)
	wantCorrupt(t, dir, names[0], len(img[names[0]]), first[names[1]])
	img.with(names[2], nil).put(t, dir)
	wantCorrupt(t, dir, names[2], 0, first[names[2]])
	image{boundsName: img[boundsName]}.put(t, dir)
	wantCorrupt(t, dir, names[0], 0, 1)

	img.with(names[0], []byte{}).put(t, dir)
	wantCorrupt(t, dir, names[0], 0, 1)
	img.with(names[1], []byte{}).put(t, dir)
	wantCorrupt(t, dir, names[1], 0, first[names[1]])

	// A segment begun after damage proves that the damaged one was complete,
	// even while it is empty.
	img.with(names[1], img[names[1]][:20]).with(names[2], []byte{}).put(t, dir)
	wantCorrupt(t, dir, names[1], 0, first[names[1]])

	// A segment under another segment's name.
	img.with(names[1], img[names[2]]).put(t, dir)
	wantCorrupt(t, dir, names[1], 0, first[names[1]])
}

func TestOtherStoreAndNewerVersion(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	img.put(t, dir)
	var other *StoreError
	if _, _, err := Open(dir, otherStore, small); !errors.As(err, &other) || other.Have != testStore || other.Want != otherStore {
		t.Errorf("got %v, want a StoreError", err)
	}
	oneLine(t, other, segmentName(1), testStore.String(), otherStore.String())
	s := last(img.spans())
	b := bytes.Clone(img[s.segment])
	entry := b[s.at+s.prefix : s.end]
	binary.LittleEndian.PutUint32(entry[offVersion:], 2)
	reseal(entry)
	img.with(s.segment, b).put(t, dir)
	var version *VersionError
	if _, _, err := Open(dir, testStore, small); !errors.As(err, &version) || version.Version != 2 || version.Offset != int64(s.at) {
		t.Errorf("got %v, want a VersionError", err)
	}
	oneLine(t, version, s.segment, "version 2")
}

func TestWholeEntriesThatDoNotBelong(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	for _, s := range img.spans() {
		for name, change := range map[string]func([]byte){
			"index": func(e []byte) { e[offIndex]++ },
			"prev":  func(e []byte) { e[offPrev]++ },
			"epoch": func(e []byte) { e[offEpoch] = 0 },
		} {
			if s.index == 1 && name == "epoch" {
				continue // nothing precedes it
			}
			b := bytes.Clone(img[s.segment])
			entry := b[s.at+s.prefix : s.end]
			change(entry)
			reseal(entry)
			img.with(s.segment, b).put(t, dir)
			_, err := Verify(dir, testStore)
			checkCorrupt(t, err, s.segment, s.at, s.index)
		}
	}
}

// reseal makes the checksum of an altered entry right.
func reseal(entry []byte) {
	binary.LittleEndian.PutUint32(entry[offCRC:], naiveChecksum(entry))
}

// naiveChecksum is the checksum of an entry, bit by bit, with the reflected
// Castagnoli polynomial.
func naiveChecksum(entry []byte) uint32 {
	crc := ^uint32(0)
	for i, x := range entry {
		if i >= offCRC && i < headerLen {
			continue
		}
		crc ^= uint32(x)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78&-(crc&1)
		}
	}
	return ^crc
}
