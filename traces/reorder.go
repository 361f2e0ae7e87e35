package traces

const (
	// ReorderWindow is how far in microseconds a line may be behind the
	// newest line before it and still find its place.
	ReorderWindow int64 = 1_000_000
	// ReorderLimit is how many operations a Reorder holds at most, about
	// 14 MiB of them. Beyond it the oldest leaves before its window is over.
	ReorderLimit = 1 << 18
)

// Reorder puts the operations of a stream in order of time, those of equal
// time in the order in which they came.
//
// It holds operations back until one that is ReorderWindow newer was seen. One
// that comes too late for its place gets the newest time already delivered
// instead of its own, and is counted. A single time far in the future
// therefore delays itself and harms no other.
type Reorder struct {
	src     Stream
	limit   int
	heap    []held
	seq     uint64
	newest  int64 // the newest time seen
	last    int64 // the newest time delivered
	counts  ReorderCounts
	srcDone error // what ended the source
}

// ReorderCounts says how far from ordered a stream was.
type ReorderCounts struct {
	// OutOfOrder are the operations older than one before them.
	OutOfOrder int64 `json:"out_of_order"`
	// Clamped are those of them that came too late and were given a later
	// time.
	Clamped int64 `json:"clamped"`
}

type held struct {
	op  Op
	seq uint64
}

// NewReorder returns the stream in order. An operation that Op.Check refuses
// ends it with that error, after all operations before it.
func NewReorder(src Stream) *Reorder { return &Reorder{src: src, limit: ReorderLimit} }

// Next returns the next operation in order of time.
func (r *Reorder) Next() (Op, error) {
	for r.srcDone == nil && !r.ripe() {
		op, err := r.src.Next()
		if err == nil {
			err = op.Check()
		}
		if err != nil {
			r.srcDone = err
			break
		}
		r.add(op)
	}
	if len(r.heap) == 0 {
		return Op{}, r.srcDone
	}
	op := r.pop()
	r.last = op.Time
	return op, nil
}

// Counts returns the counts so far; they are complete at the end of the
// stream.
func (r *Reorder) Counts() ReorderCounts { return r.counts }

// ripe reports whether the oldest operation held can be delivered. One that
// is exactly a window old can: whatever may still come with its time also
// comes after it.
func (r *Reorder) ripe() bool {
	return len(r.heap) > 0 && (len(r.heap) >= r.limit || r.newest-r.heap[0].op.Time >= ReorderWindow)
}

func (r *Reorder) add(op Op) {
	if op.Time < r.newest {
		r.counts.OutOfOrder++
	}
	if op.Time < r.last {
		op.Time = r.last
		r.counts.Clamped++
	}
	r.newest = max(r.newest, op.Time)
	r.push(held{op, r.seq})
	r.seq++
}

func (a *held) before(b *held) bool {
	return a.op.Time < b.op.Time || a.op.Time == b.op.Time && a.seq < b.seq
}

// push and pop keep a binary heap, least first. They are written out because
// container/heap would allocate for every operation.
func (r *Reorder) push(h held) {
	r.heap = append(r.heap, h)
	i := len(r.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(&r.heap[parent]) {
			break
		}
		r.heap[i] = r.heap[parent]
		i = parent
	}
	r.heap[i] = h
}

func (r *Reorder) pop() Op {
	top := r.heap[0].op
	n := len(r.heap) - 1
	h := r.heap[n]
	r.heap = r.heap[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && r.heap[child+1].before(&r.heap[child]) {
			child++
		}
		if !r.heap[child].before(&h) {
			break
		}
		r.heap[i] = r.heap[child]
		i = child
	}
	r.heap[i] = h
	return top
}
