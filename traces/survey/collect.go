package survey

import (
	"cmp"
	"errors"
	"slices"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

const (
	// maxHosts is how many hosts are kept apart, and maxFiles how many files,
	// at about 60 bytes each.
	maxHosts = 1 << 16
	maxFiles = 1 << 18
	// maxOpens is how many opens at one time are followed to count
	// transactions, at about 300 bytes each.
	maxOpens = 1 << 17
	// maxGaps and maxBusiest are how many of them an Info lists.
	maxGaps    = 5
	maxBusiest = 10
)

// Collect reads the whole trace once and describes it. Memory does not depend
// on the length of the trace. A trace without operations is an error unless
// its format tells of something else that is in it.
func Collect(src traces.Source) (*Info, error) {
	in, err := src.Open()
	if err != nil {
		return nil, err
	}
	info, err := collect(src.Name(), in, infer.Options{MaxBuffered: maxOpens})
	if closing := in.Close(); err == nil && closing != nil {
		return nil, closing
	}
	return info, err
}

func collect(name string, in traces.Input, how infer.Options) (*Info, error) {
	s := &surveyor{
		src:   traces.NewReorder(in),
		info:  Info{Name: name, Format: traces.Format(in), ByKind: []OpCount{}, Gaps: []Gap{}},
		hosts: make(map[uint32]*HostUse),
		files: newFiles(maxFiles),
	}
	// A trace without operations may have something to tell all the same.
	if err := s.read(how); err != nil && !(errors.Is(err, traces.ErrEmpty) && len(traces.Findings(in)) > 0) {
		return nil, err
	}
	info := &s.info
	for _, t := range traces.Types {
		for _, a := range [...]traces.Action{traces.Read, traces.Write} {
			if n := s.kinds[t][a]; n > 0 {
				info.ByKind = append(info.ByKind, OpCount{t.String(), a.String(), n})
			}
		}
	}
	info.Hosts, info.Busiest = len(s.hosts), s.busiest()
	info.Files, info.FilesAtLeast = int64(len(s.files.uses)), s.files.full
	info.Sharing, info.Sizes = s.files.sharing(), s.files.sizes()
	info.ReorderCounts = s.src.Counts()
	skipped, first := in.Skipped()
	if info.Skipped = skipped; first != nil {
		info.FirstSkipped = first.Error()
	}
	info.Findings = append([]traces.Finding{}, traces.Findings(in)...) // [] in JSON if there are none
	return info, nil
}

// surveyor passes the operations of a trace on, in order of time, and looks at
// each.
type surveyor struct {
	src   *traces.Reorder
	info  Info
	kinds [traces.Commit + 1][traces.Write + 1]int64
	hosts map[uint32]*HostUse
	files *files
}

// Next lets inference read what is surveyed.
func (s *surveyor) Next() (traces.Op, error) {
	op, err := s.src.Next()
	if err == nil {
		s.add(&op)
	}
	return op, err
}

// read reads to the end, and infers transactions as far as that is possible.
func (s *surveyor) read(how infer.Options) error {
	counts, err := infer.Count(s, how)
	var dense *infer.LookaheadError
	switch {
	case err == nil, errors.Is(err, traces.ErrEmpty):
		s.info.Transactions = transactions(counts)
		return err
	case !errors.As(err, &dense):
		return err
	}
	s.info.Uninferred = dense.Error()
	for _, err := range traces.All(s) {
		if err != nil {
			return err
		}
	}
	return nil
}

// add takes one operation into the sums. They come in order of time.
func (s *surveyor) add(op *traces.Op) {
	i := &s.info
	if i.Operations == 0 {
		i.First, i.Last = op.Time, op.Time
	}
	s.gap(op)
	i.Operations++
	i.Last = op.Time
	s.kinds[op.Type][op.Action]++
	s.files.add(op)
	var read, written int64
	switch {
	case op.Type != traces.Block:
	case op.Action == traces.Read:
		i.BlocksRead++
		read = op.Size
	default:
		i.BlocksWritten++
		written = op.Size
	}
	i.BytesRead += read
	i.BytesWritten += written
	h := s.hosts[op.Host]
	if h == nil {
		if len(s.hosts) == maxHosts {
			i.HostsAtLeast = true
			return
		}
		h = &HostUse{Host: op.Host}
		s.hosts[op.Host] = h
	}
	h.Operations++
	h.BytesRead += read
	h.BytesWritten += written
}

// gap takes the time before an operation into the list of the longest.
func (s *surveyor) gap(op *traces.Op) {
	g := Gap{op.Time - s.info.Last, op.Time, op.Line}
	gaps := s.info.Gaps
	if g.Length == 0 || len(gaps) == maxGaps && g.Length <= gaps[maxGaps-1].Length {
		return
	}
	at := len(gaps)
	for at > 0 && gaps[at-1].Length < g.Length {
		at--
	}
	gaps = slices.Insert(gaps, at, g)
	s.info.Gaps = gaps[:min(len(gaps), maxGaps)]
}

// busiest returns the hosts with the most operations.
func (s *surveyor) busiest() []HostUse {
	list := []HostUse{}
	for _, h := range s.hosts {
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b HostUse) int {
		return cmp.Or(cmp.Compare(b.Operations, a.Operations), cmp.Compare(a.Host, b.Host))
	})
	return list[:min(len(list), maxBusiest)]
}
