package replay

import "github.com/tidemark/tidemark/traces"

// Content fills p with the bytes that line (0 for the image) puts at offset
// off of file fid: a function of these alone, with no pattern that could be
// compressed.
func Content(p []byte, fid traces.FID, off, line int64) {
	key := mix(uint64(fid) ^ mix(uint64(line)+0x5851f42d4c957f2d))
	for i := 0; i < len(p); {
		at := uint64(off) + uint64(i)
		word := mix(key + at>>3*0x9e3779b97f4a7c15)
		for b := at & 7; b < 8 && i < len(p); b++ {
			p[i] = byte(word >> (8 * b))
			i++
		}
	}
}

// mix is a bijection of 64 bits in which every input bit reaches every output
// bit: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
