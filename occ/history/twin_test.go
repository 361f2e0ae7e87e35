package history

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// point is one call of Applied.
type point struct {
	t      time.Duration
	stable occ.Timestamp
}

// twin judges a complete history in the most obvious way, in quadratic time
// and more. It returns the number of wrong events, and whether the commit order
// itself is wrong (what is said about single events then depends on which
// commit is believed).
func twin(events []Event, applied []point) (wrong int, disorder bool) {
	t := twinHistory{writes: map[occ.Timestamp][]occ.BlockID{}}
	newest, commits := occ.Timestamp(0), 0
	for _, e := range events {
		if e.Kind != Committed {
			continue
		}
		if _, twice := t.writes[e.Commit]; twice || e.Commit == 0 || e.Commit == occ.Open {
			disorder = true
			continue
		}
		t.writes[e.Commit] = e.Writes
		newest = max(newest, e.Commit)
		commits++
	}
	if occ.Timestamp(commits) != newest {
		disorder = true
	}
	for i, e := range events {
		bad := !t.readsFit(e, newest)
		chosen := e.Kind == ReadOnly && e.Chosen
		if e.Kind == ReadOnly && e.Epsilon >= 0 && !chosen {
			for _, p := range applied {
				if p.t < e.Begin-e.Epsilon && p.stable > e.Lo {
					bad = true
				}
			}
		}
		for _, other := range events[:i] {
			if e.Kind != Aborted && !chosen && other.Client == e.Client && e.BeginSeq > other.EndSeq && twinTime(other) > twinTime(e) {
				bad = true
			}
		}
		if bad {
			wrong++
		}
	}
	return wrong, disorder
}

func twinTime(e Event) occ.Timestamp {
	ts := e.Commit
	if e.Kind == ReadOnly {
		ts = e.Lo
	}
	if e.Kind == Aborted {
		ts = 0
		for _, r := range e.Reads {
			ts = max(ts, r.From)
		}
	}
	return ts
}

type twinHistory struct {
	writes map[occ.Timestamp][]occ.BlockID
}

// version returns b's version at t.
func (h twinHistory) version(b occ.BlockID, t occ.Timestamp) occ.Timestamp {
	var v occ.Timestamp
	for ts, blocks := range h.writes {
		for _, w := range blocks {
			if w == b && ts <= t {
				v = max(v, ts)
			}
		}
	}
	return v
}

func (h twinHistory) readsFit(e Event, newest occ.Timestamp) bool {
	var at []occ.Timestamp
	switch e.Kind {
	case ReadOnly:
		if e.Lo > e.Hi || e.Hi > newest || e.Chosen && e.Lo < e.Hi {
			return false
		}
		at = []occ.Timestamp{e.Lo, e.Hi}
	case Validated:
		if e.Commit > newest {
			return false
		}
		at = []occ.Timestamp{e.Commit}
	case Committed:
		at = []occ.Timestamp{e.Commit - 1}
	case Aborted:
		if !e.NoOpacity {
			at = []occ.Timestamp{twinTime(e)}
		}
	}
	for _, r := range e.Reads {
		if h.version(r.Block, r.From) != r.From {
			return false
		}
		for _, t := range at {
			if h.version(r.Block, t) != r.From {
				return false
			}
		}
	}
	return true
}
