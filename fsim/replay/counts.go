package replay

// Counts is what a Runner counts.
type Counts struct {
	ReadOnly   int64 `json:"read_only"`  // committed transactions
	ReadWrite  int64 `json:"read_write"` // committed transactions
	Attempts   int64 `json:"attempts"`
	Aborted    int64 `json:"aborted"` // transactions that aborted at least once
	Failed     int64 `json:"failed"`  // transactions given up after MaxAttempts
	Restarts   int64 `json:"restarts"`
	Operations int64 `json:"operations"`
	Absent     int64 `json:"absent"` // operations on files that did not exist
	Odd        int64 `json:"odd"`    // operations that do not fit the files and directories they meet
}

// Add adds the counters of o.
func (c *Counts) Add(o Counts) {
	c.ReadOnly += o.ReadOnly
	c.ReadWrite += o.ReadWrite
	c.Attempts += o.Attempts
	c.Aborted += o.Aborted
	c.Failed += o.Failed
	c.Restarts += o.Restarts
	c.Operations += o.Operations
	c.Absent += o.Absent
	c.Odd += o.Odd
}
