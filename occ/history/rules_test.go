package history

import (
	"math"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

func reads(pairs ...uint64) []occ.Read {
	var rs []occ.Read
	for i := 0; i < len(pairs); i += 2 {
		rs = append(rs, occ.Read{Block: occ.BlockID(pairs[i]), From: occ.Timestamp(pairs[i+1])})
	}
	return rs
}

func commitOf(client int, ts occ.Timestamp, rs []occ.Read, writes ...occ.BlockID) Event {
	return Event{Client: client, Kind: Committed, Commit: ts, Reads: rs, Writes: writes}
}

func readOnly(lo, hi occ.Timestamp, rs []occ.Read) Event {
	return Event{Client: 1, Kind: ReadOnly, Lo: lo, Hi: hi, Reads: rs, Epsilon: -1}
}

func aborted(rs []occ.Read) Event { return Event{Client: 1, Kind: Aborted, Reads: rs} }

// base writes block 7 at 1 and 3, block 8 at 2 and 4; client 0 sees to it.
func base() []Event {
	return []Event{
		commitOf(0, 1, nil, 7), commitOf(0, 2, nil, 8),
		commitOf(0, 3, nil, 7), commitOf(0, 4, nil, 8),
	}
}

func seqs(e Event, begin, end uint64) Event {
	e.BeginSeq, e.EndSeq = begin, end
	return e
}

func at(e Event, begin, epsilon time.Duration) Event {
	e.Begin, e.Epsilon = begin, epsilon
	return e
}

func torn(e Event) Event {
	e.NoOpacity = true
	return e
}

func TestRules(t *testing.T) {
	validated := func(ts occ.Timestamp, rs []occ.Read) Event {
		return Event{Client: 1, Kind: Validated, Commit: ts, Reads: rs}
	}
	tests := []struct {
		name    string
		good    []Event // after base: nothing to find
		bad     []Event // after base: exactly want
		applied []point
		want    string
	}{
		{
			name: "lo above hi",
			good: []Event{readOnly(3, 3, nil)},
			bad:  []Event{readOnly(3, 2, nil)},
			want: "invariant 4 (snapshot): client 1, read-only at [3, 2] (begin 0, end 0): lo is above hi",
		},
		{
			name: "version begins above lo",
			good: []Event{readOnly(3, 4, reads(7, 3))},
			bad:  []Event{readOnly(2, 4, reads(7, 3))},
			want: "invariant 4 (snapshot): client 1, read-only at [2, 4] (begin 0, end 0): block 7 was read in version [3,open), which is not its version at 2",
		},
		{
			name: "version ends below hi",
			good: []Event{readOnly(1, 2, reads(7, 1))},
			bad:  []Event{readOnly(1, 3, reads(7, 1))},
			want: "invariant 4 (snapshot): client 1, read-only at [1, 3] (begin 0, end 0): block 7 was read in version [1,3), which is not its version at 3",
		},
		{
			name: "version 0 ends too",
			good: []Event{readOnly(0, 1, reads(8, 0))},
			bad:  []Event{readOnly(0, 2, reads(8, 0))},
			want: "invariant 4 (snapshot): client 1, read-only at [0, 2] (begin 0, end 0): block 8 was read in version [0,2), which is not its version at 2",
		},
		{
			name: "hi beyond the newest commit",
			good: []Event{readOnly(4, 4, nil)},
			bad:  []Event{readOnly(4, 5, nil)},
			want: "invariant 4 (snapshot): client 1, read-only at [4, 5] (begin 0, end 0): the newest commit is only 4",
		},
		{
			name:    "freshness, a tie and one tick later",
			applied: []point{{10, 1}, {20, 2}, {30, 3}, {40, 4}},
			good:    []Event{at(readOnly(2, 4, nil), 35, 5)},
			bad:     []Event{at(readOnly(2, 4, nil), 36, 5)},
			want:    "invariant 4 (freshness): client 1, read-only at [2, 4] (begin 0, end 0): lo is 2, but 3 was applied before 31ns (begin 36ns, epsilon 5ns)",
		},
		{
			name: "version begins far above hi",
			good: []Event{readOnly(3, 6, reads(9, 0)), commitOf(2, 5, nil, 7), commitOf(2, 6, nil, 8)},
			bad:  []Event{readOnly(3, 4, reads(9, 6)), commitOf(2, 5, nil, 7), commitOf(2, 6, nil, 9)},
			want: "invariant 4 (snapshot): client 1, read-only at [3, 4] (begin 0, end 0): block 9 was read in version [6,open), which is not its version at 3",
		},
		{
			name:    "freshness, two commits applied at one time",
			applied: []point{{10, 1}, {10, 3}},
			good:    []Event{at(readOnly(3, 4, nil), 11, 0)},
			bad:     []Event{at(readOnly(1, 4, nil), 11, 0)},
			want:    "invariant 4 (freshness): client 1, read-only at [1, 4] (begin 0, end 0): lo is 1, but 3 was applied before 11ns (begin 11ns, epsilon 0s)",
		},
		{
			name:    "freshness at the beginning of time",
			applied: []point{{math.MinInt64 + 10, 4}},
			good:    []Event{at(readOnly(0, 4, nil), math.MinInt64+10, math.MaxInt64)},
			bad:     []Event{at(readOnly(0, 4, nil), math.MinInt64+11, 0)},
			want:    "invariant 4 (freshness): client 1, read-only at [0, 4] (begin 0, end 0): lo is 0, but 4 was applied before -2562047h47m16.854775797s (begin -2562047h47m16.854775797s, epsilon 0s)",
		},
		{
			name:    "freshness, epsilon 0 and unbounded",
			applied: []point{{10, 4}},
			good:    []Event{at(readOnly(0, 4, nil), 11, -1)},
			bad:     []Event{at(readOnly(0, 4, nil), 11, 0)},
			want:    "invariant 4 (freshness): client 1, read-only at [0, 4] (begin 0, end 0): lo is 0, but 4 was applied before 11ns (begin 11ns, epsilon 0s)",
		},
		{
			name: "commit read an overwritten version",
			good: []Event{commitOf(1, 5, reads(7, 3), 9)},
			bad:  []Event{commitOf(1, 5, reads(7, 1), 9)},
			want: "invariant 5 (reads of a commit): client 1, committed at 5 (begin 0, end 0): block 7 was read in version [1,3), which is not its version at 4",
		},
		{
			name: "commit read its own write as a version",
			good: []Event{commitOf(1, 5, reads(8, 4), 8)},
			bad:  []Event{commitOf(1, 5, reads(8, 5), 8)},
			want: "invariant 5 (reads of a commit): client 1, committed at 5 (begin 0, end 0): block 8 was read in version [5,open), which is not its version at 4",
		},
		{
			name: "validated sees commit 3 at 3",
			good: []Event{validated(3, reads(7, 3))},
			bad:  []Event{validated(3, reads(7, 1))},
			want: "invariant 5 (reads of a commit): client 1, validated at 3 (begin 0, end 0): block 7 was read in version [1,3), which is not its version at 3",
		},
		{
			name: "validated beyond the newest commit",
			good: []Event{validated(4, nil)},
			bad:  []Event{validated(5, nil)},
			want: "invariant 5 (reads of a commit): client 1, validated at 5 (begin 0, end 0): the newest commit is only 4",
		},
		{
			name: "shared timestamp",
			good: []Event{commitOf(1, 5, nil, 7)},
			bad:  []Event{commitOf(1, 4, nil, 7)},
			want: "invariant 5 (commit order): client 1, committed at 4 (begin 0, end 0): another commit has this timestamp",
		},
		{
			name: "shared timestamp beyond a gap",
			good: []Event{commitOf(1, 6, nil, 7), commitOf(2, 7, nil, 7), commitOf(2, 5, nil, 7)},
			bad:  []Event{commitOf(1, 6, nil, 7), commitOf(2, 6, nil, 7), commitOf(2, 5, nil, 7)},
			want: "invariant 5 (commit order): client 2, committed at 6 (begin 0, end 0): another commit has this timestamp",
		},
		{
			name: "missing timestamp",
			good: []Event{commitOf(1, 6, nil, 7), commitOf(1, 5, nil, 7)},
			bad:  []Event{commitOf(1, 6, nil, 7)},
			want: "invariant 5 (commit order): 1 timestamps have no commit, the first is 5; the newest commit is 6; 0 commits are in doubt",
		},
		{
			name: "timestamp 0",
			good: []Event{commitOf(1, 5, nil, 7)},
			bad:  []Event{commitOf(1, 0, nil, 7)},
			want: "invariant 5 (commit order): client 1, committed at 0 (begin 0, end 0): not a commit timestamp",
		},
		{
			name: "causality after a commit",
			good: []Event{seqs(commitOf(1, 5, nil, 7), 1, 2), seqs(readOnly(5, 5, nil), 3, 4)},
			bad:  []Event{seqs(commitOf(1, 5, nil, 7), 1, 2), seqs(readOnly(4, 5, nil), 3, 4)},
			want: "invariant 6 (causality): client 1, read-only at [4, 5] (begin 3, end 4): its timestamp is 4, but the client had reached 5 when it began",
		},
		{
			name: "causality after a read-only transaction, unless they overlap",
			good: []Event{seqs(readOnly(3, 4, nil), 1, 3), seqs(readOnly(2, 4, nil), 2, 4)},
			bad:  []Event{seqs(readOnly(3, 4, nil), 1, 2), seqs(readOnly(2, 4, nil), 3, 4)},
			want: "invariant 6 (causality): client 1, read-only at [2, 4] (begin 3, end 4): its timestamp is 2, but the client had reached 3 when it began",
		},
		{
			name: "causality after an aborted attempt",
			good: []Event{seqs(aborted(reads(7, 3, 9, 0)), 1, 2), seqs(readOnly(3, 4, nil), 3, 4)},
			bad:  []Event{seqs(aborted(reads(7, 3, 9, 0)), 1, 2), seqs(readOnly(2, 4, nil), 3, 4)},
			want: "invariant 6 (causality): client 1, read-only at [2, 4] (begin 3, end 4): its timestamp is 2, but the client had reached 3 when it began",
		},
		{
			name: "no causality between clients",
			good: []Event{seqs(readOnly(4, 4, nil), 1, 2), seqs(Event{Client: 2, Kind: Validated, Commit: 3}, 3, 4)},
			bad:  []Event{seqs(readOnly(4, 4, nil), 1, 2), seqs(Event{Client: 1, Kind: Validated, Commit: 3}, 3, 4)},
			want: "invariant 6 (causality): client 1, validated at 3 (begin 3, end 4): its timestamp is 3, but the client had reached 4 when it began",
		},
		{
			name: "opacity",
			good: []Event{aborted(reads(7, 1, 8, 2))},
			bad:  []Event{aborted(reads(7, 1, 8, 4))},
			want: "invariant 11 (opacity): client 1, aborted (begin 0, end 0): block 7 was read in version [1,3), which is not its version at 4",
		},
		{
			name: "opacity switched off",
			good: []Event{torn(aborted(reads(7, 1, 8, 4)))},
			bad:  []Event{torn(commitOf(1, 5, reads(7, 1, 8, 4), 9))},
			want: "invariant 5 (reads of a commit): client 1, committed at 5 (begin 0, end 0): block 7 was read in version [1,3), which is not its version at 4",
		},
		{
			name: "two versions of a block",
			good: []Event{readOnly(1, 2, reads(7, 1, 7, 1))},
			bad:  []Event{readOnly(1, 2, reads(7, 1, 7, 0))},
			want: "two versions of a block: client 1, read-only at [1, 2] (begin 0, end 0): block 7 was read in version 0 and in another",
		},
		{
			name: "version that no commit wrote",
			good: []Event{readOnly(2, 4, reads(9, 0))},
			bad:  []Event{readOnly(2, 4, reads(9, 2))},
			want: "unwritten version: client 1, read-only at [2, 4] (begin 0, end 0): block 9 has no version 2",
		},
		{
			name: "version that no commit wrote, of a written block",
			good: []Event{torn(aborted(reads(7, 3)))},
			bad:  []Event{torn(aborted(reads(7, 2)))},
			want: "unwritten version: client 1, aborted (begin 0, end 0): block 7 has no version 2",
		},
		{
			name: "version beyond the newest commit",
			good: []Event{aborted(reads(8, 4))},
			bad:  []Event{aborted(reads(8, 5))},
			want: "unwritten version: client 1, aborted (begin 0, end 0): block 8 has no version 5",
		},
		{
			name: "unknown kind",
			good: []Event{aborted(nil)},
			bad:  []Event{{Client: 1, Kind: 9}},
			want: "malformed event: client 1, kind 9 (begin 0, end 0): no such kind of event",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if r := check(Options{}, append(base(), test.good...), test.applied); r.Err() != nil {
				t.Errorf("the neighbour should pass: %v", r.Err())
			}
			r := check(Options{}, append(base(), test.bad...), test.applied)
			if r.Total != 1 || len(r.Violations) != 1 || r.TooOld != 0 {
				t.Fatalf("want one violation, got %v, %v", r, r.Violations)
			}
			if got := r.Violations[0].String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			// An event that comes before the commits it needs is judged alike.
			early := check(Options{}, append(test.bad, base()...), test.applied)
			if test.name != "shared timestamp" && (early.Total != 1 || early.Violations[0].String() != test.want) {
				t.Errorf("recorded first: got %v", early.Violations)
			}
		})
	}
}

