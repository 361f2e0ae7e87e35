package occ

// Walk calls yield for the blocks from first on that have a version besides
// version 0, in ascending order, with the start of the current one, until it
// returns false. It looks at about limit blocks. If there may be more, it
// returns the block from which on to continue: the one that yield refused, or
// the next one to look at.
func (v *Versions) Walk(first BlockID, limit int, yield func(b BlockID, current Timestamp) bool) (next BlockID, more bool) {
	left := max(1, limit/pageBlocks)
	v.pages.order.AscendGreaterOrEqual(first/pageBlocks, func(number BlockID) bool {
		if left == 0 {
			next, more = max(first, number*pageBlocks), true
			return false
		}
		left--
		pg := v.pages.byNumber[number]
		for i, from := range pg.from {
			b := number*pageBlocks + BlockID(i)
			if from > 0 && b >= first && !yield(b, from) {
				next, more = b, true
				return false
			}
		}
		return true
	})
	return next, more
}
