package pcap

import (
	"bufio"
	"errors"
	"io"
)

const (
	// MaxPacket is how many bytes of a packet may have been kept. Larger than
	// what capture programs keep unless told otherwise (256 KiB), and than
	// what segmentation in the network card makes.
	MaxPacket = 1 << 20
	// MaxInterfaces is how many interfaces a section of a pcapng file may
	// describe.
	MaxInterfaces = 4096

	bufferSize     = MaxPacket + 64
	window         = 64 << 10 // what is looked at to find the next packet
	plausibleNeeds = 32       // bytes that tell whether a packet begins
)

// ErrFormat is a file that does not begin like a capture.
var ErrFormat = errors.New("not a packet capture")

// Packet is what was kept of a packet.
type Packet struct {
	Time int64  // microseconds since 1970
	Link uint32 // link type, one of the LINKTYPE numbers
	Data []byte // the bytes kept, valid until the next packet is read
	Wire int    // length on the wire, at least len(Data)
}

// Counts are what a Reader met so far.
type Counts struct {
	Packets int64
	Cut     int64 // packets of which only the beginning was kept
	// Damaged are the places where something could not be, and Passed how
	// many bytes were passed over there.
	Damaged, Passed int64
	// Truncated says that the file ends within a packet or block.
	Truncated bool
	// Timeless are packets whose time is unknown or impossible; they have
	// that of the packet before.
	Timeless int64
	// Unknown are packets of interfaces that the file does not describe.
	Unknown int64
}

// Reader reads the packets of a file. It is not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	format format
	counts Counts
	used   int   // bytes to discard before the next packet
	time   int64 // of the last packet
}

// format is one of the two.
type format interface {
	// next returns the next packet, and false for what is none.
	next(r *Reader) (Packet, bool, error)
	name() string
}

// Recognize tells by its first bytes whether a file is a capture.
func Recognize(head []byte) bool { return isClassic(head) || isBlocks(head) }

// NewReader begins to read a file. The error is ErrFormat or that of r.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	head, err := in.Peek(classicHeader)
	if err != nil && err != io.EOF {
		return nil, err
	}
	p := &Reader{in: in}
	switch {
	case isClassic(head):
		p.format = newClassic(head)
		p.used = classicHeader
	case isBlocks(head):
		p.format = &blocks{}
	default:
		return nil, ErrFormat
	}
	return p, nil
}

// Format names the format of the file, pcap or pcapng.
func (r *Reader) Format() string { return r.format.name() }

// Counts returns what was counted so far.
func (r *Reader) Counts() Counts { return r.counts }

// Next returns the next packet, and io.EOF after the last. Any other error is
// that of the file.
func (r *Reader) Next() (Packet, error) {
	for {
		if err := r.discard(r.used); err != nil {
			return Packet{}, err
		}
		p, ok, err := r.format.next(r)
		switch {
		case err != nil:
			return Packet{}, err
		case ok:
			r.counts.Packets++
			if p.Wire > len(p.Data) {
				r.counts.Cut++
			}
			r.time = p.Time
			return p, nil
		}
	}
}

// peek returns the next n bytes, at most bufferSize, without using them.
// There are fewer only if the file ends.
func (r *Reader) peek(n int) ([]byte, error) {
	b, err := r.in.Peek(n)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// discard uses n bytes, or fewer if the file ends within them.
func (r *Reader) discard(n int) error {
	r.used = 0
	if n == 0 {
		return nil
	}
	_, err := r.in.Discard(n)
	if err == io.EOF {
		r.counts.Truncated = true
		err = nil
	}
	return err
}

// end ends the file, of which the last bytes, if any, are no whole item.
func (r *Reader) end(rest []byte) error {
	if len(rest) > 0 {
		r.counts.Truncated = true
		r.counts.Passed += int64(len(rest))
		if err := r.discard(len(rest)); err != nil {
			return err
		}
	}
	return io.EOF
}

// resync passes over one place that cannot be: bytes, at least one, until
// plausible accepts what follows. Each step looks at window bytes and uses
// all but the last few, so that the effort is linear in the file.
func (r *Reader) resync(plausible func([]byte) bool) error {
	r.counts.Damaged++
	for skip := 1; ; skip = 0 {
		b, err := r.peek(window)
		if err != nil {
			return err
		}
		for ; skip < len(b)-plausibleNeeds; skip++ {
			if plausible(b[skip:]) {
				break
			}
		}
		found := skip < len(b)-plausibleNeeds
		if !found && len(b) < window {
			skip = len(b)
		}
		r.counts.Passed += int64(skip)
		if err := r.discard(skip); err != nil || found {
			return err
		}
		if len(b) < window {
			return io.EOF
		}
	}
}
