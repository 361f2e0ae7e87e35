package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Append appends m as one whole frame, length prefix included, and returns
// the longer slice. It keeps nothing of m and changes nothing in it; block
// data is written without its trailing zeros.
//
// It panics on what only a bug of the caller can produce: a message of no
// known type, a status or item kind that does not exist, items that are not
// in timestamp order, ranges that are not InOrder. It does not judge limits.
func Append(dst []byte, m Message) []byte {
	// The prefix comes first but is known last. Room is left for the prefix
	// that the data suggests; only when trimming changes its width does the
	// body move.
	guess := dataBytes(m) + 16
	dst = slices.Grow(dst, guess+binary.MaxVarintLen32)
	room := uvarintLen(uint64(guess))
	start := len(dst)
	dst = append(dst, make([]byte, room)...)
	dst = appendBody(dst, m)

	size := len(dst) - start - room
	if w := uvarintLen(uint64(size)); w != room {
		body := dst[start+room:]
		dst = append(dst, make([]byte, max(0, w-room))...)
		copy(dst[start+w:], body)
		dst = dst[:start+w+size]
	}
	binary.PutUvarint(dst[start:], uint64(size))
	return dst
}

// dataBytes estimates how many bytes of block data m carries.
func dataBytes(m Message) int {
	n := 0
	switch m := m.(type) {
	case *ReadReply:
		for i := range m.Results {
			n += len(m.Results[i].Data)
		}
	case *Commit:
		for i := range m.Writes {
			n += len(m.Writes[i].Data)
			for _, r := range m.Writes[i].Ranges {
				n += len(r.Data)
			}
		}
	}
	return n
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// SplitFrame cuts the first frame off buf. body is the frame without its
// length prefix and aliases buf, as does rest, which is what follows. When
// buf holds only the beginning of a frame, body and err are nil and rest is
// buf. A frame of more than max bytes is a *FrameTooLargeError as soon as its
// prefix is there; a prefix that is no minimal uvarint, or 0, is a
// *DecodeError.
func SplitFrame(buf []byte, max uint64) (body, rest []byte, err error) {
	size, n, err := frameSize(buf, max)
	if n == 0 || err != nil {
		return nil, buf, err
	}
	if uint64(len(buf)-n) < size {
		return nil, buf, nil
	}
	end := n + int(size)
	return buf[n:end:end], buf[end:], nil
}

// frameSize reads the length prefix; n is its width, 0 while it is not
// complete.
func frameSize(buf []byte, max uint64) (size uint64, n int, err error) {
	size, n = uvarint(buf)
	switch {
	case n < 0:
		return 0, 0, &DecodeError{Field: "length", Reason: reasonVarint}
	case n == 0:
		return 0, 0, nil
	case size == 0:
		return 0, 0, &DecodeError{Field: "length", Reason: "a frame has at least one byte"}
	case size > max:
		return 0, 0, &FrameTooLargeError{Limit: max, Value: size}
	}
	return size, n, nil
}
