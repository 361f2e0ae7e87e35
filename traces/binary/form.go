package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/tidemark/tidemark/traces"
)

// What can be wrong with a file. They arrive in a *traces.StreamError.
var (
	ErrDamaged = errors.New("the binary trace is damaged")
	ErrCut     = errors.New("the binary trace ends too early")
	ErrVersion = errors.New("the binary trace has a version that this program does not know")
)

const (
	magic   = "\x8fTMOPS\r\n" // the last two show whether it was taken for text
	version = 1

	headerLen = 16
	blockHead = 12
	endLen    = 16

	// MaxPayload is the length in bytes of the longest payload of a block.
	MaxPayload = 64 << 10
	// maxEncoded bounds the encoded length of one operation: at most ten
	// varints, three handles and two names.
	maxEncoded = 1 + 10*binary.MaxVarintLen64 + 3*8 + 2*traces.MaxName
)

// The bits of a tag beside the kind.
const (
	kindBits  = 0x1f
	hasPlace  = 0x20
	sameHost  = 0x40
	nextLine  = 0x80
	kinds     = 21
	auspex    = 12 // kinds from here on are of types beyond the Auspex format
	firstType = traces.Attr
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is that of a block, or of the end, as it is in the file: head is
// what precedes the checksum there.
func checksum(number uint64, head, payload []byte) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], number)
	sum := crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, head)
	return crc32.Update(sum, castagnoli, payload)
}

// kindOf returns the kind of an operation that passed Op.Check.
func kindOf(op *traces.Op) byte {
	if op.Type <= traces.Close {
		return byte(op.Type-firstType)<<1 | byte(op.Action)
	}
	return auspex + byte(op.Type-traces.Lookup)
}

// setKind is the inverse of kindOf for kinds that exist.
func setKind(op *traces.Op, kind byte) {
	if kind < auspex {
		op.Type, op.Action = firstType+traces.Type(kind>>1), traces.Action(kind&1)
		return
	}
	op.Type, op.Action = traces.Lookup+traces.Type(kind-auspex), traces.Write
	if op.Type == traces.Lookup {
		op.Action = traces.Read
	}
}

// Recognize reports whether a file that begins with head is in this form, in
// whatever version.
func Recognize(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// handle is what is known in a block about a file.
type handle struct {
	fid traces.FID
	end int64 // of the last operation on it
}

// before is what an operation is told as a difference to.
type before struct {
	time, line int64
	host       uint32
}
