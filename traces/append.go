package traces

import "strconv"

// AppendAuspex appends the operation to dst as one line of the Auspex format,
// without a newline, and returns the extended slice. What passes Op.Check
// parses back to the same operation, but for its line number, if it has one of
// the format's six types and no place; see ToAuspex for what has not.
func AppendAuspex(dst []byte, op Op) []byte {
	dst = appendTime(dst, op.Time)
	dst = append(dst, ' ')
	dst = append(dst, op.Type.String()...)
	dst = append(dst, ' ')
	dst = append(dst, op.Action.String()...)
	dst = append(dst, " FID: "...)
	dst = appendPadded(dst, uint64(op.FID), 16, 16)
	dst = append(dst, " OFF: "...)
	dst = strconv.AppendInt(dst, op.Off, 10)
	dst = append(dst, " SIZE: "...)
	dst = strconv.AppendInt(dst, op.Size, 10)
	dst = append(dst, " HOST: "...)
	return strconv.AppendUint(dst, uint64(op.Host), 10)
}

// AppendText appends the operation to dst as one line of the text form: the
// Auspex format and, where that has no words for it, its extension. Whatever
// passes Op.Check parses back to the same operation, but for its line number.
// The line has at most MaxLine bytes, no newline and no control character.
func AppendText(dst []byte, op Op) []byte {
	dst = AppendAuspex(dst, op)
	if op.Place != nil {
		dst = appendPlace(dst, op.Place, op.Type == Rename)
	}
	return dst
}

// appendTime appends microseconds as seconds with six decimals.
func appendTime(dst []byte, us int64) []byte {
	dst = strconv.AppendInt(dst, us/1e6, 10)
	dst = append(dst, '.')
	return appendPadded(dst, uint64(us%1e6), 10, 6)
}

// appendPadded appends n with leading zeros up to width digits.
func appendPadded(dst []byte, n uint64, base, width int) []byte {
	var scratch [64]byte
	digits := strconv.AppendUint(scratch[:0], n, base)
	for i := len(digits); i < width; i++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
