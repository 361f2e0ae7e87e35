package history

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
)

// Result is what a Checker found in a whole history.
type Result struct {
	// Checked counts the events taken in, by Kind.
	Checked [kinds]int `json:"checked"`
	// Violations are the first ones found, up to Options.Keep; Total counts
	// all.
	Violations []Violation `json:"violations"`
	Total      int         `json:"total"`
	// TooOld counts what could not be judged: an event that needed history
	// that is gone or commits that did not come in time, or a commit that came
	// only after its timestamp had been passed over.
	TooOld int `json:"too_old"`
	// Forgiven is how many missing timestamps were put down to commits in
	// doubt.
	Forgiven uint64 `json:"forgiven"`
	// Newest is the largest commit timestamp of the history.
	Newest occ.Timestamp `json:"newest"`
}

// Events returns how many events were taken in.
func (r Result) Events() int {
	n := 0
	for _, k := range r.Checked {
		n += k
	}
	return n
}

// Err returns nil if everything was judged and nothing was wrong, else an
// *Error.
func (r Result) Err() error {
	if r.Total == 0 && r.TooOld == 0 {
		return nil
	}
	e := &Error{Total: r.Total, TooOld: r.TooOld}
	if len(r.Violations) > 0 {
		e.First = &r.Violations[0]
	}
	return e
}

// String prints the result on one line.
func (r Result) String() string {
	return fmt.Sprintf("%d events checked (%d read-only, %d validated, %d committed, %d aborted, %d in doubt): %d violations, %d not judged",
		r.Events(), r.Checked[ReadOnly], r.Checked[Validated], r.Checked[Committed], r.Checked[Aborted], r.Checked[InDoubt], r.Total, r.TooOld)
}

// Error says that a history is wrong, or could not be judged in full.
type Error struct {
	// Total and TooOld are those of the Result.
	Total, TooOld int
	// First is the first violation; nil if there is none, or none was kept.
	First *Violation
}

func (e *Error) Error() string {
	s := fmt.Sprintf("history: %d violations, %d events not judged", e.Total, e.TooOld)
	if e.First != nil {
		s += "; first: " + e.First.String()
	}
	return s
}
