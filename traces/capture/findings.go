package capture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/packet"
	"github.com/tidemark/tidemark/traces/capture/rpc"
)

// ports counts packets by transport and port: of the two ports of a packet
// that of NFS or of the port mapper, else the smaller one, which mostly is
// the server's.
type ports struct{ udp, tcp map[uint16]int64 }

func newPorts() ports { return ports{make(map[uint16]int64), make(map[uint16]int64)} }

const (
	portMapper = 111
	portNFS    = 2049
)

func (p *ports) count(t *packet.Packet) {
	port, larger := t.Src.Port(), t.Dst.Port()
	if port > larger {
		port, larger = larger, port
	}
	if port != portMapper && (larger == portNFS || larger == portMapper) {
		port = larger
	}
	if t.TCP {
		p.tcp[port]++
	} else {
		p.udp[port]++
	}
}

const (
	shownPorts = 5  // ports of each transport that are listed
	shownSeen  = 16 // findings in an error
)

// findings gathers counts that are not zero.
type findings []traces.Finding

func (f *findings) add(group, name string, n int64) {
	if n != 0 {
		*f = append(*f, traces.Finding{Group: group, Name: name, Count: n})
	}
}

func (f *findings) odd(group, name string, n int64) {
	if n != 0 {
		*f = append(*f, traces.Finding{Group: group, Name: name, Count: n, Odd: true})
	}
}

// busiest adds the ports with most packets.
func (f *findings) busiest(group string, counts map[uint16]int64) {
	used := slices.SortedFunc(maps.Keys(counts), func(a, b uint16) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	others := int64(0)
	for i, port := range used {
		if i < shownPorts {
			f.add(group, fmt.Sprintf("port %d", port), counts[port])
		} else {
			others += counts[port]
		}
	}
	f.add(group, "other ports", others)
}

// Findings returns what was counted so far: first what NFS said, then other
// programs, then packets, then damage and loss.
func (r *Reader) Findings() []traces.Finding {
	f := findings(r.tally.Findings(r.calls.Counts()))
	f = append(f, r.translator.Findings()...)
	f = append(f, r.programs()...)
	p, d, t, s := r.file.Counts(), r.packets.Counts(), r.flows.Counts(), r.streams.Counts()
	f.add("Packets", "all", p.Packets)
	f.add("Packets", "of UDP", d.UDP)
	f.add("Packets", "of TCP", d.TCP)
	f.add("Packets", "of other IP protocols", d.OtherIP)
	f.add("Packets", "of other protocols than IP", d.NotIP)
	f.add("Packets", "of unknown link types", d.Unknown)
	f.add("Packets", "parts of larger IP datagrams", d.Fragments)
	f.add("TCP", "flows, one for each direction", t.Flows)
	f.busiest("UDP datagrams by port", r.ports.udp)
	f.busiest("TCP segments by port", r.ports.tcp)

	f.odd("File", "ends within a packet", truth(p.Truncated))
	f.odd("File", "damaged places", p.Damaged)
	f.odd("File", "bytes passed over", p.Passed)
	f.odd("File", "packets without a valid time", p.Timeless)
	f.odd("File", "packets of interfaces not described", p.Unknown)
	f.odd("Packets", "cut by the capture", p.Cut)
	f.odd("Packets", "with impossible headers", d.Damaged)
	f.odd("Packets", "IP datagrams of which parts are missing", d.Incomplete)
	f.odd("TCP", "segments that came again", t.Repeated)
	f.odd("TCP", "segments out of order", t.Late)
	f.odd("TCP", "gaps", t.Gaps)
	f.odd("TCP", "bytes in gaps", t.Lost)
	f.odd("TCP", "bytes cut by the capture", t.Cut)
	f.odd("TCP", "jumps in the sequence", t.Jumps)
	f.odd("TCP", "flows forgotten for want of room", t.Evicted)
	f.odd("RPC", "messages with gaps", s.Partial)
	f.odd("RPC", "streams lost and searched for a message", s.Searches)
	f.odd("RPC", "bytes passed over in search of a message", s.Passed)
	f.odd("RPC", "messages dropped for want of room", s.Crowded)
	f.odd("RPC", "messages that cannot be", r.malformed)
	f.odd("RPC", "calls not carried out by the server", r.rejected)
	f.odd("NFS", "encrypted calls", r.protected)
	f.odd("NFS", "calls and replies cut before what matters", r.cut)
	f.odd("NFS", "calls and replies that cannot be decoded", r.refused)
	return f
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// programs lists the calls of other programs.
func (t *talk) programs() (f findings) {
	all := make([]procedure, 0, len(t.procedures))
	for p := range t.procedures {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b procedure) int {
		return cmp.Or(cmp.Compare(a.program, b.program), cmp.Compare(a.version, b.version), cmp.Compare(a.number, b.number))
	})
	const group = "Calls of other RPC programs"
	for _, p := range all {
		f.add(group, fmt.Sprintf("%s version %d procedure %d", rpc.ProgramName(p.program), p.version, p.number), t.procedures[p])
	}
	f.odd(group, "of further procedures", t.beyond)
	return f
}

// nothing is the error of a capture without operations.
func (r *Reader) nothing() error {
	e := &traces.StreamError{File: r.name, Err: ErrNoNFS}
	if r.tally.Calls() > 0 {
		e.Err = traces.ErrEmpty
	}
	var seen []string
	for _, f := range r.Findings() {
		seen = append(seen, fmt.Sprintf("%s: %s %d", f.Group, f.Name, f.Count))
	}
	if len(seen) > shownSeen {
		seen = append(seen[:shownSeen], "and more")
	}
	if e.Detail = "seen: " + strings.Join(seen, ", "); len(seen) == 0 {
		e.Detail = "no packets at all"
	}
	return e
}
