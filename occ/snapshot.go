package occ

// Snapshot is the rule by which a read-only transaction narrows the range of
// timestamps at which it can be said to have run (protocol, section 5). Every
// version read covers all of [Lo, Hi]; the transaction ran at any timestamp
// of that range.
//
// The zero value has Lo 0 and nothing read.
type Snapshot struct {
	// Lo is the oldest timestamp at which the transaction may run.
	Lo Timestamp
	// last is the largest timestamp at which every closed version read is
	// still valid; meaningful while closed is set.
	last   Timestamp
	closed bool
}

// SnapshotAt is the rule for a transaction that runs at exactly at.
func SnapshotAt(at Timestamp) Snapshot { return Snapshot{Lo: at, last: at, closed: true} }

// Hi is the newest timestamp at which the transaction may run: glub, the
// client's GLUB, as long as every version read is open, else the last
// timestamp at which all the closed ones are valid.
func (s *Snapshot) Hi(glub Timestamp) Timestamp {
	if s.closed {
		return s.last
	}
	return glub
}

// Fits reports whether a version with validity iv can be read: its interval
// meets [Lo, Hi]. An open version counts as valid through glub.
func (s *Snapshot) Fits(iv Interval, glub Timestamp) bool {
	end := glub
	if iv.To != Open {
		end = iv.To - 1
	}
	return iv.From <= s.Hi(glub) && end >= s.Lo
}

// Admit narrows the range by a version that fits and was read.
func (s *Snapshot) Admit(iv Interval) {
	s.Lo = max(s.Lo, iv.From)
	if iv.To != Open {
		s.Close(iv.To)
	}
}

// Close narrows the range because a version that was read open turned out to
// end at to.
func (s *Snapshot) Close(to Timestamp) {
	if !s.closed || to-1 < s.last {
		s.last = to - 1
	}
	s.closed = true
}

// AskAt is the timestamp for which a block that is not cached has to be
// requested: Latest while all versions read are open, else Hi. A version
// that comes back with a start above Hi does not fit, and since that happens
// only after some version closed, asking again asks at Hi.
func (s *Snapshot) AskAt() Timestamp {
	if s.closed {
		return s.last
	}
	return Latest
}
