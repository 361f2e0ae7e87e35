package nfsdump

import "github.com/tidemark/tidemark/traces"

// counts are the odd messages.
type counts struct {
	longTimes                                               int64
	short, dropped, impossible, missing, swapped, otherProc int64
}

func (c *counts) add(what odd) {
	if what == 0 {
		return
	}
	for _, f := range [...]struct {
		flag  odd
		count *int64
	}{
		{short, &c.short}, {dropped, &c.dropped}, {impossible, &c.impossible},
		{missing, &c.missing}, {swapped, &c.swapped}, {other, &c.otherProc},
	} {
		if what&f.flag != 0 {
			*f.count++
		}
	}
}

// Findings returns what was counted so far: the messages, the calls that made
// no operation, and what is odd.
func (d *Reader) Findings() []traces.Finding {
	found := d.tally.Findings(d.matcher.Counts())
	found = append(found, d.translator.Findings()...)
	c := &d.counts
	for _, f := range [...]struct {
		name string
		n    int64
	}{
		{"no messages", d.skipped},
		{"SHORT PACKET", c.short},
		{"JUMBO or LONGPACKET", c.dropped},
		{"impossible values", c.impossible},
		{"missing fields", c.missing},
		{"sizes with swapped halves", c.swapped},
		{"replies to another procedure", c.otherProc},
		{"fractions of a second of 7 digits and more", c.longTimes},
	} {
		if f.n > 0 {
			found = append(found, traces.Finding{Group: "nfsdump lines", Name: f.name, Count: f.n, Odd: true})
		}
	}
	return found
}
