package history

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
)

// Rule is what a violation violates.
type Rule uint8

const (
	// Malformed: the event is of no known kind.
	Malformed Rule = iota
	// Snapshot is invariant 4: one snapshot for all of [lo, hi].
	Snapshot
	// Freshness is invariant 4: lo is recent enough.
	Freshness
	// CommitReads is invariant 5: the reads of a commit are those of its place
	// in the order.
	CommitReads
	// CommitOrder is invariant 5: one commit for each timestamp from 1.
	CommitOrder
	// Causality is invariant 6: timestamps of one client do not go back.
	Causality
	// Opacity is invariant 11: an attempt saw one state.
	Opacity
	// Unwritten: a version was read that no commit wrote.
	Unwritten
	// TwoVersions: one transaction saw two versions of one block, against
	// invariants 4, 5 and 11 alike.
	TwoVersions
)

var ruleNames = [...]string{
	Malformed:   "malformed event",
	Snapshot:    "invariant 4 (snapshot)",
	Freshness:   "invariant 4 (freshness)",
	CommitReads: "invariant 5 (reads of a commit)",
	CommitOrder: "invariant 5 (commit order)",
	Causality:   "invariant 6 (causality)",
	Opacity:     "invariant 11 (opacity)",
	Unwritten:   "unwritten version",
	TwoVersions: "two versions of a block",
}

// String names the rule, with the invariant's number where it has one.
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return "unknown rule"
}

// Violation is one thing that a correct run cannot contain.
type Violation struct {
	Rule Rule
	// Event is the offender; the zero Event if the violation is not about one
	// (a missing timestamp, a commit given by Unknown).
	Event Event
	// Block is the block concerned, for violations about a read; else 0.
	Block occ.BlockID
	// Detail says in words what is wrong.
	Detail string

	whole bool // about the history, not about Event
}

// String prints the violation on one line.
func (v Violation) String() string {
	if v.whole {
		return fmt.Sprintf("%v: %s", v.Rule, v.Detail)
	}
	return fmt.Sprintf("%v: client %d, %s: %s", v.Rule, v.Event.Client, v.Event.title(), v.Detail)
}

// title identifies the event within its client.
func (e *Event) title() string {
	var at string
	switch e.Kind {
	case ReadOnly:
		at = fmt.Sprintf(" at [%d, %d]", e.Lo, e.Hi)
	case Validated, Committed:
		at = fmt.Sprintf(" at %d", e.Commit)
	}
	return fmt.Sprintf("%v%s (begin %d, end %d)", e.Kind, at, e.BeginSeq, e.EndSeq)
}
