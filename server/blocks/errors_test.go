package blocks

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// TestErrorsTellPaths: of a store in a directory of the operating system, an
// error has the path of the file that is not as it should be.
func TestErrorsTellPaths(t *testing.T) {
	whole := t.TempDir()
	w := newWorld(3, tiny)
	must(t, w.open(disk.OS(whole)))
	w.put()
	must(t, errors.Join(w.begin(), w.finish(), w.s.Close()))
	index := indexName(1)
	first := layout.PageSize + layout.SlotHeader // of the data in the block file
	flip := func(name string, at int) func(string) error {
		return func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				b[at] ^= 1
				err = os.WriteFile(filepath.Join(dir, name), b, 0o640)
			}
			return err
		}
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		store occ.StoreID
		file  string
		also  string // a file that the reason names
	}{
		"header missing": {remove(headerName), testStore, headerName, ""},
		"header damaged": {flip(headerName, layout.PageSize+40), testStore, indexName(0), headerName},
		"index damaged":  {flip(index, 60), testStore, index, ""},
		"index missing":  {remove(index), testStore, index, ""},
		"blocks missing": {remove(blocksName), testStore, blocksName, ""},
		"slot damaged":   {flip(blocksName, first), testStore, blocksName, ""},
		"another store":  {func(string) error { return nil }, occ.StoreID{9}, headerName, ""},
		"newer":          {renewed, testStore, blocksName, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(whole)))
			must(t, c.spoil(dir))
			o := w.opts
			o.Store = c.store
			s, _, err := Open(disk.OS(dir), o)
			if err == nil {
				for r := range w.live {
					_, err = s.Read(r.block, r.from)
				}
				must(t, s.Close())
			}
			if err == nil {
				t.Fatal("nothing is wrong")
			}
			for _, file := range []string{c.file, c.also} {
				if path := filepath.Join(dir, file); file != "" && strings.Count(err.Error(), path) != 1 {
					t.Errorf("%v does not tell %s once", err, path)
				}
			}
		})
	}
}

// renewed gives the block file a version that is to come.
func renewed(dir string) error {
	path := filepath.Join(dir, blocksName)
	b, err := os.ReadFile(path)
	if err == nil {
		b[8] = 9
		binary.LittleEndian.PutUint32(b[layout.PageSize-4:], layout.Checksum(0, b[:layout.PageSize-4]))
		err = os.WriteFile(path, b, 0o640)
	}
	return err
}
