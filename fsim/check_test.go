package fsim

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// damaged is a volume with a bit of everything, to be damaged.
type damaged struct {
	*testing.T
	fs              *FS
	tx              *MemTx
	file, big       Handle // file has 2 direct blocks, big has all levels
	dir, sub, inSub Handle // /dir/sub/inSub
	sym             Handle // a symbolic link
}

func newDamaged(t *testing.T) *damaged {
	fs, tx := mkfs(t, tiny)
	d := &damaged{T: t, fs: fs, tx: tx}
	d.file = must(fs.Create(tx, fs.Root(), "file", File, 0, 0))(t)
	d.dir = must(fs.Create(tx, fs.Root(), "dir", Dir, 0, 0))(t)
	d.sub = must(fs.Create(tx, d.dir, "sub", Dir, 1, 0))(t)
	d.inSub = must(fs.Create(tx, d.sub, "inSub", File, 1, 0))(t)
	d.big = must(fs.Create(tx, d.dir, "big", File, 2, 0))(t)
	d.sym = must(fs.Symlink(tx, fs.Root(), "sym", "dir/big", 3, 0))(t)
	ok(t, fs.Write(tx, d.file, 0, pattern(700, 1), 0))
	for _, fb := range []int64{0, 12, 12 + 128, 12 + 128 + 128*128} {
		ok(t, fs.Write(tx, d.big, fb*512, pattern(512, 2), 0))
	}
	fsck(t, fs, tx)
	return d
}

// block changes a block behind the file system's back.
func (d *damaged) block(rel uint32, change func(b []byte)) {
	b := slices.Clone(d.tx.get(d.fs.id(rel)))
	change(b)
	ok(d, d.tx.Write(d.fs.id(rel), b))
}

func (d *damaged) inode(h Handle, change func(n *inode)) {
	rel, off := d.fs.inodeBlock(h.Ino)
	d.block(rel, func(b []byte) {
		var n inode
		n.decode(b[off:])
		change(&n)
		n.encode(b[off:])
	})
}

func (d *damaged) ptr(h Handle, slot int) (p uint32) {
	d.inode(h, func(n *inode) { p = n.ptr[slot] })
	return p
}

// entry changes the head of the record of an entry.
func (d *damaged) entry(dir Handle, name string, change func(h []byte)) {
	var n inode
	ok(d, d.fs.load(d.tx, dir, &n))
	f := must(d.fs.search(d.tx, dir.Ino, &n, name, 1<<30))(d)
	if !f.found {
		d.Fatalf("no entry %q", name)
	}
	d.block(f.block.rel, func(b []byte) { change(b[f.rec.off:]) })
}

