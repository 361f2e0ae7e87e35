// Package filter picks operations out of a trace: those of a time, of some
// hosts, the first so many, or of a sample of hosts or files that is the same
// each time. It is pure and passes on what it picks unchanged and in the order
// in which it comes.
package filter

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tidemark/tidemark/traces"
)

// Options say what to pick: what meets all of them. The zero value picks
// nothing; see All.
type Options struct {
	// From and To are the times from which on and before which operations
	// are picked, if set.
	From, To *Moment
	// Hosts are those whose operations are picked, all if there is none.
	Hosts []uint32
	// First is how many operations are picked at most, 0 for no limit.
	First int64
	// HostShare and FileShare are the parts of the hosts and of the files,
	// from 0 to 1, that are picked with all their operations. Which ones is
	// a function of Seed and of the host or file, so a larger share picks
	// them, too, and other traces of the same hosts and files are cut alike.
	HostShare, FileShare float64
	Seed                 uint64
}

// All returns the Options that pick everything.
func All() Options { return Options{HostShare: 1, FileShare: 1} }

// Check reports shares that are none and a negative First.
func (o *Options) Check() error {
	switch {
	case !(o.HostShare >= 0 && o.HostShare <= 1):
		return fmt.Errorf("the share of hosts must be from 0 to 1, not %v", o.HostShare)
	case !(o.FileShare >= 0 && o.FileShare <= 1):
		return fmt.Errorf("the share of files must be from 0 to 1, not %v", o.FileShare)
	case o.First < 0:
		return fmt.Errorf("the number of operations must not be negative, but is %d", o.First)
	}
	return nil
}

// Stream is what is picked of a stream.
type Stream struct {
	src      traces.Stream
	opt      Options
	hosts    map[uint32]bool
	from, to int64 // microseconds since 1970
	begun    bool
	left     int64
}

// New returns what the options pick of src.
func New(src traces.Stream, opt Options) *Stream {
	s := &Stream{src: src, opt: opt, left: opt.First}
	if len(opt.Hosts) > 0 {
		s.hosts = make(map[uint32]bool)
		for _, h := range opt.Hosts {
			s.hosts[h] = true
		}
	}
	return s
}

// Next returns the next operation that is picked. After the last of First the
// stream ends at once, and the rest of the source is not read.
func (s *Stream) Next() (traces.Op, error) {
	if s.opt.First > 0 && s.left == 0 {
		return traces.Op{}, io.EOF
	}
	for {
		op, err := s.src.Next()
		if err != nil {
			return op, err
		}
		if !s.begun {
			s.begun = true
			s.from, s.to = s.opt.From.or(0, op.Time), s.opt.To.or(traces.MaxTime+1, op.Time)
		}
		if s.picks(&op) {
			s.left--
			return op, nil
		}
	}
}

func (s *Stream) picks(op *traces.Op) bool {
	return op.Time >= s.from && op.Time < s.to &&
		(s.hosts == nil || s.hosts[op.Host]) &&
		s.sampled('h', uint64(op.Host), s.opt.HostShare) &&
		s.sampled('f', uint64(op.FID), s.opt.FileShare)
}

// sampled tells by a hash whether something belongs to a share of its kind.
func (s *Stream) sampled(kind byte, id uint64, share float64) bool {
	if share == 1 {
		return true
	}
	b := binary.BigEndian.AppendUint64([]byte{kind}, s.opt.Seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, id))
	return float64(binary.BigEndian.Uint64(sum[:])>>11)/(1<<53) < share
}
