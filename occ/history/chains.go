package history

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// chains holds, for each block that was ever written, the beginnings of its
// versions in rising order. The first may be any version that is current at
// the horizon; older ones are forgotten. A block that is not in the map has
// only version 0.
type chains map[occ.BlockID][]occ.Timestamp

// standing is what is known of a version.
type standing uint8

const (
	written   standing = iota // it exists, and its end is exact
	forgotten                 // if it exists, it ended at or before the given end
	unwritten                 // no commit wrote it
)

// find returns the end of the version of r, occ.Open if there is none.
func (c chains) find(r occ.Read) (to occ.Timestamp, s standing) {
	chain, ok := c[r.Block]
	if !ok {
		if r.From == 0 {
			return occ.Open, written
		}
		return occ.Open, unwritten
	}
	if chain[len(chain)-1] == r.From {
		return occ.Open, written
	}
	i, found := slices.BinarySearch(chain, r.From)
	switch {
	case found:
		return chain[i+1], written
	case i == 0:
		return chain[0], forgotten
	case i == len(chain):
		return occ.Open, unwritten
	default:
		return chain[i], unwritten
	}
}

// write adds the version of b that begins at ts. One that lies before what is
// remembered, or is there already, changes nothing.
func (c chains) write(b occ.BlockID, ts occ.Timestamp) {
	chain, ok := c[b]
	if !ok {
		c[b] = []occ.Timestamp{0, ts}
		return
	}
	if ts > chain[len(chain)-1] {
		c[b] = append(chain, ts)
		return
	}
	if i, found := slices.BinarySearch(chain, ts); !found && i > 0 {
		c[b] = slices.Insert(chain, i, ts)
	}
}

// trim forgets the versions of b that ended at or before horizon.
func (c chains) trim(b occ.BlockID, horizon occ.Timestamp) {
	chain := c[b]
	n := 0
	for n+1 < len(chain) && chain[n+1] <= horizon {
		n++
	}
	if n > 0 {
		c[b] = chain[n:]
	}
}
