package core

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// RestoreError says that what Restore was given does not describe a store: the
// encoding of the state is intact, but not what it says.
type RestoreError struct{ Reason string }

// Error returns one line.
func (e *RestoreError) Error() string { return "the checkpoint cannot be used: " + e.Reason }

// Versions yields the versions of a checkpoint: in the order of their blocks,
// those of a block oldest first, each with the size of its data in bytes. It
// stops when yield returns an error, and returns that or its own.
type Versions func(yield func(block occ.BlockID, from occ.Timestamp, size int) error) error

// Restore makes a new core what it was when BeginState began state. versions are
// those that had been put and not dropped then. What the core has no use for
// is dropped by effects. Recover follows for the groups behind the checkpoint,
// if there are any, and then Start.
//
// Errors are a *record.DecodeError, a *RestoreError, or what versions returns;
// after one the core is of no use.
func (c *Core) Restore(state []byte, versions Versions) error {
	s, err := record.DecodeState(state)
	if err != nil {
		return err
	}
	if reason := c.restoreState(s); reason != "" {
		return &RestoreError{reason}
	}
	var last Ref
	err = versions(func(block occ.BlockID, from occ.Timestamp, size int) error {
		ref := Ref{Block: block, From: from}
		switch {
		case from == 0 || from > s.Stable:
			return &RestoreError{fmt.Sprintf("version %d of block %d, but stable is %d", from, block, s.Stable)}
		case last.From > 0 && (ref.Block < last.Block || ref.Block == last.Block && ref.From <= last.From):
			return &RestoreError{fmt.Sprintf("version %d of block %d behind version %d of block %d", from, block, last.From, last.Block)}
		case size < 0 || uint64(size) > c.cfg.BlockSize:
			return &RestoreError{fmt.Sprintf("version %d of block %d has %d bytes, a block is %d", from, block, size, c.cfg.BlockSize)}
		}
		last = ref
		c.supersede(block, from)
		weight := weightOf(uint64(size))
		c.versions.Add(block, from, weight)
		c.values.bytes += int64(weight)
		return nil
	})
	if err != nil {
		return err
	}
	c.Sweep()
	return nil
}

// restoreState returns why the state cannot be one.
func (c *Core) restoreState(s *record.State) string {
	switch {
	case c.versions.Stable() > 0 || len(c.sessions) > 0:
		return "the core is not a new one"
	case s.Horizon > s.Stable:
		return fmt.Sprintf("horizon %d above timestamp %d", s.Horizon, s.Stable)
	case s.Stable == occ.Open:
		return "timestamps are used up"
	case s.Next == 0:
		return "no block id is the next"
	}
	c.versions.SetHeads(s.Stable, s.Horizon)
	c.collect(s.Horizon)
	c.epoch, c.logged.epoch = s.Epoch, s.Epoch
	c.nextID, c.logged.nextID = s.Next, s.Next
	for i := range s.Sessions {
		if reason := c.restoreSession(&s.Sessions[i]); reason != "" {
			return reason
		}
	}
	for _, p := range s.Pins {
		if p.At > s.Stable {
			return fmt.Sprintf("%.40q pins %d above timestamp %d", p.Name, p.At, s.Stable)
		}
		c.applyPin(&p)
		c.pins.coming.put(pin{name: p.Name, at: p.At, lease: p.Lease})
	}
	return ""
}

func (c *Core) restoreSession(state *record.SessionState) string {
	if c.sessions[state.ID] != nil || state.ID == (occ.SessionID{}) {
		return "a session without an id, or with that of another"
	}
	s := c.addSession(state.ID)
	s.recovered = true
	c.sessionLogged(s)
	for _, o := range state.Outcomes {
		if o.At > c.versions.Stable() {
			return fmt.Sprintf("a commit at %d above timestamp %d", o.At, c.versions.Stable())
		}
		kept := s.add(o.Seq, o.Digest)
		kept.at, kept.state = o.At, outcomeCommitted
	}
	s.mark, s.next = state.Mark, state.Next
	s.logged.mark, s.logged.next = state.Mark, state.Next
	return ""
}
