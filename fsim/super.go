package fsim

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/tidemark/tidemark/occ"
)

const (
	magic         = "tidefsim"
	formatVersion = 2
	superSize     = 36
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// FS is an open volume: its place and geometry, and nothing that changes.
// It is safe for concurrent use.
type FS struct {
	base occ.BlockID
	geo  Geometry
	layout
}

// Mkfs makes an empty file system, with a root directory, of the blocks
// [base, base+geo.Blocks), which the caller has taken and which read as
// zeros. It writes four blocks whatever the size of the volume. Mtime is the
// root's modification time in microseconds. ErrNotBlank is returned if there
// is something where the superblock goes.
func Mkfs(tx Tx, base occ.BlockID, geo Geometry, mtime int64) (*FS, error) {
	fs, err := newFS(base, geo.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("fsim: mkfs: %w", err)
	}
	if err := fs.format(tx, mtime); err != nil {
		return nil, fmt.Errorf("fsim: mkfs: %w", err)
	}
	return fs, nil
}

func (fs *FS) format(tx Tx, mtime int64) error {
	old, err := fs.read(tx, 0)
	if err != nil {
		return err
	}
	if !allZero(old) {
		return ErrNotBlank
	}
	e := fs.edit(tx, 0)
	e.putContent(0, encodeSuper(fs.geo))
	ino, gen, err := e.allocInode(0, Dir)
	if err != nil {
		return err
	}
	if (Handle{ino, gen}) != fs.Root() {
		return ErrNotBlank
	}
	if err := e.saveInode(ino, &inode{kind: Dir, links: 1, gen: gen, mtime: mtime}); err != nil {
		return err
	}
	return e.flush()
}

// Open reads and checks the superblock of the volume that begins at base.
func Open(tx Tx, base occ.BlockID) (*FS, error) {
	b, err := tx.Read(base)
	if err != nil {
		return nil, fmt.Errorf("fsim: open: %w", err)
	}
	geo, err := decodeSuper(b)
	if err != nil {
		return nil, fmt.Errorf("fsim: open: %w", err)
	}
	fs, err := newFS(base, geo)
	if err != nil {
		return nil, fmt.Errorf("fsim: open: %w", err)
	}
	return fs, nil
}

func newFS(base occ.BlockID, geo Geometry) (*FS, error) {
	if err := geo.validate(); err != nil {
		return nil, err
	}
	if uint64(base) > math.MaxUint64-uint64(geo.Blocks) {
		return nil, fmt.Errorf("%w: base %d leaves no room for %d block ids", ErrGeometry, base, geo.Blocks)
	}
	return &FS{base: base, geo: geo, layout: newLayout(geo)}, nil
}

// Geometry returns the shape of the volume, with every field set.
func (fs *FS) Geometry() Geometry { return fs.geo }

// Base returns the id of the volume's first block.
func (fs *FS) Base() occ.BlockID { return fs.base }

// Root returns the handle of the root directory.
func (fs *FS) Root() Handle { return Handle{Ino: rootIno, Gen: 1} }

// MaxFileSize returns the largest size of a file in bytes.
func (fs *FS) MaxFileSize() int64 { return int64(fs.maxSize) }

func encodeSuper(g Geometry) []byte {
	b := append(make([]byte, 0, superSize), magic...)
	for _, v := range [...]uint32{formatVersion, g.BlockSize, g.Blocks, g.groups(), g.BlocksPerGroup, g.InodesPerGroup} {
		b = le.AppendUint32(b, v)
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeSuper(b []byte) (Geometry, error) {
	const place = "superblock"
	if len(b) < superSize || string(b[:8]) != magic {
		return Geometry{}, corrupt(place, "no file system here")
	}
	if sum := crc32.Checksum(b[:superSize-4], castagnoli); sum != le.Uint32(b[superSize-4:]) {
		return Geometry{}, corrupt(place, "checksum %08x, computed %08x", le.Uint32(b[superSize-4:]), sum)
	}
	if v := le.Uint32(b[8:]); v != formatVersion {
		return Geometry{}, corrupt(place, "format version %d, this program knows %d", v, formatVersion)
	}
	g := Geometry{BlockSize: le.Uint32(b[12:]), Blocks: le.Uint32(b[16:]), BlocksPerGroup: le.Uint32(b[24:]), InodesPerGroup: le.Uint32(b[28:])}
	if err := g.validate(); err != nil {
		return Geometry{}, corrupt(place, "%v", err)
	}
	if n := le.Uint32(b[20:]); n != g.groups() {
		return Geometry{}, corrupt(place, "%d groups, computed %d", n, g.groups())
	}
	if len(b) != int(g.BlockSize) {
		return Geometry{}, corrupt(place, "block size %d in a store with blocks of %d", g.BlockSize, len(b))
	}
	return g, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
