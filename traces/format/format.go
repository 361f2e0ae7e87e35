// Package format opens traces in every format that can be read, and tells the
// format by the content of the file, whatever its name. Compressed files are
// unpacked first.
package format

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/binary"
	"github.com/tidemark/tidemark/traces/capture"
	"github.com/tidemark/tidemark/traces/nfsdump"
)

// headLen is how many bytes of a file a format is told by.
const headLen = 4096

// format is a format that can be read.
type format struct {
	name      string // as the list of them calls it
	recognize func(head []byte) bool
	open      traces.Opener
}

// formats are tried in this order. A file that none of them recognises is
// taken for text.
var formats = []format{
	{"Tidemark's binary form", binary.Recognize, opener(binary.NewReader)},
	{"packet captures (pcap, pcapng)", capture.Recognize, opener(capture.NewReader)},
	{"nfsdump text", nfsdump.Recognize, opener(nfsdump.NewReader)},
}

// opener makes an Opener of the function that returns a format's reader.
func opener[R traces.Input](newReader func(io.Reader, string, traces.Options) (R, error)) traces.Opener {
	return func(r io.Reader, name string, opt traces.Options) (traces.Input, error) {
		in, err := newReader(r, name, opt)
		if err != nil {
			return nil, err
		}
		return in, nil
	}
}

// Supported lists the formats in words, for people.
func Supported() string {
	names := []string{"Auspex text"}
	for _, f := range formats {
		names = append(names, f.name)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// NewSource returns the trace at a path, or on stdin if the path is "-"; see
// traces.NewSource.
func NewSource(path string, stdin io.Reader, opt traces.Options) (traces.Source, error) {
	return traces.NewSource(path, stdin, opt, Open)
}

// Open is the traces.Opener of all formats. A file in none of them is a
// *traces.StreamError with traces.ErrFormat, whose detail says what is wrong
// with it as text and names the formats.
func Open(r io.Reader, name string, opt traces.Options) (traces.Input, error) {
	whole := bufio.NewReaderSize(r, headLen)
	head, err := whole.Peek(headLen)
	readable := err == nil || errors.Is(err, io.EOF)
	for _, f := range formats {
		if f.recognize(head) {
			return f.open(whole, name, opt)
		}
	}
	// What failed to be read is told by the reader, after what comes before.
	if fault := textFault(head, opt.SkipUnknown); readable && fault != "" {
		return nil, &traces.StreamError{File: name, Err: traces.ErrFormat, Detail: fault + "; it can be " + Supported()}
	}
	return traces.Text(whole, name, opt)
}

// textFault says why a file that begins with head is no text of operations, ""
// if it may be. Only the first line that is not empty counts, and only if all
// of it is there: what follows it is a fault in a trace.
func textFault(head []byte, skipUnknown bool) string {
	if bytes.IndexByte(head, 0) >= 0 {
		return "it is no text"
	}
	line, _, whole := bytes.Cut(bytes.TrimLeft(head, "\r\n\t "), []byte("\n"))
	if skipUnknown || len(line) == 0 || !whole && len(head) == headLen {
		return ""
	}
	if _, err := traces.ParseAuspex(line); err != nil {
		return "as text, its first line is no operation: " + err.Error()
	}
	return ""
}
