package salvage

import (
	"strings"
	"testing"
)

// TestSummaryState: what is called the state at a timestamp says whether blocks
// are missing from it.
func TestSummaryState(t *testing.T) {
	for _, c := range []struct {
		s    Summary
		want string
	}{
		{Summary{Consistent: true, Stable: 7}, "that at timestamp 7\n"},
		{Summary{Consistent: true, Stable: 7, LostStale: 1}, "that at timestamp 7, but for lost blocks\n"},
		{Summary{Consistent: true, Stable: 7, LostZeros: 1}, "that at timestamp 7, but for lost blocks\n"},
		{Summary{Stable: 7}, "NOT CONSISTENT: blocks of different moments, up to timestamp 7\n"},
	} {
		var b strings.Builder
		if _, err := c.s.WriteTo(&b); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%+v prints %s (%v)", c.s, &b, err)
		}
	}
}
