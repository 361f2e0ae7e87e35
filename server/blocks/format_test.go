package blocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden store in testdata")

// goldenOptions and goldenWorld make the store of which testdata/version1
// holds the files: two checkpoints, superseded, empty and dropped versions.
var goldenOptions = Options{Store: testStore, BlockSize: 64}

func goldenWorld(t *testing.T, d disk.Disk) *world {
	t.Helper()
	w := newWorld(31, goldenOptions)
	w.blocks = 9
	must(t, w.open(d))
	for range 2 {
		for range 12 {
			w.put()
		}
		w.drop(20)
		must(t, w.begin())
		must(t, w.finish())
	}
	return w
}

// TestGoldenStore opens a store of format version 1 and compares its files
// with what is written today.
func TestGoldenStore(t *testing.T) {
	dir := filepath.Join("testdata", "version1")
	d := disk.NewMemory()
	w := goldenWorld(t, d)
	must(t, w.s.Close())
	img := imageOf(t, d)
	golden := image{}
	for name, b := range img {
		path := filepath.Join(dir, name)
		if *rewrite {
			must(t, os.WriteFile(path, b, 0o644))
		}
		var err error
		golden[name], err = os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(golden[name], b) {
			t.Errorf("%s is written otherwise today", name)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(img) {
		t.Errorf("%d golden files, %v", len(files), err)
	}
	must(t, w.fork(1).goOn(golden.disk(t)))
}

// TestNewerVersion refuses files of a later format, and leaves them alone.
func TestNewerVersion(t *testing.T) {
	w, img := closedWorld(t, 32)
	number := w.s.Durable().Checkpoint
	reseal := func(b []byte) []byte {
		b = bytes.Clone(b)
		binary.LittleEndian.PutUint32(b[8:], 2)
		binary.LittleEndian.PutUint32(b[len(b)-4:], layout.Checksum(0, b[:len(b)-4]))
		return b
	}
	splice := func(name string, at int64, n int) []byte {
		b := bytes.Clone(img[name])
		copy(b[at:], reseal(b[at:at+int64(n)]))
		return b
	}
	for _, c := range []struct {
		name string
		at   int64
		n    int
	}{
		{headerName, layout.HeaderOffset(number), layout.PageSize}, {headerName, layout.HeaderOffset(number + 1), layout.PageSize},
		{blocksName, 0, layout.PageSize}, {indexName(number), 0, layout.IndexHead},
	} {
		d := img.with(c.name, splice(c.name, c.at, c.n)).disk(t)
		before := d.Operations()
		var version *VersionError
		if _, _, err := Open(d, w.opts); !errors.As(err, &version) || *version != (VersionError{c.name, c.at, 2}) {
			t.Errorf("%s: %v", c.name, err)
		}
		if d.Operations() != before {
			t.Errorf("%s: the disk was changed", c.name)
		}
	}
}

// TestSlotTwice refuses an index that names a slot twice.
func TestSlotTwice(t *testing.T) {
	w, img := closedWorld(t, 33)
	number := w.s.Durable().Checkpoint
	i := layout.NewIndexWriter(w.s.owner, number)
	i.Add(layout.Version{Block: 1, From: 1, Size: 1, Slot: 0})
	i.Add(layout.Version{Block: 2, From: 1, Size: 1, Slot: 0})
	i.End()
	h := layout.Header{
		Owner: w.s.owner, Checkpoint: number, Stable: occ.Timestamp(5),
		IndexBytes: uint64(len(i.Bytes)), IndexCRC: layout.Checksum(0, i.Bytes), Slots: 1, Versions: 2,
	}
	header := bytes.Clone(img[headerName])
	copy(header[layout.HeaderOffset(number):], h.Encode())
	var corrupt *CorruptError
	_, _, err := Open(img.with(headerName, header).with(indexName(number), i.Bytes).disk(t), w.opts)
	if !errors.As(err, &corrupt) || corrupt.File != indexName(number) {
		t.Errorf("opened with %v", err)
	}
}

// TestHeaderInTheOtherPlace refuses a header that is not where its number
// belongs: writing the next one would destroy it.
func TestHeaderInTheOtherPlace(t *testing.T) {
	w, img := closedWorld(t, 34)
	number := w.s.Durable().Checkpoint
	header := make([]byte, layout.HeaderFileSize)
	copy(header[layout.HeaderOffset(number+1):], img[headerName][layout.HeaderOffset(number):][:layout.PageSize])
	var corrupt *CorruptError
	if _, _, err := Open(img.with(headerName, header).disk(t), w.opts); !errors.As(err, &corrupt) || corrupt.File != headerName {
		t.Errorf("opened with %v", err)
	}
}
