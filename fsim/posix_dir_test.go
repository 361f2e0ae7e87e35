package fsim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// dirBehaviours is fileBehaviours for directories and their entries.
var dirBehaviours = map[string]func(t *testing.T, fs *FS, tx *MemTx){
	"RootIsEmptyDirectory": func(t *testing.T, fs *FS, tx *MemTx) {
		info := must(fs.Stat(tx, fs.Root()))(t)
		if want := (Info{Kind: Dir, Links: 1, MTime: 7}); info != want {
			t.Errorf("root is %+v, want %+v", info, want)
		}
		if list := must(fs.ReadDir(tx, fs.Root()))(t); len(list) != 0 {
			t.Errorf("root has %v", list)
		}
	},
	"CreateThenLookup": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 9))(t)
		if got := must(fs.Lookup(tx, fs.Root(), "f"))(t); got != h {
			t.Errorf("looked up %v, created %v", got, h)
		}
		if info := must(fs.Stat(tx, h))(t); info != (Info{Kind: File, Links: 1, MTime: 9}) {
			t.Errorf("new file is %+v", info)
		}
	},
	"CreateTwice": func(t *testing.T, fs *FS, tx *MemTx) {
		must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		_, err := fs.Create(tx, fs.Root(), "f", Dir, 0, 0)
		wantErr(t, err, ErrExist)
	},
	"LookupMissing": func(t *testing.T, fs *FS, tx *MemTx) {
		_, err := fs.Lookup(tx, fs.Root(), "f")
		wantErr(t, err, ErrNotExist)
		wantErr(t, fs.Remove(tx, fs.Root(), "f"), ErrNotExist)
	},
	"Names": func(t *testing.T, fs *FS, tx *MemTx) {
		for _, name := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", 256)} {
			_, err := fs.Create(tx, fs.Root(), name, File, 0, 0)
			wantErr(t, err, ErrName)
		}
		for _, name := range []string{"...", " ", "\xff\xfe", strings.Repeat("x", 255)} {
			h := must(fs.Create(tx, fs.Root(), name, File, 0, 0))(t)
			if got := must(fs.Lookup(tx, fs.Root(), name))(t); got != h {
				t.Errorf("%q: looked up %v, created %v", name, got, h)
			}
		}
	},
	"DirectoriesMustBeEmptyToGo": func(t *testing.T, fs *FS, tx *MemTx) {
		d := must(fs.Create(tx, fs.Root(), "d", Dir, 0, 0))(t)
		must(fs.Create(tx, d, "f", File, 0, 0))(t)
		wantErr(t, fs.Remove(tx, fs.Root(), "d"), ErrNotEmpty)
		ok(t, fs.Remove(tx, d, "f"))
		ok(t, fs.Remove(tx, fs.Root(), "d"))
		_, err := fs.ReadDir(tx, d)
		wantErr(t, err, ErrStale)
	},
	"LinksShareAFile": func(t *testing.T, fs *FS, tx *MemTx) {
		f := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Link(tx, fs.Root(), "g", f, 0))
		wantErr(t, fs.Link(tx, fs.Root(), "g", f, 0), ErrExist)
		ok(t, fs.Remove(tx, fs.Root(), "f"))
		ok(t, fs.Write(tx, f, 0, []byte("x"), 0))
		if info := must(fs.Stat(tx, f))(t); info.Links != 1 {
			t.Errorf("%d links, want 1", info.Links)
		}
		ok(t, fs.Remove(tx, fs.Root(), "g"))
		_, err := fs.Stat(tx, f)
		wantErr(t, err, ErrStale)
	},
	"RangesOfDirectories": func(t *testing.T, fs *FS, tx *MemTx) {
		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprintf("entry-%010d", i))
			must(fs.Create(tx, fs.Root(), names[i], File, 0, 0))(t)
		}
		all := must(fs.ReadDir(tx, fs.Root()))(t)
		if len(all) != 40 || !slices.EqualFunc(all, names, func(e Entry, n string) bool { return e.Name == n }) {
			t.Fatalf("listed %v", all)
		}
		size := must(fs.Stat(tx, fs.Root()))(t).Size
		var pieces []Entry
		for off := int64(0); off < size; off += 100 {
			pieces = append(pieces, must(fs.ReadDirRange(tx, fs.Root(), off, 100))(t)...)
		}
		if !slices.Equal(pieces, all) {
			t.Error("the ranges do not add up to the directory")
		}
		if past := must(fs.ReadDirRange(tx, fs.Root(), size+1, 100))(t); past != nil {
			t.Errorf("past the end there is %v", past)
		}
	},
	"ReplaceEntryKeepsEverything": func(t *testing.T, fs *FS, tx *MemTx) {
		for i := range 40 {
			must(fs.Create(tx, fs.Root(), fmt.Sprintf("entry-%010d", i), File, 0, 0))(t)
		}
		before := must(fs.ReadDir(tx, fs.Root()))(t)
		writes := tx.BlocksWritten
		for i, e := range before {
			if got := must(fs.ReplaceEntry(tx, fs.Root(), e.Off+1))(t); got != before[i] {
				t.Errorf("at %d replaced %v, want %v", e.Off+1, got, e)
			}
		}
		if n := tx.BlocksWritten - writes; n != len(before) {
			t.Errorf("%d writes for %d entries", n, len(before))
		}
		if after := must(fs.ReadDir(tx, fs.Root()))(t); !slices.Equal(before, after) {
			t.Error("the directory changed")
		}
		ok(t, fs.Remove(tx, fs.Root(), before[0].Name))
		if got := must(fs.ReplaceEntry(tx, fs.Root(), 0))(t); got != before[1] {
			t.Errorf("next after a gap is %v", got)
		}
		size := must(fs.Stat(tx, fs.Root()))(t).Size
		_, err := fs.ReplaceEntry(tx, fs.Root(), size)
		wantErr(t, err, ErrNotExist)
	},
	"RemovedEntriesLeaveRoom": func(t *testing.T, fs *FS, tx *MemTx) {
		for i := range 20 {
			must(fs.Create(tx, fs.Root(), fmt.Sprintf("entry-%010d", i), File, 0, 0))(t)
		}
		size := must(fs.Stat(tx, fs.Root()))(t).Size
		for round := range 10 {
			for i := range 20 {
				name := fmt.Sprintf("entry-%010d", round*20+i)
				ok(t, fs.Remove(tx, fs.Root(), name))
				must(fs.Create(tx, fs.Root(), fmt.Sprintf("entry-%010d", round*20+i+20), File, 0, 0))(t)
			}
		}
		if now := must(fs.Stat(tx, fs.Root()))(t).Size; now != size {
			t.Errorf("directory grew from %d to %d bytes", size, now)
		}
	},
	"RemovedNeighboursJoin": func(t *testing.T, fs *FS, tx *MemTx) {
		long := strings.Repeat("x", 112)
		for _, name := range []string{"a", "b", "c", "d"} {
			must(fs.Create(tx, fs.Root(), name+long, File, 0, 0))(t)
		}
		ok(t, fs.Remove(tx, fs.Root(), "b"+long))
		ok(t, fs.Remove(tx, fs.Root(), "c"+long))
		must(fs.Create(tx, fs.Root(), strings.Repeat("y", 230), File, 0, 0))(t)
		if size := must(fs.Stat(tx, fs.Root()))(t).Size; size != 512 {
			t.Errorf("directory has %d bytes, want one block", size)
		}
	},
}
