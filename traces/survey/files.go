package survey

import (
	"math/bits"

	"github.com/tidemark/tidemark/traces"
)

// several is more hosts than are kept apart for a file.
const several = 11

// files knows who used each file, and how.
type files struct {
	uses  map[traces.FID]use
	more  [][several - 3]uint32 // the third to tenth host of a file
	limit int
	full  bool // files were left out
}

// use is how a file was used. It holds ten hosts in few bytes, because most
// files have one.
type use struct {
	first, second  uint32 // hosts
	more           int32  // index of further ones, if hosts is over 2
	reader, writer uint32 // the first of each
	hosts          uint8  // how many; several stands for more, too
	reads, writes  uint8  // how many hosts did, up to 2
	size           uint8  // number of bits of the last byte's offset plus 1; 0: none
}

func newFiles(limit int) *files { return &files{uses: make(map[traces.FID]use), limit: limit} }

func (f *files) add(op *traces.Op) {
	u, known := f.uses[op.FID]
	if !known && len(f.uses) == f.limit {
		f.full = true
		return
	}
	was := u
	f.host(&u, op.Host)
	switch {
	case op.Type == traces.Open || op.Type == traces.Close || op.Type == traces.Commit:
	case op.Action == traces.Read:
		another(&u.reads, &u.reader, op.Host)
	default:
		another(&u.writes, &u.writer, op.Host)
	}
	if op.Type == traces.Block && op.Size > 0 {
		u.size = max(u.size, 1+uint8(bits.Len64(uint64(op.End()-1))))
	}
	if !known || u != was {
		f.uses[op.FID] = u
	}
}

// another counts host if it is not the first, which it may become.
func another(n *uint8, first *uint32, host uint32) {
	if *n == 0 {
		*n, *first = 1, host
	} else if *first != host {
		*n = 2
	}
}

// host counts a host that uses the file.
func (f *files) host(u *use, host uint32) {
	switch {
	case u.hosts == 0:
		u.first, u.hosts = host, 1
		return
	case host == u.first || u.hosts >= 2 && host == u.second || u.hosts == several:
		return
	case u.hosts == 1:
		u.second, u.hosts = host, 2
		return
	case u.hosts == 2:
		u.more = int32(len(f.more))
		f.more = append(f.more, [several - 3]uint32{})
	}
	list := &f.more[u.more]
	for _, h := range list[:u.hosts-2] {
		if h == host {
			return
		}
	}
	if int(u.hosts) < several-1 {
		list[u.hosts-2] = host
	}
	u.hosts++
}

func (f *files) sharing() (s Sharing) {
	for _, u := range f.uses {
		switch {
		case u.hosts == 1:
			s.OneHost++
		case u.hosts == 2:
			s.TwoHosts++
		case u.hosts < several:
			s.ThreeToTen++
		default:
			s.MoreThanTen++
		}
		if u.reads == 2 {
			s.ReadBySeveral++
		}
		if u.writes == 2 {
			s.WrittenBySeveral++
		}
		if u.writes == 1 && (u.reads == 2 || u.reads == 1 && u.reader != u.writer) {
			s.PassedOn++
		}
	}
	return s
}

// classes are the upper ends of the size classes as powers of two.
var classes = [...]uint8{12, 16, 20, 24, 30}

func (f *files) sizes() []Sizes {
	list := make([]Sizes, len(classes)+2)
	for i, c := range classes {
		list[i+1].UpTo = 1 << c
	}
	for _, u := range f.uses {
		at := 0
		for u.size > 0 && (at == 0 || at <= len(classes) && u.size-1 > classes[at-1]) {
			at++
		}
		list[at].Files++
	}
	return list
}
