package nfs

import "iter"

// MaxHosts is how many clients get a number of their own.
const MaxHosts = 1 << 16

// Hosts numbers clients from 1 in the order of their first use. The zero Hosts
// is ready for use.
type Hosts struct {
	numbers map[Addr]uint32
	addrs   []Addr // of number 1 first
	beyond  int64
}

// Number returns the number of a client. Clients beyond MaxHosts all get
// MaxHosts+1.
func (h *Hosts) Number(a Addr) uint32 {
	if n, ok := h.numbers[a]; ok {
		return n
	}
	if len(h.addrs) == MaxHosts {
		h.beyond++
		return MaxHosts + 1
	}
	if h.numbers == nil {
		h.numbers = make(map[Addr]uint32)
	}
	h.addrs = append(h.addrs, a)
	h.numbers[a] = uint32(len(h.addrs))
	return uint32(len(h.addrs))
}

// Has reports whether a client has a number of its own.
func (h *Hosts) Has(a Addr) bool {
	_, ok := h.numbers[a]
	return ok
}

// Len returns how many clients have a number of their own.
func (h *Hosts) Len() int { return len(h.addrs) }

// Beyond returns how often a client was asked for that has no number of its
// own because there were MaxHosts others before it.
func (h *Hosts) Beyond() int64 { return h.beyond }

// All ranges over the numbers given, from 1, with their clients.
func (h *Hosts) All() iter.Seq2[uint32, Addr] {
	return func(yield func(uint32, Addr) bool) {
		for i, a := range h.addrs {
			if !yield(uint32(i+1), a) {
				return
			}
		}
	}
}
