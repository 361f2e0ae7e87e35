package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/tidemark/tidemark/occ"
)

// walkBuffer is the memory that verification takes, whatever the files say.
const walkBuffer = 64 << 10

// chain is what the entries so far demand of the next one.
type chain struct {
	store occ.StoreID
	index uint64
	epoch uint64
	// prev is the checksum of the predecessor, if that is known: the
	// predecessor of the oldest entry may have been trimmed.
	prev      uint32
	prevKnown bool
}

// accept checks an entry whose checksum is right against the chain and
// extends the chain by it.
func (c *chain) accept(h header, path string, at int64) error {
	reason := ""
	switch {
	case h.version != formatVersion:
		return &VersionError{Segment: path, Offset: at, Version: h.version}
	case h.store != c.store:
		return &StoreError{Segment: path, Offset: at, Have: h.store, Want: c.store}
	case h.index != c.index:
		reason = fmt.Sprintf("entry says that it is number %d", h.index)
	case c.prevKnown && h.prev != c.prev:
		reason = "entry does not follow its predecessor"
	case h.epoch < c.epoch:
		reason = fmt.Sprintf("epoch falls from %d to %d", c.epoch, h.epoch)
	}
	if reason != "" {
		return &CorruptError{Segment: path, Offset: at, Index: c.index, Reason: reason}
	}
	c.index, c.epoch, c.prev, c.prevKnown = h.index+1, h.epoch, h.crc, true
	return nil
}

// damage is bytes that are no entry.
type damage struct {
	offset int64
	reason string
}

// walk reads a segment from its beginning and extends c by its entries. It
// returns the offset up to which the entries are whole; the first damage, if
// they do not reach to the end; or an error, if reading failed or an entry is
// whole but does not belong there.
func walk(path string, c *chain) (end int64, bad *damage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, fmt.Errorf("read commit log: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, walkBuffer)
	for {
		h, n, reason, err := next(r)
		switch {
		case err != nil:
			return end, nil, fmt.Errorf("read commit log: %w", err)
		case reason != "":
			return end, &damage{offset: end, reason: reason}, nil
		case n == 0:
			return end, nil, nil
		}
		if err := c.accept(h, path, end); err != nil {
			return end, nil, err
		}
		end += n
	}
}

// next reads one entry and checks that it is whole. It returns its length
// with the library's prefix, 0 at the end of the file, or the reason why
// there is no entry.
func next(r *bufio.Reader) (h header, n int64, reason string, err error) {
	b, err := r.Peek(binary.MaxVarintLen64 + headerLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, 0, "", err
	}
	if len(b) == 0 {
		return h, 0, "", nil
	}
	length, prefix := binary.Uvarint(b)
	if prefix <= 0 || length < headerLen || length > maxEntry ||
		prefix != len(binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), length)) {
		return h, 0, "no entry length", nil
	}
	if len(b) < prefix+headerLen {
		return h, 0, "entry is cut off", nil
	}
	b = b[prefix : prefix+headerLen]
	h, ok := parseHeader(b)
	if !ok {
		return h, 0, "no entry header", nil
	}
	if uint64(h.length)+headerLen != length {
		return h, 0, "lengths differ", nil
	}
	crc := crc32.Checksum(b[:offCRC], castagnoli)
	if _, err := r.Discard(prefix + headerLen); err != nil {
		return h, 0, "", err
	}
	for left := int(h.length); left > 0; {
		b, err := r.Peek(min(left, walkBuffer))
		if err != nil && !errors.Is(err, io.EOF) {
			return h, 0, "", err
		}
		if err != nil {
			return h, 0, "entry is cut off", nil
		}
		crc = crc32.Update(crc, castagnoli, b)
		left -= len(b)
		if _, err := r.Discard(len(b)); err != nil {
			return h, 0, "", err
		}
	}
	if crc != h.crc {
		return h, 0, "checksum does not match", nil
	}
	return h, int64(prefix) + int64(length), "", nil
}
