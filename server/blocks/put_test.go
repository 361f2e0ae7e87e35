package blocks

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// TestPutDamaged: a version without data stays one, in memory, on disk, across
// checkpoints and openings, and nothing else has to do with it.
func TestPutDamaged(t *testing.T) {
	d, o := disk.NewMemory(), Options{BlockSize: 64, CacheBytes: 1}
	s, _, err := Open(d, o)
	must(t, err)
	refuses := func(from occ.Timestamp) {
		t.Helper()
		var corrupt *CorruptError
		if _, inMemory := s.Get(1, from); inMemory {
			t.Fatal("there are data")
		}
		if _, err := s.Read(1, from); !errors.As(err, &corrupt) || corrupt.Block != 1 || corrupt.From != from || corrupt.Reason != layout.MadeOfDamaged {
			t.Fatalf("read: %v", err)
		}
	}
	checkpoint := func(at occ.Timestamp) {
		t.Helper()
		must(t, s.Begin(Moment{LogIndex: uint64(at), Stable: at}, nil))
		for done := false; !done; {
			done, err = s.Step()
			must(t, err)
		}
	}
	cause := &CorruptError{File: blocksName, Offset: layout.PageSize, Block: 1, From: 1, Reason: "checksum mismatch"}
	s.Put(1, 2, []byte("soon replaced"))
	s.PutDamaged(1, 2, cause)
	s.Put(2, 2, []byte("other"))
	refuses(2)
	for at := occ.Timestamp(2); at < 5; at++ {
		checkpoint(at)
		refuses(2)
		must(t, s.Close())
		c, err := checkDisk(d, o)
		if err != nil || c.versions != 2 || len(c.damaged) != 1 || c.damaged[0].From != 2 {
			t.Fatalf("%+v, %v", c, err)
		}
		s, _, err = Open(d, o)
		must(t, err)
		refuses(2)
	}
	s.Put(1, 5, []byte("whole"))
	s.PutDamaged(3, 5, cause)
	s.Put(3, 5, []byte("good after all"))
	s.Drop(1, 2)
	checkpoint(5)
	must(t, s.Close())
	if c, err := checkDisk(d, o); err != nil || c.versions != 3 || len(c.damaged) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
}
