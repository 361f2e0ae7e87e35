package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// stream is a naive client at the end of a connection: it checks the order of
// section 3, and that what it holds open is what the server has.
type stream struct {
	stable occ.Timestamp
	item   occ.Timestamp // of the last item
	open   map[occ.BlockID]occ.Timestamp
	writes map[uint64][]occ.Write
	reads  map[uint64][]wire.ReadItem
}

func (s *stream) take(w *world, m wire.Message) {
	stable := stableOf(m)
	switch m := m.(type) {
	case *wire.Items:
		for _, it := range m.Items {
			if it.At < s.item {
				w.problem("item at %d after one at %d", it.At, s.item)
			}
			if it.Kind != wire.ItemDropped && it.At <= s.stable {
				w.problem("item at %d, but stable was %d already", it.At, s.stable)
			}
			s.item = it.At
			switch it.Kind {
			case wire.ItemCommitted:
				for _, wr := range s.writes[it.Req] {
					s.open[wr.Block] = it.At
				}
			default:
				if from, ok := s.open[it.Block]; !ok || from != it.From {
					w.problem("item for version %d of block %d, which is not open", it.From, it.Block)
				}
				delete(s.open, it.Block)
			}
		}
	case *wire.ReadReply:
		for i, r := range m.Results {
			it := s.reads[m.Req][i]
			if r.Status == wire.StatusCurrent || r.Status == wire.StatusStill {
				s.open[it.Block] = r.From
			}
			w.checkInterval(it, r)
			if r.Status != wire.StatusStill && r.Status != wire.StatusGone {
				w.checkData(it.Block, r)
			}
		}
	}
	if stable < s.stable {
		w.problem("stable went from %d back to %d", s.stable, stable)
	}
	s.stable = stable
	for b, from := range s.open {
		if now := w.at(b, stable); now != from {
			w.problem("%T with stable %d: version %d of block %d is open, but %d is the server's", m, stable, from, b, now)
		}
	}
}

// checkInterval compares what is told of a version with the log: the version
// is the right one, its interval not too long, and nothing is gone that is
// pinned.
func (w *world) checkInterval(it wire.ReadItem, r wire.ReadResult) {
	switch {
	case r.Status == wire.StatusGone:
		if slices.Contains(slices.Collect(maps.Values(w.pinned)), it.At) || it.At >= r.Horizon {
			w.problem("block %d at %d is gone, horizon %d, pinned %v", it.Block, it.At, r.Horizon, w.pinned)
		}
	case it.At != occ.Latest && r.From != w.at(it.Block, it.At):
		w.problem("block %d at %d: version %d, which is %d", it.Block, it.At, r.From, w.at(it.Block, it.At))
	case r.Status == wire.StatusClosed && (it.At >= r.To || r.From != w.at(it.Block, r.To-1)):
		w.problem("block %d at %d: version %d to %d, but then it is %d", it.Block, it.At, r.From, r.To, w.at(it.Block, r.To-1))
	}
}

// checkData compares what is read with what the log says.
func (w *world) checkData(b occ.BlockID, r wire.ReadResult) {
	if want := w.contents[Ref{b, r.From}]; r.From > 0 && string(want) != string(r.Data) {
		w.problem("block %d version %d: got %q, want %q", b, r.From, r.Data, want)
	}
	if r.From == 0 && len(r.Data) > 0 {
		w.problem("version 0 of block %d has data", b)
	}
}

func stableOf(m wire.Message) occ.Timestamp {
	switch m := m.(type) {
	case *wire.Welcome:
		return m.Stable
	case *wire.Pong:
		return m.Stable
	case *wire.ReadReply:
		return m.Stable
	case *wire.Items:
		return m.Stable
	case *wire.Conflict:
		return m.Stable
	case *wire.Validated:
		return m.Stable
	case *wire.Outcome:
		return m.Stable
	case *wire.LeaseReply:
		return m.Stable
	case *wire.StatusReply:
		return m.Stable
	case *wire.PinReply:
		return m.Stable
	case *wire.PinsReply:
		return m.Stable
	case *wire.ChangesReply:
		return m.Stable
	case *wire.Error:
		return m.Stable
	}
	panic(fmt.Sprintf("%T is not a server message", m))
}
