package salvage

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
)

// newer makes the 4 bytes at an offset a version that nobody knows yet, and the
// checksum behind the first n bytes right.
func newer(b []byte, at, n int) {
	b[at] = 99
	binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)))
}

// newerEntry makes entry number n of a segment one of a newer version.
func newerEntry(t *testing.T, segment []byte, n int) {
	t.Helper()
	for at := 0; at < len(segment); n-- {
		length, prefix := binary.Uvarint(segment[at:])
		entry := segment[at+prefix : at+prefix+int(length)]
		if n == 0 {
			newer(entry, 4, 48) // the checksum of the header is that of the whole entry, so far
			sum := crc32.Update(binary.LittleEndian.Uint32(entry[48:]), crc32.MakeTable(crc32.Castagnoli), entry[52:])
			binary.LittleEndian.PutUint32(entry[48:], sum)
			return
		}
		at += prefix + len(entry)
	}
	t.Fatal("there are fewer entries")
}

// TestNewerVersions: whatever a newer program wrote is no damage. The check, the
// dump, the salvage and the server refuse with one line that names it, and
// nothing is reported lost, nor written.
func TestNewerVersions(t *testing.T) {
	build := func(last func(w *world)) string {
		w := newWorld(t, 11, true)
		for range 2 {
			w.run(15)
			w.checkpoint(1e6)
		}
		w.run(9)
		last(w)
		w.close()
		return w.path
	}
	whole := build(func(*world) {})
	for name, c := range map[string]struct {
		dir  string // if it is not the whole one
		file string // a pattern, of which the last one is taken, or one so far before it
		back int
		edit func(t *testing.T, b []byte)
	}{
		"store file":        {file: "tidemark.store", edit: func(t *testing.T, b []byte) { newer(b, 8, 40) }},
		"newest header":     {file: "blocks/header", edit: func(t *testing.T, b []byte) { newer(b, 8, layout.PageSize-4) }},
		"other header":      {file: "blocks/header", edit: func(t *testing.T, b []byte) { newer(b[layout.PageSize:], 8, layout.PageSize-4) }},
		"block file":        {file: "blocks/blocks", edit: func(t *testing.T, b []byte) { newer(b, 8, layout.PageSize-4) }},
		"index":             {file: "blocks/index-*", edit: func(t *testing.T, b []byte) { newer(b, 8, layout.IndexHead-4) }},
		"bounds of the log": {file: "log/bounds", edit: func(t *testing.T, b []byte) { newer(b, 4, 24) }},
		"last entry":        {file: "log/0*", edit: func(t *testing.T, b []byte) { newerEntry(t, b, 0) }},
		"entry behind damage": {file: "log/0*", back: 1, edit: func(t *testing.T, b []byte) {
			newerEntry(t, b, 1)
			b[20] ^= 1
		}},
		"record": {dir: build(func(w *world) {
			_, err := w.log.Append([]byte{99, 0})
			must(t, err)
		}), file: "log/0*"},
		"state": {dir: build(func(w *world) {
			state := record.AppendState(nil, &record.State{Stable: w.stable, Next: blockCount + 1})
			state[0] = 99
			must(t, w.store.Begin(blocks.Moment{LogIndex: w.index, Stable: w.stable}, bytes.NewReader(state)))
			for done := false; !done; {
				var err error
				done, err = w.store.Step()
				must(t, err)
			}
		}), file: "blocks/index-*"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if c.dir == "" {
				c.dir = whole
			}
			must(t, os.CopyFS(dir, os.DirFS(c.dir)))
			files, err := filepath.Glob(filepath.Join(dir, c.file))
			must(t, err)
			file := files[len(files)-1-c.back]
			if c.edit != nil {
				edit(t, file, func(b []byte) []byte { c.edit(t, b); return b })
			}
			before := tree(t, dir)
			beside, err := os.ReadDir(filepath.Dir(dir))
			must(t, err)
			refusals := map[string]error{"server": start(t, dir)}
			_, refusals["check"] = inspect.Check(t.Context(), dir, inspect.CheckOptions{Report: func(f inspect.Finding) error {
				t.Errorf("found %v", f)
				return nil
			}})
			refusals["dump"] = inspect.Dump(t.Context(), dir, io.Discard, inspect.DumpOptions{})
			for _, beyond := range []bool{false, true} {
				refusals["salvage"] = refused(t, dir, Options{Beyond: beyond, BlockSize: blockSize, Lost: func(l Loss) error {
					t.Errorf("lost %v", l)
					return nil
				}})
				if after, err := os.ReadDir(filepath.Dir(dir)); len(after) != len(beside) || err != nil {
					t.Errorf("there are %v, %v", after, err)
				}
			}
			for who, err := range refusals {
				if who == "server" && err != nil { // of a copy, in which damage before it is named first
					continue
				}
				if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "version 99, this program knows") ||
					!strings.Contains(err.Error(), dir) || name != "store file" && !strings.Contains(err.Error(), file) {
					t.Errorf("%s: %v", who, err)
				}
			}
			if !maps.Equal(before, tree(t, dir)) {
				t.Error("the directory was changed")
			}
		})
	}
}

// refused salvages a directory beside itself, and returns why not.
func refused(t *testing.T, dir string, o Options) error {
	t.Helper()
	s, err := Run(t.Context(), dir, dir+"-new", o)
	if err == nil {
		t.Errorf("salvaged: %+v", s)
	}
	return err
}
