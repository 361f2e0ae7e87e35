package fsim

import (
	"errors"
	"hash/crc32"
	"testing"
)

// Every operation meets damage with a typed error that names a place.
func TestOperationsReportCorruption(t *testing.T) {
	tests := []struct {
		name   string
		damage func(d *damaged)
		run    func(d *damaged) error
	}{
		{"read through a bad pointer", func(d *damaged) { d.inode(d.file, func(n *inode) { n.ptr[0] = 1 }) },
			func(d *damaged) error { _, err := d.fs.Read(d.tx, d.file, 0, make([]byte, 1)); return err }},
		{"read through a bad indirect pointer", func(d *damaged) { d.inode(d.big, func(n *inode) { n.ptr[12] = 1 << 31 }) },
			func(d *damaged) error { _, err := d.fs.Read(d.tx, d.big, 12*512, make([]byte, 2000)); return err }},
		{"write through a bad pointer", func(d *damaged) { d.inode(d.file, func(n *inode) { n.ptr[0] = 1 }) },
			func(d *damaged) error { return d.fs.Write(d.tx, d.file, 0, []byte{1}, 0) }},
		{"truncate a cycle", func(d *damaged) {
			p := d.ptr(d.big, 14)
			d.block(p, func(b []byte) { le.PutUint32(b, p) })
		}, func(d *damaged) error { return d.fs.Truncate(d.tx, d.big, 0, 0) }},
		{"truncate a free block", func(d *damaged) { d.block(d.fs.blockMap(0), func(b []byte) { clear(b) }) },
			func(d *damaged) error { return d.fs.Truncate(d.tx, d.file, 0, 0) }},
		{"write content where pointers are", func(d *damaged) {
			p := d.ptr(d.big, 12)
			d.inode(d.big, func(n *inode) { n.ptr[11] = p })
		}, func(d *damaged) error { return d.fs.Write(d.tx, d.big, 11*512, pattern(1024, 1), 0) }},
		{"allocate from a full bitmap", func(d *damaged) {
			d.block(d.fs.blockMap(0), func(b []byte) {
				for i := range b {
					b[i] = 0xFF
				}
			})
		}, func(d *damaged) error { return d.fs.Write(d.tx, d.file, 1024, []byte{1}, 0) }},
		{"allocate where the counter is impossible", func(d *damaged) {
			d.block(d.fs.descriptor(0), func(b []byte) { le.PutUint32(b, 1<<30) })
		}, func(d *damaged) error { return d.fs.Write(d.tx, d.file, 1024, []byte{1}, 0) }},
		{"allocate an inode in use", func(d *damaged) {
			d.block(d.fs.inodeMap(0), func(b []byte) { clear(b) })
		}, func(d *damaged) error { _, err := d.fs.Create(d.tx, d.fs.Root(), "x", File, 0, 0); return err }},
		{"look up past a bad record", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[8] = 0 }) },
			func(d *damaged) error { _, err := d.fs.Lookup(d.tx, d.sub, "x"); return err }},
		{"remove a dangling entry", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.gen++ }) },
			func(d *damaged) error { return d.fs.Remove(d.tx, d.sub, "inSub") }},
		{"rename a dangling entry", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.gen++ }) },
			func(d *damaged) error { return d.fs.Rename(d.tx, d.sub, "inSub", d.dir, "x", 0) }},
		{"replace a dangling entry", func(d *damaged) { d.inode(d.inSub, func(n *inode) { n.links = 0 }) },
			func(d *damaged) error { return d.fs.Rename(d.tx, d.fs.Root(), "file", d.sub, "inSub", 0) }},
		{"rename below a directory without a parent", func(d *damaged) {
			must(d.fs.Create(d.tx, d.fs.Root(), "other", Dir, 0, 0))(d)
			d.inode(d.dir, func(n *inode) { n.parent = 0 })
		}, func(d *damaged) error { return d.fs.Rename(d.tx, d.fs.Root(), "other", d.sub, "x", 0) }},
		{"rename below a file", func(d *damaged) { d.inode(d.sub, func(n *inode) { n.parent = d.file.Ino }) },
			func(d *damaged) error { return d.fs.Rename(d.tx, d.fs.Root(), "dir", d.sub, "x", 0) }},
		{"rename through a bad record", func(d *damaged) { d.entry(d.sub, "inSub", func(h []byte) { h[8] = 0 }) },
			func(d *damaged) error { return d.fs.Rename(d.tx, d.fs.Root(), "file", d.sub, "x", 0) }},
		{"read a symbolic link without a text", func(d *damaged) { d.inode(d.sym, func(n *inode) { n.size = 0 }) },
			func(d *damaged) error { _, err := d.fs.Read(d.tx, d.sym, 0, make([]byte, 1)); return err }},
		{"stat of an inode of no kind", func(d *damaged) { d.inode(d.file, func(n *inode) { n.kind = 9 }) },
			func(d *damaged) error { _, err := d.fs.Stat(d.tx, d.file); return err }},
		{"walk a cycle", func(d *damaged) {
			d.entry(d.sub, "inSub", func(h []byte) {
				putRecord(h, record{size: int(le.Uint16(h[8:])) * 4, h: d.dir, kind: Dir}, "inSub")
			})
		}, func(d *damaged) error { _, err := d.fs.Tree(d.tx); return err }},
		{"hash more blocks than counted", func(d *damaged) { d.inode(d.big, func(n *inode) { n.blocks = 3 }) },
			func(d *damaged) error { _, err := d.fs.Tree(d.tx); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDamaged(t)
			tt.damage(d)
			writes := d.tx.BlocksWritten
			err := tt.run(d)
			if bad, ok := errors.AsType[*CorruptError](err); !ok || bad.Place == "" || !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v, want a *CorruptError", err)
			}
			if d.tx.BlocksWritten != writes {
				t.Error("a failed operation has written")
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	sealed := func(off int, v uint32) func([]byte) {
		return func(b []byte) {
			le.PutUint32(b[off:], v)
			le.PutUint32(b[superSize-4:], crc32.Checksum(b[:superSize-4], castagnoli))
		}
	}
	tests := map[string]func(b []byte){
		"nothing":             func(b []byte) { clear(b) },
		"another magic":       func(b []byte) { b[0]++ },
		"a flipped bit":       func(b []byte) { b[17] ^= 4 },
		"an earlier version":  sealed(8, 1),
		"a later version":     sealed(8, 3),
		"block size 0":        sealed(12, 0),
		"block size 1000":     sealed(12, 1000),
		"another block size":  sealed(12, 1024),
		"no blocks":           sealed(16, 0),
		"more groups":         sealed(20, 5),
		"no blocks per group": sealed(24, 0),
		"huge groups":         sealed(24, 1<<31),
		"no inodes":           sealed(28, 0),
		"huge inode tables":   sealed(28, 1<<32-1),
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDamaged(t)
			d.block(0, damage)
			if fs, err := Open(d.tx, testBase); fs != nil || !errors.Is(err, ErrCorrupt) {
				t.Errorf("opened as %v, %v", fs, err)
			}
		})
	}
	d := newDamaged(t)
	fs := must(Open(d.tx, testBase))(t)
	if *fs != *d.fs {
		t.Errorf("opened as %+v, made as %+v", fs, d.fs)
	}
}

