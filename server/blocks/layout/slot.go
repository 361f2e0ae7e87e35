package layout

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/occ"
)

const (
	// SlotHeader is the size in bytes of what precedes the data in a slot.
	SlotHeader = 32
	// NoSlot stands for the slot of a version that has none.
	NoSlot = 1<<32 - 1
	// MaxSlots is how many slots a block file has at most.
	MaxSlots = 1<<32 - 1

	slotMagic  = "SLOT"
	offLength  = 4
	offBlock   = 8
	offFrom    = 16
	offSlotCRC = 24
)

// SlotSize is the size of a slot in bytes.
func (o Owner) SlotSize() int { return SlotHeader + o.BlockSize }

// SlotOffset is where a slot is in the block file; for the number of slots,
// it is the size of the file.
func (o Owner) SlotOffset(slot uint32) int64 { return PageSize + int64(slot)*int64(o.SlotSize()) }

// Slot is what a slot holds.
type Slot struct {
	Block occ.BlockID
	From  occ.Timestamp
	Data  []byte
}

// EncodeSlot fills b, a whole slot, with the data of a version, which has at
// least one byte, and zeros.
func EncodeSlot(b []byte, s Slot) {
	le := binary.LittleEndian
	copy(b, slotMagic)
	le.PutUint32(b[offLength:], uint32(len(s.Data)))
	le.PutUint64(b[offBlock:], uint64(s.Block))
	le.PutUint64(b[offFrom:], uint64(s.From))
	clear(b[offSlotCRC:SlotHeader])
	n := copy(b[SlotHeader:], s.Data)
	clear(b[SlotHeader+n:])
	le.PutUint32(b[offSlotCRC:], slotChecksum(b[:SlotHeader+n]))
}

// MadeOfDamaged is the reason why a slot of EncodeDamaged is refused.
const MadeOfDamaged = "made of data that were damaged"

// EncodeDamaged fills b, a whole slot, for a version whose data cannot be had,
// since they were to be made of damaged ones. DecodeSlot refuses it, as every
// program does: its checksum is the complement of the right one. In an index
// the version has one byte.
func EncodeDamaged(b []byte, block occ.BlockID, from occ.Timestamp) {
	EncodeSlot(b, Slot{Block: block, From: from, Data: []byte{0}})
	sum := b[offSlotCRC : offSlotCRC+4]
	binary.LittleEndian.PutUint32(sum, ^binary.LittleEndian.Uint32(sum))
}

func slotChecksum(b []byte) uint32 {
	return Checksum(Checksum(0, b[:offSlotCRC]), b[offSlotCRC+4:])
}

// DecodeSlot decodes a slot, or as much of it as its data needs. Data is a
// part of b. The error is a *Damage.
func DecodeSlot(b []byte) (Slot, error) {
	if len(b) < SlotHeader {
		return Slot{}, damaged(int64(len(b)), "a slot of %d bytes", len(b))
	}
	le := binary.LittleEndian
	n := le.Uint32(b[offLength:])
	switch {
	case string(b[:len(slotMagic)]) != slotMagic:
		return Slot{}, damaged(0, "no %q", slotMagic)
	case n == 0 || uint64(n) > uint64(len(b)-SlotHeader):
		return Slot{}, damaged(offLength, "%d bytes of data where %d are expected", n, len(b)-SlotHeader)
	}
	switch le.Uint32(b[offSlotCRC:]) {
	case slotChecksum(b[:SlotHeader+int(n)]):
	case ^slotChecksum(b[:SlotHeader+int(n)]):
		return Slot{}, damaged(offSlotCRC, MadeOfDamaged)
	default:
		return Slot{}, damaged(offSlotCRC, "checksum mismatch")
	}
	s := Slot{
		Block: occ.BlockID(le.Uint64(b[offBlock:])),
		From:  occ.Timestamp(le.Uint64(b[offFrom:])),
		Data:  b[SlotHeader : SlotHeader+int(n) : SlotHeader+int(n)],
	}
	if s.From == 0 {
		return Slot{}, damaged(offFrom, "a version that begins at 0")
	}
	return s, zeros(b, offSlotCRC+4, SlotHeader)
}
