package wal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLossOfTheOnlySegment: a log that has never rolled is missed as soon as
// its first append has returned, by Open and by a survey.
func TestLossOfTheOnlySegment(t *testing.T) {
	img := pristine(t, 1)
	name := segmentName(1)
	if len(img) != 2 || len(img[boundsName]) != boundsLen {
		t.Fatalf("%d files", len(img))
	}
	dir := t.TempDir()
	for what, content := range map[string][]byte{
		"removed": nil, "emptied": {}, "cut": img[name][:30], "zeroed": make([]byte, len(img[name])),
	} {
		img.with(name, content).put(t, dir)
		wantCorrupt(t, dir, name, 0, 1)
		s := mustSurvey(t, dir, testStore)
		s.agrees(t, dir)
		if len(s.entries) > 0 || len(s.damages) != 1 || s.damages[0].Torn {
			t.Errorf("%s: %+v", what, s)
		}
	}
	img.put(t, dir)
	d, _ := mustOpen(t, dir, small)
	wantEntries(t, d, 1, 1)
	mustClose(t, d)
}

// TestLogWithoutBounds: what an older program wrote, or a crash left of the
// first append, is opened, and missed from then on.
func TestLogWithoutBounds(t *testing.T) {
	img := pristine(t, 2)
	dir := t.TempDir()
	img.with(boundsName, nil).put(t, dir)
	mustSurvey(t, dir, testStore).agrees(t, dir)
	d, report := mustOpen(t, dir, small)
	if report.Last != 2 {
		t.Fatalf("%+v", report)
	}
	wantEntries(t, d, 1, 2)
	mustClose(t, d)
	if err := os.Remove(filepath.Join(dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	wantCorrupt(t, dir, segmentName(1), 0, 1)

	// Its first entry may be torn: nobody was told of it.
	first := img.spans()[0]
	img.with(boundsName, nil).with(segmentName(1), img[segmentName(1)][:first.end-1]).put(t, dir)
	wantTorn(t, dir, first)

	// A log that was opened and never written to has nothing to miss.
	empty := t.TempDir()
	d, _ = mustOpen(t, empty, small)
	mustClose(t, d)
	if _, ok := takeImage(t, empty)[boundsName]; ok {
		t.Error("an empty log has bounds")
	}
	if err := os.Remove(filepath.Join(empty, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	d, _ = mustOpen(t, empty, small)
	mustClose(t, d)
}
