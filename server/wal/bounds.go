package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

// The layout of the file "bounds"; see the package comment. Frozen.
const (
	boundsName = "bounds"
	boundsLen  = 28
)

var boundsMagic = [4]byte{0xd7, 'T', 'M', 0xb0}

// bounds is what is known of the segments apart from their names.
type bounds struct {
	// first: every entry from here on was kept by the trims so far.
	first uint64
	// tail: a segment that begins here or later was durable.
	tail uint64
	// stored tells a file from the default for a log without one.
	stored bool
}

func readBounds(dir string) (bounds, error) {
	path := filepath.Join(dir, boundsName)
	b, err := durable.Read(path, boundsLen)
	if errors.Is(err, fs.ErrNotExist) {
		return bounds{first: 1, tail: 1}, nil
	}
	if err != nil {
		return bounds{}, fmt.Errorf("read commit log: %w", err)
	}
	if len(b) != boundsLen || [4]byte(b) != boundsMagic ||
		crc32.Checksum(b[:boundsLen-4], castagnoli) != binary.LittleEndian.Uint32(b[boundsLen-4:]) {
		return bounds{}, &CorruptError{Segment: path, Reason: "not a valid bounds file"}
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != formatVersion {
		return bounds{}, &VersionError{Segment: path, Version: v}
	}
	return bounds{first: binary.LittleEndian.Uint64(b[8:]), tail: binary.LittleEndian.Uint64(b[16:]), stored: true}, nil
}

// write makes b durable.
func (b bounds) write(f files, dir string) error {
	buf := append(make([]byte, 0, boundsLen), boundsMagic[:]...)
	buf = binary.LittleEndian.AppendUint32(buf, formatVersion)
	buf = binary.LittleEndian.AppendUint64(buf, b.first)
	buf = binary.LittleEndian.AppendUint64(buf, b.tail)
	buf = binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
	return f.replace(filepath.Join(dir, boundsName), buf)
}
