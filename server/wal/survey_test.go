package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// surveyed is what a survey met.
type surveyed struct {
	extent  Extent
	entries []uint64
	damages []Damage
}

func mustSurvey(t *testing.T, dir string, store occ.StoreID) (s surveyed) {
	t.Helper()
	var err error
	s.extent, err = Survey(dir, store, Visitor{
		Entry: func(e Entry) error {
			if !bytes.Equal(e.Payload, payload(e.Index)) {
				t.Errorf("entry %d holds %x", e.Index, e.Payload)
			}
			s.entries = append(s.entries, e.Index)
			return nil
		},
		Damage: func(d Damage) error {
			s.damages = append(s.damages, d)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agrees checks a survey against the verdict of verification: the same
// entries in front, the same first damage, and the same torn end.
func (s surveyed) agrees(t *testing.T, dir string) {
	t.Helper()
	report, err := Verify(dir, testStore)
	var corrupt *CorruptError
	var sound []Damage
	for _, d := range s.damages {
		if !d.Torn {
			sound = append(sound, d)
		}
	}
	switch {
	case err == nil && report.Torn == nil && len(s.damages) == 0:
	case err == nil && report.Torn != nil && len(s.damages) == 1 && s.damages[0].Torn:
		d, torn := s.damages[0], report.Torn
		if d.Segment != torn.Segment || d.Offset != torn.Offset || d.Bytes != torn.Bytes || d.Index != torn.Index || d.Reason != torn.Reason {
			t.Errorf("survey: %+v, verification: %+v", d, torn)
		}
	case errors.As(err, &corrupt) && len(sound) > 0:
		if d := sound[0]; d.Segment != corrupt.Segment || d.Offset != corrupt.Offset || d.Index != corrupt.Index {
			t.Errorf("survey: %+v, verification: %v", d, corrupt)
		}
	case err != nil && corrupt == nil && len(sound) > 0: // another store
	default:
		t.Errorf("survey: %+v, verification: %+v, %v", s.damages, report, err)
	}
	if n := len(s.entries); err == nil && (uint64(n) != report.Last+1-report.First || n > 0 && s.entries[n-1] != report.Last) {
		t.Errorf("survey met entries %v, verification %+v", s.entries, report)
	}
}

func TestSurveyOfASoundLog(t *testing.T) {
	dir := t.TempDir()
	img := pristine(t, entries)
	img.put(t, dir)
	for _, store := range []occ.StoreID{testStore, {}} {
		s := mustSurvey(t, dir, store)
		s.agrees(t, dir)
		if len(s.entries) != entries || s.extent.Store != testStore || s.extent.Segments != 3 {
			t.Errorf("%+v", s)
		}
	}
	if s := mustSurvey(t, filepath.Join(dir, "missing"), testStore); len(s.damages) != 0 || s.extent.Segments != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSurveyGoesOn: after a flipped byte anywhere, all other entries are met,
// and one damage names the place.
func TestSurveyGoesOn(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	img.put(t, dir)
	for _, s := range img.spans() {
		path := filepath.Join(dir, s.segment)
		for at := s.at; at < s.end; at += 3 {
			setByte(t, path, at, img[s.segment][at]^0x10)
			got := mustSurvey(t, dir, testStore)
			got.agrees(t, dir)
			want := entries - 1
			if at < s.at+s.prefix {
				want = entries // the entry itself is whole
			}
			if len(got.entries) != want || len(got.damages) != 1 || got.damages[0].Offset != int64(s.at) || got.damages[0].Index != s.index {
				t.Fatalf("flip at %d of entry %d: %+v", at-s.at, s.index, got)
			}
			if d := got.damages[0]; s.index < entries && (d.Lost != uint64(entries-want) || d.Torn) {
				t.Fatalf("flip at %d of entry %d: %+v", at-s.at, s.index, d)
			}
			setByte(t, path, at, img[s.segment][at])
		}
	}
}

// TestSurveyNamesEveryPlace damages several entries at once.
func TestSurveyNamesEveryPlace(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		img.put(t, dir)
		var want []uint64 // the first of each run of damaged entries
		lost := 0
		before := false
		for _, s := range img.spans() {
			hit := r.IntN(3) == 0
			if hit {
				at := s.at + s.prefix + r.IntN(s.end-s.at-s.prefix)
				setByte(t, filepath.Join(dir, s.segment), at, img[s.segment][at]^1)
				lost++
			}
			if hit && (!before || s.at == 0) {
				want = append(want, s.index)
			}
			before = hit
		}
		got := mustSurvey(t, dir, testStore)
		got.agrees(t, dir)
		var places []uint64
		for _, d := range got.damages {
			places = append(places, d.Index)
		}
		if !slices.Equal(places, want) || len(got.entries) != entries-lost {
			t.Fatalf("damaged %v, met %v and entries %v", want, got.damages, got.entries)
		}
	}
}

func TestSurveyOfCutAndMissingSegments(t *testing.T) {
	img := pristine(t, entries)
	spans := img.spans()
	var names []string
	for _, s := range spans {
		if s.at == 0 {
			names = append(names, s.segment)
		}
	}
	dir := t.TempDir()
	for _, s := range spans {
		for end := s.at; end < s.end; end += 4 {
			img.with(s.segment, img[s.segment][:end]).put(t, dir)
			got := mustSurvey(t, dir, testStore)
			got.agrees(t, dir)
			if d := got.damages; len(d) > 1 || len(d) == 1 && !d[0].Torn && len(got.entries)+int(d[0].Lost) != entries {
				t.Fatalf("cut at %d of entry %d: %+v", end-s.at, s.index, got)
			}
		}
	}
	for _, name := range append(names, boundsName) {
		img.with(name, nil).put(t, dir)
		mustSurvey(t, dir, testStore).agrees(t, dir)
		img.with(name, make([]byte, 70)).put(t, dir)
		mustSurvey(t, dir, testStore).agrees(t, dir)
	}
	// Without the file of bounds nothing is missed but the certainty.
	img.with(boundsName, []byte("garbage")).put(t, dir)
	if got := mustSurvey(t, dir, testStore); len(got.entries) != entries || len(got.damages) != 1 {
		t.Errorf("%+v", got)
	}
	img.with(names[0]+endSuffix, img[names[0]]).put(t, dir)
	mustSurvey(t, dir, testStore).agrees(t, dir)
}

// TestSurveyOfWholeEntriesThatDoNotBelong: another store's log is one damage
// for each segment, not one for each entry.
func TestSurveyOfWholeEntriesThatDoNotBelong(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	img.put(t, dir)
	got := mustSurvey(t, dir, otherStore)
	if len(got.entries) != 0 || len(got.damages) != 3 || !strings.Contains(got.damages[0].Reason, testStore.String()) {
		t.Errorf("%+v", got)
	}
	for _, s := range img.spans()[1:] {
		for name, change := range map[string]func([]byte){
			"index": func(e []byte) { e[offIndex] += 100 },
			"prev":  func(e []byte) { e[offPrev]++ },
			"epoch": func(e []byte) { e[offEpoch] = 0 },
		} {
			b := bytes.Clone(img[s.segment])
			entry := b[s.at+s.prefix : s.end]
			change(entry)
			reseal(entry)
			img.with(s.segment, b).put(t, dir)
			var first Damage
			_, err := Survey(dir, testStore, Visitor{Damage: func(d Damage) error {
				if first.Reason == "" {
					first = d
				}
				return nil
			}})
			if err != nil || first.Torn || first.Offset != int64(s.at) || first.Index != s.index || first.Bytes != int64(s.end-s.at) {
				t.Errorf("%s of entry %d: %+v, %v", name, s.index, first, err)
			}
		}
	}
}

// TestSurveyRefusesNewerVersions: they are no damage, not even behind damage.
// Nor does what stands before them become a torn end.
func TestSurveyRefusesNewerVersions(t *testing.T) {
	img := pristine(t, entries)
	dir := t.TempDir()
	refused := func(path string, at int) {
		t.Helper()
		var version *VersionError
		_, err := Survey(dir, testStore, Visitor{})
		if !errors.As(err, &version) || version.Version != 2 || version.Segment != filepath.Join(dir, path) || version.Offset != int64(at) {
			t.Errorf("%s at %d: %v", path, at, err)
		}
		if _, err := Verify(dir, testStore); err == nil {
			t.Errorf("%s at %d: verification says nothing", path, at)
		}
	}
	var before span
	for _, s := range img.spans() {
		b := bytes.Clone(img[s.segment])
		entry := b[s.at+s.prefix : s.end]
		entry[offVersion] = 2
		reseal(entry)
		img.with(s.segment, b).put(t, dir)
		refused(s.segment, s.at)
		if before.segment == s.segment {
			setByte(t, filepath.Join(dir, s.segment), before.end-1, b[before.end-1]^1)
			refused(s.segment, s.at)
		}
		before = s
	}
	b := bytes.Clone(img[boundsName])
	b[4] = 2
	binary.LittleEndian.PutUint32(b[boundsLen-4:], crc32.Checksum(b[:boundsLen-4], castagnoli))
	img.with(boundsName, b).put(t, dir)
	refused(boundsName, 0)
}

func TestSurveyOfATrimmedLog(t *testing.T) {
	dir := t.TempDir()
	d, _ := mustOpen(t, dir, small)
	mustFence(t, d)
	fill(t, d, entries)
	if err := d.Trim(entries - 1); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	got := mustSurvey(t, dir, testStore)
	got.agrees(t, dir)
	if len(got.entries) == 0 || got.entries[0] == 1 || len(got.damages) != 0 {
		t.Errorf("%+v", got)
	}
	img := takeImage(t, dir)
	for name, b := range img {
		if name == boundsName {
			continue
		}
		for end := 0; end < len(b); end += 9 {
			img.with(name, b[:end]).put(t, dir)
			mustSurvey(t, dir, testStore).agrees(t, dir)
		}
	}
}

func TestSurveyEndsWithTheVisitor(t *testing.T) {
	dir := t.TempDir()
	img := pristine(t, entries)
	end := last(img.spans())
	img.with(end.segment, img[end.segment][:end.end-1]).put(t, dir)
	enough := errors.New("enough")
	for name, v := range map[string]Visitor{
		"segment": {Segment: func(string, int64) error { return enough }},
		"entry":   {Entry: func(Entry) error { return enough }},
		"damage":  {Damage: func(Damage) error { return enough }},
	} {
		if _, err := Survey(dir, testStore, v); !errors.Is(err, enough) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzSurvey puts bytes over or behind a log of several entries and compares
// with the verdict of verification.
func FuzzSurvey(f *testing.F) {
	var log []byte
	var prev uint32
	for i := range uint64(5) {
		e, crc := appendEntry(nil, header{store: testStore, epoch: 1 + i/2, index: i + 1, prev: prev}, payload(i+1))
		log = append(binary.AppendUvarint(log, uint64(len(e))), e...)
		prev = crc
	}
	f.Add([]byte{0xff}, uint16(20))
	f.Add([]byte{0xff}, uint16(len(log)-1))
	f.Add(make([]byte, 100), uint16(100))
	f.Add(log, uint16(0))
	f.Add(log[61:], uint16(0))
	f.Add(log, uint16(len(log)))
	f.Add(bytes.Repeat(magic[:], 200), uint16(60))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, at uint16) {
		segment := append(bytes.Clone(log), b...)
		copy(segment[int(at)%len(log):], b)
		if err := os.WriteFile(filepath.Join(dir, segmentName(1)), segment, 0o600); err != nil {
			t.Fatal(err)
		}
		var s surveyed
		covered := int64(0)
		_, err := Survey(dir, testStore, Visitor{
			Entry:  func(e Entry) error { covered += e.Bytes; s.entries = append(s.entries, e.Index); return nil },
			Damage: func(d Damage) error { s.damages = append(s.damages, d); return nil },
		})
		var version *VersionError
		if errors.As(err, &version) {
			if _, err := Verify(dir, testStore); err == nil {
				t.Fatalf("a survey says %v, and verification nothing", version)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.agrees(t, dir)
		for _, d := range s.damages {
			if d.Bytes < 0 || d.Offset+d.Bytes > int64(len(segment)) {
				t.Errorf("%+v of %d bytes", d, len(segment))
			}
		}
		if covered > int64(len(segment)) {
			t.Errorf("entries of %d bytes in %d", covered, len(segment))
		}
	})
}
