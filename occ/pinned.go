package occ

import "slices"

// pinned are the timestamps that stay readable below the horizon, ascending,
// each once, with how many hold it.
type pinned struct {
	at    []Timestamp
	holds []int
}

// add holds at once more.
func (p *pinned) add(at Timestamp) {
	i, found := slices.BinarySearch(p.at, at)
	if !found {
		p.at = slices.Insert(p.at, i, at)
		p.holds = slices.Insert(p.holds, i, 0)
	}
	p.holds[i]++
}

// remove takes back one hold of at and reports whether it was the last.
func (p *pinned) remove(at Timestamp) (last bool) {
	i, found := slices.BinarySearch(p.at, at)
	if !found {
		return false
	}
	if p.holds[i]--; p.holds[i] > 0 {
		return false
	}
	p.at = slices.Delete(p.at, i, i+1)
	p.holds = slices.Delete(p.holds, i, i+1)
	return true
}

func (p *pinned) contains(at Timestamp) bool {
	_, found := slices.BinarySearch(p.at, at)
	return found
}

// newestIn returns the newest one in iv; ok is false if there is none.
func (p *pinned) newestIn(iv Interval) (at Timestamp, ok bool) {
	i, _ := slices.BinarySearch(p.at, iv.To)
	if i == 0 || p.at[i-1] < iv.From {
		return 0, false
	}
	return p.at[i-1], true
}

// Pin makes at readable whatever the horizon becomes. It must be readable
// now. Each Pin is taken back by an Unpin.
func (v *Versions) Pin(at Timestamp) { v.pins.add(at) }

// Unpin takes back one Pin of at, and reports whether it was the last: if the
// horizon has passed at, it is gone from then on, and Collect removes what
// only it could reach.
func (v *Versions) Unpin(at Timestamp) (last bool) { return v.pins.remove(at) }

// PinnedIn returns the newest pinned timestamp inside iv; ok is false if there
// is none.
func (v *Versions) PinnedIn(iv Interval) (at Timestamp, ok bool) { return v.pins.newestIn(iv) }

// Readable reports whether Lookup answers for at: it is not below the horizon,
// or it is pinned.
func (v *Versions) Readable(at Timestamp) bool { return at >= v.horizon || v.pins.contains(at) }
