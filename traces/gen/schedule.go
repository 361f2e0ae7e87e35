package gen

// schedule divides the trace into pieces of equal length, with as many
// transactions in each as the time of day asks for.
type schedule struct {
	h            Hour
	count, next  int64
	all, writes  int64 // transactions
	weights, sum int64 // of all slices, and of those before the next
}

// slice is what one piece of the trace holds.
type slice struct {
	begin, end int64 // microseconds since hourStart
	// transactions is the number of all, of which writes are read/write, and
	// more is how many operations there are besides one for each of them.
	transactions, writes, more int64
	// newHosts are the numbers of the hosts that must show up, from
	// newHosts[0] to before newHosts[1].
	newHosts [2]int64
	// done and share count what came before, for the shares of kinds.
	done, doneWrites int64
}

func newSchedule(h Hour) *schedule {
	s := &schedule{h: h}
	s.all, s.writes = h.transactions()
	s.count = max(1, s.all/sliceTransactions)
	for i := range s.count {
		s.weights += s.weight(i)
	}
	return s
}

// boundary is where slice i begins, in microseconds.
func (s *schedule) boundary(i int64) int64 { return portion(s.h.Duration.Microseconds(), i, s.count) }

// weight is the rate in the middle of slice i.
func (s *schedule) weight(i int64) int64 {
	at := (s.boundary(i)+s.boundary(i+1))/2/1e6 + startOfDay
	hour, second := at/3600, at%3600
	return dayRate[hour%24]*(3600-second) + dayRate[(hour+1)%24]*second
}

// take returns the next slice; more is false if there is none.
func (s *schedule) take() (p slice, more bool) {
	if s.next == s.count {
		return p, false
	}
	before, after := s.sum, s.sum+s.weight(s.next)
	grown := func(total int64) int64 {
		return portion(total, after, s.weights) - portion(total, before, s.weights)
	}
	p = slice{
		begin: s.boundary(s.next), end: s.boundary(s.next + 1),
		transactions: grown(s.all), writes: grown(s.writes), more: grown(s.h.Operations - s.all),
		newHosts: [2]int64{portion(int64(s.h.Hosts), before, s.weights), portion(int64(s.h.Hosts), after, s.weights)},
		done:     portion(s.all, before, s.weights), doneWrites: portion(s.writes, before, s.weights),
	}
	s.sum, s.next = after, s.next+1
	return p, true
}
