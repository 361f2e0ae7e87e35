package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// TestSamples compares counts with those that other programs made.
func TestSamples(t *testing.T) {
	for _, c := range []struct {
		file string
		want string // findings, as name and count
	}{
		{"zeek-nfs-base.pcap", `calls 36, replies 36, matched replies 36, clients 1, connections 2, servers 1, calls over TCP 36,
			microseconds from first to last 32518, GETATTR 6, SETATTR 5, LOOKUP 5, REMOVE 3, ACCESS 3, RENAME 2, NULL 2, FSINFO 2, SYMLINK 1,
			RMDIR 1, READLINK 1, READDIRPLUS 1, PATHCONF 1, MKDIR 1, LINK 1, CREATE 1, MOUNT version 3 procedure 0 3,
			MOUNT version 3 procedure 1 1, MOUNT version 3 procedure 3 1, all 99`},
		{"zeek-nfs-fsinfo-bad-status.pcap", `calls 36, matched replies 36, FSINFO 2, of unknown status 1`},
		{"zeek-nfs-write.pcap", `calls 45, matched replies 45, clients 1, connections 2, servers 1, microseconds from first to last 481103,
			GETATTR 29, LOOKUP 4, ACCESS 3, NULL 2, FSINFO 2, WRITE 1, REMOVE 1, READDIRPLUS 1, PATHCONF 1, CREATE 1,
			MOUNT version 3 procedure 0 3, MOUNT version 3 procedure 1 1, MOUNT version 3 procedure 3 1, NFSACL version 3 procedure 0 1,
			NFSACL version 3 procedure 1 1, PORTMAP version 2 procedure 3 4, all 153, of other protocols than IP 1`},
		{"tcpdump-nfs-write-verf-cookie.pcapng", `calls 1, matched replies 1, WRITE 1, microseconds from first to last 2063`},
		{"tcpdump-nfs-cannot-pad-32-bit.pcap", `calls 1, LOOKUP 1, calls over UDP 1, calls without a reply 1, calls and replies that cannot be decoded 1`},
		{"tcpdump-unaligned-nfs-1.pcap", `replies without a call 1`},
		{"tcpdump-nfs-attr-oobr.pcap", `all 48, cut by the capture 48`},
		{"zeek-mount-unmount.pcap", `all 10, MOUNT version 3 procedure 0 3, MOUNT version 3 procedure 1 1, MOUNT version 3 procedure 3 1`},
	} {
		o := read(t, sample(t, c.file))
		got := map[string]int64{}
		for name, n := range o.found {
			if group, name, _ := strings.Cut(name, ": "); group != "NFS errors" || name == "of unknown status" {
				got[name] += n
			}
		}
		calls := int64(0)
		for _, item := range strings.Split(c.want, ",") {
			item = strings.TrimSpace(item)
			at := strings.LastIndexByte(item, ' ')
			want, err := strconv.ParseInt(item[at+1:], 10, 64)
			if err != nil || got[item[:at]] != want {
				t.Errorf("%s: %s is %d, not %d (%v)", c.file, item[:at], got[item[:at]], want, err)
			}
			if item[:at] == "calls" {
				calls = want
			}
		}
		if got["calls"] != calls {
			t.Errorf("%s: %d calls, not %d", c.file, got["calls"], calls)
		}
	}
}

func TestOperations(t *testing.T) {
	got := read(t, sample(t, "zeek-nfs-base.pcap"))
	if want := string(sample(t, "zeek-nfs-base.txt")); got.err != nil || got.text() != want {
		t.Errorf("%v; got\n%s", got.err, got.text())
	}
	for i, op := range got.ops {
		if op.Line != int64(i+1) {
			t.Errorf("operation %d has the number %d", i+1, op.Line)
		}
	}
}

