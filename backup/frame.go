package backup

import (
	"crypto/sha256"
	"encoding/binary"
)

const (
	// MaxFrame is the largest payload of a frame, in bytes: a block and what
	// precedes its data.
	MaxFrame = MaxBlockSize + 32
	// frameBytes is the payload at which a frame of several records ends, about.
	frameBytes = 256 << 10

	kindRecords = 1
	kindEnd     = 2

	offKind   = 0
	offLength = 4
	offNumber = 8
	offCRC    = 12
	frameHead = 16

	offDataBytes = 8
	offDigest    = 16
	endLen       = offDigest + sha256.Size
)

// sealFrame fills in the head of a frame.
func sealFrame(f []byte, kind, number uint32) {
	le := binary.LittleEndian
	le.PutUint32(f[offKind:], kind)
	le.PutUint32(f[offLength:], uint32(len(f)-frameHead))
	le.PutUint32(f[offNumber:], number)
	le.PutUint32(f[offCRC:], frameChecksum(f))
}

func frameChecksum(f []byte) uint32 { return checksum(checksum(0, f[:offCRC]), f[frameHead:]) }

// Summary is what a backup holds.
type Summary struct {
	Records   uint64 // versions of blocks, one of each
	DataBytes uint64 // their data, without the zeros at the ends of blocks
	FileBytes int64  // the whole backup
}
