package layout

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tidemark/tidemark/occ"
)

const (
	// FormatVersion is the version of all formats of this package.
	FormatVersion = 1
	// PageSize is the size in bytes of a header slot, and of what precedes
	// the slots in a block file.
	PageSize = 4096
	// MaxBlockSize is the largest size of a block in bytes.
	MaxBlockSize = 1 << 20

	headerMagic = "TIDECHKP"
	blocksMagic = "TIDEBLKS"
	indexMagic  = "TIDEINDX"

	offVersion   = 8
	offBlockSize = 12
	offStore     = 16
	offRest      = 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum adds bytes to a checksum, which begins as 0.
func Checksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// Damage says that bytes are not what was written.
type Damage struct {
	Offset int64 // in what was to be decoded
	Reason string
}

// Error returns one line.
func (e *Damage) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason) }

func damaged(offset int64, format string, args ...any) error {
	return &Damage{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// VersionError says that a file is whole and of a format version that this
// program does not know.
type VersionError struct{ Version uint32 }

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("format version %d, this program knows %d", e.Version, FormatVersion)
}

// Owner is what every file tells: whose it is.
type Owner struct {
	Store     occ.StoreID
	BlockSize int // in bytes
}

// begin writes what every head begins with.
func (o Owner) begin(b []byte, magic string) {
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[offVersion:], FormatVersion)
	binary.LittleEndian.PutUint32(b[offBlockSize:], uint32(o.BlockSize))
	copy(b[offStore:], o.Store[:])
}

// seal puts the checksum of a head into its last four bytes.
func seal(b []byte) []byte {
	n := len(b) - 4
	binary.LittleEndian.PutUint32(b[n:], Checksum(0, b[:n]))
	return b
}

// open checks what all heads have in common, whose size is that of b.
func open(b []byte, magic string) (Owner, error) {
	n := len(b) - 4
	if string(b[:len(magic)]) != magic {
		return Owner{}, damaged(0, "no %q", magic)
	}
	if binary.LittleEndian.Uint32(b[n:]) != Checksum(0, b[:n]) {
		return Owner{}, damaged(0, "checksum mismatch")
	}
	if v := binary.LittleEndian.Uint32(b[offVersion:]); v != FormatVersion {
		return Owner{}, &VersionError{Version: v}
	}
	size := binary.LittleEndian.Uint32(b[offBlockSize:])
	if size == 0 || size > MaxBlockSize {
		return Owner{}, damaged(offBlockSize, "blocks of %d bytes", size)
	}
	return Owner{Store: occ.StoreID(b[offStore:offRest]), BlockSize: int(size)}, nil
}

func zeros(b []byte, from, to int) error {
	for i, x := range b[from:to] {
		if x != 0 {
			return damaged(int64(from+i), "not zero")
		}
	}
	return nil
}

// EncodeBlocksPage returns the first page of a block file.
func EncodeBlocksPage(o Owner) []byte {
	b := make([]byte, PageSize)
	o.begin(b, blocksMagic)
	return seal(b)
}

// DecodeBlocksPage decodes the first page of a block file. Errors are
// *Damage and *VersionError.
func DecodeBlocksPage(b []byte) (Owner, error) {
	if len(b) != PageSize {
		return Owner{}, damaged(0, "%d bytes, not %d", len(b), PageSize)
	}
	o, err := open(b, blocksMagic)
	if err == nil {
		err = zeros(b, offRest, PageSize-4)
	}
	return o, err
}
