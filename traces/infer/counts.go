package infer

import "github.com/tidemark/tidemark/traces"

// Counts says what was found. Transactions are counted when they begin in
// the stream of events and opens by cause when they end, so the counts are
// complete at its end.
type Counts struct {
	Operations int64 `json:"operations"`

	ReadOnly  int64 `json:"read_only"`  // transactions
	ReadWrite int64 `json:"read_write"` // transactions

	Singles       int64 `json:"singles"` // transactions of one line
	ExplicitOpens int64 `json:"explicit_opens"`
	ImplicitOpens int64 `json:"implicit_opens"`
	EmptyOpens    int64 `json:"empty_opens"` // explicit opens without a Block

	Closed          int64 `json:"closed"`            // opens ended by a Close
	Reopened        int64 `json:"reopened"`          // by another Open
	AttrRead        int64 `json:"attr_read"`         // by an Attr READ or a Lookup
	Deleted         int64 `json:"deleted"`           // by a Delete or Rmdir
	Committed       int64 `json:"committed"`         // by a Commit
	Full            int64 `json:"full"`              // by a Block that would bring it above MaxWritten
	TimedOut        int64 `json:"timed_out"`         // by the 120 s rule
	EndOfTrace      int64 `json:"end_of_trace"`      // by the end of the trace
	UnmatchedCloses int64 `json:"unmatched_closes"`  // Close lines without an open
	IdleCommits     int64 `json:"idle_commits"`      // Commit lines that ended nothing
	MaxOpen         int   `json:"max_open"`          // most opens at one time
	MaxBuffered     int   `json:"max_buffered"`      // most lines and ends held back at one time
	LongestWaitList int   `json:"longest_wait_list"` // most opens ended by one Delete or Rmdir

	traces.ReorderCounts
}

// Transactions is the number of all transactions.
func (c *Counts) Transactions() int64 { return c.ReadOnly + c.ReadWrite }

func (c *Counts) begun(class Class, origin Origin) {
	if class == ReadOnly {
		c.ReadOnly++
	} else {
		c.ReadWrite++
	}
	switch origin {
	case Single:
		c.Singles++
	case ExplicitOpen:
		c.ExplicitOpens++
	case ImplicitOpen:
		c.ImplicitOpens++
	}
}

func (c *Counts) ended(cause Cause) {
	switch cause {
	case Closed:
		c.Closed++
	case Reopened:
		c.Reopened++
	case AttrRead:
		c.AttrRead++
	case Deleted:
		c.Deleted++
	case Committed:
		c.Committed++
	case Full:
		c.Full++
	case TimedOut:
		c.TimedOut++
	case EndOfTrace:
		c.EndOfTrace++
	}
}
