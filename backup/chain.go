package backup

import (
	"errors"
	"fmt"
	"io"
)

// MaxChain is how many backups a Chain joins at most.
const MaxChain = 1024

// Chain is a full backup and incremental ones that go on from it, read at once
// as if they were one: the newest version of each block. It keeps one frame of
// each in memory.
type Chain struct {
	readers []*Reader
	heads   []Record
	ended   []bool
	used    []bool // the head has been returned, or passed over
	err     error
}

// NewChain joins backups that have just been opened: first the full one, then
// each with what changed since the one before. It fails with a *ChainError if
// they do not fit; what is wrong further on is found by Next.
func NewChain(readers []*Reader) (*Chain, error) {
	if len(readers) == 0 || len(readers) > MaxChain {
		return nil, &ChainError{Name: "chain", Reason: fmt.Sprintf("it has %d backups, not 1 to %d", len(readers), MaxChain)}
	}
	first := readers[0]
	if since := first.h.Since; since != 0 {
		return nil, &ChainError{first.name, fmt.Sprintf("it has only what changed since timestamp %d, and comes first", since)}
	}
	for i, r := range readers[1:] {
		if reason := r.h.follows(readers[i].h, readers[i].name); reason != "" {
			return nil, &ChainError{r.name, reason}
		}
	}
	c := &Chain{readers: readers, heads: make([]Record, len(readers)), ended: make([]bool, len(readers)), used: make([]bool, len(readers))}
	for i := range c.used {
		c.used[i] = true
	}
	return c, nil
}

// follows returns why h does not go on from the backup before, which has a name.
func (h Header) follows(before Header, name string) string {
	switch {
	case h.Store != before.Store:
		return fmt.Sprintf("it is of store %v, and %s of store %v", h.Store, name, before.Store)
	case h.BlockSize != before.BlockSize:
		return fmt.Sprintf("it has blocks of %d bytes, and %s of %d", h.BlockSize, name, before.BlockSize)
	case h.Generation() != before.Generation():
		return fmt.Sprintf("the store was restored between %s and it", name)
	case h.Since != before.At:
		return fmt.Sprintf("it goes on from timestamp %d, and %s ends at %d", h.Since, name, before.At)
	case h.Epoch < before.Epoch || h.Next < before.Next:
		return fmt.Sprintf("it is older than %s", name)
	}
	return ""
}

// Header returns what the backups are of together.
func (c *Chain) Header() Header {
	h := c.readers[len(c.readers)-1].h
	h.Since = 0
	return h
}

// FileBytes returns how much has been read of all backups.
func (c *Chain) FileBytes() (n int64) {
	for _, r := range c.readers {
		n += r.at
	}
	return n
}

// Next returns the next record in the order of blocks, whose data are valid
// until the next call, and io.EOF behind the last one if all backups are whole.
// Errors are those of Reader.Next; after one it returns the same again.
func (c *Chain) Next() (Record, error) {
	if c.err != nil {
		return Record{}, c.err
	}
	best := -1
	for i, r := range c.readers {
		if c.used[i] && !c.ended[i] {
			var err error
			switch c.heads[i], err = r.Next(); {
			case errors.Is(err, io.EOF):
				c.ended[i] = true
			case err != nil:
				c.err = err
				return Record{}, err
			default:
				c.used[i] = false
			}
		}
		if !c.ended[i] && (best < 0 || c.heads[i].Block <= c.heads[best].Block) {
			best = i // a later backup has the newer version
		}
	}
	if best < 0 {
		c.err = io.EOF
		return Record{}, io.EOF
	}
	for i := range c.heads {
		c.used[i] = c.used[i] || c.heads[i].Block == c.heads[best].Block
	}
	return c.heads[best], nil
}
