package nfsdump

import (
	"math"

	"github.com/tidemark/tidemark/traces/nfs"
)

// parseStatus takes the status from the front of the fields of a reply. It
// reports false if there is none, as in the reply to a null call.
func parseStatus(w *words) (status uint32, ok bool) {
	after := *w
	word := after.next()
	if string(word) == "OK" {
		*w = after
		return 0, true
	}
	n, ok := parseHex(word)
	if !ok || n > math.MaxUint32 {
		return 0, false
	}
	*w = after
	return uint32(n), true
}

// answer adds what a successful reply says, in the fields after the status.
func (r *record) answer(fields words) (what odd) {
	switch r.x.Proc {
	case nfs.Lookup, nfs.Create, nfs.Mkdir, nfs.Mknod, nfs.Symlink:
		// The word "fh" is there even if no handle is.
		if word := fields.find("fh"); len(word) > 0 {
			if result, ok := appendHandle(r.result[:0], word); ok {
				r.result, r.x.Result = result, result
			}
		}
	case nfs.Read, nfs.Write:
		word := fields.find("count")
		if len(word) == 0 { // not in the reply to a write of version 2
			return 0
		}
		done, ok := parseHex(word)
		if !ok {
			return impossibleValue
		}
		r.x.HasDone, r.x.Done = true, done
	case nfs.ReadLink:
		for {
			word := fields.next()
			if len(word) == 0 {
				return 0
			}
			if n, ok := nameLength(word); ok {
				r.x.Count = n
				return 0
			}
		}
	}
	return 0
}

// find returns the word after a key, which is empty if there is none.
func (w *words) find(key string) []byte {
	for {
		switch word := w.next(); {
		case len(word) == 0:
			return nil
		case string(word) == key:
			return w.next()
		}
	}
}
