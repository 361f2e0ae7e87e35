package infer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// placeTrace reads "type file dir/name [dir/name]", a second apart. Files and
// directories are hexadecimal numbers; a place may be missing.
func placeTrace(t testing.TB, lines ...string) []traces.Op {
	t.Helper()
	var ops []traces.Op
	place := func(s string) (fid traces.FID, name string) {
		dir, name, found := strings.Cut(s, "/")
		if _, err := fmt.Sscanf(dir, "%x", (*uint64)(&fid)); err != nil || !found {
			t.Fatalf("place %q", s)
		}
		return fid, name
	}
	for i, line := range lines {
		w := strings.Fields(line)
		op := traces.Op{Time: int64(i+1) * 1_000_000, Line: int64(i + 1), Size: 10}
		typ, write := strings.CutSuffix(w[0], "+w")
		op.Type = traces.Types[slices.IndexFunc(traces.Types[:], func(t traces.Type) bool { return t.String() == typ })]
		if write || op.Type > traces.Lookup {
			op.Action = traces.Write
		}
		fmt.Sscanf(w[1], "%x", (*uint64)(&op.FID))
		if len(w) > 2 {
			op.Place = &traces.Place{}
			op.Place.Dir, op.Place.Name = place(w[2])
		}
		if len(w) > 3 {
			op.Place.ToDir, op.Place.ToName = place(w[3])
		}
		ops = append(ops, op)
	}
	return ops
}

