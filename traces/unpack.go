package traces

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest zstd window accepted, which bounds the memory of
// unpacking. It is also the largest that the zstd program unpacks unasked.
const maxWindow = 128 << 20

// sniffLen is how many bytes of a file are looked at to tell its compression.
const sniffLen = 6

// foreign are compressions that are recognised only to be refused by name.
var foreign = []struct{ magic, name string }{
	{"\xfd7zXZ\x00", "xz"},
	{"PK\x03\x04", "zip"},
	{"7z\xbc\xaf", "7z"},
	{"\x04\x22\x4d\x18", "lz4"},
	{"\x1f\x9d", "compress"},
}

// packedError is what is wrong with compressed data.
type packedError struct {
	compression string
	err         error // one of this package's
}

func (e *packedError) Error() string { return e.err.Error() + " (" + e.compression + ")" }
func (e *packedError) Unwrap() error { return e.err }

// origin is the file under a decompressor. It remembers the error of reading
// it, so that a failing disk is not taken for damaged data.
type origin struct {
	r   io.Reader
	err error
}

func (o *origin) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && err != io.EOF {
		o.err = err
	}
	return n, err
}

// Unpacked is what a file holds, whatever its compression. Errors of Read are
// ErrTruncated, ErrCorrupt and ErrWindow, which name the compression, and
// those of reading the file.
type Unpacked struct {
	from        *origin
	bytes       io.Reader
	compression string
	free        func()
	err         error // of Read, final: a decompressor may call it something else the next time
}

// Unpack tells by content whether r is compressed with gzip, bzip2 or zstd.
// Concatenated files of one of these are read as one. The result reads ahead
// and must be closed, which does not close r. Memory is constant: at most
// 4 MiB for bzip2 and about 128 MiB for zstd.
func Unpack(r io.Reader) (*Unpacked, error) {
	u := &Unpacked{from: &origin{r: r}, free: func() {}}
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(u.from, head)
	if u.from.err != nil {
		return nil, u.from.err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), u.from)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		whole = bytes.NewReader(head)
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return nil, &packedError{f.name, ErrFormat}
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		u.compression = "gzip"
		z, err := gzip.NewReader(whole)
		if err != nil {
			return nil, u.explain(err)
		}
		u.bytes = z
	case len(head) >= 4 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9':
		u.compression = "bzip2"
		u.bytes = bzip2.NewReader(whole)
	case isZstd(head):
		u.compression = "zstd"
		z, err := zstd.NewReader(whole,
			zstd.WithDecoderConcurrency(1), // no goroutines
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, u.explain(err)
		}
		u.bytes, u.free = z, z.Close
	default:
		u.bytes = whole
	}
	return u, nil
}

// isZstd recognises a zstd frame and a skippable frame (RFC 8878, sections
// 3.1.1 and 3.1.2).
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// Compression names the compression, "" if there is none.
func (u *Unpacked) Compression() string { return u.compression }

// Read reads what the file holds.
func (u *Unpacked) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.bytes.Read(p)
	if err != nil && err != io.EOF {
		err = u.explain(err)
	}
	u.err = err
	return n, err
}

// Close frees the memory. Nothing can be read afterwards.
func (u *Unpacked) Close() error {
	u.free()
	u.free, u.err = func() {}, ErrClosed
	return nil
}

// explain turns an error of the decompressor into one of this package.
func (u *Unpacked) explain(err error) error {
	switch {
	case u.from.err != nil:
		return u.from.err
	case u.compression == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = ErrWindow
	default:
		err = ErrCorrupt
	}
	return &packedError{u.compression, err}
}
