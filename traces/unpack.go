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

// sniffLen is how many bytes of a file are looked at to tell its format.
const sniffLen = 6

// foreign are formats that are recognised only to be refused by name.
var foreign = []struct{ magic, name string }{
	{"\xfd7zXZ\x00", "xz"},
	{"PK\x03\x04", "zip"},
	{"7z\xbc\xaf", "7z"},
	{"\x04\x22\x4d\x18", "lz4"},
	{"\x1f\x9d", "compress"},
	{"\xd4\xc3\xb2\xa1", "pcap"},
	{"\xa1\xb2\xc3\xd4", "pcap"},
	{"\x0a\x0d\x0d\x0a", "pcapng"},
}

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

// unpacker is the text of a trace whatever its compression.
type unpacker struct {
	from   *origin
	text   io.Reader
	format string // "" for plain text
	free   func()
}

// unpack tells the compression by content. Concatenated gzip, bzip2 and zstd
// files are read as one.
func unpack(r io.Reader) (*unpacker, error) {
	u := &unpacker{from: &origin{r: r}, free: func() {}}
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(u.from, head)
	if u.from.err != nil {
		return u, u.from.err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), u.from)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		whole = bytes.NewReader(head)
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			u.format = f.name
			return u, ErrFormat
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		u.format = "gzip"
		z, err := gzip.NewReader(whole)
		if err != nil {
			return u, u.explain(err)
		}
		u.text = z
	case len(head) >= 4 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9':
		u.format = "bzip2"
		u.text = bzip2.NewReader(whole)
	case isZstd(head):
		u.format = "zstd"
		z, err := zstd.NewReader(whole,
			zstd.WithDecoderConcurrency(1), // no goroutines
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return u, u.explain(err)
		}
		u.text, u.free = z, z.Close
	default:
		u.text = whole
	}
	return u, nil
}

// isZstd recognises a zstd frame and a skippable frame (RFC 8878, sections
// 3.1.1 and 3.1.2).
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// explain turns an error of reading the text into one of this package.
func (u *unpacker) explain(err error) error {
	switch {
	case u.from.err != nil:
		return u.from.err
	case u.format == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return ErrWindow
	}
	return ErrCorrupt
}
