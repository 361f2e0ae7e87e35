package survey

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

const smallTrace = `1.000000 Open READ FID: a OFF: 9 SIZE: 0 HOST: 1
1.500000 Block READ FID: a OFF: 0 SIZE: 300 HOST: 1
1.400000 Block WRITE FID: b OFF: 0 SIZE: 4097 HOST: 2
what is this
70.000000 Attr READ FID: a OFF: 0 SIZE: 0 HOST: 2
2.000000 Attr READ FID: a OFF: 0 SIZE: 0 HOST: 3
90.000000 Dir READ FID: c OFF: 0 SIZE: 512 HOST: 1
91.000000 Attr READ FID: b OFF: 0 SIZE: 0 HOST: 4
91.000000 Rename WRITE FID: c OFF: 0 SIZE: 0 HOST: 4 DIR: 1 NAME: "x" TODIR: 1 TONAME: "y"
`

// reporting is a trace with findings.
type reporting struct{ traces.Source }

func (s reporting) Open() (traces.Input, error) {
	in, err := s.Source.Open()
	return reportingInput{in}, err
}

type reportingInput struct{ traces.Input }

func (in reportingInput) Format() string { return "packets" }
func (in reportingInput) Findings() []traces.Finding {
	return []traces.Finding{{Group: "Calls", Name: "WRITE", Count: 1234}, {Group: "Packets", Name: "cut short", Count: 2, Odd: true}, {Group: "Calls", Name: "READ", Count: 5}}
}

func small() traces.Source {
	return reporting{traces.Bytes("small", []byte(smallTrace), traces.Options{SkipUnknown: true})}
}

func TestCollect(t *testing.T) {
	info, err := Collect(small())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"small","format":"packets","operations":8,"by_kind":[` +
		`{"type":"Attr","action":"READ","count":3},{"type":"Block","action":"READ","count":1},` +
		`{"type":"Block","action":"WRITE","count":1},{"type":"Dir","action":"READ","count":1},{"type":"Open","action":"READ","count":1},` +
		`{"type":"Rename","action":"WRITE","count":1}],` +
		`"first_us":1000000,"last_us":91000000,"gaps":[{"length_us":68000000,"end_us":70000000,"line":5},` +
		`{"length_us":20000000,"end_us":90000000,"line":7},{"length_us":1000000,"end_us":91000000,"line":8},` +
		`{"length_us":500000,"end_us":2000000,"line":6},{"length_us":400000,"end_us":1400000,"line":3}],` +
		`"blocks_read":1,"blocks_written":1,"bytes_read":300,"bytes_written":4097,` +
		`"hosts":4,"hosts_at_least":false,"busiest_hosts":[` +
		`{"host":1,"operations":3,"bytes_read":300,"bytes_written":0},{"host":2,"operations":2,"bytes_read":0,"bytes_written":4097},` +
		`{"host":4,"operations":2,"bytes_read":0,"bytes_written":0},{"host":3,"operations":1,"bytes_read":0,"bytes_written":0}],` +
		`"files":3,"files_at_least":false,` +
		`"sharing":{"one_host":0,"two_hosts":2,"three_to_ten_hosts":1,"more_than_ten_hosts":0,` +
		`"read_by_several":1,"written_by_several":0,"written_by_one_read_by_others":2},` +
		`"file_sizes":[{"up_to_bytes":0,"files":1},{"up_to_bytes":4096,"files":1},{"up_to_bytes":65536,"files":1},` +
		`{"up_to_bytes":1048576,"files":0},{"up_to_bytes":16777216,"files":0},{"up_to_bytes":1073741824,"files":0},{"up_to_bytes":0,"files":0}],`
	got, err := json.Marshal(info)
	if err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	const end = `"out_of_order":2,"clamped":0,"skipped_lines":1,"first_skipped":"small:4: expected a time in seconds, found \"what\"",` +
		`"findings":[{"group":"Calls","name":"WRITE","count":1234},{"group":"Packets","name":"cut short","count":2,"odd":true},` +
		`{"group":"Calls","name":"READ","count":5}]}`
	if !strings.HasSuffix(string(got), end) {
		t.Errorf("got  %s\nwant %s", got, end)
	}
	if info.Transactions == nil || info.Transactions.ExplicitOpens != 1 || info.Transactions.ReadWrite < 1 {
		t.Errorf("transactions %+v", info.Transactions)
	}
	if info.ReadShare()+info.WriteShare() != 1 || info.Span() != 90_000_000 {
		t.Errorf("shares %v and %v, span %d", info.ReadShare(), info.WriteShare(), info.Span())
	}
}

func TestText(t *testing.T) {
	info, err := Collect(small())
	if err != nil {
		t.Fatal(err)
	}
	info.Transactions = &Transactions{ReadOnly: 3000, ReadWrite: 1000, Singles: 4000}
	info.Clamped, info.FilesAtLeast = 1, true
	const want = `trace         small
