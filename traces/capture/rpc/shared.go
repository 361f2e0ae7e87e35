package rpc

const (
	// MaxHead is how many of the first bytes of a message are kept while it
	// is incomplete. Names and handles of a COMPOUND fit many times.
	MaxHead = 8 << 10
	// MaxTail is how many of its last bytes are kept, for what follows the
	// data of a WRITE or of a READ.
	MaxTail = 2 << 10
	// MaxIncomplete is how many messages may be incomplete.
	MaxIncomplete = 1024
)

// store is what is kept of an incomplete message.
type store struct{ head, tail []byte }

// Shared is what Streams have in common: the memory for incomplete messages,
// and the counts. The zero value is ready for use.
type Shared struct {
	unused []*store
	taken  int
	counts StreamCounts
}

// Counts returns what was counted so far.
func (s *Shared) Counts() StreamCounts { return s.counts }

// take returns an empty store, nil if there are too many.
func (s *Shared) take() *store {
	if s.taken == MaxIncomplete {
		return nil
	}
	s.taken++
	if n := len(s.unused); n > 0 {
		k := s.unused[n-1]
		s.unused = s.unused[:n-1]
		k.head, k.tail = k.head[:0], k.tail[:0]
		return k
	}
	return &store{make([]byte, 0, MaxHead), make([]byte, 0, MaxTail)}
}

func (s *Shared) free(k *store) {
	if k != nil {
		s.taken--
		s.unused = append(s.unused, k)
	}
}
