package fsim

import (
	"bytes"
	"errors"
	"maps"
	"testing"
)

// fileBehaviours is what the file system does with files, by name. Each
// starts with an empty volume, which is checked afterwards.
var fileBehaviours = map[string]func(t *testing.T, fs *FS, tx *MemTx){
	"ReadBackAcrossBlocks": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		data := pattern(3000, 1)
		ok(t, fs.Write(tx, h, 100, data, 5))
		if got := readAll(t, fs, tx, h); !bytes.Equal(got, append(make([]byte, 100), data...)) {
			t.Error("read back other bytes")
		}
		p := make([]byte, 1000)
		if n := must(fs.Read(tx, h, 3000, p))(t); n != 100 || !bytes.Equal(p[:n], data[2900:]) {
			t.Errorf("short read at the end gave %d bytes", n)
		}
		if n := must(fs.Read(tx, h, 3100, p))(t); n != 0 {
			t.Errorf("read %d bytes at the end", n)
		}
		if info := must(fs.Stat(tx, h))(t); info.MTime != 5 || info.Size != 3100 {
			t.Errorf("after the write %+v", info)
		}
	},
	"HolesReadAsZerosAndCostNothing": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Truncate(tx, h, fs.MaxFileSize(), 3))
		if info := must(fs.Stat(tx, h))(t); info.Blocks != 0 || info.Size != fs.MaxFileSize() || info.MTime != 3 {
			t.Errorf("sparse file is %+v", info)
		}
		ok(t, fs.Write(tx, h, fs.MaxFileSize()-1, []byte{42}, 4))
		if info := must(fs.Stat(tx, h))(t); info.Blocks != 4 {
			t.Errorf("last byte took %d blocks, want 4", info.Blocks)
		}
		p := bytes.Repeat([]byte{1}, 1025)
		n := must(fs.Read(tx, h, fs.MaxFileSize()-1025, p))(t)
		if n != 1025 || p[1024] != 42 || !allZero(p[:1024]) {
			t.Errorf("read %d bytes ending in %d", n, p[1024])
		}
		wantErr(t, fs.Write(tx, h, fs.MaxFileSize(), []byte{1}, 5), ErrTooLarge)
		wantErr(t, fs.Truncate(tx, h, fs.MaxFileSize()+1, 5), ErrTooLarge)
		ok(t, fs.Truncate(tx, h, 1, 6))
		if info := must(fs.Stat(tx, h))(t); info.Blocks != 0 {
			t.Errorf("%d blocks left after truncation", info.Blocks)
		}
	},
	"TruncateFreesEmptyIndirectBlocks": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		for _, blocks := range []int64{12, 12 + 128, 12 + 128 + 128*128} {
			ok(t, fs.Write(tx, h, (blocks+5)*512, []byte{1}, 0))
			ok(t, fs.Truncate(tx, h, (blocks+2)*512, 0))
			if info := must(fs.Stat(tx, h))(t); info.Blocks != 0 {
				t.Errorf("%d blocks left below block %d", info.Blocks, blocks+2)
			}
		}
	},
	"TruncateZeroesTheTail": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Write(tx, h, 0, pattern(700, 1), 0))
		ok(t, fs.Truncate(tx, h, 600, 0))
		ok(t, fs.Truncate(tx, h, 900, 0))
		if got := readAll(t, fs, tx, h); !bytes.Equal(got, append(pattern(700, 1)[:600], make([]byte, 300)...)) {
			t.Error("old bytes came back")
		}
	},
	"ReusedBlocksShowNothingOld": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Write(tx, h, 0, pattern(20000, 1), 0))
		ok(t, fs.Remove(tx, fs.Root(), "f"))
		h = must(fs.Create(tx, fs.Root(), "g", File, 0, 0))(t)
		for i := range int64(20) {
			ok(t, fs.Write(tx, h, i*700+5, []byte{9}, 0))
		}
		ok(t, fs.Truncate(tx, h, 20000, 0))
		got := readAll(t, fs, tx, h)
		for i, c := range got {
			want := byte(0)
			if i%700 == 5 && i < 14000 {
				want = 9
			}
			if c != want {
				t.Fatalf("byte %d is %d, want %d", i, c, want)
			}
		}
	},
	"EmptyWriteSetsTheTimeOnly": func(t *testing.T, fs *FS, tx *MemTx) {
		h := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Write(tx, h, 5000, nil, 8))
		if info := must(fs.Stat(tx, h))(t); info != (Info{Kind: File, Links: 1, MTime: 8}) {
			t.Errorf("file is %+v", info)
		}
	},
	"StaleHandles": func(t *testing.T, fs *FS, tx *MemTx) {
		old := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		ok(t, fs.Remove(tx, fs.Root(), "f"))
		for _, reuse := range []bool{false, true} {
			if reuse {
				if h := must(fs.Create(tx, fs.Root(), "g", File, 0, 0))(t); h != (Handle{old.Ino, old.Gen + 1}) {
					t.Errorf("inode reused as %v, was %v", h, old)
				}
			}
			_, err := fs.Stat(tx, old)
			wantErr(t, err, ErrStale)
			_, err = fs.Read(tx, old, 0, nil)
			wantErr(t, err, ErrStale)
			wantErr(t, fs.Write(tx, old, 0, []byte{1}, 0), ErrStale)
			wantErr(t, fs.SetTime(tx, old, 0), ErrStale)
			wantErr(t, fs.Truncate(tx, old, 0, 0), ErrStale)
		}
		for _, h := range []Handle{{}, {Ino: 1 << 31, Gen: 1}, {Ino: 3}} {
			_, err := fs.Stat(tx, h)
			wantErr(t, err, ErrStale)
		}
	},
	"KindsAreKeptApart": func(t *testing.T, fs *FS, tx *MemTx) {
		f := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		d := must(fs.Create(tx, fs.Root(), "d", Dir, 0, 0))(t)
		_, err := fs.Lookup(tx, f, "x")
		wantErr(t, err, ErrNotDir)
		_, err = fs.Create(tx, f, "x", File, 0, 0)
		wantErr(t, err, ErrNotDir)
		_, err = fs.Read(tx, d, 0, make([]byte, 1))
		wantErr(t, err, ErrIsDir)
		wantErr(t, fs.Write(tx, d, 0, []byte{1}, 0), ErrIsDir)
		wantErr(t, fs.Truncate(tx, d, 0, 0), ErrIsDir)
		wantErr(t, fs.Link(tx, fs.Root(), "e", d, 0), ErrIsDir)
		_, err = fs.Create(tx, d, "x", Free, 0, 0)
		wantErr(t, err, ErrInvalid)
	},
	"NegativeArguments": func(t *testing.T, fs *FS, tx *MemTx) {
		f := must(fs.Create(tx, fs.Root(), "f", File, 0, 0))(t)
		_, err := fs.Read(tx, f, -1, make([]byte, 1))
		wantErr(t, err, ErrInvalid)
		wantErr(t, fs.Write(tx, f, -1, []byte{1}, 0), ErrInvalid)
		wantErr(t, fs.Truncate(tx, f, -1, 0), ErrInvalid)
		_, err = fs.ReadDirRange(tx, fs.Root(), -1, 0)
		wantErr(t, err, ErrInvalid)
		_, err = fs.ReplaceEntry(tx, fs.Root(), -1)
		wantErr(t, err, ErrInvalid)
	},
	"SetTime": func(t *testing.T, fs *FS, tx *MemTx) {
		ok(t, fs.SetTime(tx, fs.Root(), -5))
		if info := must(fs.Stat(tx, fs.Root()))(t); info.MTime != -5 {
			t.Errorf("time is %d", info.MTime)
		}
	},
}

func TestBehaviour(t *testing.T) {
	all := maps.Clone(fileBehaviours)
	maps.Copy(all, dirBehaviours)
	maps.Copy(all, renameBehaviours)
	for name, run := range all {
		t.Run(name, func(t *testing.T) {
			fs, tx := mkfs(t, tiny)
			run(t, fs, tx)
			fsck(t, fs, tx)
		})
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}

func readAll(t testing.TB, fs *FS, tx Tx, h Handle) []byte {
	t.Helper()
	p := make([]byte, must(fs.Stat(tx, h))(t).Size)
	if n := must(fs.Read(tx, h, 0, p))(t); n != len(p) {
		t.Fatalf("read %d bytes of %d", n, len(p))
	}
	return p
}
