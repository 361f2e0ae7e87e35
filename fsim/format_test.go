package fsim

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// The format is a promise: these bytes do not change under format version 2.
func TestGoldenBytes(t *testing.T) {
	n := inode{kind: Dir, links: 0x0102, gen: 0x03040506, size: 0x0708090a0b0c0d0e, mtime: -2, blocks: 0x11121314, parent: 0x15161718}
	for i := range n.ptr {
		n.ptr[i] = uint32(i + 1)
	}
	raw := make([]byte, inodeSize)
	n.encode(raw)
	rec := make([]byte, 20)
	putRecord(rec, record{size: 20, h: Handle{7, 9}, kind: File}, "name")
	tests := []struct{ name, got, want string }{
		{"superblock", hex.EncodeToString(encodeSuper(tiny)),
			"746964656673696d" + "02000000" + "00020000" + "59020000" + "04000000" + "96000000" + "10000000" + "34424e83"},
		{"inode", hex.EncodeToString(raw),
			"0200" + "0201" + "06050403" + "0e0d0c0b0a090807" + "feffffffffffffff" + "14131211" + "18171615" +
				"010000000200000003000000040000000500000006000000" +
				"0700000008000000090000000a0000000b0000000c000000" +
				"0d0000000e0000000f000000" + strings.Repeat("00", 36)},
		{"record", hex.EncodeToString(rec), "07000000" + "09000000" + "0500" + "04" + "01" + "6e616d65" + "00000000"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s is\n%s, want\n%s", tt.name, tt.got, tt.want)
		}
	}
	var back inode
	if !back.decode(raw) || back != n {
		t.Errorf("inode decodes as %+v", back)
	}
	if r, why := recordAt(rec, 0); why != "" || r.h != (Handle{7, 9}) || string(r.name) != "name" || r.size != 20 {
		t.Errorf("record decodes as %+v, %s", r, why)
	}
}

// Every block of a file has a route, and neighbours have different ones.
func TestRoutes(t *testing.T) {
	l := newLayout(tiny)
	seen := map[route]uint64{}
	for fb := range l.maxSize >> l.shift {
		if fb%509 > 3 && fb > 20000 {
			continue
		}
		r := l.route(fb)
		if other, ok := seen[r]; ok {
			t.Fatalf("blocks %d and %d have the route %+v", other, fb, r)
		}
		seen[r] = fb
		base, depth := l.slotBase(r.slot)
		for i := range r.depth {
			base += uint64(r.idx[i]) * l.span(depth-1-i)
		}
		if base != fb || depth != r.depth {
			t.Fatalf("the route %+v of block %d leads to block %d", r, fb, base)
		}
	}
}

// A directory of thousands of entries; most insertions leave its inode alone.
func TestLargeDirectory(t *testing.T) {
	const entries = 3000
	fs, tx := mkfs(t, Geometry{Blocks: 5000, BlocksPerGroup: 4999, InodesPerGroup: 4096})
	rel, _ := fs.inodeBlock(rootIno)
	inodeWrites := 0
	for i := range entries {
		log := &logTx{MemTx: tx}
		must(fs.Create(log, fs.Root(), fmt.Sprintf("file-%011d", i), File, 0, 0))(t)
		if inode, _ := fs.inodeBlock(uint32(i) + 2); inode == rel {
			continue
		}
		for _, id := range log.wrote {
			if id == fs.id(rel) {
				inodeWrites++
			}
		}
	}
	info := must(fs.Stat(tx, fs.Root()))(t)
	if blocks := int(info.Size) / 4096; blocks != (entries+145)/146 || inodeWrites > blocks {
		t.Errorf("%d blocks for %d entries, %d writes of the inode", blocks, entries, inodeWrites)
	}
	if got := len(must(fs.ReadDir(tx, fs.Root()))(t)); got != entries {
		t.Errorf("listed %d entries, want %d", got, entries)
	}
	fsck(t, fs, tx)
}