format        packets
operations    8
hosts         4
files         at least 3, of which 3 were used by more than one host
time          1970-01-01 00:00:01.000000 UTC to 1970-01-01 00:01:31.000000 UTC
span          90.000000 s (1m30s)
data read     300 bytes (300 B) by 1 operations: 6.8% of the data moved
data written  4,097 bytes (4.1 kB) by 1 operations: 93.2% of the data moved

Operations by type
  Attr READ     3  37.5%  ask for a file's attributes
  Block READ    1  12.5%  read data of a file
  Block WRITE   1  12.5%  write data of a file
  Dir READ      1  12.5%  read a directory
  Open READ     1  12.5%  open a file
  Rename WRITE  1  12.5%  give a file another name

Transactions that a replay would make of them
  read-only   3,000  75.0%
  read/write  1,000  25.0%

... and how they come about
  single operations  4,000  100.0%  each a transaction of its own
  open and close         0    0.0%  what a host does to a file between the two
  inferred opens         0    0.0%  data moved without an Open in the trace

Hosts by operations
  host  operations  share  bytes read  bytes written
  1              3  37.5%         300              0
  2              2  25.0%           0          4,097
  4              2  25.0%           0              0
  3              1  12.5%           0              0

Files by the number of hosts that used them
  1 host              0   0.0%
  2 hosts             2  66.7%
  3 to 10 hosts       1  33.3%
  more than 10 hosts  0   0.0%

Files that hosts share
  read by several                 1  33.3%
  written by several              0   0.0%
  written by one, read by others  2  66.7%

Files by size, as far as data were read or written
  no data moved  1  33.3%
  up to 4.0 KiB  1  33.3%
  up to 64 KiB   1  33.3%
  up to 1.0 MiB  0   0.0%
  up to 16 MiB   0   0.0%
  up to 1.0 GiB  0   0.0%
  larger         0   0.0%

Longest times without an operation
  68.000000 s, ended at 1970-01-01 00:01:10.000000 UTC by line 5
  20.000000 s, ended at 1970-01-01 00:01:30.000000 UTC by line 7
  1.000000 s, ended at 1970-01-01 00:01:31.000000 UTC by line 8
  0.500000 s, ended at 1970-01-01 00:00:02.000000 UTC by line 6
  0.400000 s, ended at 1970-01-01 00:00:01.400000 UTC by line 3

Calls
  WRITE  1,234
  READ       5

Odd: what a sound trace would not have
  operations out of order  2  25.0%  older than one before them; put back in order
  of these, too late       1  12.5%  by more than 1.000000 s; given a later time
  lines skipped            1         the first: small:4: expected a time in seconds, found "what"
  Packets: cut short       2
`
	var b strings.Builder
	n, err := info.WriteTo(&b)
	if err != nil || int(n) != b.Len() || b.String() != want {
		t.Errorf("%d bytes, %v:\n%s", n, err, b.String())
	}
	full := errors.New("full")
	if _, err := info.WriteTo(failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("error lost: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestCollectErrors(t *testing.T) {
	var le *traces.LineError
	if info, err := Collect(traces.Bytes("small", []byte(smallTrace), traces.Options{})); info != nil || !errors.As(err, &le) || le.Line != 4 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := Collect(traces.Bytes("none", nil, traces.Options{})); !errors.Is(err, traces.ErrEmpty) {
		t.Errorf("got %v", err)
	}
}

// TestSharing compares the compact sets with real ones.
// TestNoOperations describes a trace in which other things were found, and
// refuses one in which there is nothing.
func TestNoOperations(t *testing.T) {
	info, err := Collect(reporting{traces.Bytes("none", nil, traces.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if _, err := info.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	const want = `trace         none
format        packets
operations    0

Calls
  WRITE  1,234
  READ       5

Odd: what a sound trace would not have
  Packets: cut short  2
