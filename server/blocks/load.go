package blocks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// loadBuffer is how much of an index file is read at a time.
const loadBuffer = 256 << 10

// load reads the last checkpoint into the empty Store and returns its header
// and state. It changes nothing on the disk.
func (s *Store) load(names []string) (header layout.Header, state []byte, err error) {
	header, spoilt, err := s.loadHeader()
	if err != nil {
		return header, nil, err
	}
	for _, name := range []string{blocksName, indexName(header.Checkpoint)} {
		if !slices.Contains(names, name) {
			reason := fmt.Sprintf("the file is missing, in which checkpoint %d has data", header.Checkpoint)
			if spoilt != nil {
				reason += fmt.Sprintf("; perhaps there was a newer one (%v)", spoilt)
			}
			return header, nil, &CorruptError{File: name, Reason: reason}
		}
	}
	if err := s.loadBlocks(header); err != nil {
		return header, nil, err
	}
	if state, err = s.loadIndex(header); err != nil {
		return header, nil, err
	}
	s.mu.pinned, s.mu.newest = header.Stable, header.Stable
	s.mu.durable = Durable{Checkpoint: header.Checkpoint, LogIndex: header.LogIndex, Stable: header.Stable}
	s.mu.stats.IndexBytes = int64(header.IndexBytes)
	return header, state, nil
}

// loadHeader returns the newest valid header, and what is wrong with the other
// one, if something is.
func (s *Store) loadHeader() (newest layout.Header, spoilt, err error) {
	if s.header, err = s.disk.Open(headerName); err != nil {
		return newest, nil, &IOError{Op: "open", File: headerName, Cause: err}
	}
	page := make([]byte, layout.PageSize)
	var faults []error
	found := false
	for at := int64(0); at < layout.HeaderFileSize; at += layout.PageSize {
		_, err := s.header.ReadAt(page, at)
		if err == nil || errors.Is(err, io.EOF) {
			var h layout.Header
			if h, err = s.decodeHeader(page, at, err); err == nil && (!found || h.Checkpoint > newest.Checkpoint) {
				newest, found = h, true
			}
		} else {
			err = located(headerName, at, err)
		}
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			return newest, nil, err
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if !found {
		return newest, nil, faults[0]
	}
	if len(faults) > 0 {
		spoilt = s.placed(faults[0])
	}
	return newest, spoilt, nil
}

// decodeHeader decodes the page at an offset; short is the error of reading
// it, if the file ends in it.
func (s *Store) decodeHeader(page []byte, at int64, short error) (layout.Header, error) {
	if short != nil {
		return layout.Header{}, located(headerName, at, short)
	}
	h, err := layout.DecodeHeader(page)
	switch {
	case err != nil:
		return h, located(headerName, at, err)
	case h.Owner != s.owner:
		return h, &OwnerError{File: headerName, Have: h.Owner, Want: s.owner}
	case layout.HeaderOffset(h.Checkpoint) != at:
		return h, &CorruptError{File: headerName, Offset: at, Reason: fmt.Sprintf("the place is not that of checkpoint %d", h.Checkpoint)}
	}
	return h, nil
}

// loadBlocks opens the block file and checks all but the slots.
func (s *Store) loadBlocks(h layout.Header) error {
	f, size, err := s.openSized(blocksName)
	if err != nil {
		return err
	}
	s.blocks = output{file: f, name: blocksName}
	page := make([]byte, layout.PageSize)
	if _, err := f.ReadAt(page, 0); err != nil {
		return located(blocksName, 0, err)
	}
	owner, err := layout.DecodeBlocksPage(page)
	switch {
	case err != nil:
		return located(blocksName, 0, err)
	case owner != s.owner:
		return &OwnerError{File: blocksName, Have: owner, Want: s.owner}
	case size < s.owner.SlotOffset(h.Slots):
		return &CorruptError{File: blocksName, Offset: size, Reason: fmt.Sprintf("the file ends before slot %d of %d",
			(size-layout.PageSize)/int64(s.owner.SlotSize()), h.Slots)}
	}
	return nil
}

// loadIndex fills the index from the index file and returns the state. The
// slots that the header tells of are in the block file, so that memory is
// bounded by the sizes of the files.
func (s *Store) loadIndex(h layout.Header) (state []byte, err error) {
	name := indexName(h.Checkpoint)
	f, size, err := s.openSized(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if uint64(size) != h.IndexBytes {
		return nil, &CorruptError{File: name, Offset: min(size, int64(h.IndexBytes)), Reason: fmt.Sprintf("the file has %d bytes, not %d", size, h.IndexBytes)}
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), int(min(size, loadBuffer)))
	err = layout.ReadIndex(in, h, layout.Visitor{
		State:   func(b []byte) { state = append(state, b...) },
		Version: s.loadVersion,
	})
	if err != nil {
		return nil, located(name, 0, err)
	}
	s.mu.space.giveRest(h.Slots)
	return state, nil
}

func (s *Store) loadVersion(v layout.Version) error {
	if v.Slot != layout.NoSlot {
		if s.mu.space.isLive(v.Slot) {
			return fmt.Errorf("slot %d is another version's", v.Slot)
		}
		s.mu.space.setLive(v.Slot)
	}
	s.mu.index.add(ref{v.Block, v.From}, place{size: v.Size, slot: v.Slot})
	return nil
}

func (s *Store) openSized(name string) (disk.File, int64, error) {
	f, err := s.disk.Open(name)
	if err != nil {
		return nil, 0, &IOError{Op: "open", File: name, Cause: err}
	}
	size, err := f.Size()
	if err != nil {
		f.Close()
		return nil, 0, &IOError{Op: "measure", File: name, Cause: err}
	}
	return f, size, nil
}
