package nfs

// ring is a queue whose items are found by their place in the sequence of all
// items ever added. Items live in [first, next).
type ring[T any] struct {
	items       []T // a power of two, or none
	first, next uint64
}

func (r *ring[T]) len() int { return int(r.next - r.first) }

// at returns the item at a place between first and next. It is valid until the
// next add.
func (r *ring[T]) at(place uint64) *T { return &r.items[place&uint64(len(r.items)-1)] }

// add returns the new last item. It holds what an item that has left held, so
// that memory can be used again, or the zero value.
func (r *ring[T]) add() *T {
	if r.len() == len(r.items) {
		old := *r
		r.items = make([]T, max(64, 2*len(old.items)))
		for i := old.first; i < old.next; i++ {
			*r.at(i) = *old.at(i)
		}
	}
	r.next++
	return r.at(r.next - 1)
}
