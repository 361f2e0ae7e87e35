package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func sortedTypes() []Type { return slices.Sorted(maps.Keys(generators)) }

func id(first byte) (b [16]byte) {
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// examples are the messages whose bytes are checked in. A change in their
// bytes is a change of the protocol: it needs a new Version.
var examples = []Message{
	&Hello{Req: 1, Version: Version, Session: id(0x10), Store: id(0x20), Epoch: 3, Stable: 300},
	&Ping{Req: 2},
	&Read{Req: 300, Items: []ReadItem{{Block: 7, At: occ.Latest, Have: Absent}, {Block: 6, At: 200, Have: 150}}},
	&Commit{
		Req: 5, Seq: 9, Acked: 8, Digest: 0xf2e5d04e, Resend: true,
		Reads:  []occ.Read{{Block: 7, From: 200}, {Block: 8, From: 200}},
		Writes: []occ.Write{{Block: 8, Data: []byte("tide")}, {Block: 7}},
	},
	&Commit{
		Req: 7, Seq: 10, Acked: 8, Digest: 0x08e71064,
		Reads: []occ.Read{{Block: 7, From: 200}, {Block: 9, From: 200}},
		Writes: []occ.Write{
			{Block: 7, Ranges: []occ.Range{{Off: 0, Data: []byte{0}}, {Off: 4000, Data: []byte("tidemark")}}},
			{Block: 8, Data: []byte("tide")}, {Block: 9, Ranges: []occ.Range{{Off: 200, Data: []byte{0, 1, 0}}}},
		},
	},
	&Commit{
		Req: 8, Seq: 11, Acked: 8, Digest: 0xf2e5d04e, Urgent: true,
		Reads:  []occ.Read{{Block: 7, From: 200}, {Block: 8, From: 200}},
		Writes: []occ.Write{{Block: 8, Data: []byte("tide")}, {Block: 7}},
	},
	&Validate{Req: 6, Reads: []occ.Read{{Block: 1 << 40, From: 1}}},
	&Lease{Req: 7, Count: 4096},
	&Status{Req: 8},
	&Clock{Req: 9, Now: 1500 * time.Millisecond},
	&Welcome{
		Req: 1, Stable: 301, Store: id(0x20), Session: id(0x30), Epoch: 4, BlockSize: 4096, Retention: time.Minute,
		Limits: DefaultLimits(),
	},
	&Pong{Req: 2, Stable: 301},
	&ReadReply{Req: 300, Stable: 301, Results: []ReadResult{
		{Status: StatusStill, From: 150}, {Status: StatusClosed, From: 100, To: 250, Data: []byte("mark")},
		{Status: StatusGone, Horizon: 90}, {Status: StatusCurrent, From: 301, Data: []byte("tidemark")},
	}},
	&Items{Stable: 310, Items: []Item{
		{At: 305, Block: 7, From: 200}, {Kind: ItemCommitted, At: 305, Req: 5}, {Kind: ItemDropped, At: 310, Block: 12, From: 120},
	}},
	&Conflict{Req: 5, Stable: 310, Blocks: []occ.Read{{Block: 8, From: 304}}},
	&Validated{Req: 6, Stable: 310},
	&Outcome{Req: 5, Stable: 310, Status: OutcomeCommitted, At: 305},
	&LeaseReply{Req: 7, Stable: 310, First: 1 << 20, Count: 4096},
	&StatusReply{Req: 8, Stable: 310, Values: []Counter{{"commits", 310}, {"conflicts", 2}}},
	&Pin{Req: 10, At: 300, Lease: time.Hour, Name: "tonight"},
	&Unpin{Req: 11, Name: "tonight"},
	&Pins{Req: 12, After: "monthly"},
	&Changes{Req: 13, First: 1 << 20, Since: 17, At: 300, Limit: 1000},
	&PinReply{Req: 10, Stable: 310, At: 300},
	&PinsReply{Req: 12, Stable: 310, Horizon: 290, Last: true, Pins: []PinInfo{{"monthly", 17, 0}, {"tonight", 300, time.Minute}}},
	&ChangesReply{Req: 13, Stable: 310, Next: 1<<20 + 9, Blocks: []occ.Read{{Block: 1 << 20, From: 18}, {Block: 1<<20 + 8, From: 300}}},
	&ChangesReply{Req: 14, Stable: 310, Last: true},
	&Error{Req: 5, Stable: 310, Code: CodeTooLarge, Limit: 16384, Value: 20000, Text: "write set"},
}

func TestGolden(t *testing.T) {
	seen := map[Type]int{}
	for _, m := range examples {
		name := strings.ToLower(m.Type().String())
		if seen[m.Type()]++; seen[m.Type()] > 1 {
			name += strconv.Itoa(seen[m.Type()])
		}
		path := filepath.Join("testdata", name+".hex")
		frame := Append(nil, m)
		if *update {
			if err := os.WriteFile(path, []byte(lines(frame)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !bytes.Equal(frame, want) {
			t.Errorf("%s: %v now encodes as\n%s", path, m.Type(), lines(frame))
		}
		if got := decodeFrame(t, want); !reflect.DeepEqual(got, m) {
			t.Errorf("%s: got  %+v\nwant %+v", path, got, m)
		}
		if c, ok := m.(*Commit); ok && hasRanges(c.Writes) && c.Digest != CommitDigest(c.Reads, c.Writes) {
			t.Errorf("%s: the digest is %08x", path, CommitDigest(c.Reads, c.Writes))
		}
	}
	for _, typ := range sortedTypes() {
		if seen[typ] == 0 {
			t.Errorf("%v has no checked-in bytes", typ)
		}
	}
}

// lines writes b in hexadecimal, 16 bytes a line.
func lines(b []byte) string {
	var s strings.Builder
	for part := range slices.Chunk(b, 16) {
		fmt.Fprintf(&s, "% x\n", part)
	}
	return s.String()
}

// The bytes that the package comment shows.
func TestDocumentedBytes(t *testing.T) {
	for want, m := range map[string]Message{
		"03 02 ac 02\n":       &Ping{Req: 300},
		"05 41 ac 02 e8 07\n": &Pong{Req: 300, Stable: 1000},
		"08 42 05 e8 07 04 0a 68 69\n": &ReadReply{Req: 5, Stable: 1000, Results: []ReadResult{
			{From: 990, Data: []byte("hi")},
		}},
	} {
		if got := lines(Append(nil, m)); got != want {
			t.Errorf("%+v\ngot  %swant %s", m, got, want)
		}
	}
}