func TestCheckFinds(t *testing.T) {
	flip := func(bit uint32) func([]byte) { return func(b []byte) { b[bit/8] ^= 1 << (bit % 8) } }
	add := func(off int, n uint32) func([]byte) {
		return func(b []byte) { le.PutUint32(b[off:], le.Uint32(b[off:])+n) }
	}
	tests := []struct {
		name   string
		damage func(d *damaged)
		want   []ProblemKind // exactly these, sorted and without repetitions
	}{
		{"block bit set", func(d *damaged) { d.block(d.fs.blockMap(0), flip(90)) }, []ProblemKind{Leaked, WrongCount}},
		{"block bit clear", func(d *damaged) { d.block(d.fs.blockMap(0), flip(0)) }, []ProblemKind{UsedButFree, WrongCount}},
		{"block bit past the end", func(d *damaged) { d.block(d.fs.blockMap(0), flip(1000)) }, []ProblemKind{BadGroup}},
		{"inode bit set", func(d *damaged) { d.block(d.fs.inodeMap(3), flip(2)) }, []ProblemKind{LeakedInode, WrongCount}},
		{"inode bit clear", func(d *damaged) { d.block(d.fs.inodeMap(0), flip(1)) }, []ProblemKind{InodeMarkedFree, WrongCount}},
		{"inode bit past the end", func(d *damaged) { d.block(d.fs.inodeMap(0), flip(16)) }, []ProblemKind{BadGroup}},
		{"blocks counter", func(d *damaged) { d.block(d.fs.descriptor(0), add(usedBlocks, 1)) }, []ProblemKind{WrongCount}},
		{"inodes counter", func(d *damaged) { d.block(d.fs.descriptor(1), add(usedInodes, 1)) }, []ProblemKind{WrongCount}},
		{"directories counter", func(d *damaged) { d.block(d.fs.descriptor(2), add(usedDirs, 1)) }, []ProblemKind{WrongCount}},
		{"descriptor's rest", func(d *damaged) { d.block(d.fs.descriptor(2), add(100, 1)) }, []ProblemKind{BadGroup}},
		{"inode's block count", func(d *damaged) { d.inode(d.big, func(n *inode) { n.blocks++ }) }, []ProblemKind{WrongBlocks}},
		{"inode's links", func(d *damaged) { d.inode(d.file, func(n *inode) { n.links = 2 }) }, []ProblemKind{WrongLinks}},
		{"inode of no kind", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.kind = 77 }) }, []ProblemKind{BadInode, Dangling}},
		{"inode's reserved bytes", func(d *damaged) {
			rel, off := d.fs.inodeBlock(d.inSub.Ino)
			d.block(rel, func(b []byte) { b[off+127] = 1 })
		}, []ProblemKind{BadInode}},
		{"free inode with a size", func(d *damaged) { d.inode(Handle{Ino: 14}, func(n *inode) { n.size = 1 }) }, []ProblemKind{BadInode}},
		{"inode cleared", func(d *damaged) { d.inode(d.inSub, func(n *inode) { *n = inode{} }) }, []ProblemKind{Dangling, LeakedInode}},
		{"generation", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.gen++ }) }, []ProblemKind{Dangling, Orphan}},
		{"generation 0", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.gen = 0 }) }, []ProblemKind{BadInode, Dangling, Orphan}},
		{"pointer out of the volume", func(d *damaged) { d.inode(d.file, func(n *inode) { n.ptr[1] = 1 << 30 }) }, []ProblemKind{BadPointer, Leaked, WrongBlocks}},
		{"pointer to metadata", func(d *damaged) { d.inode(d.file, func(n *inode) { n.ptr[1] = d.fs.table(1) }) }, []ProblemKind{BadPointer, Leaked, WrongBlocks}},
		{"pointer cleared", func(d *damaged) { d.inode(d.file, func(n *inode) { n.ptr[1] = 0 }) }, []ProblemKind{Leaked, WrongBlocks}},
		{"pointer in an indirect block", func(d *damaged) {
			d.block(d.ptr(d.big, 12), add(4, 3))
		}, []ProblemKind{BadPointer}},
		{"block used twice", func(d *damaged) {
			p := d.ptr(d.file, 0)
			d.inode(d.big, func(n *inode) { n.ptr[5] = p; n.blocks++ })
		}, []ProblemKind{DoubleUse}},
		{"indirect block in a cycle", func(d *damaged) {
			p := d.ptr(d.big, 14)
			d.block(p, func(b []byte) { le.PutUint32(b[4:], p) })
			d.inode(d.big, func(n *inode) { n.blocks++ })
		}, []ProblemKind{DoubleUse}},
		{"size too large", func(d *damaged) { d.inode(d.file, func(n *inode) { n.size = 1 << 63 }) }, []ProblemKind{BadSize}},
		{"size too small", func(d *damaged) { d.inode(d.file, func(n *inode) { n.size = 512 }) }, []ProblemKind{BadSize}},
		{"bytes past the size", func(d *damaged) { d.inode(d.file, func(n *inode) { n.size = 600 }) }, []ProblemKind{BadSize}},
		{"hole in a directory", func(d *damaged) {
			d.inode(d.sub, func(n *inode) { n.size = 1024; n.blocks = 2 })
		}, []ProblemKind{BadSize, WrongBlocks}},
		{"directory of odd size", func(d *damaged) { d.inode(d.sub, func(n *inode) { n.size++ }) }, []ProblemKind{BadSize, Orphan}},
		{"record length", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[8]++ }) }, []ProblemKind{BadRecord, Orphan}},
		{"record length 0", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[8] = 0 }) }, []ProblemKind{BadRecord, Orphan}},
		{"record name", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[13] = '/' }) }, []ProblemKind{BadRecord, Orphan}},
		{"record kind", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[11] = byte(Dir) }) }, []ProblemKind{Dangling, Orphan}},
		{"record inode", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { le.PutUint32(h, 60) }) }, []ProblemKind{Dangling, Orphan}},
		{"entry lost", func(d *damaged) { d.entry(d.fs.Root(), "dir", func(h []byte) { le.PutUint32(h, 0) }) }, []ProblemKind{Orphan}},
		{"name twice", func(d *damaged) { d.entry(d.dir, "sub", func(h []byte) { copy(h[recordHead:], "big") }) }, []ProblemKind{DuplicateName}},
		{"directory below itself", func(d *damaged) {
			d.entry(d.sub, "inSub", func(h []byte) {
				putRecord(h, record{size: int(le.Uint16(h[8:])) * 4, h: d.dir, kind: Dir}, "inSub")
			})
		}, []ProblemKind{Cycle, Orphan, WrongLinks, WrongParent}},
		{"cycle cut off from the root", func(d *damaged) {
			d.entry(d.sub, "inSub", func(h []byte) {
				putRecord(h, record{size: int(le.Uint16(h[8:])) * 4, h: d.dir, kind: Dir}, "inSub")
			})
			d.entry(d.fs.Root(), "dir", func(h []byte) { le.PutUint32(h, 0) })
		}, []ProblemKind{Cycle, Orphan, WrongParent}},
		{"entry of the root", func(d *damaged) {
			d.entry(d.sub, "inSub", func(h []byte) {
				putRecord(h, record{size: int(le.Uint16(h[8:])) * 4, h: d.fs.Root(), kind: Dir}, "inSub")
			})
		}, []ProblemKind{Cycle, Orphan, WrongLinks}},
		{"directory with two entries", func(d *damaged) {
			d.entry(d.fs.Root(), "file", func(h []byte) {
				putRecord(h, record{size: int(le.Uint16(h[8:])) * 4, h: d.sub, kind: Dir}, "file")
			})
			d.inode(d.sub, func(n *inode) { n.links = 2 })
		}, []ProblemKind{Orphan, WrongLinks, WrongParent}},
		{"another parent", func(d *damaged) { d.inode(d.sub, func(n *inode) { n.parent = 1 }) }, []ProblemKind{WrongParent}},
		{"no parent", func(d *damaged) { d.inode(d.sub, func(n *inode) { n.parent = 0 }) }, []ProblemKind{WrongParent}},
		{"parent of the root", func(d *damaged) { d.inode(d.fs.Root(), func(n *inode) { n.parent = 1 }) }, []ProblemKind{BadInode}},
		{"parent of a file", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.parent = 1 }) }, []ProblemKind{BadInode}},
		{"link without a text", func(d *damaged) { d.inode(d.sym, func(n *inode) { n.size = 0 }) }, []ProblemKind{BadSize}},
		{"link with a long text", func(d *damaged) { d.inode(d.sym, func(n *inode) { n.size = 4096 }) }, []ProblemKind{BadSize}},
		{"link that is a file", func(d *damaged) { d.inode(d.sym, func(n *inode) { n.kind = File }) }, []ProblemKind{Dangling, Orphan}},
		{"root is a file", func(d *damaged) { d.inode(d.fs.Root(), func(n *inode) { n.kind = File }) }, []ProblemKind{BadInode, Orphan, WrongCount}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDamaged(t)
			tt.damage(d)
			r := must(d.fs.Check(d.tx))(t)
			var got []ProblemKind
			for _, p := range r.Problems {
				got = append(got, p.Kind)
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, sorted(tt.want)) {
				t.Errorf("found %q, want %q; all: %v", got, sorted(tt.want), r.Problems)
			}
			if err := r.Err(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), r.Problems[0].Place) {
				t.Errorf("report's error is %v", err)
			}
		})
	}
}

func sorted(kinds []ProblemKind) []ProblemKind {
	kinds = slices.Clone(kinds)
	slices.Sort(kinds)
	return kinds
}

func TestCheckBoundsItsReport(t *testing.T) {
	fs, tx := mkfs(t, Geometry{Blocks: 4000, BlocksPerGroup: 3999})
	ok(t, tx.Write(fs.id(fs.blockMap(0)), slices.Repeat([]byte{0xFF}, 400)))
	r := must(fs.Check(tx))(t)
	if len(r.Problems) != maxProblems || len(r.Problems)+r.More != 3201 {
		t.Errorf("%d problems and %d more, want 3200 leaked blocks and a counter", len(r.Problems), r.More)
	}
}

func TestCheckCountsWhatIsThere(t *testing.T) {
	d := newDamaged(t)
	r := must(d.fs.Check(d.tx))(t)
	u := must(d.fs.Usage(d.tx))(t)
	if r.Files != 3 || r.Dirs != 3 || r.Symlinks != 1 || u.InodesUsed != 7 || u.Dirs != 3 || u.BlocksUsed != r.Blocks {
		t.Errorf("check found %+v, usage %+v", r, u)
	}
}
