package occ

// generationShift separates the two halves of an epoch: the upper one counts
// how often the store began anew from an older state of itself, a backup or
// what was salvaged, the lower one servers. What a store began anew with is in a
// checkpoint, and not in its log.
const generationShift = 32

// Generation is the upper half of an epoch, 0 for a store that has never begun
// anew. Clients notice by it that what they know may never have happened:
// timestamps of different generations of a store do not compare.
func Generation(epoch uint64) uint32 { return uint32(epoch >> generationShift) }

// NextGeneration returns the epoch with which a store begins anew that was last
// under epoch. chance, any number, keeps two beginnings from the same state
// apart. ok is false if there is no such epoch any more.
func NextGeneration(epoch uint64, chance uint16) (next uint64, ok bool) {
	next = (uint64(Generation(epoch)) + 1 + uint64(chance)) << generationShift
	return next, next > epoch
}
