package layout

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/occ"
)

// Header is a slot of the header file: a checkpoint.
type Header struct {
	Owner
	Checkpoint uint64        // its number
	LogIndex   uint64        // the checkpoint holds all groups of the log up to it
	Stable     occ.Timestamp // the newest timestamp in it
	IndexBytes uint64        // size of its index file
	IndexCRC   uint32        // checksum of its index file
	Slots      uint32        // above every slot that the index names
	Versions   uint64        // versions in the index
}

// HeaderFileSize is the size of the header file.
const HeaderFileSize = 2 * PageSize

// HeaderOffset is where the header of a checkpoint is in the header file.
func HeaderOffset(checkpoint uint64) int64 { return int64(checkpoint%2) * PageSize }

const (
	offCheckpoint = 32
	offLogIndex   = 40
	offStable     = 48
	offIndexBytes = 56
	offIndexCRC   = 64
	offSlots      = 68
	offVersions   = 72
	offHeaderRest = 80
)

// Encode returns the page.
func (h Header) Encode() []byte {
	b := make([]byte, PageSize)
	le := binary.LittleEndian
	h.begin(b, headerMagic)
	le.PutUint64(b[offCheckpoint:], h.Checkpoint)
	le.PutUint64(b[offLogIndex:], h.LogIndex)
	le.PutUint64(b[offStable:], uint64(h.Stable))
	le.PutUint64(b[offIndexBytes:], h.IndexBytes)
	le.PutUint32(b[offIndexCRC:], h.IndexCRC)
	le.PutUint32(b[offSlots:], h.Slots)
	le.PutUint64(b[offVersions:], h.Versions)
	return seal(b)
}

// DecodeHeader decodes a page of the header file. Errors are *Damage and
// *VersionError.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) != PageSize {
		return Header{}, damaged(0, "%d bytes, not %d", len(b), PageSize)
	}
	o, err := open(b, headerMagic)
	if err == nil {
		err = zeros(b, offHeaderRest, PageSize-4)
	}
	if err != nil {
		return Header{}, err
	}
	le := binary.LittleEndian
	return Header{
		Owner:      o,
		Checkpoint: le.Uint64(b[offCheckpoint:]),
		LogIndex:   le.Uint64(b[offLogIndex:]),
		Stable:     occ.Timestamp(le.Uint64(b[offStable:])),
		IndexBytes: le.Uint64(b[offIndexBytes:]),
		IndexCRC:   le.Uint32(b[offIndexCRC:]),
		Slots:      le.Uint32(b[offSlots:]),
		Versions:   le.Uint64(b[offVersions:]),
	}, nil
}