`
	if text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
	data, err := json.Marshal(info)
	if err != nil || info.Transactions == nil || strings.Contains(string(data), "null") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := Collect(traces.Bytes("none", nil, traces.Options{})); !errors.Is(err, traces.ErrEmpty) {
		t.Errorf("got %v", err)
	}
}

func TestSharing(t *testing.T) {
	f := newFiles(100)
	sets := map[traces.FID]map[uint32]bool{}
	for i := range uint64(20_000) {
		n := i * 0x9e3779b97f4a7c15
		fid := traces.FID(n >> 58)
		host := uint32(n>>20) % (1 + uint32(fid)/4) // up to 16 hosts
		if sets[fid] == nil {
			sets[fid] = map[uint32]bool{}
		}
		sets[fid][host] = true
		f.add(&traces.Op{Type: traces.Attr, FID: fid, Host: host})
	}
	var want Sharing
	for fid, hosts := range sets {
		if got := int(f.uses[fid].hosts); got != min(len(hosts), several) {
			t.Errorf("%v has %d hosts, not %d", fid, got, len(hosts))
		}
		switch n := len(hosts); {
		case n == 1:
			want.OneHost++
		case n == 2:
			want.TwoHosts++
		case n <= 10:
			want.ThreeToTen++
		default:
			want.MoreThanTen++
		}
		if len(hosts) > 1 {
			want.ReadBySeveral++
		}
	}
	if got := f.sharing(); got != want || want.MoreThanTen == 0 || want.ThreeToTen == 0 {
		t.Errorf("%+v, not %+v", got, want)
	}
}

func TestSizeClasses(t *testing.T) {
	for end, class := range map[int64]int{0: 0, 1: 1, 4095: 1, 4096: 1, 4097: 2, 1 << 16: 2, 1<<16 + 1: 3, 1 << 20: 3, 1 << 30: 5, 1<<30 + 1: 6, 1<<63 - 1: 6} {
		f := newFiles(1)
		f.add(&traces.Op{Type: traces.Block, Off: max(end-1, 0), Size: min(end, 1)})
		for n, c := range f.sizes() {
			if (c.Files == 1) != (n == class) {
				t.Errorf("%d bytes: %d files in class %d", end, c.Files, n)
			}
		}
	}
}

// TestManyFilesAndHosts goes beyond what is kept apart.
func TestManyFilesAndHosts(t *testing.T) {
	f := newFiles(2)
	for fid := range traces.FID(3) {
		f.add(&traces.Op{Type: traces.Attr, FID: fid})
	}
	if len(f.uses) != 2 || !f.full {
		t.Errorf("%d files, full %v", len(f.uses), f.full)
	}
	var text []byte
	for h := range uint32(maxHosts + 2) {
		text = append(traces.AppendAuspex(text, traces.Op{Time: int64(h) * 1000, Type: traces.Block, Size: 1, Host: h}), '\n')
	}
	info, err := Collect(traces.Bytes("t", text, traces.Options{}))
	if err != nil || info.Hosts != maxHosts || !info.HostsAtLeast || info.Operations != maxHosts+2 || info.BytesRead != maxHosts+2 ||
		info.Sharing.MoreThanTen != 1 || len(info.Busiest) != maxBusiest {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestDenseTrace is one whose transactions cannot be told; all else can.
func TestDenseTrace(t *testing.T) {
	in, err := small().Open()
	if err != nil {
		t.Fatal(err)
	}
	info, err := collect("t", in, infer.Options{MaxBuffered: 1})
	if err != nil || info.Transactions != nil || info.Operations != 8 || info.Files != 3 {
		t.Fatalf("%+v, %v", info, err)
	}
	var b strings.Builder
	if _, err := info.WriteTo(&b); err != nil || !strings.Contains(b.String(), "\n  not known: line 3: more than 1 operations") {
		t.Errorf("%v, %s", err, &b)
	}
}

func BenchmarkCollect(b *testing.B) {
	var text []byte
	for i := range int64(100_000) {
		op := traces.Op{Time: i * 1000, Type: traces.Block, FID: traces.FID(i % 5000 * 77), Off: i % 16 * 4096, Size: 4096, Host: uint32(i % 100)}
		text = append(traces.AppendAuspex(text, op), '\n')
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if info, err := Collect(traces.Bytes("t", text, traces.Options{})); err != nil || info.Operations != 100_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(100_000*b.N)/b.Elapsed().Seconds(), "ops/s")
}
