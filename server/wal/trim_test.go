package wal

import (
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

// trimmedLog returns a log of 40 entries before and after a trim up to 20,
// and the first index that the trim kept.
func trimmedLog(t *testing.T) (before, after image, first uint64) {
	t.Helper()
	before = pristine(t, 40)
	dir := t.TempDir()
	before.put(t, dir)
	d, _ := mustOpen(t, dir, small)
	if err := d.Trim(20); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	after = takeImage(t, dir)
	for first = 1; after[segmentName(first)] == nil; first++ {
	}
	if first < 10 || first > 21 {
		t.Fatalf("the trim kept entry %d", first)
	}
	return before, after, first
}

func TestInterruptedTrim(t *testing.T) {
	before, after, first := trimmedLog(t)
	kept := segmentName(first)
	marked := before.with(boundsName, after[boundsName])
	olds := func(img image, n int) image { // without the n oldest segments
		for _, s := range before.spans() {
			if s.index < first && img[s.segment] != nil && n > 0 {
				img = img.with(s.segment, nil)
				n--
			}
		}
		return img
	}
	started := marked.with(kept+startSuffix, after[kept])
	for name, c := range map[string]struct {
		img   image
		first uint64
	}{
		"bounds being written":  {before.with(boundsName+durable.TempSuffix, []byte("x")), 1},
		"bounds written":        {marked, first},
		"first being written":   {marked.with(kept+startSuffix+durable.TempSuffix, after[kept][:9]), first},
		"first written":         {started, first},
		"one segment removed":   {olds(started, 1), first},
		"two segments removed":  {olds(started, 2), first},
		"all segments removed":  {olds(started, 99), first},
		"replaced one removed":  {olds(started, 99).with(kept, nil), first},
		"renamed, one old left": {olds(marked, 2), first},
		"tail being rewritten":  {before.with(tailTemp, []byte("x")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.img.put(t, dir)
			if _, err := Verify(dir, testStore); err != nil {
				t.Fatal(err)
			}
			if !c.img.equal(takeImage(t, dir)) {
				t.Fatal("Verify changed the directory")
			}
			d, _ := mustOpen(t, dir, small)
			wantEntries(t, d, c.first, 40)
			mustFence(t, d)
			fill(t, d, 45)
			mustClose(t, d)
			d, report := mustOpen(t, dir, small)
			wantEntries(t, d, c.first, 45)
			if len(report.Leftovers) != 0 {
				t.Errorf("leftovers %v", report.Leftovers)
			}
		})
	}
}

func TestTrimIntoTheLastSegmentInterrupted(t *testing.T) {
	img := pristine(t, entries)
	tail := last(img.spans()).segment
	dir := t.TempDir()
	img.put(t, dir)
	d, _ := mustOpen(t, dir, small)
	if err := d.Trim(entries); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	after := takeImage(t, dir)
	if len(after) != 2 || after[tail] == nil {
		t.Fatalf("trim left %d files", len(after))
	}
	// The file was synced before it got this name, so a cut is no torn end.
	cut := after[tail][:len(after[tail])-5]
	after.with(tail, nil).with(tail+startSuffix, cut).put(t, dir)
	end := last(img.spans())
	wantCorrupt(t, dir, tail+startSuffix, end.at, end.index)
	after.with(tail, nil).with(tail+startSuffix, after[tail]).put(t, dir)
	d, _ = mustOpen(t, dir, small)
	wantEntries(t, d, d.mu.starts[0], entries)
}

func TestLeftoversThatNoTrimLeaves(t *testing.T) {
	before, after, first := trimmedLog(t)
	kept, dir := segmentName(first), t.TempDir()
	marked := before.with(boundsName, after[boundsName])
	started := marked.with(kept+startSuffix, after[kept])
	for name, c := range map[string]struct {
		img   image
		file  string
		at    int
		index uint64
	}{
		"truncated at the end":   {before.with(kept+endSuffix, after[kept]), kept + endSuffix, 0, first},
		"start without bounds":   {before.with(kept+startSuffix, after[kept]), kept + startSuffix, 0, first},
		"two starts":             {started.with(segmentName(2)+startSuffix, after[kept]), segmentName(2) + startSuffix, 0, 2},
		"start cut":              {started.with(kept+startSuffix, after[kept][:9]), kept + startSuffix, 0, first},
		"start emptied":          {started.with(kept+startSuffix, []byte{}), kept + startSuffix, 0, first},
		"first missing":          {after.with(kept, nil), kept, 0, first},
		"bounds missing":         {after.with(boundsName, nil), segmentName(1), 0, 1},
		"bounds cut":             {after.with(boundsName, after[boundsName][:20]), boundsName, 0, 0},
		"bounds longer":          {after.with(boundsName, append(make([]byte, 9), after[boundsName]...)), boundsName, 0, 0},
		"bounds of an old state": {after.with(boundsName, before[boundsName]), segmentName(1), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.img.put(t, dir)
			wantCorrupt(t, dir, c.file, c.at, c.index)
		})
	}
}

func TestEntryKeptByATrimIsNoTornEnd(t *testing.T) {
	dir := t.TempDir()
	d, _ := mustOpen(t, dir, small)
	mustFence(t, d)
	fillUntil(t, d, "an entry begins the third segment or a later one", func() bool {
		return len(d.mu.starts) >= 3 && d.mu.head.Index == d.mu.starts[len(d.mu.starts)-1]
	})
	lastIndex := d.mu.head.Index
	if err := d.Trim(lastIndex); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	img, name := takeImage(t, dir), segmentName(lastIndex)
	for _, b := range [][]byte{{}, img[name][:30], make([]byte, 80)} {
		img.with(name, b).put(t, dir)
		wantCorrupt(t, dir, name, 0, lastIndex)
	}
}

func TestUnrelatedFilesAreLeftAlone(t *testing.T) {
	img := pristine(t, entries)
	extra := img.with("README", []byte("hello")).with("00000000000000000000", []byte("x")).
		with("0000000000000000000x", []byte("x")).with(segmentName(3)+".backup", []byte("x"))
	dir := t.TempDir()
	extra.put(t, dir)
	d, _ := mustOpen(t, dir, small)
	wantEntries(t, d, 1, entries)
	mustClose(t, d)
	if !extra.equal(takeImage(t, dir)) {
		t.Errorf("files in %s changed", filepath.Base(dir))
	}
}