// FuzzVolume writes random bytes into a volume; whatever they are, nothing
// may panic, hang or grow.
func FuzzVolume(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 8, 2, 0, 0, 0})
	f.Add([]byte{0, 4, 0, 1, 0, 2, 0, 0, 4, 32, 45, 0, 0, 0, 0, 4, 80, 45, 0, 0, 0})
	f.Add([]byte{0, 24, 1, 200, 255, 255, 255, 0, 150, 0, 9, 9, 9, 9, 1, 44, 1, 0, 12, 8, 0})
	f.Fuzz(func(t *testing.T, changes []byte) {
		d := newDamaged(t)
		fs := d.fs
		// Each 7 bytes are a block, an offset in it and 4 bytes to put there.
		for n := 0; len(changes) >= 7 && n < 200; n++ {
			rel, off := uint32(le.Uint16(changes))%fs.end, int(changes[2])*2
			if rel != 0 {
				d.block(rel, func(b []byte) { copy(b[min(off, len(b)-4):], changes[3:7]) })
			}
			changes = changes[7:]
		}
		exercise(t, fs, d.tx, d)
	})
}

// exercise runs every operation and allows errors, but only typed ones.
func exercise(t *testing.T, fs *FS, tx *MemTx, d *damaged) {
	must(fs.Check(tx))(t)
	p := make([]byte, 5000)
	_, tree := fs.Tree(tx)
	_, usage := fs.Usage(tx)
	errs := []error{tree, usage}
	for _, h := range []Handle{fs.Root(), d.file, d.big, d.dir, d.sub, d.inSub, d.sym} {
		_, stat := fs.Stat(tx, h)
		_, read := fs.Read(tx, h, 100, p)
		_, far := fs.Read(tx, h, (12+128+128*128)*512-100, p)
		_, look := fs.Lookup(tx, h, "no such name")
		_, list := fs.ReadDir(tx, h)
		_, replace := fs.ReplaceEntry(tx, h, 20)
		_, create := fs.Create(tx, h, "another", Dir, 3, 1)
		_, link := fs.Symlink(tx, h, "points", "somewhere", 3, 1)
		errs = append(errs, stat, read, far, look, list, replace, create, link,
			fs.Rename(tx, h, "another", fs.Root(), "another", 1), fs.Rename(tx, fs.Root(), "points", h, "points", 1),
			fs.Rename(tx, fs.Root(), "dir", h, "moved", 1), fs.Rename(tx, h, "linked", h, "another name", 1),
			fs.Link(tx, h, "linked", d.file, 1), fs.Write(tx, h, 6000, p, 1),
			fs.Truncate(tx, h, 100, 1), fs.SetTime(tx, h, 1),
			fs.Remove(tx, h, "sub"), fs.Remove(tx, h, "big"), fs.Remove(tx, h, "dir"))
	}
	known := []error{ErrCorrupt, ErrNotExist, ErrExist, ErrNotDir, ErrIsDir, ErrIsSymlink, ErrNotEmpty, ErrLoop, ErrTooDeep, ErrNoSpace, ErrStale, ErrTooLarge, ErrTooManyLinks}
next:
	for _, err := range errs {
		for _, k := range known {
			if err == nil || errors.Is(err, k) {
				continue next
			}
		}
		t.Errorf("untyped error %v", err)
	}
	must(fs.Check(tx))(t)
}