// TestSameOperations has the packets of one capture in other files: the
// operations are the same.
func TestSameOperations(t *testing.T) {
	base := sample(t, "zeek-nfs-base.pcap")
	all := frames(t, base)
	cooked := func(kind []byte) []byte { return append([]byte("\x00\x00\x00\x01\x00\x06address."), kind...) }
	cooked2 := func(kind []byte) []byte {
		return append(kind[:2:2], "\x00\x00\x00\x00\x00\x03\x00\x01\x00\x06address."...)
	}
	tagged := func(kind []byte) []byte {
		return append([]byte("destinsource\x88\xa8\x00\x05\x81\x00\x00\x06"), kind...)
	}
	nothing := func([]byte) []byte { return nil }
	null := func([]byte) []byte { return []byte{2, 0, 0, 0} }
	twice := make([]pcap.Packet, 0, 2*len(all))
	for _, p := range all {
		twice = append(twice, p, p)
	}
	want := read(t, base).text()
	for name, data := range map[string][]byte{
		"little, micro":      classic(binary.LittleEndian, false, all),
		"big, micro":         classic(binary.BigEndian, false, all),
		"little, nano":       classic(binary.LittleEndian, true, all),
		"big, nano":          classic(binary.BigEndian, true, all),
		"blocks, little":     blocks(binary.LittleEndian, 6, all),
		"blocks, big":        blocks(binary.BigEndian, 6, all),
		"blocks, nano":       blocks(binary.LittleEndian, 9, all),
		"two sections":       append(blocks(binary.LittleEndian, 9, all[:40]), blocks(binary.BigEndian, 7, all[40:])...),
		"cooked":             classic(binary.LittleEndian, false, relinked(all, 113, cooked)),
		"cooked 2":           classic(binary.LittleEndian, false, relinked(all, 276, cooked2)),
		"VLAN":               classic(binary.LittleEndian, false, relinked(all, 1, tagged)),
		"raw":                classic(binary.LittleEndian, false, relinked(all, 101, nothing)),
		"loopback":           classic(binary.LittleEndian, false, relinked(all, 0, null)),
		"a byte per segment": classic(binary.LittleEndian, false, segmented(t, all, 1)),
		"small segments":     classic(binary.LittleEndian, false, segmented(t, all, 19)),
		"every packet twice": classic(binary.LittleEndian, false, twice),
	} {
		if got := read(t, data); got.err != nil || got.text() != want {
			t.Errorf("%s: %v, got\n%s", name, got.err, got.text())
		}
		if got := readFrom(t, iotest.HalfReader(bytes.NewReader(data))); got.text() != want {
			t.Errorf("%s, read in parts: got\n%s", name, got.text())
		}
	}
	if got := read(t, classic(binary.BigEndian, false, twice)).found; got["NFS messages: retransmitted calls"] != 0 || got["TCP: segments that came again"] == 0 {
		t.Errorf("every packet twice: %v", got)
	}
}

// TestDisorder exchanges neighbouring segments of a connection that were
// divided: times differ, operations do not.
func TestDisorder(t *testing.T) {
	base := sample(t, "zeek-nfs-base.pcap")
	all := segmented(t, frames(t, base), 50)
	for i := 0; i+1 < len(all); i += 2 {
		if all[i].Time == all[i+1].Time { // of one segment
			all[i], all[i+1] = all[i+1], all[i]
		}
	}
	if got := read(t, classic(binary.LittleEndian, false, all)); got.timeless() != read(t, base).timeless() || got.found["TCP: segments out of order"] == 0 {
		t.Errorf("got\n%s\n%v", got.timeless(), got.found)
	}
}

// TestLoss leaves out every packet in turn. What it held is lost, and what
// could not be joined with it; no more.
func TestLoss(t *testing.T) {
	all := frames(t, sample(t, "zeek-nfs-base.pcap"))
	whole := read(t, classic(binary.LittleEndian, false, all))
	for i := range all {
		got := read(t, classic(binary.LittleEndian, false, slices.Delete(slices.Clone(all), i, i+1)))
		calls, replies := whole.found["NFS messages: calls"]-got.found["NFS messages: calls"], whole.found["NFS messages: replies"]-got.found["NFS messages: replies"]
		if got.err != nil || calls < 0 || calls > 1 || replies < 0 || replies > 1 {
			t.Errorf("without packet %d: %d calls and %d replies lost, %v", i, calls, replies, got.err)
		}
	}
}

// TestPickedUp leaves out the first packets.
func TestPickedUp(t *testing.T) {
	all := frames(t, sample(t, "zeek-nfs-base.pcap"))
	last := int64(36)
	for i := range all {
		got := read(t, classic(binary.LittleEndian, false, all[i:]))
		calls := got.found["NFS messages: calls"]
		if calls > last || calls < last-1 {
			t.Errorf("from packet %d: %d calls, %d from the one before", i, calls, last)
		}
		last = calls
	}
	if last != 0 {
		t.Errorf("%d calls in the last packet", last)
	}
}

// TestSnapLength cuts all packets: no call is lost as long as headers are
// there.
func TestSnapLength(t *testing.T) {
	all := frames(t, sample(t, "zeek-nfs-write.pcap"))
	last := int64(-1)
	for snap := 40; snap <= 1600; snap += 20 {
		short := slices.Clone(all)
		for i := range short {
			short[i].Data = short[i].Data[:min(snap, len(short[i].Data))]
		}
		got := read(t, classic(binary.LittleEndian, false, short))
		calls := got.found["NFS messages: calls"]
		// Of two messages in a segment, the second one is lost if it was cut.
		if calls < last || snap >= 100 && calls < 44 || snap >= 400 && calls != 45 {
			t.Errorf("cut to %d bytes: %d calls, %d with less; %v", snap, calls, last, got.found)
		}
		last = calls
	}
}

