package wal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

func newWalkReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, walkBuffer) }

// part is a segment that is being surveyed.
type part struct {
	segment
	file *os.File
	size int64
	last bool   // no segment follows, and none is missing
	next uint64 // where the next segment begins, 0 if there is none
}

// segment surveys segment number i after those before it.
func (s *survey) segment(segments []segment, i int) error {
	p := part{segment: segments[i]}
	if i+1 < len(segments) {
		p.next = segments[i+1].first
	}
	p.last = p.next == 0 && s.ordered
	if i > 0 && p.first != s.chain.index {
		before := segments[i-1].path
		info, err := os.Stat(before)
		if err != nil {
			return fmt.Errorf("read commit log: %w", err)
		}
		d := Damage{Segment: before, Offset: info.Size(), Index: s.chain.index,
			Reason: fmt.Sprintf("segment is short, or one is missing: the next segment begins with entry %d", p.first)}
		d.Lost = p.first - min(p.first, d.Index)
		if err := s.damage(d); err != nil {
			return err
		}
		s.chain.index, s.chain.prevKnown = p.first, false
	}
	var err error
	if p.file, err = os.Open(p.path); err != nil {
		return fmt.Errorf("read commit log: %w", err)
	}
	defer p.file.Close()
	info, err := p.file.Stat()
	if err != nil {
		return fmt.Errorf("read commit log: %w", err)
	}
	p.size = info.Size()
	s.extent.Segments++
	s.extent.Bytes += p.size
	if s.visit.Segment != nil {
		if err := errors.Join(s.flush(), s.visit.Segment(p.path, p.size)); err != nil {
			return err
		}
	}
	return s.read(&p)
}

// read surveys the entries of a segment, and goes on behind damage.
func (s *survey) read(p *part) error {
	scan := &scanner{r: p.file, size: p.size}
	for at := int64(0); ; {
		end, reason, err := s.walk(p, at)
		if err != nil {
			return err
		}
		promised := s.bounded && s.chain.index == s.first
		if reason == "" && promised && p.last {
			return s.damage(Damage{Segment: p.path, Offset: end, Index: s.chain.index, Reason: noFirst})
		}
		if reason == "" {
			return nil
		}
		seen, err := scan.run(end, s.chain)
		if err != nil {
			return fmt.Errorf("read commit log: %w", err)
		}
		d := Damage{Segment: p.path, Offset: end, Bytes: p.size - end, Index: s.chain.index, Reason: reason}
		if more := seen.String(); more != "" {
			d.Reason += ", and " + more
		}
		if !seen.whole {
			d.Torn = p.last && !seen.exhausted && !p.started() && !promised
			if p.next > d.Index {
				d.Lost = p.next - d.Index
				s.chain.index, s.chain.prevKnown = p.next, false
			}
			return s.damage(d)
		}
		start, err := entryStart(p.file, seen, end)
		if err != nil {
			return fmt.Errorf("read commit log: %w", err)
		}
		d.Bytes, d.Lost = start-end, seen.header.index-d.Index
		if err := s.damage(d); err != nil {
			return err
		}
		if d.Lost > 0 {
			s.chain.index, s.chain.prevKnown = seen.header.index, false
		}
		if err := s.take(p, seen.header, start, seen.at); err != nil {
			return err
		}
		at = seen.at + headerLen + int64(seen.header.length)
	}
}

// walk surveys whole entries from an offset on. It returns where they end,
// and the reason if that is not the end of the file.
func (s *survey) walk(p *part, at int64) (end int64, reason string, err error) {
	r := newWalkReader(io.NewSectionReader(p.file, at, p.size-at))
	for {
		h, n, reason, err := next(r)
		if err != nil {
			return at, "", fmt.Errorf("read commit log: %w", err)
		}
		if reason != "" || n == 0 {
			return at, reason, nil
		}
		if err := s.take(p, h, at, at+n-headerLen-int64(h.length)); err != nil {
			return at, "", err
		}
		at += n
	}
}

// take visits an entry that is whole. It begins at start, its header at at.
// One that does not follow those before it is reported, and becomes the one
// that others must follow.
func (s *survey) take(p *part, h header, start, at int64) error {
	bytes := at + headerLen + int64(h.length) - start
	if err := s.chain.accept(h, p.path, start); err != nil {
		if err := s.misfit(err, bytes); err != nil {
			return err
		}
		if h.store != s.chain.store {
			s.chain.index, s.chain.prevKnown = s.chain.index+1, false
			return nil // who knows what is in it
		}
		s.chain.index, s.chain.epoch, s.chain.prev, s.chain.prevKnown = h.index+1, h.epoch, h.crc, true
	}
	if err := s.flush(); err != nil || s.visit.Entry == nil {
		return err
	}
	if cap(s.payload) < int(h.length) {
		s.payload = make([]byte, h.length)
	}
	payload := s.payload[:h.length]
	if err := readAt(p.file, payload, at+headerLen); err != nil {
		return fmt.Errorf("read commit log: %w", err)
	}
	return s.visit.Entry(Entry{
		Segment: p.path, Offset: start, Bytes: bytes,
		Index: h.index, Epoch: h.epoch, CRC: h.crc, Prev: h.prev, Payload: payload,
	})
}

// entryStart returns where the entry that was seen begins: with the library's
// prefix, if that is whole and not before least.
func entryStart(f io.ReaderAt, seen sighting, least int64) (int64, error) {
	prefix := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), headerLen+uint64(seen.header.length))
	start := seen.at - int64(len(prefix))
	if start < least {
		return seen.at, nil
	}
	b := make([]byte, len(prefix))
	if err := readAt(f, b, start); err != nil {
		return 0, err
	}
	if !bytes.Equal(b, prefix) {
		return seen.at, nil
	}
	return start, nil
}
