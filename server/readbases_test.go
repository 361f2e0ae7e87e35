package server

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// slowValues are values of which the odd ones are on a slow disk. The data of a
// version is the number of its block.
type slowValues struct {
	values
	takes        func(core.Ref) (time.Duration, error)
	reads, under atomic.Int64
	most         atomic.Int64 // reads at a time
}

func (v *slowValues) get(r core.Ref) ([]byte, bool) {
	return []byte{byte(r.Block)}, r.Block%2 == 0
}

func (v *slowValues) read(r core.Ref) ([]byte, error) {
	v.reads.Add(1)
	for now := v.under.Add(1); ; {
		most := v.most.Load()
		if now <= most || v.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer v.under.Add(-1)
	takes, err := v.takes(r)
	<-time.After(takes)
	return []byte{byte(r.Block)}, err
}

// reader is a server that can read bases, and these: of cold blocks with odd
// numbers, each behind one that is in memory.
func reader(cold int, takes func(core.Ref) (time.Duration, error)) (*Server, *slowValues, []core.Ref) {
	v := &slowValues{takes: takes}
	var refs []core.Ref
	for i := range occ.BlockID(cold) {
		refs = append(refs, core.Ref{Block: 2 * i, From: 1}, core.Ref{Block: 2*i + 1, From: 1})
	}
	return &Server{opts: Options{}.withDefaults(), values: v, bases: newBaseRoom()}, v, refs
}

// TestBasesAreReadTogether: as many reads of a commit go on at a time as may,
// and what they return comes to its place.
func TestBasesAreReadTogether(t *testing.T) {
	second := func(core.Ref) (time.Duration, error) { return time.Second, nil }
	synctest.Test(t, func(t *testing.T) {
		s, v, refs := reader(maxBaseReaders+1, second)
		begun := time.Now()
		s.readEach(refs)
		if took := time.Since(begun); took != time.Second || v.reads.Load() != maxBaseReaders+1 {
			t.Errorf("%d reads took %v", v.reads.Load(), took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, v, refs := reader(100, second)
		refs = slices.Insert(refs, 50, core.Ref{}) // a whole block
		found := s.readEach(refs)
		for i, r := range refs {
			if want := []byte{byte(r.Block)}[:min(1, r.From)]; found.Err != nil || string(found.Data[i]) != string(want) {
				t.Errorf("base %d, of %+v, is %v", i, r, found.Data[i])
			}
		}
		if v.most.Load() != maxBaseReaders+1 {
			t.Errorf("up to %d reads at a time", v.most.Load())
		}
		if !s.bases.readers.TryAcquire(maxBaseReaders) {
			t.Error("somebody still reads")
		}
	})
}

// TestFirstBaseError: the error of a commit is that of its first base that
// cannot be read, whichever is known first, and then reading soon ends.
func TestFirstBaseError(t *testing.T) {
	for cause, want := range map[error]string{
		errDisk:           "data cannot be read: block 3 from 1: the disk failed (the server's log says more)",
		blocks.ErrDropped: "block 3 of timestamp 1, to change it: version 3: the version was dropped",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, v, refs := reader(100, func(r core.Ref) (time.Duration, error) {
				switch err := fmt.Errorf("version %d: %w", r.Block, cause); r.Block {
				case 3:
					return 3 * time.Second, err
				case 5:
					return 2 * time.Second, err
				case 7:
					return 500 * time.Millisecond, errors.New("another")
				}
				return time.Second, nil
			})
			found := s.readEach(refs)
			if err := found.Err; err == nil || err.Error() != want {
				t.Errorf("%v", err)
			}
			if n := v.reads.Load(); found.Data != nil || n != maxBaseReaders+1 {
				t.Errorf("%d reads, data of %d bases", n, len(found.Data))
			}
		})
	}
}
