package history

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// TestChosen: a transaction at a chosen timestamp must see what was current
// then; how old that is, and what its client did before, does not matter. What
// the client does afterwards must not lie before it.
func TestChosen(t *testing.T) {
	chosen := func(lo, hi occ.Timestamp, rs []occ.Read) Event {
		e := readOnly(lo, hi, rs)
		e.Chosen = true
		return e
	}
	newest := seqs(readOnly(4, 4, reads(7, 3)), 1, 2)
	for name, c := range map[string]struct {
		events []Event
		want   string // part of the one violation; nothing for none
	}{
		"old":             {[]Event{newest, seqs(at(chosen(2, 2, reads(7, 1, 8, 2)), 100, 0), 3, 4)}, ""},
		"old, not chosen": {[]Event{newest, seqs(readOnly(2, 2, reads(7, 1, 8, 2)), 3, 4)}, "causality"},
		"not of then":     {[]Event{newest, seqs(chosen(2, 2, reads(7, 3)), 3, 4)}, "snapshot"},
		"a range":         {[]Event{seqs(chosen(2, 3, reads(8, 2)), 1, 2)}, "snapshot"},
		"in the future":   {[]Event{seqs(chosen(5, 5, nil), 1, 2)}, "snapshot"},
		"newer before":    {[]Event{seqs(chosen(4, 4, nil), 1, 2), seqs(readOnly(3, 3, nil), 3, 4)}, "causality"},
		"newer beside":    {[]Event{seqs(chosen(4, 4, nil), 1, 3), seqs(readOnly(3, 3, nil), 2, 4)}, ""},
	} {
		check := New(Options{})
		for i := range occ.Timestamp(4) {
			check.Applied(10, i+1)
		}
		for _, e := range slices.Concat(base(), c.events) {
			check.Record(e)
		}
		r := check.Finish()
		if c.want == "" && r.Total != 0 || c.want != "" && (r.Total != 1 || !strings.Contains(r.Violations[0].String(), c.want)) {
			t.Errorf("%s: %d violations, %v; want %q", name, r.Total, r.Violations, c.want)
		}
	}
}
