package occ

// Range is a part of a block: Data is its content from byte Off on.
type Range struct {
	Off  uint32
	Data []byte
}

// End is the offset behind the last byte of the range.
func (r Range) End() int { return int(r.Off) + len(r.Data) }

// InOrder reports whether ranges have the form that a Write must have: none
// is empty, each begins behind the one before, and no two touch, as they
// would be one.
func InOrder(ranges []Range) bool {
	end := -1
	for _, r := range ranges {
		if len(r.Data) == 0 || int(r.Off) <= end {
			return false
		}
		end = r.End()
	}
	return true
}

// Patch returns a new block: base, overwritten by ranges, which are InOrder.
// Where base is shorter than what they cover it counts as zeros. The result
// shares no memory with either, and has no zeros at its end.
func Patch(base []byte, ranges []Range) []byte {
	size := len(base)
	if n := len(ranges); n > 0 {
		size = max(size, ranges[n-1].End())
	}
	block := make([]byte, size)
	copy(block, base)
	for _, r := range ranges {
		copy(block[r.Off:], r.Data)
	}
	for size > 0 && block[size-1] == 0 {
		size--
	}
	return block[:size:size]
}
