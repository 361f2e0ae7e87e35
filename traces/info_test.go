package traces

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const smallTrace = `1.000000 Open READ FID: a OFF: 9 SIZE: 0 HOST: 1
1.500000 Block READ FID: a OFF: 0 SIZE: 300 HOST: 1
1.400000 Block WRITE FID: b OFF: 0 SIZE: 100 HOST: 2
what is this
7.000000 Attr READ FID: a OFF: 0 SIZE: 0 HOST: 2
2.000000 Attr READ FID: a OFF: 0 SIZE: 0 HOST: 3
9.000000 Dir READ FID: c OFF: 0 SIZE: 512 HOST: 1
`

func TestCollect(t *testing.T) {
	info, err := Collect(Bytes("small", []byte(smallTrace), Options{SkipUnknown: true}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"small","operations":6,"by_kind":[` +
		`{"type":"Attr","action":"READ","count":2},{"type":"Block","action":"READ","count":1},` +
		`{"type":"Block","action":"WRITE","count":1},{"type":"Dir","action":"READ","count":1},{"type":"Open","action":"READ","count":1}],` +
		`"hosts":3,"files":3,"shared_files":1,"first_us":1000000,"last_us":9000000,` +
		`"largest_gap_us":5000000,"largest_gap_line":5,` +
		`"blocks_read":1,"blocks_written":1,"bytes_read":300,"bytes_written":100,` +
		`"out_of_order":2,"clamped":0,"skipped_lines":1,"first_skipped":"small:4: expected a time in seconds, found \"what\""}`
	got, err := json.Marshal(info)
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if info.ReadShare() != 0.75 || info.WriteShare() != 0.25 || info.Span() != 8_000_000 {
		t.Errorf("shares %v and %v, span %d", info.ReadShare(), info.WriteShare(), info.Span())
	}
}

func TestInfoText(t *testing.T) {
	info, err := Collect(Bytes("small", []byte(smallTrace), Options{SkipUnknown: true}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `trace          small
operations     6 by 3 hosts on 3 files (1 used by more than one host)
  Attr READ    2 (33.3%)
  Block READ   1 (16.7%)
  Block WRITE  1 (16.7%)
  Dir READ     1 (16.7%)
  Open READ    1 (16.7%)
time           1970-01-01 00:00:01.000000 UTC to 1970-01-01 00:00:09.000000 UTC
span           8.000000 s
largest gap    5.000000 s, ended by line 5
read           300 bytes in 1 blocks (75.0% of the bytes)
written        100 bytes in 1 blocks (25.0% of the bytes)
out of order   2 lines, 0 of them by more than 1.000000 s and given a later time
skipped        1 lines
  the first    small:4: expected a time in seconds, found "what"
`
	if got := info.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	var b strings.Builder
	if n, err := info.WriteTo(&b); err != nil || n != int64(len(want)) || b.String() != want {
		t.Errorf("WriteTo: %d, %v", n, err)
	}
	full := errors.New("full")
	if _, err := info.WriteTo(failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("error lost: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestCollectErrors(t *testing.T) {
	var le *LineError
	if info, err := Collect(Bytes("small", []byte(smallTrace), Options{})); info != nil || !errors.As(err, &le) || le.Line != 4 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := Collect(Bytes("none", nil, Options{})); !errors.Is(err, ErrEmpty) {
		t.Errorf("got %v", err)
	}
}
