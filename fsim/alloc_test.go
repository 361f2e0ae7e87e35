package fsim

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// logTx notes which blocks are read and written.
type logTx struct {
	*MemTx
	read, wrote []occ.BlockID
}

func (l *logTx) Read(id occ.BlockID) ([]byte, error) {
	l.read = append(l.read, id)
	return l.MemTx.Read(id)
}

func (l *logTx) ReadMany(ids []occ.BlockID) ([][]byte, error) {
	l.read = append(l.read, ids...)
	return l.MemTx.ReadMany(ids)
}

func (l *logTx) Write(id occ.BlockID, data []byte) error {
	l.wrote = append(l.wrote, id)
	return l.MemTx.Write(id, data)
}

func TestAffinitiesStayApart(t *testing.T) {
	fs, tx := mkfs(t, tiny)
	var logs [2]logTx
	var dirs [2]Handle
	for i := range logs {
		dirs[i] = must(fs.Create(tx, fs.Root(), fmt.Sprint("client", i), Dir, uint32(i)+1, 0))(t)
		logs[i].MemTx = tx
	}
	for n := range 10 {
		for i := range logs {
			h := must(fs.Create(&logs[i], dirs[i], fmt.Sprint("file", n), File, uint32(i)+1, 0))(t)
			ok(t, fs.Write(&logs[i], h, 0, pattern(3000, byte(n)), 0))
			if g, _ := fs.inodeGroup(h.Ino); g != uint32(i)+1 {
				t.Errorf("affinity %d got inode %d of group %d", i+1, h.Ino, g)
			}
		}
	}
	touched := map[occ.BlockID]int{}
	for i := range logs {
		for _, id := range append(logs[i].read, logs[i].wrote...) {
			if other, ok := touched[id]; ok && other != i {
				t.Errorf("both touch block %d of the volume", id-testBase)
			}
			touched[id] = i
		}
	}
	fsck(t, fs, tx)
}

// What operations read and write, counted in blocks; the cost that the
// package comment promises.
func TestCosts(t *testing.T) {
	d := newDamaged(t)
	fs := d.fs
	tests := []struct {
		name           string
		run            func(tx Tx) error
		blocks, writes int // different blocks read, and writes
		requests       int // including those for blocks read before
	}{
		{"stat", func(tx Tx) error { _, err := fs.Stat(tx, d.file); return err }, 1, 0, 1},
		{"read two blocks", func(tx Tx) error { _, err := fs.Read(tx, d.file, 0, make([]byte, 700)); return err }, 3, 0, 2},
		{"overwrite a block", func(tx Tx) error { return fs.Write(tx, d.file, 0, pattern(512, 1), 1) }, 1, 2, 2},
		{"overwrite to the end", func(tx Tx) error { return fs.Write(tx, d.file, 512, pattern(188, 1), 1) }, 1, 2, 2},
		{"overwrite parts of two blocks", func(tx Tx) error { return fs.Write(tx, d.file, 500, pattern(100, 1), 1) }, 3, 3, 3},
		{"set time", func(tx Tx) error { return fs.SetTime(tx, d.file, 1) }, 1, 1, 2},
		{"create", func(tx Tx) error { _, err := fs.Create(tx, d.sub, "new", File, 3, 1); return err }, 5, 4, 8},
		{"look up", func(tx Tx) error { _, err := fs.Lookup(tx, d.sub, "inSub"); return err }, 2, 0, 2},
		{"replace an entry", func(tx Tx) error { _, err := fs.ReplaceEntry(tx, d.sub, 0); return err }, 2, 1, 3},
		{"make a hole", func(tx Tx) error { return fs.Truncate(tx, d.file, 1<<20, 1) }, 1, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx := &logTx{MemTx: d.tx.Clone()}
			ok(t, tt.run(tx))
			slices.Sort(tx.read)
			if blocks := len(slices.Compact(tx.read)); blocks != tt.blocks || len(tx.wrote) != tt.writes || tx.Requests != tt.requests {
				t.Errorf("read %d blocks in %d requests and wrote %d, want %d in %d, and %d",
					blocks, tx.Requests, len(tx.wrote), tt.blocks, tt.requests, tt.writes)
			}
			fsck(t, fs, tx)
		})
	}
}

func TestMkfsIsCheapAndNeedsBlankBlocks(t *testing.T) {
	tx := NewMemTx(4096)
	fs := must(Mkfs(tx, testBase, Geometry{Blocks: 1<<32 - 1}, 0))(t)
	if tx.BlocksWritten != 4 {
		t.Errorf("mkfs wrote %d blocks, want 4", tx.BlocksWritten)
	}
	if _, err := Mkfs(tx, testBase, Geometry{Blocks: 1000}, 0); !errors.Is(err, ErrNotBlank) {
		t.Errorf("a second mkfs gives %v", err)
	}
	h := must(fs.Create(tx, fs.Root(), "f", File, 1<<32-1, 0))(t)
	ok(t, fs.Write(tx, h, 0, []byte("x"), 0))
}

