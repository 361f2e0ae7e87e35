package nfsdump

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/nfs"
)

const (
	debugCall  = " con = XXX len = XXX\n"
	debugReply = " status=XXX pl = XXX con = XXX len = XXX\n"
)

// call and reply make lines of version 3 over TCP, 1 s apart by n.
func call(n string, xid string, rest string) string {
	return n + " 31.03f7 30.0801 T C3 " + xid + " " + rest + debugCall
}

func reply(n string, xid string, rest string) string {
	return n + " 30.0801 31.03f7 T R3 " + xid + " " + rest + debugReply
}

// The texts below have the handles aa00, of a directory, and bb00, of a file.
var dirID, fileID = nfs.FileID([]byte{0xaa, 0}), nfs.FileID([]byte{0xbb, 0})

// TestTraps reads texts that each make one operation, or none.
func TestTraps(t *testing.T) {
	read := func(off, size int64) *traces.Op {
		return &traces.Op{Type: traces.Block, FID: fileID, Off: off, Size: size}
	}
	attr := func(a traces.Action) *traces.Op { return &traces.Op{Type: traces.Attr, Action: a, FID: fileID} }
	trunc := func(n int64) *traces.Op {
		return &traces.Op{Type: traces.Truncate, Action: traces.Write, FID: fileID, Off: n}
	}
	named := func(typ traces.Type, a traces.Action, name string) *traces.Op {
		return &traces.Op{Type: typ, Action: a, FID: fileID, Place: &traces.Place{Dir: dirID, Name: name}}
	}
	const readFile = "6 read fh bb00 off 2000 count 2000"
	for name, c := range map[string]struct {
		text    string
		want    *traces.Op
		finding string // one that must be there
	}{
		"plain":           {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK ftype 1 mode 180 size 72520 count 2000 eof 0"), read(8192, 8192), ""},
		"short read":      {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK ftype 1 count 10 eof 1"), read(8192, 16), ""},
		"no attributes":   {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK count 10 eof 1"), read(8192, 16), ""},
		"no reply":        {call("1.0", "1", readFile), read(8192, 8192), "NFS messages: calls without a reply"},
		"failed":          {call("1.0", "1", readFile) + reply("1.1", "1", "6 read 46 "), nil, "NFS errors: STALE"},
		"version 2":       {"1.5 31.3f7 30.801 U C2 1 6 read fh bb00 offset 10 count 20 tcount 30" + debugCall, read(16, 32), ""},
		"JUMBO":           {strings.TrimSuffix(call("1.0", "1", readFile), "\n") + " JUMBO\n", read(8192, 8192), "nfsdump lines: JUMBO or LONGPACKET"},
		"LONGPACKET":      {call("1.0", "1", readFile+" LONGPACKET"), read(8192, 8192), "nfsdump lines: JUMBO or LONGPACKET"},
		"short call":      {call("1.0", "1", "6 read fh bb00 SHORT PACKETcon = 130 len = 400"), nil, "nfsdump lines: SHORT PACKET"},
		"short reply":     {call("1.0", "1", readFile) + reply("1.1", "1", "6 read SHORT PACKETstatus=0 pl = 1 con = 1 len = 1"), read(8192, 8192), "nfsdump lines: SHORT PACKET"},
		"short and ok":    {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK ftype 1 count SHORT PACKET"), read(8192, 8192), "nfsdump lines: SHORT PACKET"},
		"credentials":     {call("1.0", "1", "4 access fh bb00 acc 2 euid 18a8f egid 18a90"), attr(traces.Read), ""},
		"access letter":   {call("1.0", "1", "4 access fh bb00 acc L"), attr(traces.Read), ""},
		"server time":     {call("1.0", "1", "2 setattr fh bb00 mode 1a4 atime SERVER mtime SERVER"), attr(traces.Write), ""},
		"time of 7":       {call("1.0", "1", "2 setattr fh bb00 mtime 1025711813.4075311"), attr(traces.Write), ""},
		"size":            {call("1.0", "1", "2 setattr fh bb00 size 2000"), trunc(0x2000), ""},
		"swapped":         {call("1.0", "1", "2 setattr fh bb00 size 200000000000"), trunc(0x2000), "nfsdump lines: sizes with swapped halves"},
		"swapped beyond":  {call("1.0", "1", "2 setattr fh bb00 size 2000000000000001"), trunc(0x120000000), "nfsdump lines: sizes with swapped halves"},
		"large, in order": {call("1.0", "1", "2 setattr fh bb00 size 123456789"), trunc(0x123456789), ""},
		"not swapped any more": {call("1063065600.0", "1", "2 setattr fh bb00 size 200000000000"),
			trunc(0x200000000000), ""},
		"version 2 size unset": {"1.5 31.3f7 30.801 U C2 1 2 setattr fh bb00 size ffffffff" + debugCall, attr(traces.Write), ""},
		"stable ?": {call("1.0", "1", "7 write fh bb00 off 0 count 10 stable ?") + reply("1.1", "1", "7 write OK count 10 stable ?"),
			&traces.Op{Type: traces.Block, Action: traces.Write, FID: fileID, Size: 16}, ""},
		"impossible count": {call("1.0", "1", "6 read fh bb00 off 0 count ffffffff"), nil, "NFS calls without operations: with impossible names or ranges"},
		"more than asked":  {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK count 9999999 eof 0"), read(8192, 8192), "NFS files: replies of more bytes than asked for"},
		"bad handle":       {call("1.0", "1", "1 getattr fh bb0"), nil, "nfsdump lines: impossible values"},
		"bad count":        {call("1.0", "1", "6 read fh bb00 off 0 count 20x0"), nil, "nfsdump lines: impossible values"},
		"bad reply count":  {call("1.0", "1", readFile) + reply("1.1", "1", "6 read OK count 2?00 eof 0"), read(8192, 8192), "nfsdump lines: impossible values"},
		"bad status":       {call("1.0", "1", readFile) + reply("1.1", "1", "6 read fffe "), nil, "NFS errors: of unknown status"},
		"no count":         {call("1.0", "1", "6 read fh bb00 off 0"), nil, "nfsdump lines: missing fields"},
		"other procedure":  {call("1.0", "1", readFile) + reply("1.1", "1", "1 getattr 46 "), read(8192, 8192), "nfsdump lines: replies to another procedure"},
		"lookup": {call("1.0", "1", `3 lookup fh aa00 name "a\20\22b"`) + reply("1.1", "1", "3 lookup OK fh bb00 ftype 1 mode 1 ftype 2 mode 2"),
			named(traces.Lookup, traces.Read, `a "b`), ""},
		"blank in a name": {call("1.0", "1", `3 lookup fh aa00 name "a b"`) + reply("1.1", "1", "3 lookup OK fh bb00"),
			named(traces.Lookup, traces.Read, "a b"), ""},
		"status in a name": {call("1.0", "1", `3 lookup fh aa00 name "status=a"`) + reply("1.1", "1", "3 lookup OK fh bb00"),
			named(traces.Lookup, traces.Read, "status=a"), ""},
		"empty name":    {call("1.0", "1", `3 lookup fh aa00 name ""`) + reply("1.1", "1", "3 lookup OK fh bb00"), attr(traces.Read), ""},
		"bad escape":    {call("1.0", "1", `3 lookup fh aa00 name "a\2"`) + reply("1.1", "1", "3 lookup OK fh bb00"), nil, "nfsdump lines: impossible values"},
		"failed lookup": {call("1.0", "1", `3 lookup fh aa00 name "a"`) + reply("1.1", "1", "3 lookup 2 "), nil, "NFS errors: NOENT"},
		"create without a handle": {call("1.0", "1", `8 create fh aa00 name "a" how U mode 1a4 size 0`) + reply("1.1", "1", "8 create OK fh ftype 1 mode 0"),
			func() *traces.Op {
				op := named(traces.Create, traces.Write, "a")
				op.FID = 0
				return op
			}(), "NFS files: known by name only"},
		"link":      {call("1.0", "1", `f link fh bb00 fh2 aa00 name "l"`), named(traces.Link, traces.Write, "l"), ""},
		"retrans":   {call("1.0", "1", readFile) + call("1.7", "1", readFile) + reply("1.8", "1", "6 read OK count 8 eof 1"), read(8192, 8), "NFS messages: retransmitted calls"},
		"two reply": {call("1.0", "1", readFile) + strings.Repeat(reply("1.8", "1", "6 read OK count 8 eof 1"), 2), read(8192, 8), "NFS messages: repeated replies"},
		"orphan":    {call("1.0", "1", readFile) + reply("1.8", "2", "6 read OK count 8 eof 1"), read(8192, 8192), "NFS messages: replies without a call"},
		"clock set back": {call("1000.9", "1", readFile) + reply("700.1", "1", "6 read OK count 8 eof 1"),
			read(8192, 8), "NFS messages: matched replies"},
		"real addresses": {"1.5 10.0.0.1.3f7 10.0.0.2.801 U C3 1 1 getattr fh bb00" + debugCall, attr(traces.Read), ""},
		"v2 link text": {"1.5 31.3f7 30.801 U C2 1 5 readlink fh bb00" + debugCall +
			`1.6 30.801 31.3f7 U R2 1 5 readlink OK name "a\20b"` + debugReply, read(0, 3), ""},
		"whole seconds": {call("7", "1", "1 getattr fh bb00"), attr(traces.Read), ""},
		"7 digits":      {call("7.1234567", "1", "1 getattr fh bb00"), attr(traces.Read), "nfsdump lines: fractions of a second of 7 digits and more"},
	} {
		// A first call keeps a text without operations from being an error.
		ops, r := readAll(t, call("0.5", "ffff", "1 getattr fh cc00")+c.text)
		ops = ops[1:]
		switch {
		case c.want == nil && len(ops) == 0:
		case c.want == nil || len(ops) != 1:
			t.Errorf("%s: got %v", name, ops)
		case !same(ops[0], *c.want):
			t.Errorf("%s: got %v %v, want %v", name, ops[0], ops[0].Place, *c.want)
		}
		if c.finding != "" && found(r)[c.finding] == 0 {
			t.Errorf("%s: found %v", name, found(r))
		}
		if n, first := r.Skipped(); n != 0 {
			t.Errorf("%s: skipped %d, %v", name, n, first)
		}
	}
}

// same compares all but Time, Host and Line. A FID of 0 stands for any.
func same(got, want traces.Op) bool {
	if (got.Place == nil) != (want.Place == nil) || want.Place != nil && *got.Place != *want.Place {
		return false
	}
	return got.Type == want.Type && got.Action == want.Action && (got.FID == want.FID || want.FID == 0) && got.Off == want.Off && got.Size == want.Size
}

func TestTimesAndLines(t *testing.T) {
	ops, _ := readAll(t, "\ngarbage\n"+call("1006231501.391115", "1", "1 getattr fh bb00")+call("1006231501.10007", "2", "1 getattr fh bb00")+
		call("1006231501.1234567", "3", "1 getattr fh bb00"))
	if len(ops) != 3 || ops[2].Time != 1006231501_123456 || ops[0].Time != 1006231501_391115 || ops[0].Line != 3 || ops[1].Time != 1006231501_010007 || ops[1].Line != 4 {
		t.Errorf("got %v", ops)
	}
}

func TestLinesThatAreSkipped(t *testing.T) {
	good := call("1.0", "1", "1 getattr fh bb00")
	for name, c := range map[string]struct {
		text, reason string
		skipped      int64
	}{
		"zero bytes":      {good + strings.Repeat("\x00", 3*MaxLine) + good + good, "line holds zero bytes", 1},
		"a few zeros":     {good + good[:30] + "\x00\x00" + good + good, "line holds zero bytes", 1},
		"too long":        {good + strings.Repeat("x", 5*MaxLine) + "\n" + good, "line is over 262,144 bytes", 1},
		"a little":        {good + strings.Repeat("x", MaxLine+1) + "\n" + good, "line is over 262,144 bytes", 1},
		"cut off":         {good + good[:len(good)-20], "line is cut off", 1},
		"no time":         {good + "x" + good, "expected a time in seconds", 1},
		"no port":         {good + "1.0 31 30.0801 T C3 1 1 getattr\n", "expected the source, as address.port", 1},
		"no addr":         {good + "1.0 31.1 .0801 T C3 1 1 getattr\n", "expected the destination, as address.port", 1},
		"large port":      {good + "1.0 31.12345 30.0801 T C3 1 1 getattr\n", "expected the source, as address.port", 1},
		"transport":       {good + "1.0 31.1 30.0801 X C3 1 1 getattr\n", "expected U or T", 1},
		"version":         {good + "1.0 31.1 30.0801 T C9 1 1 getattr\n", "expected C2, C3, R2 or R3", 1},
		"xid":             {good + "1.0 31.1 30.0801 T C3 123456789 1 getattr\n", "expected an xid of up to 8 hexadecimal digits", 1},
		"no procedure":    {good + "1.0 31.1 30.0801 T C3 1 \n", "expected the number of a procedure", 1},
		"no name":         {good + "1.0 31.1 30.0801 T C3 1 1\n", "expected the name of a procedure", 1},
		"time far beyond": {good + "99999999999999.0 31.1 30.0801 T C3 1 1 getattr\n", "expected a time in seconds", 1},
	} {
		_, r := readAll(t, c.text)
		n, first := r.Skipped()
		if n != c.skipped || first == nil || first.Reason != c.reason || first.Line != 2 {
			t.Errorf("%s: skipped %d, %v", name, n, first)
		}
		if found(r)["nfsdump lines: no messages"] != n {
			t.Errorf("%s: found %v", name, found(r))
		}
	}
}

// TestXIDsRepeat checks that a call is new again when it is not remembered.
func TestXIDsRepeat(t *testing.T) {
	one := call("1.0", "1", "1 getattr fh bb00") + reply("1.1", "1", "1 getattr OK ftype 1")
	two := call("100.0", "1", "1 getattr fh bb00") + reply("100.1", "1", "1 getattr OK ftype 1")
	ops, r := readAll(t, one+two)
	if len(ops) != 2 || found(r)["NFS messages: retransmitted calls"] != 0 {
		t.Errorf("%d operations, %v", len(ops), found(r))
	}
}

func TestNoSuchText(t *testing.T) {
	for text, want := range map[string]error{
		"":                                  traces.ErrEmpty,
		"nothing\n":                         traces.ErrFormat,
		strings.Repeat("nothing\n", 20_000): traces.ErrFormat,
		strings.Repeat("nothing\n", 20_000) + string(sample): traces.ErrFormat,
	} {
		var se *traces.StreamError
		if _, err := NewReader(strings.NewReader(text), "f", traces.Options{}); !errors.As(err, &se) || !errors.Is(err, want) || se.File != "f" {
			t.Errorf("%.20q: got %v", text, err)
		}
	}
	r, err := NewReader(strings.NewReader(call("1.0", "1", "0 null")), "f", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, traces.ErrEmpty) {
			t.Errorf("got %v", err)
		}
	}
	if found(r)["NFS version 3 calls: NULL"] != 1 {
		t.Errorf("found %v", found(r))
	}
}

// TestReadErrors checks that what came before a failing read is delivered.
func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	text := strings.Repeat(call("1.0", "1", "1 getattr fh bb00")+call("1.1", "2", "1 getattr fh bb00"), 1000)
	r, err := NewReader(io.MultiReader(iotest.OneByteReader(strings.NewReader(text)), iotest.ErrReader(broken)), "f", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	var se *traces.StreamError
	if _, err := r.Next(); !errors.As(err, &se) || !errors.Is(err, broken) || se.Line != 2000 {
		t.Errorf("got %v", err)
	}
	if _, err := NewReader(iotest.ErrReader(broken), "f", traces.Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestClose(t *testing.T) {
	r, err := NewReader(strings.NewReader(string(sample)), "f", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Next(); !errors.Is(err, traces.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}
