package wire

import "encoding/binary"

// trim returns data without its trailing zero bytes.
func trim(data []byte) []byte {
	n := len(data)
	for n >= 8 && binary.LittleEndian.Uint64(data[n-8:n]) == 0 {
		n -= 8
	}
	for n > 0 && data[n-1] == 0 {
		n--
	}
	return data[:n]
}
