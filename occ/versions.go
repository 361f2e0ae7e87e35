package occ

import "slices"

// Versions is the index of a multi-version store: which version of each
// block began when. It holds no data. It knows two heads: stable, up to which
// transactions are applied and visible, and assigned, up to which they are
// validated (protocol, section 7).
//
// It is what the server decides with, and nothing else: the same calls in
// the same order give the same answers.
type Versions struct {
	chains   map[BlockID][]Timestamp // starts of stable versions, ascending; version 0 is implied until collected
	pending  map[BlockID]Timestamp   // newest validated version that is not yet applied
	stable   Timestamp
	assigned Timestamp
	horizon  Timestamp
	faults   Faults
}

// NewVersions returns the index of an empty store.
func NewVersions(f Faults) *Versions {
	return &Versions{
		chains:  make(map[BlockID][]Timestamp),
		pending: make(map[BlockID]Timestamp),
		faults:  f,
	}
}

// Stable is the newest applied timestamp; Assigned the newest validated one;
// Horizon the oldest timestamp that can still be looked up.
func (v *Versions) Stable() Timestamp { return v.stable }

// Assigned is the newest timestamp given to a validated transaction.
func (v *Versions) Assigned() Timestamp { return v.assigned }

// Horizon is the oldest timestamp that Lookup still answers.
func (v *Versions) Horizon() Timestamp { return v.horizon }

// Newest returns the start of b's newest version, counting validated
// transactions that are not applied yet.
func (v *Versions) Newest(b BlockID) Timestamp {
	if t, ok := v.pending[b]; ok && !v.faults.ForgetPending {
		return t
	}
	return v.Current(b)
}

// Current returns the start of b's newest applied version.
func (v *Versions) Current(b BlockID) Timestamp {
	if c := v.chains[b]; len(c) > 0 {
		return c[len(c)-1]
	}
	return 0
}

// Validate is backward validation: it returns the blocks of the read set
// whose newest version is not the one that was read, each with the start of
// that newest version. Validated transactions that are not yet durable count.
func (v *Versions) Validate(reads []Read) []Read {
	if v.faults.SkipReadCheck {
		return nil
	}
	var changed []Read
	for _, r := range reads {
		if n := v.Newest(r.Block); n != r.From {
			changed = append(changed, Read{Block: r.Block, From: n})
		}
	}
	return changed
}

// ValidateStable is Validate against the stable state alone: the rule for a
// transaction that writes nothing (protocol, section 6).
func (v *Versions) ValidateStable(reads []Read) []Read {
	if v.faults.SkipReadCheck {
		return nil
	}
	var changed []Read
	for _, r := range reads {
		if n := v.Current(r.Block); n != r.From {
			changed = append(changed, Read{Block: r.Block, From: n})
		}
	}
	return changed
}

// Assign gives a validated transaction the next timestamp and notes what it
// will write.
func (v *Versions) Assign(writes []Write) Timestamp {
	v.assigned++
	for _, w := range writes {
		v.pending[w.Block] = v.assigned
	}
	return v.assigned
}

// Apply makes the transaction that was given timestamp at visible. It must
// be called once for each timestamp, in order; on recovery without Assign
// before it.
func (v *Versions) Apply(at Timestamp, writes []Write) {
	if at != v.stable+1 {
		panic("occ: transactions applied out of timestamp order")
	}
	v.stable = at
	v.assigned = max(v.assigned, at)
	for _, w := range writes {
		c := v.chains[w.Block]
		if len(c) > 0 && c[len(c)-1] == at {
			continue // the block stands twice in one write set
		}
		v.chains[w.Block] = append(c, at)
		if v.pending[w.Block] == at {
			delete(v.pending, w.Block)
		}
	}
}

// Lookup returns the validity interval of b's version at timestamp at, which
// must not be above Stable; Latest asks for the newest. ok is false when at
// lies below the horizon: the version is gone, whatever it was.
func (v *Versions) Lookup(b BlockID, at Timestamp) (iv Interval, ok bool) {
	if at != Latest && at < v.horizon {
		return Interval{}, false
	}
	c := v.chains[b]
	i, found := slices.BinarySearch(c, at)
	if !found {
		i--
	}
	iv = Interval{From: 0, To: Open}
	if i >= 0 {
		iv.From = c[i]
	}
	if i+1 < len(c) {
		iv.To = c[i+1]
	}
	return iv, true
}

// SetHorizon raises the horizon: lookups below it are gone from now on.
// Collect then removes the versions that only they could reach.
func (v *Versions) SetHorizon(h Timestamp) {
	v.horizon = max(v.horizon, min(h, v.stable))
}

// Collect forgets the versions of b that ended at or before the horizon and
// returns their starts.
func (v *Versions) Collect(b BlockID) []Timestamp {
	c := v.chains[b]
	keep := 0
	for keep+1 < len(c) && c[keep+1] <= v.horizon {
		keep++
	}
	if keep == 0 {
		return nil
	}
	gone := slices.Clone(c[:keep])
	v.chains[b] = slices.Delete(c, 0, keep)
	return gone
}
