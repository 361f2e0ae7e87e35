package capture

import (
	"errors"
	"io"
	"net/netip"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/packet"
	"github.com/tidemark/tidemark/traces/capture/pcap"
	"github.com/tidemark/tidemark/traces/capture/rpc"
	"github.com/tidemark/tidemark/traces/capture/tcp"
	"github.com/tidemark/tidemark/traces/nfs"
)

// ErrNoNFS is a capture in which no NFS call was found. The StreamError that
// it comes in tells what was.
var ErrNoNFS = errors.New("no NFS calls")

// Recognize tells by its first bytes whether a file is a capture.
func Recognize(head []byte) bool { return pcap.Recognize(head) }

// Reader reads a capture. It is a traces.Reporter. It is not safe for
// concurrent use.
type Reader struct {
	name    string
	file    *pcap.Reader
	packets *packet.Decoder
	flows   *tcp.Table
	streams rpc.Shared
	ports   ports
	time    int64 // of the last packet
	talk

	queue  []traces.Op // operations not yet returned are from taken on
	taken  int
	ops    int64
	failed error // final
}

var (
	_ traces.Reporter  = (*Reader)(nil)
	_ traces.Formatted = (*Reader)(nil)
)

// NewReader begins to read a capture, which must not be compressed. The name
// stands in error messages; of the options, none matters. A file that does
// not begin like a capture is a *traces.StreamError with pcap.ErrFormat.
func NewReader(r io.Reader, name string, _ traces.Options) (*Reader, error) {
	file, err := pcap.NewReader(r)
	if err != nil {
		return nil, &traces.StreamError{File: name, Err: err}
	}
	c := &Reader{name: name, file: file, packets: packet.NewDecoder(), ports: newPorts(), talk: newTalk()}
	c.flows = tcp.NewTable(func(src, dst netip.AddrPort) tcp.Sink {
		from, to := nfs.EndOf(src), nfs.EndOf(dst)
		return rpc.NewStream(&c.streams, func(m rpc.Message) { c.message(m, from, to, true) })
	})
	return c, nil
}

// Format names the format of the file, pcap or pcapng.
func (r *Reader) Format() string { return r.file.Format() }

// Next returns the next operation, and io.EOF after the last. The Line of an
// operation is its number in the capture, from 1. Every failure
// is a *traces.StreamError: of the file, or ErrNoNFS or traces.ErrEmpty at
// the end of a capture that gave no operation.
func (r *Reader) Next() (traces.Op, error) {
	for r.taken == len(r.queue) {
		if r.failed != nil {
			return traces.Op{}, r.failed
		}
		r.queue, r.taken = r.queue[:0], 0
		r.step()
	}
	op := r.queue[r.taken]
	r.taken++
	r.ops++
	op.Line = r.ops
	return op, nil
}

// step takes a packet, or the end.
func (r *Reader) step() {
	p, err := r.file.Next()
	if err != nil {
		r.finish(err)
		return
	}
	r.time = p.Time
	if t, ok := r.packets.Decode(p); ok {
		r.ports.count(&t)
		switch {
		case t.TCP:
			r.flows.Add(t)
		case rpc.Likely(t.Payload, t.Length):
			m := rpc.Message{Time: t.Time, Head: t.Payload, Size: t.Length}
			r.message(m, nfs.EndOf(t.Src), nfs.EndOf(t.Dst), false)
		}
	}
	r.drain()
}

// finish takes the end of the file, or what prevents going on.
func (r *Reader) finish(err error) {
	r.flows.Flush(r.time)
	r.end()
	r.drain()
	switch {
	case err != io.EOF:
		r.failed = &traces.StreamError{File: r.name, Err: err}
	case r.ops == 0 && len(r.queue) == 0:
		r.failed = r.nothing()
	default:
		r.failed = io.EOF
	}
}

// drain makes operations of the calls that are complete.
func (r *Reader) drain() { r.queue = r.talk.drain(r.queue) }

// Skipped returns 0 and nil: a capture has no lines.
func (r *Reader) Skipped() (int64, *traces.LineError) { return 0, nil }

// Close frees the reader. Later calls of Next fail.
func (r *Reader) Close() error {
	if r.failed == nil {
		r.failed = &traces.StreamError{File: r.name, Err: traces.ErrClosed}
	}
	r.queue, r.taken = nil, 0
	return nil
}
