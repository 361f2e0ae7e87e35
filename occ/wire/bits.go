package wire

// bitWriter appends numbers of any width in bits, most significant bit
// first.
type bitWriter struct {
	b   []byte
	acc uint64
	n   uint // low bits of acc that are not in b yet, below 8 between calls
}

// write appends the low width bits of v, which has no others set.
func (w *bitWriter) write(v uint64, width uint) {
	if width > 32 {
		w.write(v>>32, width-32)
		v, width = v&0xffffffff, 32
	}
	w.acc = w.acc<<width | v
	for w.n += width; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.acc>>(w.n-8)))
	}
}

// rice appends v>>k one bits, a zero bit, and the low k bits of v.
func (w *bitWriter) rice(v uint64, k uint) {
	for q := v >> k; q > 0; q-- {
		w.write(1, 1)
	}
	w.write(0, 1)
	w.write(v&(1<<k-1), k)
}

// finish fills the last byte with zero bits and returns the bytes.
func (w *bitWriter) finish() []byte {
	if w.n > 0 {
		w.write(0, 8-w.n)
	}
	return w.b
}

// bitReader reads what bitWriter wrote. bad turns true when the bytes run
// out or make no sense; all further results are then 0.
type bitReader struct {
	b   []byte // bytes that are not in acc yet
	acc uint64
	n   uint // low bits of acc that are not read yet, below 8 between calls
	bad bool
}

func (r *bitReader) read(width uint) uint64 {
	if width > 32 {
		high := r.read(width - 32)
		return high<<32 | r.read(32)
	}
	for r.n < width {
		if len(r.b) == 0 {
			r.bad = true
			return 0
		}
		r.acc = r.acc<<8 | uint64(r.b[0])
		r.b = r.b[1:]
		r.n += 8
	}
	r.n -= width
	return r.acc >> r.n & (1<<width - 1)
}

func (r *bitReader) rice(k uint) uint64 {
	q := uint64(0)
	for r.read(1) == 1 {
		q++
	}
	if q<<k>>k != q {
		r.bad = true
		return 0
	}
	return q<<k | r.read(k)
}

// finish returns the bytes that follow the last one begun. The bits left in
// that one must be zero.
func (r *bitReader) finish() []byte {
	if r.acc&(1<<r.n-1) != 0 {
		r.bad = true
	}
	return r.b
}