func TestViolationNamesBlock(t *testing.T) {
	r := check(Options{}, append(base(), readOnly(3, 4, reads(9, 0, 8, 2))), nil)
	if r.Total != 1 || r.Violations[0].Block != 8 || r.Violations[0].Rule != Snapshot {
		t.Errorf("got %+v", r.Violations)
	}
}

func TestViolationsComeInOrder(t *testing.T) {
	var events []Event
	for i := range uint64(8) {
		events = append(events, seqs(readOnly(3, 3, reads(7, 1)), 0, i))
	}
	r := check(Options{}, append(events, base()...), nil)
	if r.Total != len(events) {
		t.Fatalf("got %v", r)
	}
	for i, v := range r.Violations {
		if v.Event.EndSeq != uint64(i) {
			t.Errorf("place %d: event %d", i, v.Event.EndSeq)
		}
	}
}

func TestResultCounts(t *testing.T) {
	events := append(base(), readOnly(9, 9, nil), readOnly(8, 8, nil), aborted(nil), Event{Kind: Validated})
	r := check(Options{Keep: 1}, events, nil)
	if r.Events() != 8 || r.Checked != [kinds]int{2, 1, 4, 1, 0} || r.Total != 2 || len(r.Violations) != 1 || r.Newest != 4 {
		t.Errorf("got %v, %d kept, newest %d", r, len(r.Violations), r.Newest)
	}
	const line = "8 events checked (2 read-only, 1 validated, 4 committed, 1 aborted, 0 in doubt): 2 violations, 0 not judged"
	if r.String() != line {
		t.Errorf("got %q", r)
	}
	const text = "history: 2 violations, 0 events not judged; first: invariant 4 (snapshot): client 1, read-only at [8, 8] (begin 0, end 0): the newest commit is only 4"
	if err := r.Err(); err == nil || err.Error() != text {
		t.Errorf("got %v", err)
	}
}
