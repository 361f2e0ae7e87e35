package fsim

import (
	"fmt"
	"strings"
	"testing"
)

// tree makes the directories a, a/b and a/b/c and the files f and a/g.
func tree(t *testing.T, fs *FS, tx *MemTx) (a, b, c, f, g Handle) {
	a = must(fs.Create(tx, fs.Root(), "a", Dir, 0, 0))(t)
	b = must(fs.Create(tx, a, "b", Dir, 1, 0))(t)
	c = must(fs.Create(tx, b, "c", Dir, 2, 0))(t)
	f = must(fs.Create(tx, fs.Root(), "f", File, 3, 0))(t)
	g = must(fs.Create(tx, a, "g", File, 0, 0))(t)
	ok(t, fs.Write(tx, f, 0, pattern(700, 'f'), 0))
	ok(t, fs.Write(tx, g, 0, pattern(700, 'g'), 0))
	return
}

// at fails unless an entry has the handle h, or does not exist if h is zero.
func at(t *testing.T, fs *FS, tx *MemTx, dir Handle, name string, h Handle) {
	t.Helper()
	got, err := fs.Lookup(tx, dir, name)
	if h == (Handle{}) {
		wantErr(t, err, ErrNotExist)
	} else if err != nil || got != h {
		t.Errorf("%q is %v (%v), want %v", name, got, err, h)
	}
}