func TestPlaces(t *testing.T) {
	type lines = []string
	for name, c := range map[string]struct {
		trace     lines
		files     string // "1f" is a file, "1d" a directory
		entries   string
		misplaced int64
	}{
		"Lookup":                       {lines{"Lookup 1 d/a"}, "1f dd", "d/a=1", 0},
		"Lookup twice":                 {lines{"Lookup 1 d/a", "Lookup 1 d/a"}, "1f dd", "d/a=1", 0},
		"Open with a place":            {lines{"Open 1 d/a", "Block+w 1"}, "1f dd", "d/a=1", 0},
		"Delete":                       {lines{"Delete 1 d/a", "Create 1 d/a"}, "1f dd", "d/a=1", 0},
		"Rmdir":                        {lines{"Rmdir 1 d/a"}, "1d dd", "d/a=1", 0},
		"Rename":                       {lines{"Rename 1 d/a e/b", "Lookup 1 e/b"}, "1f dd ed", "d/a=1", 0},
		"Rename in vain":               {lines{"Lookup 1 d/b", "Rename 1 d/a d/b", "Lookup 1 d/a"}, "1f dd", "d/a=1 d/b=1", 0},
		"Link":                         {lines{"Link 1 d/a", "Lookup 1 d/a"}, "1f dd", "", 0},
		"Truncate":                     {lines{"Truncate 1"}, "1f", "", 0},
		"Commit":                       {lines{"Commit 1"}, "1f", "", 0},
		"Create":                       {lines{"Create 1 d/a", "Lookup 1 d/a"}, "dd", "", 0},
		"Mkdir":                        {lines{"Mkdir 1 d/a", "Create 2 1/b", "Lookup 2 1/b"}, "dd", "", 0},
		"Symlink":                      {lines{"Symlink 1 d/a", "Lookup 1 d/a"}, "dd", "", 0},
		"hard links":                   {lines{"Lookup 1 d/a", "Lookup 1 d/b", "Lookup 1 e/a"}, "1f dd ed", "d/a=1 d/b=1 e/a=1", 0},
		"nested":                       {lines{"Lookup 1 e/x", "Lookup e d/a", "Lookup d c/z"}, "1f cd dd ed", "c/z=d d/a=e e/x=1", 0},
		"by name, then directory":      {lines{"Lookup 1 2/b", "Lookup 1 2/a", "Lookup 2 1/x"}, "1d 2d", "2/b=1", 2},
		"written, then found":          {lines{"Attr+w 1", "Block+w 1", "Lookup 1 d/a"}, "1f dd", "d/a=1", 0},
		"written, then made":           {lines{"Block+w 1", "Create 1 d/a", "Lookup 1 d/a"}, "dd", "", 0},
		"written, then listed":         {lines{"Attr+w 1", "Dir 1"}, "1d", "", 0},
		"written, then a directory":    {lines{"Attr+w d", "Lookup 1 d/a"}, "1f dd", "d/a=1", 0},
		"replaced":                     {lines{"Lookup 1 d/a", "Lookup 2 d/b", "Rename 2 d/b d/a", "Lookup 2 d/a"}, "1f 2f dd", "d/a=1 d/b=2", 0},
		"made over another":            {lines{"Lookup 1 d/a", "Create 2 d/a", "Lookup 2 d/a"}, "1f dd", "d/a=1", 0},
		"deleted, then another":        {lines{"Lookup 1 d/a", "Delete 1 d/a", "Create 2 d/a", "Delete 2 d/a"}, "1f dd", "d/a=1", 0},
		"two under one name":           {lines{"Lookup 1 d/a", "Lookup 2 d/a"}, "1f 2f dd", "d/a=1", 1},
		"found after its removal":      {lines{"Delete 1 d/a", "Lookup 1 d/a"}, "1f dd", "d/a=1", 1},
		"made, then found elsewhere":   {lines{"Create 1 d/a", "Lookup 1 d/b"}, "dd", "", 1},
		"found in a new directory":     {lines{"Mkdir 2 d/a", "Lookup 1 2/b"}, "1f dd", "", 1},
		"a directory in two places":    {lines{"Lookup 2 d/a", "Lookup 1 2/x", "Lookup 2 e/b"}, "1f 2d dd ed", "2/x=1 d/a=2", 1},
		"a directory in itself":        {lines{"Lookup 1 1/a"}, "1d", "", 1},
		"a circle of three, the last":  {lines{"Lookup 1 3/a", "Lookup 2 1/a", "Lookup 3 2/a"}, "1d 2d 3d", "1/a=2 3/a=1", 1},
		"two circles and a tail":       {lines{"Lookup 1 2/a", "Lookup 2 1/a", "Lookup 3 4/a", "Lookup 4 3/a", "Lookup 5 4/b"}, "1d 2d 3d 4d 5f", "2/a=1 4/a=3 4/b=5", 2},
		"a file used as a directory":   {lines{"Block 2", "Lookup 1 2/a"}, "1f 2f", "", 1},
		"a new file used as directory": {lines{"Create 2 d/a", "Lookup 1 2/a"}, "1f dd", "", 1},
	} {
		img, err := NewImage(traces.Slice(placeTrace(t, c.trace...)), 512)
		if err != nil {
			t.Fatal(name, err)
		}
		var files, entries []string
		for _, f := range img.Files {
			files = append(files, fmt.Sprintf("%x%c", uint64(f.FID), "fd"[btoi(f.Dir)]))
		}
		for _, e := range img.Entries {
			entries = append(entries, fmt.Sprintf("%x/%s=%x", uint64(e.Dir), e.Name, uint64(e.FID)))
		}
		slices.Sort(entries)
		if got := strings.Join(files, " "); got != c.files {
			t.Errorf("%s: files %s, want %s", name, got, c.files)
		}
		if got := strings.Join(entries, " "); got != c.entries || img.Misplaced != c.misplaced {
			t.Errorf("%s: entries %s and %d misplaced, want %s and %d", name, got, img.Misplaced, c.entries, c.misplaced)
		}
		if err := checkEntries(img); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkEntries is what the entries of any image must satisfy.
func checkEntries(img *Image) error {
	files := map[traces.FID]*File{}
	for i := range img.Files {
		files[img.Files[i].FID] = &img.Files[i]
	}
	own := map[traces.FID]bool{} // directories that have an entry
	for _, e := range img.Entries {
		own[e.FID] = true
	}
	met := map[entryName]bool{}
	reached := map[traces.FID]bool{}
	for _, e := range img.Entries {
		n := entryName{e.Dir, e.Name}
		switch {
		case files[e.Dir] == nil || files[e.FID] == nil || !files[e.Dir].Dir:
			return fmt.Errorf("entry %v of what is not there", e)
		case own[e.Dir] && !reached[e.Dir]:
			return fmt.Errorf("entry %v comes before its directory's own", e)
		case files[e.FID].Dir && reached[e.FID]:
			return fmt.Errorf("directory %v has two entries", e.FID)
		case met[n]:
			return fmt.Errorf("name %v twice", n)
		}
		met[n], reached[e.FID] = true, true
	}
	return nil
}

// TestNonsenseGivesATree: whatever a trace says of places, the image is a tree.
func TestNonsenseGivesATree(t *testing.T) {
	misplaced := int64(0)
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		ops := randomOps(rng, 1+rng.IntN(80))
		for i := range ops {
			if p := ops[i].Place; p != nil { // directories are found and made, too
				p.Dir = traces.FID(rng.IntN(4))
				if ops[i].Type == traces.Rename {
					p.ToDir = traces.FID(rng.IntN(4))
				}
			}
		}
		var images [2]*Image
		for i := range images {
			var err error
			if images[i], err = NewImage(traces.Slice(ops), 512); err != nil {
				t.Fatal(err)
			}
			if err = checkImage(images[i]); err == nil {
				err = checkEntries(images[i])
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if !slices.Equal(images[0].Entries, images[1].Entries) || images[0].Misplaced != images[1].Misplaced {
			t.Fatalf("seed %d: two images: %v and %v", seed, images[0], images[1])
		}
		misplaced += images[0].Misplaced
	}
	if misplaced == 0 {
		t.Error("nothing was misplaced")
	}
}
