package occ

import "slices"

// Versions is the index of a multi-version store: which version of each
// block began when. It holds no data. It knows two heads: stable, up to which
// transactions are applied and visible, and assigned, up to which they are
// validated (protocol, section 7).
//
// Current versions take 12 bytes a block, in pages. Superseded ones are kept
// aside, by their starts alone: one that ends above the horizon ends where the
// next begins, because that one is kept too. Version 0 takes no memory: what
// is readable and older than all that is kept is version 0.
//
// It is what the server decides with, and nothing else: the same calls in
// the same order give the same answers.
type Versions struct {
	pages    pages
	old      map[BlockID][]Timestamp // starts of superseded versions but 0, ascending
	retained int                     // versions in old
	pending  map[BlockID]Timestamp   // newest validated version that is not yet applied
	expected int                     // writes that are validated and not yet applied
	pins     pinned
	stable   Timestamp
	assigned Timestamp
	horizon  Timestamp
	faults   Faults
}

// OldVersionBytes is about what a superseded version costs in memory, here and
// in the list by ends that retention needs.
const OldVersionBytes = 128

// NewVersions returns the index of an empty store.
func NewVersions(f Faults) *Versions {
	return &Versions{
		pages:   newPages(),
		old:     make(map[BlockID][]Timestamp),
		pending: make(map[BlockID]Timestamp),
		faults:  f,
	}
}

// Stable is the newest applied timestamp.
func (v *Versions) Stable() Timestamp { return v.stable }

// Assigned is the newest timestamp given to a validated transaction.
func (v *Versions) Assigned() Timestamp { return v.assigned }

// Horizon is the oldest timestamp from which on Lookup answers for all; below
// it only pinned ones are left.
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
	from, _ := v.pages.current(b)
	return from
}

// Weight returns what b's newest applied version weighs, as Apply was told; 0
// for version 0.
func (v *Versions) Weight(b BlockID) uint32 {
	_, weight := v.pages.current(b)
	return weight
}

// Blocks is how many blocks have a version besides version 0.
func (v *Versions) Blocks() int { return v.pages.blocks }

// Retained is how many superseded versions are kept, version 0 not counted.
func (v *Versions) Retained() int { return v.retained }

// Bytes is about how much memory the index takes, and will take when
// everything assigned is applied.
func (v *Versions) Bytes() int64 {
	return int64(len(v.pages.byNumber))*PageBytes + int64(v.retained+v.expected)*OldVersionBytes
}

// Growth is by how much Bytes grows at most if writes are assigned.
func (v *Versions) Growth(writes []Write) int64 {
	return int64(v.pages.missing(writes))*PageBytes + int64(len(writes))*OldVersionBytes
}

// Validate is backward validation: it returns the blocks of the read set
// whose newest version is not the one that was read, each with the start of
// that newest version. Validated transactions that are not yet durable count.
func (v *Versions) Validate(reads []Read) []Read { return v.changed(reads, v.Newest) }

// ValidateStable is Validate against the stable state alone: the rule for a
// transaction that writes nothing (protocol, section 6).
func (v *Versions) ValidateStable(reads []Read) []Read { return v.changed(reads, v.Current) }

// changed returns the reads that are not of the newest version, each with the
// start of that one.
func (v *Versions) changed(reads []Read, newest func(BlockID) Timestamp) []Read {
	if v.faults.SkipReadCheck {
		return nil
	}
	var changed []Read
	for _, r := range reads {
		if n := newest(r.Block); n != r.From {
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
		v.pages.reserve(w.Block)
	}
	v.expected += len(writes)
	return v.assigned
}

// Apply makes the transaction that was given timestamp at visible. It must
// be called once for each timestamp, in order; on recovery without Assign
// before it. weigh says what the version that a write makes weighs.
func (v *Versions) Apply(at Timestamp, writes []Write, weigh func(Write) uint32) {
	if at != v.stable+1 {
		panic("occ: transactions applied out of timestamp order")
	}
	v.stable = at
	if at <= v.assigned {
		v.expected -= len(writes)
	} else {
		v.assigned = at
	}
	for _, w := range writes {
		from, _ := v.pages.current(w.Block)
		if from == at {
			continue // the block stands twice in one write set
		}
		v.Add(w.Block, at, weigh(w))
		if v.pending[w.Block] == at {
			delete(v.pending, w.Block)
		}
	}
}

// Add makes version from of b the current one, as Apply does; the one before
// is superseded. It is for an index that is made anew: of each block the
// versions come oldest first, between SetHeads and the first Assign or Apply.
func (v *Versions) Add(b BlockID, from Timestamp, weight uint32) {
	if current := v.Current(b); current > 0 {
		v.old[b] = append(v.old[b], current)
		v.retained++
	}
	v.pages.set(b, from, weight)
}

// SetHeads gives an empty index the heads of one that is made anew.
func (v *Versions) SetHeads(stable, horizon Timestamp) {
	v.stable, v.assigned, v.horizon = stable, stable, horizon
}

// Lookup returns the validity interval of b's version at timestamp at, which
// must not be above Stable; Latest asks for the newest. ok is false when at
// is not Readable: the version is gone, whatever it was.
//
// Of a version that ended at or below the horizon the interval is cut short
// behind the newest pinned timestamp inside it: nobody can ask for more of it,
// and its true end need not be known any more.
func (v *Versions) Lookup(b BlockID, at Timestamp) (iv Interval, ok bool) {
	if at != Latest && !v.Readable(at) {
		return Interval{}, false
	}
	current, _ := v.pages.current(b)
	if at >= current {
		return Interval{From: current, To: Open}, true
	}
	old := v.old[b]
	i, found := slices.BinarySearch(old, at)
	if found {
		i++
	}
	iv = Interval{From: 0, To: current}
	if i > 0 {
		iv.From = old[i-1]
	}
	if i < len(old) {
		iv.To = old[i]
	}
	if iv.To <= v.horizon {
		newest, _ := v.pins.newestIn(iv) // at is one of them
		iv.To = newest + 1
	}
	return iv, true
}

// SetHorizon raises the horizon: lookups below it are gone from now on, but
// for pinned timestamps. Collect then removes the versions that only they
// could reach.
func (v *Versions) SetHorizon(h Timestamp) {
	v.horizon = max(v.horizon, min(h, v.stable))
}

// Collect forgets the versions of b that ended at or before the horizon and
// hold no pinned timestamp. It returns their starts, without version 0.
func (v *Versions) Collect(b BlockID) (gone []Timestamp) {
	old := v.old[b]
	current, _ := v.pages.current(b)
	kept := 0
	for i, from := range old {
		to := current
		if i+1 < len(old) {
			to = old[i+1]
		}
		if to > v.horizon {
			if gone == nil {
				return nil
			}
			kept += copy(old[kept:], old[i:])
			break
		}
		if _, needed := v.pins.newestIn(Interval{From: from, To: to}); needed {
			old[kept] = from
			kept++
		} else {
			gone = append(gone, from)
		}
	}
	v.retained -= len(gone)
	if kept == 0 {
		delete(v.old, b)
	} else {
		v.old[b] = old[:kept]
	}
	return gone
}