func TestGeometries(t *testing.T) {
	for _, geo := range []Geometry{
		{Blocks: 0}, {Blocks: 1}, {Blocks: 4}, {BlockSize: 256, Blocks: 1000}, {BlockSize: 131072, Blocks: 1000},
		{BlockSize: 5000, Blocks: 1000}, {Blocks: 1000, BlocksPerGroup: 4}, {Blocks: 1 << 20, BlocksPerGroup: 1 << 19},
		{Blocks: 1000, InodesPerGroup: 1 << 16}, {Blocks: 1<<32 - 1, BlocksPerGroup: 1025, InodesPerGroup: 32768},
	} {
		if _, err := Mkfs(NewMemTx(4096), testBase, geo, 0); !errors.Is(err, ErrGeometry) {
			t.Errorf("%+v gives %v", geo, err)
		}
	}
	if _, err := Mkfs(NewMemTx(4096), 1<<64-10, Geometry{Blocks: 1000}, 0); !errors.Is(err, ErrGeometry) {
		t.Errorf("a volume past the last block id gives %v", err)
	}
	for size := uint32(MinBlockSize); size <= MaxBlockSize; size *= 2 {
		for _, blocks := range []uint32{150, 601, 5000} {
			fs, tx := mkfs(t, Geometry{BlockSize: size, Blocks: blocks})
			h := must(fs.Create(tx, fs.Root(), "f", File, 5, 0))(t)
			ok(t, fs.Write(tx, h, fs.MaxFileSize()-int64(2*size), pattern(int(2*size), 1), 0))
			fsck(t, fs, tx)
		}
	}
}

// Filling a volume to the last block and inode and emptying it again.
func TestNoSpaceAndBack(t *testing.T) {
	fs, tx := mkfs(t, Geometry{BlockSize: 512, Blocks: 120, BlocksPerGroup: 30, InodesPerGroup: 8})
	empty := must(fs.Usage(tx))(t)
	var err error
	files := 0
	for ; err == nil; files++ {
		var h Handle
		if h, err = fs.Create(tx, fs.Root(), fmt.Sprintf("file%03d", files), File, uint32(files), 0); err == nil && files < 20 {
			// A long write that fails has no effect, one in parts fills up.
			before := must(fs.Usage(tx))(t)
			if long := fs.Write(tx, h, 0, make([]byte, 1<<20), 0); !errors.Is(long, ErrNoSpace) {
				t.Fatalf("a megabyte gave %v", long)
			}
			if after := must(fs.Usage(tx))(t); after != before {
				t.Fatalf("usage went from %+v to %+v", before, after)
			}
			if err := fs.Write(tx, h, 0, pattern(2000, 1), 0); err != nil && !errors.Is(err, ErrNoSpace) {
				t.Fatal(err)
			}
		}
		fsck(t, fs, tx)
	}
	if !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	if u := must(fs.Usage(tx))(t); u.InodesUsed != u.Inodes && u.BlocksUsed != u.Blocks {
		t.Errorf("no space, but %+v", u)
	}
	for i := range files - 1 {
		ok(t, fs.Remove(tx, fs.Root(), fmt.Sprintf("file%03d", i)))
	}
	fsck(t, fs, tx)
	u := must(fs.Usage(tx))(t)
	u.BlocksUsed -= must(fs.Stat(tx, fs.Root()))(t).Blocks
	if u != empty {
		t.Errorf("after removing everything %+v, at first %+v", u, empty)
	}
}

// failTx fails every call from the nth on.
type failTx struct {
	*MemTx
	left int
}

var errTx = errors.New("conflict")

func (f *failTx) fail() error {
	if f.left--; f.left < 0 {
		return errTx
	}
	return nil
}

func (f *failTx) Read(id occ.BlockID) ([]byte, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.MemTx.Read(id)
}

func (f *failTx) ReadMany(ids []occ.BlockID) ([][]byte, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.MemTx.ReadMany(ids)
}

func (f *failTx) Write(id occ.BlockID, data []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.MemTx.Write(id, data)
}

// A transaction that fails at any call ends the operation with its error.
func TestTransactionErrorsPassThrough(t *testing.T) {
	d := newDamaged(t)
	fs := d.fs
	ops := map[string]func(tx Tx) error{
		"open":     func(tx Tx) error { _, err := Open(tx, testBase); return err },
		"mkfs":     func(tx Tx) error { _, err := Mkfs(tx, 1<<40, tiny, 0); return err },
		"stat":     func(tx Tx) error { _, err := fs.Stat(tx, d.file); return err },
		"read":     func(tx Tx) error { _, err := fs.Read(tx, d.big, 11*512, make([]byte, 1500)); return err },
		"write":    func(tx Tx) error { return fs.Write(tx, d.big, 139*512+5, make([]byte, 1500), 1) },
		"truncate": func(tx Tx) error { return fs.Truncate(tx, d.big, 12*512+3, 1) },
		"settime":  func(tx Tx) error { return fs.SetTime(tx, d.big, 1) },
		"create":   func(tx Tx) error { _, err := fs.Create(tx, d.sub, string(pattern(250, 1)[:8]), Dir, 1, 1); return err },
		"link":     func(tx Tx) error { return fs.Link(tx, d.sub, "l", d.big, 1) },
		"remove":   func(tx Tx) error { return fs.Remove(tx, d.dir, "big") },
		"list":     func(tx Tx) error { _, err := fs.ReadDir(tx, d.dir); return err },
		"replace":  func(tx Tx) error { _, err := fs.ReplaceEntry(tx, d.dir, 0); return err },
		"usage":    func(tx Tx) error { _, err := fs.Usage(tx); return err },
		"tree":     func(tx Tx) error { _, err := fs.Tree(tx); return err },
		"check":    func(tx Tx) error { _, err := fs.Check(tx); return err },
	}
	for name, run := range ops {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				tx := &failTx{d.tx.Clone(), n}
				err := run(tx)
				if tx.left >= 0 {
					ok(t, err)
					return
				}
				if !errors.Is(err, errTx) {
					t.Fatalf("failing at call %d gives %v", n, err)
				}
			}
		})
	}
}
