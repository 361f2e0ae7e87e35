package nfsdump

import (
	"math/bits"

	"github.com/tidemark/tidemark/traces"
)

// oddNames are what the bits of odd are called in Findings.
var oddNames = [6]string{
	"SHORT PACKET", "JUMBO or LONGPACKET", "impossible values", "missing fields", "sizes with swapped halves",
	"replies to another procedure",
}

// counts are the odd messages.
type counts struct {
	longTimes int64
	odd       [6]int64 // by bit of odd
}

func (c *counts) add(what odd) {
	for ; what != 0; what &= what - 1 {
		c.odd[bits.TrailingZeros8(uint8(what))]++
	}
}

// Findings returns what was counted so far: the messages, the calls that made
// no operation, and what is odd.
func (d *Reader) Findings() []traces.Finding {
	found := d.tally.Findings(d.matcher.Counts())
	found = append(found, d.translator.Findings()...)
	add := func(name string, n int64) {
		if n > 0 {
			found = append(found, traces.Finding{Group: "nfsdump lines", Name: name, Count: n, Odd: true})
		}
	}
	add("no messages", d.skipped)
	for i, name := range oddNames {
		add(name, d.counts.odd[i])
	}
	add("fractions of a second of 7 digits and more", d.counts.longTimes)
	return found
}
