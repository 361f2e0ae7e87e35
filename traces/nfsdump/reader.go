package nfsdump

import (
	"bytes"
	"io"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/nfs"
)

// sniffed is how much of a file must hold a message for it to be nfsdump text.
const sniffed = 64 << 10

// Reader reads the operations that nfsdump text tells of, in the order of the
// calls. It is a traces.Reporter and not safe for concurrent use.
//
// Memory is bounded: MaxLine, and the bounds of package nfs.
type Reader struct {
	name    string
	lines   lines
	skipped int64
	first   *traces.LineError // the first line skipped
	counts  counts

	tally      nfs.Tally
	matcher    *nfs.Matcher[record]
	translator *nfs.Translator
	ops        []traces.Op // not delivered yet
	given      int         // of them
	total      int64
	err        error // final
}

// NewReader reads uncompressed nfsdump text from r, which it does not close.
// The name stands in error messages. If there is no message in the first 64 KiB
// it returns a *traces.StreamError that is traces.ErrFormat, or ErrEmpty if
// there is no byte at all. Lines that are no messages are skipped and counted
// whatever the options say, since published traces hold some.
func NewReader(r io.Reader, name string, _ traces.Options) (*Reader, error) {
	d := &Reader{
		name:       name,
		lines:      lines{r: r, buf: make([]byte, bufferSize)},
		matcher:    nfs.NewMatcher[record](),
		translator: nfs.NewTranslator(),
	}
	for d.lines.tail < sniffed && d.lines.err == nil {
		d.lines.fill()
	}
	head := d.lines.buf[:min(d.lines.tail, sniffed)]
	switch {
	case d.lines.err != nil && d.lines.err != io.EOF:
		return nil, d.failure(d.lines.err, "")
	case len(head) == 0:
		return nil, d.failure(traces.ErrEmpty, "")
	case !Recognize(head):
		return nil, d.failure(traces.ErrFormat, "no line of nfsdump text in the first 64 KiB")
	}
	return d, nil
}

// Recognize reports whether a line of nfsdump text is in the first bytes of a
// file.
func Recognize(head []byte) bool {
	for len(head) > 0 {
		text, rest, _ := bytes.Cut(head, []byte{'\n'})
		if parseHeader(&words{text}, &header{}) == "" {
			return true
		}
		head = rest
	}
	return false
}

// Format names the format.
func (d *Reader) Format() string { return "nfsdump text" }

// Next returns the next operation, and io.EOF after the last. A trace that has
// none ends with a *traces.StreamError that is traces.ErrEmpty.
func (d *Reader) Next() (traces.Op, error) {
	for d.given == len(d.ops) {
		if d.err != nil {
			return traces.Op{}, d.err
		}
		d.ops, d.given = d.ops[:0], 0
		d.step()
	}
	d.given++
	d.total++
	return d.ops[d.given-1], nil
}

// step reads a line, or ends the reading.
func (d *Reader) step() {
	switch l, err := d.lines.next(); {
	case err == nil:
		d.read(l)
		d.deliver()
	case err == io.EOF:
		d.matcher.End()
		d.deliver()
		d.err = io.EOF
		if d.total == 0 && len(d.ops) == 0 {
			d.err = d.failure(traces.ErrEmpty, "no NFS call in it makes one")
		}
	default:
		d.matcher.End()
		d.deliver()
		d.err = d.failure(err, "")
	}
}

func (d *Reader) failure(err error, detail string) error {
	return &traces.StreamError{File: d.name, Line: d.lines.count, Err: err, Detail: detail}
}

// read takes a line in.
func (d *Reader) read(l line) {
	if l.text == nil {
		if l.zeros {
			d.skip("line holds zero bytes")
		} else {
			d.skip("line is over 262,144 bytes")
		}
		return
	}
	if len(bytes.TrimSpace(l.text)) == 0 {
		return
	}
	var h header
	w := words{l.text}
	switch fault := parseHeader(&w, &h); {
	case bytes.IndexByte(l.text, 0) >= 0:
		d.skip("line holds zero bytes")
	case fault != "":
		d.skip(fault)
	case l.cutOff && !whole(l.text):
		d.skip("line is cut off")
	default:
		d.message(&h, w.rest, len(l.text))
	}
}

func (d *Reader) skip(reason string) {
	d.skipped++
	if d.first == nil {
		d.first = &traces.LineError{File: d.name, Line: d.lines.count, Reason: reason}
	}
}

// message takes a call or a reply in.
func (d *Reader) message(h *header, rest []byte, length int) {
	fields, what := trim(rest)
	key := nfs.Key{Client: h.Client, Server: h.Server, XID: h.xid}
	if h.longTime {
		d.counts.longTimes++
	}
	if h.reply {
		what |= d.reply(h, key, words{fields}, what&shortPacket != 0)
	} else {
		what |= d.call(h, key, fields, length, what&shortPacket != 0)
	}
	d.counts.add(what)
}

func (d *Reader) call(h *header, key nfs.Key, fields []byte, length int, short bool) odd {
	host := d.tally.Call(&h.Message, h.procedure)
	r := d.matcher.Call(key, h.Time, length)
	if r == nil {
		return 0
	}
	r.reset(length)
	r.version, r.procedure, r.line = h.Version, h.procedure, d.lines.count
	r.x.Time, r.x.Host = h.Time, host
	if short {
		return 0
	}
	r.x.Proc = nfs.ProcOf(h.Version, h.procedure)
	return r.take(fields)
}

func (d *Reader) reply(h *header, key nfs.Key, fields words, short bool) odd {
	d.tally.Reply(&h.Message)
	status, known := parseStatus(&fields)
	if known {
		d.tally.Status(status)
	}
	r, outcome := d.matcher.Reply(key, h.Time, 0)
	switch {
	case outcome != nfs.Matched:
		return 0
	case r.version != h.Version || r.procedure != h.procedure:
		return otherProcedure
	}
	r.x.Answered, r.x.Status = known, status
	if !known || status != 0 || short {
		return 0
	}
	return r.answer(fields)
}

// deliver makes operations of the calls that have a reply or need not wait.
func (d *Reader) deliver() {
	for r, _ := d.matcher.Next(); r != nil; r, _ = d.matcher.Next() {
		from := len(d.ops)
		d.ops = d.translator.Translate(&r.x, d.ops)
		for i := from; i < len(d.ops); i++ {
			d.ops[i].Line = r.line
		}
	}
}

// Skipped returns how many lines so far are no messages, and the first of them.
func (d *Reader) Skipped() (int64, *traces.LineError) { return d.skipped, d.first }

// Lines returns how many lines were read so far.
func (d *Reader) Lines() int64 { return d.lines.count }

// Hosts returns the clients by their number. It is complete at the end.
func (d *Reader) Hosts() *nfs.Hosts { return &d.tally.Hosts }

// Span returns the times of the earliest and of the latest message so far.
func (d *Reader) Span() (first, last int64) { return d.tally.Span() }

// Close ends the reading: later calls of Next fail. A second Close does
// nothing.
func (d *Reader) Close() error {
	if d.err == nil {
		d.err = d.failure(traces.ErrClosed, "")
	}
	d.ops, d.given = nil, 0
	d.lines.buf, d.lines.head, d.lines.tail = nil, 0, 0
	return nil
}
