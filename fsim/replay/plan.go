package replay

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// Plan is what a first pass over a trace tells about its replay.
type Plan struct {
	Image *infer.Image
	Hosts []uint32 // ascending
	// Operations is the number of lines; WriteBlocks bounds how many blocks
	// of files they write.
	Operations, WriteBlocks int64
	First, Last             int64 // times in microseconds
	creates                 int64
	users                   map[traces.FID]user
}

// user is the first host that used a file, and whether others did too.
type user struct {
	host   uint32
	shared bool
}

// NewPlan reads the whole trace once.
func NewPlan(src traces.Source, blockSize int64) (*Plan, error) {
	in, err := src.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	w := &watch{Stream: in, plan: &Plan{users: make(map[traces.FID]user)}, hosts: make(map[uint32]struct{}), blockSize: blockSize}
	w.plan.Image, err = infer.NewImage(w, blockSize)
	if err != nil {
		return nil, err
	}
	for h := range w.hosts {
		w.plan.Hosts = append(w.plan.Hosts, h)
	}
	slices.Sort(w.plan.Hosts)
	return w.plan, nil
}

// watch looks at the operations that pass.
type watch struct {
	traces.Stream
	plan      *Plan
	hosts     map[uint32]struct{}
	blockSize int64
}

func (w *watch) Next() (traces.Op, error) {
	op, err := w.Stream.Next()
	if err != nil {
		return op, err
	}
	p := w.plan
	if p.Operations == 0 {
		p.First, p.Last = op.Time, op.Time
	}
	p.First, p.Last = min(p.First, op.Time), max(p.Last, op.Time)
	p.Operations++
	w.hosts[op.Host] = struct{}{}
	if u, known := p.users[op.FID]; !known {
		p.users[op.FID] = user{host: op.Host}
	} else if u.host != op.Host && !u.shared {
		p.users[op.FID] = user{u.host, true}
	}
	if op.Action == traces.Write && (op.Type == traces.Block || op.Type == traces.Attr) {
		p.creates++
		if op.Type == traces.Block {
			p.WriteBlocks += op.Size/w.blockSize + 2
		}
	}
	return op, nil
}

// affinity chooses the block group of a file of the image: that in which its
// host creates files, or one of the others if several hosts use it, so that
// the inodes of one host share no block with those of another.
func (p *Plan) affinity(fid traces.FID) uint32 {
	u, hosts := p.users[fid], uint32(len(p.Hosts))
	if u.shared {
		return hosts + uint32(mix(uint64(fid))%64)
	}
	i, _ := slices.BinarySearch(p.Hosts, u.host)
	return uint32(i)
}

// volumeBlocks is how large the volume has to be: room for the image and for
// everything that may be written, indirect blocks and inodes included, twice
// over, so that allocation does not run full groups.
func (p *Plan) volumeBlocks() (uint32, error) {
	files := int64(len(p.Image.Files)) + p.creates
	directories := int64(names) + p.directoryBlocks() + files/16
	n := 2*(p.Image.Blocks+p.WriteBlocks+files+directories) + 16384
	n += n / 4
	if n > 1<<32-1 {
		return 0, fmt.Errorf("the trace needs a volume of %d blocks, more than 32-bit pointers reach", n)
	}
	return uint32(n), nil
}

func (p *Plan) directoryBlocks() (n int64) {
	for _, f := range p.Image.Files {
		if f.Dir {
			n += maxDirectory/p.Image.BlockSize + 1
		}
	}
	return n
}
