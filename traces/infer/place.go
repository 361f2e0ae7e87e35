package infer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/traces"
)

// entries makes a tree of the entries that were found: it leaves out those
// that cannot be, and puts the rest in order. It returns the number of all
// that was misplaced.
func (p *imagePass) entries() ([]Entry, int64) {
	var kept []Entry
	own := map[traces.FID]int{} // the index in kept of a directory's entry
	for _, e := range p.tree.found {
		dir, file := p.files[e.Dir], p.files[e.FID]
		_, twice := own[e.FID]
		if dir.kind != traces.Dir || !dir.wasThere() || !file.wasThere() || twice {
			p.tree.misplaced++
			continue
		}
		if file.kind == traces.Dir {
			own[e.FID] = len(kept)
		}
		kept = append(kept, e)
	}
	cut := cycles(kept, own)
	p.tree.misplaced += int64(len(cut))
	rest := kept[:0]
	for i, e := range kept {
		if len(cut) > 0 && cut[0] == i {
			cut = cut[1:]
			delete(own, e.FID)
			continue
		}
		rest = append(rest, e)
	}
	return preorder(rest, own), p.tree.misplaced
}

// cycles returns the indices of the entries that close a circle of
// directories, ascending: of each circle, the one that was found last.
func cycles(entries []Entry, own map[traces.FID]int) (cut []int) {
	done := map[traces.FID]int{} // by which way up it was passed
	for i, e := range entries {
		if at, is := own[e.FID]; !is || at != i || done[e.FID] != 0 {
			continue
		}
		way := i + 1
		at, up := i, true
		for ; up && done[entries[at].FID] == 0; at, up = own[entries[at].Dir] {
			done[entries[at].FID] = way
		}
		if !up || done[entries[at].FID] != way {
			continue
		}
		last := at
		for next := own[entries[at].Dir]; next != at; next = own[entries[next].Dir] {
			last = max(last, next)
		}
		cut = append(cut, last)
	}
	slices.Sort(cut)
	return cut
}

// preorder sorts entries so that a directory's own comes before those in it,
// and those of one directory stand together, by name.
func preorder(entries []Entry, own map[traces.FID]int) []Entry {
	children := map[traces.FID][]Entry{}
	var next []traces.FID // the directories to be gone through, last first
	for _, e := range entries {
		if _, below := own[e.Dir]; !below && children[e.Dir] == nil {
			next = append(next, e.Dir)
		}
		children[e.Dir] = append(children[e.Dir], e)
	}
	slices.SortFunc(next, func(a, b traces.FID) int { return cmp.Compare(b, a) })
	sorted := make([]Entry, 0, len(entries))
	for len(next) > 0 {
		in := children[next[len(next)-1]]
		next = next[:len(next)-1]
		slices.SortFunc(in, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		sorted = append(sorted, in...)
		for _, e := range slices.Backward(in) {
			if len(children[e.FID]) > 0 {
				next = append(next, e.FID)
			}
		}
	}
	return sorted
}
