package blockdir

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// readBuffer is how much of a file is read at a time.
const readBuffer = 256 << 10

// Newest returns the header that a server takes, nil if none is whole.
func (d *Dir) Newest() *HeaderSlot {
	var newest *HeaderSlot
	for i := range d.Headers {
		h := &d.Headers[i]
		if h.Whole() && (newest == nil || h.Header.Checkpoint > newest.Header.Checkpoint) {
			newest = h
		}
	}
	return newest
}

// ReadIndex reads the index file of the checkpoint h: all of it, if visit lets
// it, with every check. damage says that it is missing or not as it was
// written; what was told before counts for nothing then, but is true to what
// was written as far as checksums tell. err is of visit.Version, a
// *VersionError, or of the operating system.
func (d *Dir) ReadIndex(h layout.Header, visit layout.Visitor) (damage *Damage, err error) {
	path := d.IndexPath(h.Checkpoint)
	f, size, err := d.openIndex(h.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return &Damage{File: path, Reason: fmt.Sprintf("the file is missing, in which checkpoint %d has its index", h.Checkpoint)}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if uint64(size) != h.IndexBytes {
		return &Damage{File: path, Offset: min(size, int64(min(h.IndexBytes, math.MaxInt64))),
			Reason: fmt.Sprintf("the file has %d bytes, not %d", size, h.IndexBytes)}, nil
	}
	var told error
	within := visit
	taken := make([]uint64, (uint64(min(h.Slots, d.Slots()))+63)/64) // a bit for each slot
	within.Version = func(v layout.Version) error {
		if word, bit := uint64(v.Slot/64), uint64(1)<<(v.Slot%64); v.Size > 0 && word < uint64(len(taken)) {
			if taken[word]&bit != 0 {
				return fmt.Errorf("slot %d is another version's", v.Slot)
			}
			taken[word] |= bit
		}
		told = visit.Version(v)
		return told
	}
	err = layout.ReadIndex(bufio.NewReaderSize(f, readBuffer), h, within)
	if told != nil {
		return nil, told
	}
	if err == nil {
		return nil, nil
	}
	return located(path, 0, err)
}

// openIndex opens the index file of a checkpoint and returns its size.
func (d *Dir) openIndex(checkpoint uint64) (file, int64, error) {
	f, err := d.openFile(indexName(checkpoint))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Guess makes up the header of a checkpoint from its index file: everything
// but LogIndex, Stable and Slots, which stand in the header alone; the last two
// are the highest there can be. If the file is whole, ReadIndex finds it so. ok
// is false if it cannot be whole.
func (d *Dir) Guess(checkpoint uint64) (h layout.Header, ok bool, err error) {
	f, size, err := d.openIndex(checkpoint)
	if err != nil {
		return h, false, err
	}
	defer f.Close()
	if size < layout.IndexHead+layout.IndexEnd || d.Owner == (layout.Owner{}) {
		return h, false, nil
	}
	h = layout.Header{
		Owner: d.Owner, Checkpoint: checkpoint, Stable: occ.Open, IndexBytes: uint64(size), Slots: layout.MaxSlots,
	}
	buf, end := make([]byte, readBuffer), make([]byte, layout.IndexEnd)
	for {
		n, err := f.Read(buf)
		h.IndexCRC = layout.Checksum(h.IndexCRC, buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h, false, err
		}
	}
	if _, err := f.ReadAt(end, size-layout.IndexEnd); err != nil {
		return h, false, err
	}
	h.Versions = binary.LittleEndian.Uint64(end[layout.FrameHead:])
	return h, true, nil
}
