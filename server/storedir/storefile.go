package storedir

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tidemark/tidemark/occ"
)

// The layout of the store file; see the package comment. Frozen.
const (
	magic         = "TIDEMARK"
	formatVersion = 1

	offVersion = 8
	offStore   = 12
	offBlock   = 28
	offEpoch   = 32
	offCRC     = 40
	fileLen    = 44
)

// MaxBlockSize bounds the block size of a store.
const MaxBlockSize = 1 << 20

// storeFile is the content of the store file.
type storeFile struct {
	store     occ.StoreID
	blockSize int
	epoch     uint64
}

func (s storeFile) encode() []byte {
	b := append(make([]byte, 0, fileLen), magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = append(b, s.store[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.blockSize))
	b = binary.LittleEndian.AppendUint64(b, s.epoch)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// decodeStoreFile returns what b says, or ErrDamaged (wrapped), or a
// *VersionError. A version that is not ours is believed without a checksum,
// since only its own program knows where that stands.
func decodeStoreFile(b []byte) (storeFile, error) {
	if len(b) < offStore || string(b[:offVersion]) != magic {
		return storeFile{}, fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	}
	if v := binary.LittleEndian.Uint32(b[offVersion:]); v != formatVersion {
		return storeFile{}, &VersionError{Version: v}
	}
	if len(b) != fileLen {
		return storeFile{}, fmt.Errorf("%w: it has %d bytes instead of %d", ErrDamaged, len(b), fileLen)
	}
	if checksum(b[:offCRC]) != binary.LittleEndian.Uint32(b[offCRC:]) {
		return storeFile{}, fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	size := binary.LittleEndian.Uint32(b[offBlock:])
	if size == 0 || size > MaxBlockSize {
		return storeFile{}, fmt.Errorf("%w: its block size is %d", ErrDamaged, size)
	}
	return storeFile{
		store:     occ.StoreID(b[offStore:offBlock]),
		blockSize: int(size),
		epoch:     binary.LittleEndian.Uint64(b[offEpoch:]),
	}, nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