// TestWrongLength changes a bit in the length of a packet, which then seems to
// reach far beyond the end of the file.
func TestWrongLength(t *testing.T) {
	base := sample(t, "zeek-nfs-base.pcap")
	whole := read(t, base)
	at := 24
	for range 11 {
		at += 16 + int(binary.LittleEndian.Uint32(base[at+8:]))
	}
	base[at+10] |= 4
	got := read(t, base)
	if got.err != nil || len(got.ops) < len(whole.ops)-1 || got.found["File: damaged places"] != 1 || got.found["File: ends within a packet"] != 0 {
		t.Errorf("%d of %d operations, %v, %v", len(got.ops), len(whole.ops), got.err, got.found)
	}
}

func TestNoNFS(t *testing.T) {
	o := read(t, sample(t, "zeek-mount-unmount.pcap"))
	if !errors.Is(o.err, ErrNoNFS) {
		t.Fatalf("got %v", o.err)
	}
	const want = "t: no NFS calls (seen: Calls of other RPC programs: MOUNT version 3 procedure 0 3, Calls of other RPC programs: MOUNT version 3 procedure 1 1, " +
		"Calls of other RPC programs: MOUNT version 3 procedure 3 1, Packets: all 10, Packets: of UDP 10, UDP datagrams by port: port 940 4, "
	if got := o.err.Error(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	if o := read(t, sample(t, "tcpdump-nfs-cannot-pad-32-bit.pcap")); !errors.Is(o.err, traces.ErrEmpty) {
		t.Errorf("a capture with a call and no operation: %v", o.err)
	}
	empty := sample(t, "zeek-mount-unmount.pcap")[:24]
	if o := read(t, empty); !errors.Is(o.err, ErrNoNFS) || o.err.Error() != "t: no NFS calls (no packets at all)" {
		t.Errorf("an empty capture: %v", o.err)
	}
}

func TestNoCapture(t *testing.T) {
	for _, s := range []string{"", "no capture", strings.Repeat("748521923.402318 Block READ", 10)} {
		var stream *traces.StreamError
		if o := read(t, []byte(s)); !errors.Is(o.err, pcap.ErrFormat) || !errors.As(o.err, &stream) || stream.File != "t" {
			t.Errorf("%q: %v", s, o.err)
		}
		if Recognize([]byte(s)) {
			t.Errorf("%q is recognized", s)
		}
	}
}

// TestCut cuts a file everywhere: operations are never more than in the
// whole, and that it was cut is told.
func TestCut(t *testing.T) {
	base := sample(t, "zeek-nfs-base.pcap")
	whole := read(t, base)
	for n := 24; n < len(base); n += 61 {
		got := read(t, base[:n])
		if len(got.ops) > len(whole.ops) || got.found["NFS messages: calls"] > 36 || got.found["File: ends within a packet"] > 1 {
			t.Fatalf("cut to %d: %d operations, %v", n, len(got.ops), got.found)
		}
	}
}

func TestErrorsOfTheFileArePassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	base := sample(t, "zeek-nfs-base.pcap")
	for _, n := range []int{0, 10, 24, 1000} {
		if o := readFrom(t, io.MultiReader(bytes.NewReader(base[:n]), iotest.ErrReader(broken))); !errors.Is(o.err, broken) {
			t.Errorf("after %d bytes: %v", n, o.err)
		}
	}
}

func TestClose(t *testing.T) {
	r, err := NewReader(bytes.NewReader(sample(t, "zeek-nfs-base.pcap")), "t", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n, first := r.Skipped(); n != 0 || first != nil {
		t.Errorf("%d lines skipped, %v", n, first)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, traces.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range []string{
		"zeek-nfs-base.pcap", "zeek-nfs-write.pcap", "zeek-mount-unmount.pcap", "tcpdump-nfs-attr-oobr.pcap",
		"tcpdump-nfs-cannot-pad-32-bit.pcap", "tcpdump-nfs-write-verf-cookie.pcapng", "tcpdump-unaligned-nfs-1.pcap",
	} {
		f.Add(sample(f, name))
	}
	f.Add(classic(binary.LittleEndian, true, segmented(f, frames(f, sample(f, "zeek-nfs-base.pcap"))[20:30], 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := read(t, data)
		if len(o.ops) > len(data)/20+1 {
			t.Fatalf("%d operations in %d bytes", len(o.ops), len(data))
		}
	})
}
