package infer

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// twin infers from a slice in order of time, by looking forward from each
// line that may begin a transaction. It keeps no state but which lines are
// taken.
func twin(ops []traces.Op) []Event {
	// Where an event stands among those of the same time.
	type placed struct {
		Event
		line int // the line that causes it; -1 for a timer
		rank int // of the events of one line: ends, then begin, do, end
		age  int // among ends: the line that began the open
	}
	var all []placed
	taken := make([]bool, len(ops))
	number := TxID(0)
	for i, first := range ops {
		origin := Single
		switch {
		case taken[i] || first.Type == traces.Close || first.Type == traces.Commit:
			continue
		case first.Type == traces.Open:
			origin = ExplicitOpen
		case first.Type == traces.Block:
			origin = ImplicitOpen
		}
		number++
		ev := Event{Tx: number, Host: first.Host, Origin: origin, Time: first.Time}
		if origin == Single {
			if first.Action == traces.Write || first.Type == traces.Delete {
				ev.Class = ReadWrite
			}
			all = append(all,
				placed{do(ev, first), i, 2, i},
				placed{end(ev, Done), i, 3, i})
			ev.Kind, ev.Op = Begin, first
			all = append(all, placed{ev, i, 1, i})
			continue
		}

		var blocks []int
		written := false
		last, cause := len(ops)-1, EndOfTrace
		endTime, endLine := ops[last].Time, len(ops)
	scan:
		for j := i; j < len(ops); j++ {
			op := ops[j]
			mine := op.FID == first.FID && op.Host == first.Host
			found := EndOfTrace
			switch {
			case op.Time > first.Time+Timeout:
				cause, endTime, endLine = TimedOut, first.Time+Timeout+1, -1
				break scan
			case op.Type == traces.Block && mine:
				blocks = append(blocks, j)
				written = written || op.Action == traces.Write
				taken[j] = true
			case j == i:
			case (op.Type == traces.Delete || op.Type == traces.Rmdir) && op.FID == first.FID:
				found = Deleted
			case op.Type == traces.Open && mine:
				found = Reopened
			case op.Type == traces.Close && mine:
				found = Closed
			case !mine || origin == ExplicitOpen:
			case op.Type == traces.Lookup, op.Type == traces.Attr && op.Action == traces.Read:
				found = AttrRead
			case op.Type == traces.Commit && written:
				found = Committed
			}
			if found != EndOfTrace {
				cause, endTime, endLine = found, op.Time, j
				break
			}
		}
		for _, j := range blocks {
			if ops[j].Action == traces.Write {
				ev.Class = ReadWrite
			}
		}
		begin := ev
		begin.Kind, begin.Op = Begin, first
		all = append(all, placed{begin, i, 1, i})
		if len(blocks) == 0 {
			all = append(all, placed{do(ev, first), i, 2, i})
		}
		for _, j := range blocks {
			ev.Time = ops[j].Time
			all = append(all, placed{do(ev, ops[j]), j, 2, i})
		}
		ev.Time = endTime
		all = append(all, placed{end(ev, cause), endLine, 0, i})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.line, b.line), cmp.Compare(a.rank, b.rank), cmp.Compare(a.age, b.age))
	})
	events := make([]Event, len(all))
	for i, p := range all {
		events[i] = p.Event
		// A Delete waits for the opens that ended because of it.
		if p.Kind == Begin && (p.Op.Type == traces.Delete || p.Op.Type == traces.Rmdir) {
			for _, q := range all {
				if q.Kind == End && q.Cause == Deleted && q.line == p.line {
					events[i].Waits = append(events[i].Waits, q.Tx)
				}
			}
		}
	}
	return events
}

// randomOps is a trace in order of time in which few hosts use few files, and
// times often are equal or exactly 120 s apart.
func randomOps(rng *rand.Rand, n int) []traces.Op {
	kinds := []traces.Type{traces.Attr, traces.Block, traces.Block, traces.Block, traces.Dir, traces.Delete, traces.Open, traces.Open, traces.Close, traces.Close}
	if rng.IntN(2) == 0 {
		kinds = append(kinds, traces.Lookup, traces.Create, traces.Mkdir, traces.Rmdir, traces.Rename, traces.Link, traces.Symlink,
			traces.Truncate, traces.Commit, traces.Commit)
	}
	pauses := []int64{0, 0, 1, 1_000_000, 20_000_000, 60_000_000, 120_000_000, 120_000_001}
	hosts, files, pauseKinds := 1+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(len(pauses))
	var ops []traces.Op
	now := int64(1)
	for i := range n {
		now += pauses[rng.IntN(pauseKinds)]
		ops = append(ops, traces.Op{
			Time: now, Line: int64(i + 1), Type: kinds[rng.IntN(len(kinds))], Action: traces.Action(rng.IntN(2)),
			Host: uint32(rng.IntN(hosts)), FID: traces.FID(rng.IntN(files)),
			Off: rng.Int64N(8) * 300, Size: rng.Int64N(2000),
		})
		complete(&ops[i], rng)
	}
	return ops
}

// complete makes an operation of a type beyond the Auspex format possible.
// Directories are numbered from 100; names are few.
func complete(op *traces.Op, rng *rand.Rand) {
	if op.Type <= traces.Close {
		return
	}
	op.Action = traces.Write
	if op.Type == traces.Lookup {
		op.Action = traces.Read
	}
	place := &traces.Place{Dir: traces.FID(100 + rng.IntN(2)), Name: string(rune('p' + rng.IntN(3)))}
	switch op.Type {
	case traces.Truncate, traces.Commit:
		return
	case traces.Rename:
		place.ToDir, place.ToName = traces.FID(100+rng.IntN(2)), string(rune('p'+rng.IntN(3)))
	}
	op.Place = place
}

func TestTwin(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ops := randomOps(rng, 1+rng.IntN(60))
		want := twin(ops)
		got, _ := infer(t, ops, Options{})
		if !slices.EqualFunc(got, want, sameEvent) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\nfrom\n%v", seed, brief(got), brief(want), ops)
		}
	}
}

func sameEvent(a, b Event) bool {
	waits := slices.Equal(a.Waits, b.Waits)
	return waits && a.Kind == b.Kind && a.Tx == b.Tx && a.Time == b.Time && a.Host == b.Host &&
		a.Class == b.Class && a.Origin == b.Origin && a.Cause == b.Cause && a.Op == b.Op
}
