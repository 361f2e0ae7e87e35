package wal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// scanWork bounds the bytes that a scan puts through the checksum, as a
// multiple of the bytes that it scans. Payloads come from clients, and one
// made of nothing but forged headers would otherwise cost quadratic time.
const scanWork = 8

// scanBehind looks for a whole entry in the file at or behind the damage at
// offset from: any position, since the damage may have hidden where entries
// begin. It counts only entries that can belong to the log after c: block
// data may hold the bytes of other logs, or of older parts of this one. It
// returns what it found, or "".
func scanBehind(path string, from int64, c chain) (found string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read commit log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read commit log: %w", err)
	}
	s := scanner{r: f, size: info.Size()}
	seen, err := s.run(from, c)
	if err != nil {
		return "", fmt.Errorf("read commit log: %w", err)
	}
	return seen.String(), nil
}

// sighting is what a scan found: a whole entry whose header begins at the
// offset at; or, if exhausted, so much that could be one that it gave up; or
// nothing.
type sighting struct {
	header           header
	at               int64
	whole, exhausted bool
}

// String continues a sentence about damage.
func (s sighting) String() string {
	switch {
	case s.whole:
		return fmt.Sprintf("entry %d follows whole at offset %d", s.header.index, s.at)
	case s.exhausted:
		return "too many possible entries follow to check them all"
	}
	return ""
}

// scanner scans one file, once or several times from ascending offsets. The
// bound on its work is for all scans together.
type scanner struct {
	r           io.ReaderAt
	size        int64
	from        int64 // where the scan under way began
	chain       chain
	work, limit int64
	window      [walkBuffer]byte
	chunk       [walkBuffer]byte // for checksums
}

// run scans from the given offset on for an entry that can belong to the log
// after c.
func (s *scanner) run(from int64, c chain) (sighting, error) {
	s.from, s.chain = from, c
	if s.limit == 0 {
		s.limit = scanWork * (s.size - from)
	}
	for base := from; s.size-base >= headerLen; base += walkBuffer - headerLen + 1 {
		b := s.window[:min(walkBuffer, s.size-base)]
		if err := readAt(s.r, b, base); err != nil {
			return sighting{}, err
		}
		// The last headerLen-1 bytes of a window begin the next one.
		for i := 0; len(b)-i >= headerLen; i++ {
			n := bytes.Index(b[i:], magic[:])
			if n < 0 || len(b)-(i+n) < headerLen {
				break
			}
			i += n
			h, _ := parseHeader(b[i:])
			at := base + int64(i)
			if !s.plausible(h, at) {
				continue
			}
			if s.work += headerLen + int64(h.length); s.work > s.limit {
				return sighting{exhausted: true}, nil
			}
			whole, err := s.whole(b[i:i+headerLen], h, at)
			if err != nil {
				return sighting{}, err
			}
			if whole {
				return sighting{header: h, at: at, whole: true}, nil
			}
		}
	}
	return sighting{}, nil
}

// plausible reports whether an entry with this header can belong to the log
// from the damage on, in whatever version it is written.
func (s *scanner) plausible(h header, at int64) bool {
	return h.store == s.chain.store && h.epoch >= s.chain.epoch &&
		h.index >= s.chain.index && h.index-s.chain.index <= uint64((at-s.from)/headerLen) &&
		h.length <= MaxPayload && int64(h.length) <= s.size-at-headerLen
}

// whole reports whether the checksum of the entry at offset at is right.
func (s *scanner) whole(head []byte, h header, at int64) (bool, error) {
	crc := crc32.Checksum(head[:offCRC], castagnoli)
	at += headerLen
	for left := int64(h.length); left > 0; {
		b := s.chunk[:min(left, walkBuffer)]
		if err := readAt(s.r, b, at); err != nil {
			return false, err
		}
		crc = crc32.Update(crc, castagnoli, b)
		at += int64(len(b))
		left -= int64(len(b))
	}
	return crc == h.crc, nil
}

// readAt fills b from offset at.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
