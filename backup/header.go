package backup

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tidemark/tidemark/occ"
)

const (
	magic = "TIDEBKUP"
	// FormatVersion is the version that is written, and the one that is read.
	FormatVersion = 1
	// MaxBlockSize bounds the block size of a store, in bytes.
	MaxBlockSize = 1 << 20

	offVersion   = 8
	offBlockSize = 12
	offStore     = 16
	offEpoch     = 32
	offAt        = 40
	offSince     = 48
	offNext      = 56
	offHeaderCRC = 64
	headerLen    = 68
)

// Header says what a backup is of.
type Header struct {
	Store     occ.StoreID
	BlockSize int // in bytes
	// Epoch is that of the server that the backup was taken from. Its upper 32
	// bits change when a store is restored: see Generation.
	Epoch uint64
	// At is the timestamp that the backup is of. Since is the one from which on
	// it has what changed; 0 means that it has everything.
	At, Since occ.Timestamp
	// Next is the first block id that had never been leased; blocks below it
	// may be anybody's.
	Next occ.BlockID
}

// Generation tells apart what became of a store before and after it was
// restored: the same timestamp may mean something else there.
func (h Header) Generation() uint32 { return occ.Generation(h.Epoch) }

// problem returns why there can be no such backup.
func (h Header) problem() string {
	switch {
	case h.BlockSize < 1 || h.BlockSize > MaxBlockSize:
		return fmt.Sprintf("a block size of %d bytes", h.BlockSize)
	case h.At >= occ.Open:
		return "a timestamp that is none"
	case h.Since > h.At:
		return fmt.Sprintf("what changed between timestamp %d and %d", h.Since, h.At)
	case h.Next == 0:
		return "no block id is the next"
	}
	return ""
}

func (h Header) encode() []byte {
	le, b := binary.LittleEndian, make([]byte, headerLen)
	copy(b, magic)
	le.PutUint32(b[offVersion:], FormatVersion)
	le.PutUint32(b[offBlockSize:], uint32(h.BlockSize))
	copy(b[offStore:], h.Store[:])
	le.PutUint64(b[offEpoch:], h.Epoch)
	le.PutUint64(b[offAt:], uint64(h.At))
	le.PutUint64(b[offSince:], uint64(h.Since))
	le.PutUint64(b[offNext:], uint64(h.Next))
	le.PutUint32(b[offHeaderCRC:], checksum(0, b[:offHeaderCRC]))
	return b
}

// decodeHeader decodes headerLen bytes, whose magic and version are right.
func decodeHeader(b []byte) (Header, string) {
	le := binary.LittleEndian
	if checksum(0, b[:offHeaderCRC]) != le.Uint32(b[offHeaderCRC:]) {
		return Header{}, "checksum mismatch in the header"
	}
	h := Header{
		Store:     occ.StoreID(b[offStore:offEpoch]),
		BlockSize: int(le.Uint32(b[offBlockSize:])),
		Epoch:     le.Uint64(b[offEpoch:]),
		At:        occ.Timestamp(le.Uint64(b[offAt:])),
		Since:     occ.Timestamp(le.Uint64(b[offSince:])),
		Next:      occ.BlockID(le.Uint64(b[offNext:])),
	}
	return h, h.problem()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }
