package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Causes of a DecodeError, for errors.Is.
var (
	// ErrTruncated: the input ends inside a field, or a count or length says
	// more than the rest of the input can hold.
	ErrTruncated = errors.New("input ends too early")
	// ErrTrailing: bytes follow the last record.
	ErrTrailing = errors.New("bytes after the end")
	// ErrVarint: a varint is longer than need be or exceeds 64 bits.
	ErrVarint = errors.New("malformed varint")
	// ErrPadding: block data ends in zeros, which the encoding leaves out.
	ErrPadding = errors.New("block data ends in zeros")
	// ErrRange: a range ends beyond the largest block.
	ErrRange = errors.New("range beyond the largest block")
	// ErrForm: a record or a group has a form or a version that is for ranges
	// or pins only, and there are none.
	ErrForm = errors.New("form for something that is not there")
	// ErrName: the name of a pin is empty or longer than MaxName.
	ErrName = errors.New("name of impossible length")
	// ErrNumber: a number is larger than its meaning allows, or out of order.
	ErrNumber = errors.New("impossible number")
	// ErrKind: no record has this kind in this format version.
	ErrKind = errors.New("unknown record kind")
	// ErrVersion: the group has a format version that this program does not
	// know, most likely one of a newer program.
	ErrVersion = errors.New("unknown format version")
	// ErrTooLarge: the input exceeds MaxEncodedBytes.
	ErrTooLarge = errors.New("group too large")
)

// DecodeError says what is wrong with an encoded group, and where.
type DecodeError struct {
	// Offset is the byte at which the offending field begins.
	Offset int
	// Field names it, such as "commit seq".
	Field string
	// Cause is, or wraps, one of the causes above.
	Cause error
}

// Error returns one line.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("log record: %s at byte %d: %v", e.Field, e.Offset, e.Cause)
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Cause }

// preallocate bounds what a count makes the decoder allocate before it has
// seen the elements; beyond it, slices grow as elements arrive.
const preallocate = 1024

// minWriteLen and minRecordLen are the shortest encodings of an element: no
// count may exceed what the rest of the input could hold of them.
const (
	minWriteLen  = 2
	minRangeLen  = 3
	minRecordLen = 2
)

// Decode returns the group that b encodes. The data of decoded writes aliases
// b, which must not be changed as long as the group is in use; everything
// else is copied. Whatever b holds, Decode returns a group that encodes to
// exactly b, or a *DecodeError; the memory that it takes is at most
// proportional to len(b).
func Decode(b []byte) (Group, error) {
	d := decoder{b: b}
	g := d.group()
	if d.err != nil {
		return Group{}, d.err
	}
	return g, nil
}

// decoder walks over b. The first failure sticks, and every later field reads
// as zero; loops must therefore look at err.
type decoder struct {
	b       []byte
	off     int
	version byte
	err     error
}

func (d *decoder) fail(at int, field string, cause error) {
	if d.err == nil {
		d.err = &DecodeError{Offset: at, Field: field, Cause: cause}
	}
}

func (d *decoder) group() Group {
	if len(d.b) > MaxEncodedBytes {
		d.fail(0, "group", fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(d.b), MaxEncodedBytes))
		return Group{}
	}
	d.version = d.octet("version")
	if d.err == nil && (d.version < wholeVersion || d.version > FormatVersion) {
		d.fail(0, "version", fmt.Errorf("%w %d, this program knows %d to %d", ErrVersion, d.version, wholeVersion, FormatVersion))
		return Group{}
	}
	n := d.count("record count", minRecordLen)
	var g Group
	if n > 0 {
		g.Records = make([]Record, 0, min(n, preallocate))
	}
	for i := 0; i < n && d.err == nil; i++ {
		g.Records = append(g.Records, d.record())
	}
	if d.err == nil && g.version() != d.version {
		d.fail(0, "version", ErrForm)
	}
	if d.err == nil && d.off != len(d.b) {
		d.fail(d.off, "group", fmt.Errorf("%w: %d", ErrTrailing, len(d.b)-d.off))
	}
	return g
}

