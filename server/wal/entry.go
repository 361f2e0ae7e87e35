package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tidemark/tidemark/occ"
)

// The layout of an entry's header; see the package comment. Frozen.
const (
	formatVersion = 1

	offMagic   = 0
	offVersion = 4
	offStore   = 8
	offEpoch   = 24
	offIndex   = 32
	offLength  = 40
	offPrev    = 44
	offCRC     = 48
	headerLen  = 52

	maxEntry = headerLen + MaxPayload
)

// magic begins every entry. Frozen. It is no text and no small number, so
// that a scan for entries seldom stops in vain.
var magic = [4]byte{0xd7, 'T', 'M', 0x9c}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the header of an entry without magic.
type header struct {
	version uint32
	store   occ.StoreID
	epoch   uint64
	index   uint64
	length  uint32
	prev    uint32
	crc     uint32
}

// appendEntry appends the entry for payload to dst; h.version, h.length and
// h.crc are filled in. It returns the entry's checksum.
func appendEntry(dst []byte, h header, payload []byte) ([]byte, uint32) {
	start := len(dst)
	dst = append(dst, magic[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	dst = append(dst, h.store[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.epoch)
	dst = binary.LittleEndian.AppendUint64(dst, h.index)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, h.prev)
	crc := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, payload)
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	return append(dst, payload...), crc
}

// parseHeader reads the header at the start of b, which has at least
// headerLen bytes, and reports whether it begins with the magic. It checks
// nothing else.
func parseHeader(b []byte) (h header, ok bool) {
	if [4]byte(b[offMagic:offVersion]) != magic {
		return h, false
	}
	h.version = binary.LittleEndian.Uint32(b[offVersion:])
	copy(h.store[:], b[offStore:offEpoch])
	h.epoch = binary.LittleEndian.Uint64(b[offEpoch:])
	h.index = binary.LittleEndian.Uint64(b[offIndex:])
	h.length = binary.LittleEndian.Uint32(b[offLength:])
	h.prev = binary.LittleEndian.Uint32(b[offPrev:])
	h.crc = binary.LittleEndian.Uint32(b[offCRC:])
	return h, true
}

// openEntry returns the payload of a whole entry after checking its
// checksum, length and index.
func openEntry(b []byte, index uint64) (header, []byte, error) {
	if len(b) < headerLen {
		return header{}, nil, errors.New("shorter than an entry header")
	}
	h, ok := parseHeader(b)
	switch payload := b[headerLen:]; {
	case !ok:
		return h, nil, errors.New("no entry header")
	case uint64(h.length) != uint64(len(payload)):
		return h, nil, fmt.Errorf("length field %d, payload of %d bytes", h.length, len(payload))
	case crc32.Update(crc32.Checksum(b[:offCRC], castagnoli), castagnoli, payload) != h.crc:
		return h, nil, errors.New("checksum does not match")
	case h.index != index:
		return h, nil, fmt.Errorf("entry says that it is number %d", h.index)
	default:
		return h, payload, nil
	}
}
