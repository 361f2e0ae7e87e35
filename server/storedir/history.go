package storedir

// historyShift separates the two halves of an epoch.
const historyShift = 32

// NextHistory returns the epoch with which a store begins anew from an older
// state of itself, as it was last under epoch. The upper half of an epoch
// counts such beginnings, by which clients notice that what they know may
// never have happened; the lower half counts servers. chance, any number,
// keeps two beginnings from the same state apart. ok is false if there is no
// such epoch any more.
func NextHistory(epoch uint64, chance uint16) (next uint64, ok bool) {
	next = (epoch>>historyShift + 1 + uint64(chance)) << historyShift
	return next, next > epoch
}

// Anew reports whether under this epoch a store has begun anew from an older
// state of itself: that is in a checkpoint, and not in the log.
func Anew(epoch uint64) bool { return epoch>>historyShift > 0 }
