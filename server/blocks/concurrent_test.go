package blocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
)

// dataOf is the data of a version, which can be told from its name.
func dataOf(block occ.BlockID, from occ.Timestamp) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(block))
	b = binary.LittleEndian.AppendUint64(b, uint64(from))
	return bytes.Repeat(b, 1+int(from%6))
}

// TestConcurrent has one goroutine put and drop versions and begin
// checkpoints, one make them, one write back, and several read whatever there
// may be.
func TestConcurrent(t *testing.T) {
	const blocks, commits, window, readers = 16, 2000, 40, 2
	o := tiny
	o.CacheBytes = 2000
	s, _, err := Open(disk.NewMemory(), o)
	must(t, err)
	var stable atomic.Uint64
	var exact, gone atomic.Int64
	var work, owner sync.WaitGroup
	ended := make(chan struct{})
	running := func() bool {
		select {
		case <-ended:
			return false
		default:
			return true
		}
	}
	block := func(at uint64) occ.BlockID { return occ.BlockID(at * 7 % blocks) }
	owner.Go(func() {
		enough := func() bool {
			st := s.Stats()
			return exact.Load() > 500 && st.Reads > 100 && st.Checkpoints > 2
		}
		for at := uint64(1); at <= commits || !enough() && !t.Failed(); at++ {
			for s.Dirty() > 2*o.DirtyBytes {
				if _, err := s.WriteBack(); err != nil {
					t.Error(err)
				}
			}
			s.Put(block(at), occ.Timestamp(at), dataOf(block(at), occ.Timestamp(at)))
			if at > window {
				s.Drop(block(at-window), occ.Timestamp(at-window))
			}
			stable.Store(at)
			if at%50 == 0 {
				if err := s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, nil); err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			}
		}
		close(ended)
	})
	for _, step := range []func() (bool, error){s.Step, s.WriteBack} {
		work.Go(func() {
			for running() {
				done, err := step()
				if err != nil {
					t.Error(err)
					return
				}
				if done {
					runtime.Gosched()
				}
			}
		})
	}
	for i := range readers {
		work.Go(func() {
			for n := uint64(i); running(); n++ {
				at := max(stable.Load(), window+10) - n%(window+10)
				b, from := block(at), occ.Timestamp(at)
				data, ok := s.Get(b, from)
				if !ok {
					var err error
					if data, err = s.Read(b, from); errors.Is(err, ErrDropped) {
						gone.Add(1)
						continue
					} else if err != nil {
						t.Errorf("version (%d, %d): %v", b, from, err)
						return
					}
				}
				if !bytes.Equal(data, dataOf(b, from)) {
					t.Errorf("version (%d, %d) is %x", b, from, data)
					return
				}
				exact.Add(1)
				s.Stats()
			}
		})
	}
	owner.Wait()
	work.Wait()
	for done := false; !done; {
		done, err = s.Step()
		must(t, err)
	}
	t.Logf("%d reads, %d of dropped versions; %+v", exact.Load(), gone.Load(), s.Stats())
	must(t, s.Close())
}

// TestReadMeetsChange drops a version, and moves one, while it is read.
func TestReadMeetsChange(t *testing.T) {
	o := tiny
	o.CacheBytes = 1
	for _, dropped := range []bool{true, false} {
		faulty := disk.NewFaulty(disk.NewMemory())
		s, _, err := Open(faulty, o)
		must(t, err)
		finish := func(at uint64) {
			must(t, s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, nil))
			for done := false; !done; {
				done, err = s.Step()
				must(t, err)
			}
		}
		const n = 20
		for at := occ.Timestamp(1); at <= n; at++ {
			s.Put(occ.BlockID(at), at, dataOf(occ.BlockID(at), at))
		}
		finish(n)
		faulty.Inject(disk.Fault{Op: disk.OpRead, Nth: faulty.Count(disk.OpRead) + 1, Kind: disk.Stall})
		type answer struct {
			data []byte
			err  error
		}
		read := make(chan answer)
		go func() {
			data, err := s.Read(n, n)
			read <- answer{data, err}
		}()
		<-faulty.Stalled()
		for at := occ.Timestamp(1); at < n-1; at++ {
			s.Drop(occ.BlockID(at), at)
		}
		if dropped {
			s.Drop(n, n)
		}
		for range 3 { // the slots become free, versions move, the file is cut
			finish(n)
		}
		if st := s.Stats(); st.Slots > 3 || st.Moved == 0 {
			t.Errorf("%d slots, %d moved", st.Slots, st.Moved)
		}
		faulty.Release()
		if got := <-read; dropped && !errors.Is(got.err, ErrDropped) || !dropped && !bytes.Equal(got.data, dataOf(n, n)) {
			t.Errorf("dropped %v: read %x, %v", dropped, got.data, got.err)
		}
		must(t, s.Close())
	}
}

// TestPutMeetsWrite drops versions, and puts one again, while they are
// written.
func TestPutMeetsWrite(t *testing.T) {
	o := tiny
	o.StepBytes, o.DirtyBytes, o.CacheBytes = 2000, 1, 1
	d := disk.NewMemory()
	faulty := disk.NewFaulty(d)
	s, _, err := Open(faulty, o)
	must(t, err)
	for b := range occ.BlockID(3) {
		s.Put(b, 1, dataOf(b, 1))
	}
	faulty.Inject(disk.Fault{Op: disk.OpWrite, Nth: faulty.Count(disk.OpWrite) + 1, Kind: disk.Stall})
	written := make(chan error)
	go func() { written <- second(s.WriteBack()) }()
	<-faulty.Stalled()
	s.Drop(0, 1)
	s.Put(1, 1, []byte("again"))
	faulty.Release()
	must(t, <-written)
	must(t, s.Begin(Moment{LogIndex: 1, Stable: 1}, nil))
	for done := false; !done; {
		done, err = s.Step()
		must(t, err)
	}
	must(t, s.Close())
	s, _, err = Open(d, o)
	must(t, err)
	for b, want := range []string{"", "again", string(dataOf(2, 1))} {
		data, err := s.Read(occ.BlockID(b), 1)
		if string(data) != want || errors.Is(err, ErrDropped) != (b == 0) {
			t.Errorf("block %d is %q, %v", b, data, err)
		}
	}
	if st := s.Stats(); st.Versions != 2 || st.LiveSlots != 2 {
		t.Errorf("stats are %+v", st)
	}
	must(t, s.Close())
}
