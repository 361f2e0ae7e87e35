package nfs

import "github.com/tidemark/tidemark/traces"

// findings gathers counts that are not zero.
type findings []traces.Finding

func (f *findings) add(group, name string, n int64) {
	if n != 0 {
		*f = append(*f, traces.Finding{Group: group, Name: name, Count: n})
	}
}

func (f *findings) odd(group, name string, n int64) {
	if n != 0 {
		*f = append(*f, traces.Finding{Group: group, Name: name, Count: n, Odd: true})
	}
}