// renameBehaviours is fileBehaviours for Rename and symbolic links.
var renameBehaviours = map[string]func(t *testing.T, fs *FS, tx *MemTx){
	"RenameInADirectory": func(t *testing.T, fs *FS, tx *MemTx) {
		_, _, _, f, _ := tree(t, fs, tx)
		writes := tx.BlocksWritten
		ok(t, fs.Rename(tx, fs.Root(), "f", fs.Root(), "a longer name", 9))
		if n := tx.BlocksWritten - writes; n != 1 {
			t.Errorf("%d blocks written, want the directory's", n)
		}
		at(t, fs, tx, fs.Root(), "f", Handle{})
		at(t, fs, tx, fs.Root(), "a longer name", f)
		if info := must(fs.Stat(tx, f))(t); info.Links != 1 || info.Size != 700 {
			t.Errorf("the file is %+v", info)
		}
	},
	"RenameAcrossDirectories": func(t *testing.T, fs *FS, tx *MemTx) {
		a, b, c, f, _ := tree(t, fs, tx)
		ok(t, fs.Rename(tx, fs.Root(), "f", b, "f", 0))
		at(t, fs, tx, b, "f", f)
		ok(t, fs.Rename(tx, b, "c", fs.Root(), "c", 0))
		at(t, fs, tx, fs.Root(), "c", c)
		ok(t, fs.Rename(tx, fs.Root(), "a", c, "a", 0)) // now /c/a/b
		at(t, fs, tx, c, "a", a)
		wantErr(t, fs.Rename(tx, fs.Root(), "c", b, "c", 0), ErrLoop)
	},
	"RenameReplacesFiles": func(t *testing.T, fs *FS, tx *MemTx) {
		a, _, _, f, g := tree(t, fs, tx)
		ok(t, fs.Link(tx, a, "h", g, 0))
		used := must(fs.Usage(tx))(t)
		ok(t, fs.Rename(tx, fs.Root(), "f", a, "g", 0))
		at(t, fs, tx, fs.Root(), "f", Handle{})
		at(t, fs, tx, a, "g", f)
		if info := must(fs.Stat(tx, g))(t); info.Links != 1 {
			t.Errorf("the other link is %+v", info)
		}
		ok(t, fs.Rename(tx, a, "g", a, "h", 0))
		_, err := fs.Stat(tx, g)
		wantErr(t, err, ErrStale)
		if now := must(fs.Usage(tx))(t); now.BlocksUsed != used.BlocksUsed-2 || now.InodesUsed != used.InodesUsed-1 {
			t.Errorf("from %+v to %+v", used, now)
		}
	},
	"RenameReplacesEmptyDirectoriesOnly": func(t *testing.T, fs *FS, tx *MemTx) {
		a, b, c, _, _ := tree(t, fs, tx)
		d := must(fs.Create(tx, fs.Root(), "d", Dir, 0, 0))(t)
		wantErr(t, fs.Rename(tx, fs.Root(), "d", a, "b", 0), ErrNotEmpty)
		wantErr(t, fs.Rename(tx, b, "c", fs.Root(), "a", 0), ErrNotEmpty) // its own ancestor
		ok(t, fs.Rename(tx, fs.Root(), "d", b, "c", 0))
		at(t, fs, tx, b, "c", d)
		_, err := fs.Stat(tx, c)
		wantErr(t, err, ErrStale)
	},
	"RenameKeepsKindsApart": func(t *testing.T, fs *FS, tx *MemTx) {
		a, b, _, _, _ := tree(t, fs, tx)
		must(fs.Symlink(tx, a, "s", "g", 0, 0))(t)
		writes := tx.BlocksWritten
		wantErr(t, fs.Rename(tx, fs.Root(), "f", b, "c", 0), ErrIsDir)
		wantErr(t, fs.Rename(tx, a, "s", b, "c", 0), ErrIsDir)
		wantErr(t, fs.Rename(tx, b, "c", fs.Root(), "f", 0), ErrNotDir)
		wantErr(t, fs.Rename(tx, b, "c", a, "s", 0), ErrNotDir)
		wantErr(t, fs.Rename(tx, fs.Root(), "no", a, "g", 0), ErrNotExist)
		wantErr(t, fs.Rename(tx, fs.Root(), "f", a, ".", 0), ErrName)
		wantErr(t, fs.Rename(tx, fs.Root(), "", a, "g", 0), ErrName)
		if tx.BlocksWritten != writes {
			t.Error("what was refused has written")
		}
		ok(t, fs.Rename(tx, a, "s", fs.Root(), "f", 0))
	},
	"RenameIntoItself": func(t *testing.T, fs *FS, tx *MemTx) {
		a, b, c, _, _ := tree(t, fs, tx)
		for _, below := range []Handle{a, b, c} {
			wantErr(t, fs.Rename(tx, fs.Root(), "a", below, "x", 0), ErrLoop)
		}
		ok(t, fs.Rename(tx, fs.Root(), "a", fs.Root(), "x", 0))
	},
	"RenameOfOneFileToItself": func(t *testing.T, fs *FS, tx *MemTx) {
		a, _, _, f, _ := tree(t, fs, tx)
		ok(t, fs.Link(tx, a, "f", f, 0))
		writes := tx.BlocksWritten
		ok(t, fs.Rename(tx, fs.Root(), "f", fs.Root(), "f", 0))
		ok(t, fs.Rename(tx, fs.Root(), "f", a, "f", 0))
		at(t, fs, tx, fs.Root(), "f", f)
		at(t, fs, tx, a, "f", f)
		if tx.BlocksWritten != writes {
			t.Error("nothing was to be done, but something was written")
		}
	},
	"RenameInFullBlocks": func(t *testing.T, fs *FS, tx *MemTx) {
		for i := range 60 {
			must(fs.Create(tx, fs.Root(), fmt.Sprintf("entry-%02d", i), File, 0, 0))(t)
		}
		for round := range 5 {
			for i := range 60 {
				from, to := fmt.Sprintf("entry-%02d", i), "x"
				if i%2 == 0 {
					to += strings.Repeat("y", 7*round)
				}
				ok(t, fs.Rename(tx, fs.Root(), from, fs.Root(), to, 0))
				ok(t, fs.Rename(tx, fs.Root(), to, fs.Root(), from, 0))
			}
			fsck(t, fs, tx)
		}
		if n := len(must(fs.ReadDir(tx, fs.Root()))(t)); n != 60 {
			t.Errorf("%d entries", n)
		}
	},
	"RenameTooDeep": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "d", Dir, 0, 0))(t) // will be its own parent
		rel, off := fs.inodeBlock(h.Ino)
		loop := tx.Clone()
		b := append([]byte(nil), loop.get(fs.id(rel))...)
		le.PutUint32(b[off+28:], h.Ino)
		ok(t, loop.Write(fs.id(rel), b))
		must(fs.Create(loop, fs.Root(), "e", Dir, 0, 0))(t)
		wantErr(t, fs.Rename(loop, fs.Root(), "e", h, "x", 0), ErrTooDeep)
	},
	"SymbolicLinks": func(t *testing.T, fs *FS, tx *MemTx) {
		long := strings.Repeat("l/", 2047) + "x"
		for i, text := range []string{"x", "../no/such", long} {
			h := must(fs.Symlink(tx, fs.Root(), fmt.Sprint(i), text, 0, 8))(t)
			if got := readAll(t, fs, tx, h); string(got) != text {
				t.Errorf("the text is %q, want %q", got, text)
			}
			if info := must(fs.Stat(tx, h))(t); info.Kind != Symlink || info.Links != 1 || info.MTime != 8 {
				t.Errorf("the link is %+v", info)
			}
			wantErr(t, fs.Write(tx, h, 0, []byte("y"), 0), ErrIsSymlink)
			wantErr(t, fs.Truncate(tx, h, 0, 0), ErrIsSymlink)
			_, err := fs.Lookup(tx, h, "x")
			wantErr(t, err, ErrNotDir)
			ok(t, fs.Link(tx, fs.Root(), fmt.Sprint(i, "again"), h, 0))
		}
		for text, want := range map[string]error{"": ErrInvalid, "a\x00": ErrInvalid, long + "x": ErrTooLarge} {
			_, err := fs.Symlink(tx, fs.Root(), "new", text, 0, 0)
			wantErr(t, err, want)
		}
		_, err := fs.Symlink(tx, fs.Root(), "1", "x", 0, 0)
		wantErr(t, err, ErrExist)
		_, err = fs.Create(tx, fs.Root(), "new", Symlink, 0, 0)
		wantErr(t, err, ErrInvalid)
		ok(t, fs.Remove(tx, fs.Root(), "2"))
		ok(t, fs.Remove(tx, fs.Root(), "2again"))
	},
}
