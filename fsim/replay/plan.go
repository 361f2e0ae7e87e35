package replay

import (
	"fmt"
	"math"
	"slices"

	"github.com/tidemark/tidemark/fsim"
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
	// Skipped is the number of lines that were passed over because they are
	// no operations, and FirstSkipped the first of them, nil if there is none.
	Skipped      int64
	FirstSkipped *traces.LineError
	// What may come into being: files and directories, directories among
	// them, and entries at places that the trace tells.
	creates, directories, entries int64
	users                         map[traces.FID]user
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
	w.plan.Skipped, w.plan.FirstSkipped = in.Skipped()
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
	p.use(op.FID, op.Host)
	if op.Place != nil {
		p.use(op.Place.Dir, op.Host)
	}
	if op.Type == traces.Rename {
		p.use(op.Place.ToDir, op.Host)
	}
	p.count(op, w.blockSize)
	return op, nil
}

func (p *Plan) use(fid traces.FID, host uint32) {
	if u, known := p.users[fid]; !known {
		p.users[fid] = user{host: host}
	} else if u.host != host && !u.shared {
		p.users[fid] = user{u.host, true}
	}
}

// count adds up what the volume must have room for.
func (p *Plan) count(op traces.Op, blockSize int64) {
	if op.Action != traces.Write {
		return
	}
	switch op.Type {
	case traces.Block:
		p.WriteBlocks += op.Size/blockSize + 2
	case traces.Symlink:
		p.WriteBlocks += min(op.Size, fsim.MaxTarget)/blockSize + 1
	case traces.Mkdir:
		p.directories++
	}
	switch op.Type {
	case traces.Block, traces.Attr, traces.Create, traces.Mkdir, traces.Symlink:
		p.creates++
	}
	if op.Place != nil {
		p.entries++
	}
}

// affinity chooses the block group of a file of the image: each host has one
// for the files that it alone uses, in which it also creates files, and one
// for those that it used first and others use too. So the inodes of one host
// share no block with those of another.
func (p *Plan) affinity(fid traces.FID) uint32 {
	u := p.users[fid]
	i, _ := slices.BinarySearch(p.Hosts, u.host)
	if u.shared {
		i += len(p.Hosts)
	}
	return uint32(i)
}

// geometry is the shape of the volume, with two block groups for each host.
func (p *Plan) geometry(blockSize uint32) (fsim.Geometry, error) {
	const minGroup = 64
	groups := 2 * int64(len(p.Hosts))
	blocks := max(p.volumeBlocks(), groups*minGroup)
	if blocks >= math.MaxUint32 {
		return fsim.Geometry{}, fmt.Errorf("the trace needs a volume of %d blocks, more than 32-bit pointers reach", blocks)
	}
	perGroup := min(max(blocks/groups, minGroup), 8*int64(blockSize))
	return fsim.Geometry{BlockSize: blockSize, Blocks: uint32(blocks + 1), BlocksPerGroup: uint32(perGroup)}, nil
}

// volumeBlocks is how large the volume has to be: room for the image and for
// everything that may be written, indirect blocks and inodes included, twice
// over, so that allocation does not run full groups.
func (p *Plan) volumeBlocks() int64 {
	files := int64(len(p.Image.Files)) + p.creates
	directories := int64(names) + p.directoryBlocks() + files/16
	n := 2*(p.Image.Blocks+p.WriteBlocks+files+directories) + 16384
	return n + n/4
}

// directoryBlocks bounds how many blocks the directories of the trace take. A
// block is added where no gap in those before has room for the longest record,
// so each has been given a record for every two such lengths.
func (p *Plan) directoryBlocks() int64 {
	const record = 12 + traces.MaxName + 1
	perBlock := max(1, (p.Image.BlockSize-record)/(2*record))
	n := p.directories + (p.entries+int64(len(p.Image.Entries)))/perBlock
	for _, f := range p.Image.Files {
		switch {
		case f.Dir && f.Size > 0:
			n += maxDirectory/p.Image.BlockSize + 1
		case f.Dir:
			n++
		}
	}
	return n
}