func (d *decoder) record() Record {
	at := d.off
	k := d.octet("record kind")
	switch k {
	case kindCommit:
		return d.commit(false)
	case kindPatch:
		if d.version < patchVersion {
			break
		}
		c := d.commit(true)
		if d.err == nil && c.kind() != kindPatch {
			d.fail(at, "record kind", ErrForm)
		}
		return c
	case kindSession:
		return &Session{ID: d.session("session id")}
	case kindSessionEnd:
		return &SessionEnd{ID: d.session("session end id")}
	case kindLease:
		return &Lease{
			Session: d.session("lease session"),
			First:   occ.BlockID(d.varint("lease first")),
			Count:   d.varint("lease count"),
		}
	case kindTrim:
		return &Trim{Session: d.session("trim session"), UpTo: d.varint("trim upto")}
	case kindHorizon:
		return &Horizon{At: occ.Timestamp(d.varint("horizon timestamp"))}
	case kindEpoch:
		return &Epoch{Epoch: d.varint("epoch")}
	case kindPin:
		if d.version < pinVersion {
			break
		}
		return &Pin{At: occ.Timestamp(d.varint("pin timestamp")), Lease: d.lease(), Name: d.name()}
	case kindUnpin:
		if d.version < pinVersion {
			break
		}
		return &Unpin{Name: d.name()}
	}
	d.fail(at, "record kind", fmt.Errorf("%w %d", ErrKind, k))
	return nil
}

func (d *decoder) commit(forms bool) *Commit {
	c := &Commit{
		At:      occ.Timestamp(d.varint("commit timestamp")),
		Session: d.session("commit session"),
		Seq:     d.varint("commit seq"),
		Acked:   d.varint("commit acked"),
	}
	if p := d.bytes("commit digest", digestLen); p != nil {
		c.Digest = binary.LittleEndian.Uint32(p)
	}
	n := d.count("write count", minWriteLen)
	if n > 0 {
		c.Writes = make([]occ.Write, 0, min(n, preallocate))
	}
	for i := 0; i < n && d.err == nil; i++ {
		c.Writes = append(c.Writes, d.write(forms))
	}
	return c
}

func (d *decoder) lease() time.Duration {
	at := d.off
	v := d.varint("pin lease")
	if v > math.MaxInt64 {
		d.fail(at, "pin lease", ErrNumber)
		return 0
	}
	return time.Duration(v)
}

func (d *decoder) name() string {
	at := d.off
	n := d.varint("pin name")
	if d.err == nil && (n == 0 || n > MaxName) {
		d.fail(at, "pin name", ErrName)
		return ""
	}
	return string(d.bytes("pin name", int(n)))
}

func (d *decoder) session(field string) (id occ.SessionID) {
	copy(id[:], d.bytes(field, sessionLen))
	return id
}

func (d *decoder) octet(field string) byte {
	if p := d.bytes(field, 1); p != nil {
		return p[0]
	}
	return 0
}

// bytes returns the next n bytes, capped so that an append cannot reach what
// follows them; nil after a failure.
func (d *decoder) bytes(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if len(d.b)-d.off < n {
		d.fail(d.off, field, ErrTruncated)
		return nil
	}
	p := d.b[d.off : d.off+n : d.off+n]
	d.off += n
	return p
}

func (d *decoder) varint(field string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.off:])
	switch {
	case n == 0:
		d.fail(d.off, field, ErrTruncated)
		return 0
	case n < 0 || n != varintLen(v):
		d.fail(d.off, field, ErrVarint)
		return 0
	}
	d.off += n
	return v
}

// count returns a number of elements, each of which takes at least size
// bytes of what is left.
func (d *decoder) count(field string, size int) int {
	at := d.off
	return d.fits(at, field, d.varint(field), size)
}

// fits returns n, which stood at byte at, if so many elements of at least size
// bytes each fit what is left.
func (d *decoder) fits(at int, field string, n uint64, size int) int {
	if d.err == nil && n > uint64((len(d.b)-d.off)/size) {
		d.fail(at, field, fmt.Errorf("%w: %d in %d bytes", ErrTruncated, n, len(d.b)-d.off))
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}
