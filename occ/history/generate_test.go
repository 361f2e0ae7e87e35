package history

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
)

const (
	genClients = 3
	genBlocks  = 6
)

// world is a multiversion store that runs one step at a time, and clients that
// read random snapshots of it: whatever it records is correct.
type world struct {
	rng     *rand.Rand
	now     time.Duration
	store   twinHistory
	stable  occ.Timestamp
	seq     [genClients]uint64
	floor   [genClients]occ.Timestamp
	running [genClients][]running
	events  []Event
	applied []point
}

type running struct {
	event Event
	floor occ.Timestamp // the client's, when it began
}

func generate(rng *rand.Rand, steps int) ([]Event, []point) {
	w := &world{rng: rng, store: twinHistory{writes: map[occ.Timestamp][]occ.BlockID{}}}
	for range steps {
		w.now += time.Duration(rng.IntN(3))
		c := rng.IntN(genClients)
		if n := len(w.running[c]); n == 0 || n < 3 && rng.IntN(2) == 0 {
			w.begin(c)
		} else {
			w.end(c, rng.IntN(n))
		}
	}
	return w.events, w.applied
}

func (w *world) begin(c int) {
	w.seq[c]++
	e := Event{Client: c, Kind: Kind(w.rng.IntN(int(Aborted) + 1)), Begin: w.now, BeginSeq: w.seq[c]}
	if e.Kind == ReadOnly {
		e.Epsilon = time.Duration(w.rng.IntN(30) - 1)
		e.Chosen = w.rng.IntN(4) == 0
	}
	w.running[c] = append(w.running[c], running{e, w.floor[c]})
}

func (w *world) end(c, i int) {
	r := w.running[c][i]
	w.running[c] = slices.Delete(w.running[c], i, i+1)
	e := r.event
	w.seq[c]++
	e.End, e.EndSeq = w.now, w.seq[c]
	switch e.Kind {
	case ReadOnly:
		if e.Chosen {
			e.Lo = w.between(0, w.stable)
			e.Hi, e.Reads = e.Lo, w.read(e.Lo)
			break
		}
		lo := r.floor
		for _, p := range w.applied {
			if e.Epsilon >= 0 && p.t < e.Begin-e.Epsilon {
				lo = max(lo, p.stable)
			}
		}
		at := w.between(lo, w.stable)
		e.Reads = w.read(at)
		for _, r := range e.Reads {
			lo = max(lo, r.From)
		}
		e.Lo = w.between(lo, at)
		e.Hi = at
		for e.Hi < w.stable && w.rng.IntN(4) > 0 && w.store.readsFit(Event{Kind: Validated, Commit: e.Hi + 1, Reads: e.Reads}, w.stable) {
			e.Hi++
		}
	case Validated:
		e.Commit = w.stable
		e.Reads = w.read(w.stable)
	case Committed:
		e.Reads = w.read(w.stable)
		w.stable++
		e.Commit = w.stable
		for range 1 + w.rng.IntN(3) {
			e.Writes = append(e.Writes, occ.BlockID(w.rng.IntN(genBlocks)))
		}
		w.store.writes[e.Commit] = e.Writes
		w.applied = append(w.applied, point{w.now, w.stable})
	case Aborted:
		e.Reads = w.read(w.between(0, w.stable))
		e.NoOpacity = w.rng.IntN(4) == 0
	}
	w.floor[c] = max(w.floor[c], twinTime(e))
	w.events = append(w.events, e)
}

func (w *world) read(at occ.Timestamp) []occ.Read {
	var reads []occ.Read
	for range w.rng.IntN(4) {
		b := occ.BlockID(w.rng.IntN(genBlocks))
		reads = append(reads, occ.Read{Block: b, From: w.store.version(b, at)})
	}
	return reads
}

func (w *world) between(lo, hi occ.Timestamp) occ.Timestamp {
	return lo + occ.Timestamp(w.rng.Uint64N(uint64(hi-lo)+1))
}

// mutate breaks one thing, most of the time in a way that shows.
func mutate(rng *rand.Rand, events []Event) ([]Event, string) {
	events = slices.Clone(events)
	near := func(ts occ.Timestamp) occ.Timestamp {
		if d := occ.Timestamp(1 + rng.IntN(3)); rng.IntN(2) == 0 || ts < d {
			return ts + d
		} else {
			return ts - d
		}
	}
	pick := func(ok func(Event) bool) *Event {
		for _, i := range rng.Perm(len(events)) {
			if ok(events[i]) {
				return &events[i]
			}
		}
		return &Event{}
	}
	commits := func(e Event) bool { return e.Kind == Committed }
	reads := func(e Event) bool { return len(e.Reads) > 0 }
	switch rng.IntN(8) {
	case 0:
		if e := pick(reads); reads(*e) {
			e.Reads = slices.Clone(e.Reads)
			r := &e.Reads[rng.IntN(len(e.Reads))]
			r.From = near(r.From)
		}
		return events, "a read's version changed"
	case 1:
		a, b := pick(commits), pick(commits)
		a.Commit, b.Commit = b.Commit, a.Commit
		return events, "two commit timestamps swapped"
	case 2:
		e := pick(func(e Event) bool { return e.Kind == ReadOnly && e.Lo > 0 })
		e.Lo -= min(e.Lo, occ.Timestamp(1+rng.IntN(3)))
		return events, "lo lowered"
	case 3:
		e := pick(func(e Event) bool { return e.Kind == ReadOnly })
		e.Hi += occ.Timestamp(1 + rng.IntN(3))
		return events, "hi raised"
	case 4:
		if len(events) > 0 {
			i := rng.IntN(len(events))
			events = slices.Delete(events, i, i+1)
		}
		return events, "an event dropped"
	case 5:
		e := pick(func(e Event) bool { return e.BeginSeq > 0 })
		e.BeginSeq += 2 * uint64(rng.IntN(4))
		e.EndSeq = max(e.EndSeq, e.BeginSeq)
		return orderByEnd(events), "an event began later"
	case 6:
		e := pick(func(e Event) bool { return e.Kind == Committed || e.Kind == Validated })
		e.Commit = near(e.Commit)
		return events, "a commit timestamp changed"
	default:
		if e := pick(reads); reads(*e) {
			r := e.Reads[rng.IntN(len(e.Reads))]
			r.From = near(r.From)
			e.Reads = append(slices.Clone(e.Reads), r)
		}
		return events, "a block read in another version as well"
	}
}

// orderByEnd restores the order that clients promise.
func orderByEnd(events []Event) []Event {
	slices.SortStableFunc(events, func(a, b Event) int {
		if a.Client != b.Client {
			return a.Client - b.Client
		}
		return int(a.EndSeq) - int(b.EndSeq)
	})
	return events
}

// interleave mixes the clients anew, keeping the order of each.
func interleave(rng *rand.Rand, events []Event) []Event {
	var lines [genClients][]Event
	for _, e := range events {
		lines[e.Client] = append(lines[e.Client], e)
	}
	mixed := make([]Event, 0, len(events))
	for len(mixed) < len(events) {
		if c := rng.IntN(genClients); len(lines[c]) > 0 {
			mixed = append(mixed, lines[c][0])
			lines[c] = lines[c][1:]
		}
	}
	return mixed
}
