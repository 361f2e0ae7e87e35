package inspect

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

// blockStore prints the header slots and the index files. An index file is
// read as the header says that names it; one that none names is taken for what
// it says itself.
func (d *dump) blockStore(ctx context.Context, in *storedir.Inspection) error {
	b, err := blockdir.Open(in.BlocksDir(), layout.Owner{Store: in.Store, BlockSize: in.BlockSize})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	for i := range b.Headers {
		if err := d.header(b, &b.Headers[i]); err != nil {
			return err
		}
	}
	if b.BlocksPage != nil {
		err = d.hurt(b.BlocksPage)
	} else {
		err = d.line("slots    file=%s bytes=%d slots=%d", filepath.Base(b.BlocksPath()), b.BlocksBytes, b.Slots())
	}
	if err != nil {
		return err
	}
	for _, n := range b.Indexes {
		if err := d.indexFile(ctx, b, n); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) hurt(h *blockdir.Damage) error {
	return d.line("damage   file=%s offset=%d: %s", filepath.Base(h.File), h.Offset, h.Reason)
}

func (d *dump) header(b *blockdir.Dir, h *blockdir.HeaderSlot) error {
	file := filepath.Base(b.HeaderPath())
	switch {
	case h.Empty:
		return d.line("header   file=%s offset=%d empty", file, h.Offset)
	case h.Damage != nil:
		return d.hurt(h.Damage)
	}
	c := h.Header
	return d.line("header   file=%s offset=%d checkpoint=%d log_index=%d stable=%d index_bytes=%d index_crc=%08x slots=%d versions=%d",
		file, h.Offset, c.Checkpoint, c.LogIndex, c.Stable, c.IndexBytes, c.IndexCRC, c.Slots, c.Versions)
}

func (d *dump) indexFile(ctx context.Context, b *blockdir.Dir, n uint64) error {
	h, ok, err := b.Guess(n)
	named := false
	for i := range b.Headers {
		if s := &b.Headers[i]; s.Whole() && s.Header.Checkpoint == n {
			h, ok, named = s.Header, true, true
		}
	}
	file := filepath.Base(b.IndexPath(n))
	if err == nil {
		err = d.line("index    file=%s named=%t", file, named)
	}
	if err != nil {
		return err
	}
	if !ok {
		return d.line("damage   file=%s offset=0: too short for an index", file)
	}
	var state []byte
	damage, err := b.ReadIndex(h, layout.Visitor{
		State:   func(part []byte) { state = append(state, part...) },
		Version: func(layout.Version) error { return ended(ctx) },
	})
	if err == nil && damage != nil {
		err = d.hurt(damage)
	}
	if err == nil && len(state) > 0 {
		err = d.state(b.IndexPath(n), state)
	}
	if err != nil || !d.Blocks {
		return err
	}
	_, err = b.ReadIndex(h, layout.Visitor{State: func([]byte) {}, Version: func(v layout.Version) error {
		if err := ended(ctx); err != nil {
			return err
		}
		return d.version(b, file, v)
	}})
	return err
}

func (d *dump) version(b *blockdir.Dir, file string, v layout.Version) error {
	if v.Size == 0 {
		return d.line("version  file=%s block=%d from=%d bytes=0", file, v.Block, v.From)
	}
	data, damage, err := b.Read(v)
	if err != nil {
		return err
	}
	if damage != nil {
		return d.line("damage   file=%s block=%d from=%d slot=%d offset=%d: %s", filepath.Base(damage.File), v.Block, v.From, v.Slot, damage.Offset, damage.Reason)
	}
	return d.line("version  file=%s block=%d from=%d bytes=%d slot=%d offset=%d crc=%08x",
		file, v.Block, v.From, v.Size, v.Slot, b.Owner.SlotOffset(v.Slot), crc32.Checksum(data, castagnoli))
}

// state prints what an index file keeps besides versions.
func (d *dump) state(path string, state []byte) error {
	file := filepath.Base(path)
	s, err := record.DecodeState(state)
	if errors.Is(err, record.ErrVersion) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return d.line("damage   file=%s: %v", file, err)
	}
	if err := d.line("state    file=%s stable=%d horizon=%d epoch=%d next_block=%d sessions=%d pins=%d",
		file, s.Stable, s.Horizon, s.Epoch, s.Next, len(s.Sessions), len(s.Pins)); err != nil {
		return err
	}
	for _, of := range s.Sessions {
		if err := d.line("session  file=%s session=%v mark=%d next=%d outcomes=%d", file, of.ID, of.Mark, of.Next, len(of.Outcomes)); err != nil {
			return err
		}
	}
	for _, p := range s.Pins {
		if err := d.line("pin      file=%s name=%q at=%d lease=%v", file, p.Name, p.At, p.Lease); err != nil {
			return err
		}
	}
	return nil
}