// FuzzOpen opens random superblocks, with and without a fitting checksum.
func FuzzOpen(f *testing.F) {
	f.Add(encodeSuper(tiny), false)
	f.Add(encodeSuper(Geometry{Blocks: 100}.withDefaults()), true)
	f.Fuzz(func(t *testing.T, super []byte, seal bool) {
		tx := NewMemTx(512)
		super = super[:min(len(super), 512)]
		if seal && len(super) >= superSize {
			le.PutUint32(super[superSize-4:], crc32.Checksum(super[:superSize-4], castagnoli))
		}
		ok(t, tx.Write(testBase, super))
		fs, err := Open(tx, testBase)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			return
		}
		if _, err := fs.Stat(tx, fs.Root()); !errors.Is(err, ErrStale) {
			t.Errorf("a volume without a root gives %v", err)
		}
		for _, g := range []uint32{0, fs.groups - 1} {
			if rel := fs.firstData(g) + fs.dataBlocks(g) - 1; rel >= fs.geo.Blocks {
				t.Errorf("group %d ends at block %d of %d", g, rel, fs.geo.Blocks)
			}
		}
	})
}

// FuzzDirectory lists, searches and changes a directory of random bytes.
func FuzzDirectory(f *testing.F) {
	good := make([]byte, 40)
	putRecord(good, record{size: 20, h: Handle{2, 1}, kind: File}, "name")
	putRecord(good, record{off: 20, size: 492, h: Handle{3, 1}, kind: Dir}, "other")
	f.Add(good, "name", int64(0))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 128}, "x", int64(511))
	f.Fuzz(func(t *testing.T, block []byte, name string, off int64) {
		d := newDamaged(t)
		d.block(d.ptr(d.sub, 0), func(b []byte) { clear(b[copy(b, block):]) })
		list, err := d.fs.ReadDir(d.tx, d.sub)
		_, create := d.fs.Create(d.tx, d.sub, name, File, 0, 0)
		if again, _ := d.fs.ReadDir(d.tx, d.sub); err == nil && create == nil && len(again) != len(list)+1 {
			t.Errorf("%d entries, after a creation %d", len(list), len(again))
		}
		if _, look := d.fs.Lookup(d.tx, d.sub, name); create == nil && look != nil {
			t.Errorf("created %q, looking it up gives %v", name, look)
		}
		exercise(t, d.fs, d.tx, d)
		if _, err := d.fs.ReplaceEntry(d.tx, d.sub, off); err == nil && off < 0 {
			t.Errorf("replaced the entry at %d", off)
		}
	})
}
