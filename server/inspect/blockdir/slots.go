package blockdir

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tidemark/tidemark/server/blocks/layout"
)

// Slots is how many slots the block file has, the last perhaps cut short.
func (d *Dir) Slots() uint32 {
	if d.blocks == nil || d.BlocksBytes <= layout.PageSize {
		return 0
	}
	size := int64(d.Owner.SlotSize())
	return uint32(min((d.BlocksBytes-layout.PageSize+size-1)/size, layout.MaxSlots))
}

// Short says that the block file ends before slots that a checkpoint may use,
// if it does.
func (d *Dir) Short(h layout.Header) *Damage {
	least := d.Owner.SlotOffset(h.Slots)
	if d.blocks == nil || d.BlocksBytes >= least {
		return nil
	}
	return &Damage{File: d.BlocksPath(), Offset: d.BlocksBytes, Reason: fmt.Sprintf("the file has %d bytes, and %d are in use", d.BlocksBytes, least)}
}

// Read returns the data of a version, valid until the next Read, after all
// checks.
func (d *Dir) Read(v layout.Version) ([]byte, *Damage, error) {
	if v.Size == 0 {
		return nil, nil, nil
	}
	if d.buf == nil {
		d.buf = make([]byte, d.Owner.SlotSize())
	}
	at := d.Owner.SlotOffset(v.Slot)
	hurt := &Damage{File: d.BlocksPath(), Offset: at, Block: v.Block, From: v.From}
	if d.blocks == nil || d.Foreign {
		hurt.Reason = d.BlocksPage.Reason
		return nil, hurt, nil
	}
	b := d.buf[:layout.SlotHeader+int(v.Size)]
	if _, err := d.blocks.ReadAt(b, at); errors.Is(err, io.EOF) {
		hurt.Reason = "the file ends"
		return nil, hurt, nil
	} else if err != nil {
		return nil, nil, err
	}
	s, err := layout.DecodeSlot(b)
	var damage *layout.Damage
	switch {
	case errors.As(err, &damage):
		hurt.Offset, hurt.Reason = at+damage.Offset, damage.Reason
	case s.Block != v.Block || s.From != v.From || len(s.Data) != int(v.Size):
		hurt.Reason = "the slot holds another version"
	default:
		return s.Data, nil, nil
	}
	return nil, hurt, nil
}

// Scan reads all slots of the block file in their order, whether an index
// names them or not, and calls whole for each whose checksum holds and damaged
// for the others, without those that hold nothing but zeros. Data of a slot is
// valid until whole returns. Errors are of whole and damaged, and of the
// operating system.
func (d *Dir) Scan(whole func(layout.Slot) error, damaged func(*Damage) error) error {
	if d.blocks == nil || d.Foreign || d.Owner == (layout.Owner{}) {
		return nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(d.blocks, layout.PageSize, math.MaxInt64-layout.PageSize), readBuffer)
	b := make([]byte, d.Owner.SlotSize())
	for slot := range d.Slots() {
		n, err := io.ReadFull(in, b)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return err
		}
		s, err := layout.DecodeSlot(b[:n])
		var hurt *layout.Damage
		switch {
		case err == nil:
			err = whole(s)
		case bytes.Count(b[:n], []byte{0}) == n:
			err = nil
		case errors.As(err, &hurt):
			err = damaged(&Damage{File: d.BlocksPath(), Offset: d.Owner.SlotOffset(slot) + hurt.Offset, Reason: hurt.Reason})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
