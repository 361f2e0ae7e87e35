package inspect

import "os"

// progress tells how far the reading has come.
type progress struct {
	tell     func(done, of int64) // nil: nobody wants to know
	done, of int64
}

// advance tells that n more bytes were read, which may be more than a file had
// when it was measured.
func (p *progress) advance(n int64) { p.reach(p.done + n) }

// reach tells that so many bytes were read in all.
func (p *progress) reach(done int64) {
	if done = min(done, p.of); done <= p.done {
		return
	}
	p.done = done
	if p.tell != nil {
		p.tell(p.done, p.of)
	}
}

// fileBytes is how large the files in dir are now. It is only for progress:
// what cannot be read shows later.
func fileBytes(dir string) (n int64) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
