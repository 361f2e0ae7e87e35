package traces

import "io"

// Info describes a trace. Byte counts are of Block operations; of two
// operations with the same meaning both count, as NFS may ask twice.
type Info struct {
	Name string `json:"name"`

	Operations int64     `json:"operations"`
	ByKind     []OpCount `json:"by_kind"` // kinds that occur, by Type then Action
	Hosts      int       `json:"hosts"`
	Files      int       `json:"files"`
	// SharedFiles are the files that more than one host used.
	SharedFiles int `json:"shared_files"`

	First int64 `json:"first_us"` // time of the first operation, microseconds since 1970
	Last  int64 `json:"last_us"`  // and of the last

	// LargestGap is the longest time in microseconds without an operation,
	// and LargestGapLine the line that ended it.
	LargestGap     int64 `json:"largest_gap_us"`
	LargestGapLine int64 `json:"largest_gap_line"`

	BlocksRead    int64 `json:"blocks_read"`
	BlocksWritten int64 `json:"blocks_written"`
	BytesRead     int64 `json:"bytes_read"`
	BytesWritten  int64 `json:"bytes_written"`

	ReorderCounts
	Skipped      int64  `json:"skipped_lines"`
	FirstSkipped string `json:"first_skipped,omitempty"` // why, with file and line
}

// OpCount is the number of operations of one kind.
type OpCount struct {
	Type   string `json:"type"`
	Action string `json:"action"`
	Count  int64  `json:"count"`
}

// Span is the time from the first to the last operation in microseconds.
func (i *Info) Span() int64 { return i.Last - i.First }

// WriteShare is the part of the bytes moved that was written, from 0 to 1.
func (i *Info) WriteShare() float64 { return share(i.BytesWritten, i.BytesRead+i.BytesWritten) }

// ReadShare is the part of the bytes moved that was read, from 0 to 1.
func (i *Info) ReadShare() float64 { return share(i.BytesRead, i.BytesRead+i.BytesWritten) }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Collect reads the whole trace once and describes it. Memory grows with the
// numbers of hosts and files, not with the length of the trace.
func Collect(src Source) (*Info, error) {
	in, err := src.Open()
	if err != nil {
		return nil, err
	}
	info, err := collect(src.Name(), in)
	if closing := in.Close(); err == nil && closing != nil {
		return nil, closing
	}
	return info, err
}

// user is who has used a file so far.
type user struct {
	host   uint32
	shared bool
}

func collect(name string, in Input) (*Info, error) {
	info := &Info{Name: name}
	kinds := map[[2]uint8]int64{}
	hosts := map[uint32]struct{}{}
	files := map[FID]user{}
	ordered := NewReorder(in)
	for {
		op, err := ordered.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		info.add(op)
		kinds[[2]uint8{uint8(op.Type), uint8(op.Action)}]++
		hosts[op.Host] = struct{}{}
		if u, known := files[op.FID]; !known {
			files[op.FID] = user{host: op.Host}
		} else if u.host != op.Host && !u.shared {
			files[op.FID] = user{shared: true}
			info.SharedFiles++
		}
	}
	for _, t := range Types {
		for _, a := range [...]Action{Read, Write} {
			if n := kinds[[2]uint8{uint8(t), uint8(a)}]; n > 0 {
				info.ByKind = append(info.ByKind, OpCount{t.String(), a.String(), n})
			}
		}
	}
	info.Hosts, info.Files = len(hosts), len(files)
	info.ReorderCounts = ordered.Counts()
	skipped, first := in.Skipped()
	info.Skipped = skipped
	if first != nil {
		info.FirstSkipped = first.Error()
	}
	return info, nil
}

// add takes one operation into the sums. They come in order of time.
func (i *Info) add(op Op) {
	if i.Operations == 0 {
		i.First, i.Last = op.Time, op.Time
	}
	if gap := op.Time - i.Last; gap > i.LargestGap {
		i.LargestGap, i.LargestGapLine = gap, op.Line
	}
	i.Operations++
	i.Last = op.Time
	switch {
	case op.Type != Block:
	case op.Action == Read:
		i.BlocksRead++
		i.BytesRead += op.Size
	default:
		i.BlocksWritten++
		i.BytesWritten += op.Size
	}
}
