package nfs

import (
	"fmt"

	"github.com/tidemark/tidemark/traces"
)

// MaxEnds is how many connections, and how many servers, a Tally tells apart.
const MaxEnds = 1 << 16

// Message is what the count of NFS messages needs of a call or a reply.
type Message struct {
	Time    int64 // microseconds since 1970
	Client  End
	Server  End
	TCP     bool // UDP otherwise
	Version uint32
}

// Tally counts NFS messages. It counts every call, also one that comes again.
// The zero Tally is ready for use.
type Tally struct {
	// Hosts are the clients that called.
	Hosts Hosts

	calls       [5][]int64 // by version and procedure
	odd         int64      // of another version
	operations  []int64
	statuses    statuses
	transports  [2]int64 // calls over UDP and TCP
	replies     int64
	first, last int64
	answered    Hosts // clients of replies
	connections ends[End]
	servers     ends[Addr]
}

// Call counts a call of a procedure by its number and returns the number of the
// client.
func (t *Tally) Call(m *Message, procedure uint32) uint32 {
	t.span(m.Time)
	if m.TCP {
		t.transports[1]++
	} else {
		t.transports[0]++
	}
	if table := procedures(m.Version); table != nil {
		count(&t.calls[m.Version], len(table), procedure)
	} else {
		t.odd++
	}
	t.connections.add(m.Client)
	t.servers.add(m.Server.Addr)
	return t.Hosts.Number(m.Client.Addr)
}

// Operation counts an operation in the call of a COMPOUND by its number.
func (t *Tally) Operation(number uint32) {
	if OperationName(number) == unknown {
		number = uint32(len(operations))
	}
	count(&t.operations, len(operations), number)
}

// Reply counts a reply.
func (t *Tally) Reply(m *Message) {
	t.span(m.Time)
	t.replies++
	t.answered.Number(m.Client.Addr)
}

// Status counts the NFS status of a reply, or of an operation in the reply of a
// COMPOUND, if it is not success.
func (t *Tally) Status(status uint32) {
	if status != 0 {
		t.statuses.add(status)
	}
}

// Messages returns how many messages were counted.
func (t *Tally) Messages() int64 { return t.Calls() + t.replies }

// Calls returns how many calls were counted.
func (t *Tally) Calls() int64 { return t.transports[0] + t.transports[1] }

// Span returns the times of the earliest and of the latest message, 0 and 0 if
// there was none.
func (t *Tally) Span() (first, last int64) { return t.first, t.last }

func (t *Tally) span(time int64) {
	if t.Messages() == 0 {
		t.first, t.last = time, time
	}
	t.first, t.last = min(t.first, time), max(t.last, time)
}

// count counts in a table of n numbers and one place for all others.
func count(table *[]int64, n int, number uint32) {
	if *table == nil {
		*table = make([]int64, n+1)
	}
	(*table)[min(int(number), n)]++
}

// Findings returns what was counted and is not zero, with the counts of the
// Matcher that had the same messages.
func (t *Tally) Findings(m Matches) []traces.Finding {
	var f findings
	f.add("NFS messages", "calls", t.Calls())
	f.add("NFS messages", "replies", t.replies)
	f.add("NFS messages", "matched replies", m.Matched+m.Late)
	f.add("NFS messages", "calls over TCP", t.transports[1])
	f.add("NFS messages", "calls over UDP", t.transports[0])
	f.add("NFS messages", "clients", int64(t.Hosts.Len()))
	f.add("NFS messages", "connections", int64(len(t.connections.seen)))
	f.add("NFS messages", "servers", int64(len(t.servers.seen)))
	f.add("NFS messages", "microseconds from first to last", t.last-t.first)
	f.odd("NFS messages", "calls of another version", t.odd)
	f.odd("NFS messages", "retransmitted calls", m.Retransmitted)
	f.odd("NFS messages", "calls without a reply", m.Unanswered())
	f.odd("NFS messages", "late replies", m.Late)
	f.odd("NFS messages", "repeated replies", m.Duplicate)
	f.odd("NFS messages", "replies without a call", m.Orphans)
	f.odd("NFS messages", "clients in replies only", t.silent())
	f.odd("NFS messages", "messages of clients beyond the first 65,536", t.Hosts.Beyond())
	f.odd("NFS messages", "messages of connections beyond the first 65,536", t.connections.beyond)
	f.odd("NFS messages", "messages of servers beyond the first 65,536", t.servers.beyond)
	for version, calls := range t.calls {
		group := fmt.Sprintf("NFS version %d calls", version)
		for number, n := range calls {
			f.add(group, ProcName(uint32(version), uint32(number)), n)
		}
	}
	for number, n := range t.operations {
		f.add("NFS version 4 operations", OperationName(uint32(number)), n)
	}
	t.statuses.findings(&f)
	return f
}

// silent returns how many clients had replies but no call.
func (t *Tally) silent() (n int64) {
	for _, a := range t.answered.All() {
		if !t.Hosts.Has(a) {
			n++
		}
	}
	return n
}

// ends are different things, MaxEnds at most.
type ends[K comparable] struct {
	seen   map[K]struct{}
	last   K // seen last, mostly seen next
	beyond int64
}

func (e *ends[K]) add(k K) {
	if k == e.last && e.seen != nil {
		return
	}
	if _, ok := e.seen[k]; !ok {
		if len(e.seen) == MaxEnds {
			e.beyond++
			return
		}
		if e.seen == nil {
			e.seen = make(map[K]struct{})
		}
		e.seen[k] = struct{}{}
	}
	e.last = k
}
