package blocks

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/server/blocks/layout"
)

// TestSlotOfAnotherVersion puts each slot in the place of each other one, as a
// disk does that writes to a wrong place: it is whole, but whoever reads the
// version that was there is told that it is damaged, and so does a check.
func TestSlotOfAnotherVersion(t *testing.T) {
	w, img := closedWorld(t, 24)
	places, size := w.slotsOf(), int64(w.s.owner.SlotSize())
	sameSize := 0
	for from, moved := range places {
		for to, gone := range places {
			if from == to {
				continue
			}
			b := bytes.Clone(img[blocksName])
			if end := to + size; end > int64(len(b)) {
				b = append(b, make([]byte, end-int64(len(b)))...)
			}
			copy(b[to:to+size], img[blocksName][from:])
			if len(w.live[moved]) == len(w.live[gone]) {
				sameSize++
			}
			left := img.with(blocksName, b)
			v := *w
			var err error
			if v.s, _, err = Open(left.disk(t), w.opts); err != nil {
				t.Fatal(err)
			}
			for r := range w.live {
				err := v.verifyOne(r)
				var corrupt *CorruptError
				switch {
				case r != gone && err != nil:
					t.Fatalf("%v in the place of %v: %v: %v", moved, gone, r, err)
				case r == gone && (!errors.As(err, &corrupt) || corrupt.Offset < to || corrupt.Offset >= to+layout.SlotHeader || corrupt.Block != r.block || corrupt.From != r.from):
					t.Fatalf("%v in the place of %v was read: %v", moved, gone, err)
				}
			}
			must(t, v.s.Close())
			if found, unusable := left.check(w.opts); unusable != nil || len(found.damaged) != 1 || found.damaged[0].Block != gone.block || found.damaged[0].From != gone.from {
				t.Fatalf("%v in the place of %v: check finds %v, %v", moved, gone, found, unusable)
			}
		}
	}
	if sameSize == 0 {
		t.Errorf("of %d slots no two have as much data", len(places))
	}
}
