package nfsxdr

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
)

// exchange is a call and its reply, and what they make.
type exchange struct {
	procedure uint32
	args      []any
	results   []any
	want      string
}

func (e exchange) run(t *testing.T, version uint32) {
	t.Helper()
	c := begin(t, version, e.procedure, e.args...)
	if e.results != nil {
		c.answered(t, e.results...)
	}
	if got := text(c); got != e.want {
		t.Errorf("version %d procedure %d: got %s\nwant %s", version, e.procedure, got, e.want)
	}
}

type list = []any

func TestVersion2(t *testing.T) {
	dir, file, attributes := fixed("dir"), fixed("file"), zeros(attributes2)
	settings := func(size int) list { return list{0, -1, -1, size, zeros(16)} }
	for _, e := range []exchange{
		{0, nil, list{}, ""},
		{1, list{file}, list{0, attributes}, "getattr file [0]"},
		{1, list{file}, nil, "getattr file"},
		{1, list{file}, list{70}, "getattr file [70]"},
		{2, list{file, settings(-1)}, list{0, attributes}, "setattr file [0]"},
		{2, list{file, settings(9)}, list{0, attributes}, "setattr file size 9 [0]"},
		{3, nil, list{}, ""}, // ROOT
		{4, list{dir, "name"}, list{0, file, attributes}, "lookup dir/name = file [0]"},
		{4, list{dir, "name"}, list{2}, "lookup dir/name [2]"},
		{5, list{file}, list{0, "target"}, "readlink file 0+6 [0]"},
		{6, list{file, 8192, 4096, 0}, list{0, attributes, "data"}, "read file 8192+4096 done 4 [0]"},
		{8, list{file, 0, 8192, 0, "some data"}, list{0, attributes}, "write file 8192+9 [0]"},
		{9, list{dir, "name", settings(0)}, list{0, file, attributes}, "create dir/name = file size 0 [0]"},
		{10, list{dir, "name"}, list{0}, "remove dir/name [0]"},
		{11, list{dir, "name", file, "other"}, list{0}, "rename dir/name to file/other [0]"},
		{12, list{file, dir, "name"}, list{0}, "link file to dir/name [0]"},
		{13, list{dir, "name", "target", settings(-1)}, list{0}, "symlink dir/name 0+6 [0]"},
		{14, list{dir, "name", settings(0)}, list{0, file, attributes}, "mkdir dir/name = file [0]"},
		{15, list{dir, "name"}, list{0}, "rmdir dir/name [0]"},
		{16, list{dir, 5, 1024}, list{0, 0, 1}, "readdir dir 5+1024 [0]"},
		{17, list{dir}, list{0, zeros(20)}, ""},
	} {
		e.run(t, 2)
	}
}

func TestVersion3(t *testing.T) {
	attributes := list{1, zeros(attributes3)}
	wcc := list{1, zeros(before3), 1, zeros(attributes3)}
	settings := func(size ...any) list { return list{1, 0o644, 0, 1, 7, size, 1, 2, uint64(5)} }
	for _, e := range []exchange{
		{0, nil, list{}, ""},
		{1, list{"file"}, list{0, zeros(attributes3)}, "getattr file [0]"},
		{2, list{"file", settings(1, uint64(1<<40)), 0}, list{0, wcc}, "setattr file size 1099511627776 [0]"},
		{2, list{"file", settings(0), 1, uint64(5)}, list{0, wcc}, "setattr file [0]"},
		{3, list{"dir", "name"}, list{0, "file", attributes, attributes}, "lookup dir/name = file [0]"},
		{3, list{"dir", "name"}, list{2, attributes}, "lookup dir/name [2]"},
		{4, list{"file", 63}, list{0, attributes, 63}, "access file [0]"},
		{5, list{"file"}, list{0, attributes, "target"}, "readlink file 0+6 [0]"},
		{6, list{"file", uint64(1 << 33), 4096}, list{0, 0, 100, 1, "data"}, "read file 8589934592+4096 done 100 [0]"},
		{6, list{"file", uint64(1 << 33), 4096}, list{0, attributes, 100, 1, "data"}, "read file 8589934592+4096 done 100 [0]"},
		{7, list{"file", uint64(4096), 9, 2, "some data"}, list{0, wcc, 9, 2, uint64(1)}, "write file 4096+9 done 9 [0]"},
		{7, list{"file", uint64(4096), 9, 2, "some data"}, list{28, 0, 0}, "write file 4096+9 [28]"},
		{8, list{"dir", "name", 0, settings(1, uint64(0))}, list{0, 1, "file", attributes, wcc}, "create dir/name = file size 0 [0]"},
		{8, list{"dir", "name", 1, settings(0)}, list{0, 0, 0, 0, 0}, "create dir/name [0]"},
		{8, list{"dir", "name", 2, uint64(99)}, list{0, 1, "file", 0, 0, 0}, "create dir/name = file [0]"},
		{9, list{"dir", "name", settings(0)}, list{0, 1, "file", attributes, wcc}, "mkdir dir/name = file [0]"},
		{10, list{"dir", "name", settings(0), "target"}, list{0, 1, "file", 0, 0, 0}, "symlink dir/name = file 0+6 [0]"},
		{11, list{"dir", "name", 7, settings(0)}, list{0, 1, "file", 0, 0, 0}, "mknod dir/name = file [0]"},
		{12, list{"dir", "name"}, list{0, wcc}, "remove dir/name [0]"},
		{13, list{"dir", "name"}, list{0, wcc}, "rmdir dir/name [0]"},
		{14, list{"dir", "name", "to", "other"}, list{0, wcc, wcc}, "rename dir/name to to/other [0]"},
		{15, list{"file", "dir", "name"}, list{0, attributes, wcc}, "link file to dir/name [0]"},
		{16, list{"dir", uint64(5), uint64(0), 1024}, list{0, attributes}, "readdir dir 5+1024 [0]"},
		{17, list{"dir", uint64(5), uint64(0), 1024, 32768}, list{0, attributes}, "readdir dir 5+32768 [0]"},
		{18, list{"dir"}, list{0, attributes}, ""},
		{21, list{"file", uint64(4096), 9}, list{0, wcc, uint64(1)}, "commit file 4096+9 [0]"},
	} {
		e.run(t, 3)
	}
}

// TestCutCalls cuts calls everywhere: what is known of a call that moves data
// does not depend on the data, and no call is made up.
func TestCutCalls(t *testing.T) {
	write := join("file", uint64(4096), 9, 2, "some data")
	for n := range write {
		c := Call{}
		cur := xdr.New(write[:n], nil, len(write))
		err := c.Begin(5, 3, 3, 7, &cur, nil)
		if known := n >= 8+8+4; known != (err == nil) || known != (text(&c) == "write file 4096+9") || err != nil && !errors.Is(err, xdr.ErrMissing) {
			t.Errorf("cut to %d: %s, %v", n, text(&c), err)
		}
	}
}

func TestCutReplies(t *testing.T) {
	read := join(0, 1, zeros(attributes3), 100, 1, "data")
	for n := range read {
		c := begin(t, 3, 6, "file", uint64(0), 4096)
		cur := xdr.New(read[:n], nil, len(read))
		_, err := c.Reply(&cur)
		want := "read file 0+4096"
		if n >= 4 {
			want += " [0]"
		}
		if n >= 96 {
			want = "read file 0+4096 done 100 [0]"
		}
		if got := text(c); got != want || (err == nil) != (n >= 96) {
			t.Errorf("cut to %d: %s, %v", n, got, err)
		}
	}
}

func TestImpossibleCalls(t *testing.T) {
	for name, c := range map[string]struct {
		version, procedure uint32
		args               list
	}{
		"name that cannot be padded": {2, 4, list{fixed("dir"), raw("\xff\xff\xff\xfd....")}},
		"name too long":              {3, 3, list{"dir", string(zeros(1025))}},
		"handle too long":            {3, 1, list{string(zeros(65))}},
		"too short":                  {3, 6, list{"file", 1}},
	} {
		var call Call
		if err := call.Begin(5, 3, c.version, c.procedure, cursor(join(c.args...)), nil); err == nil || text(&call) != "" {
			t.Errorf("%s: %s, %v", name, text(&call), err)
		}
		if _, err := call.Reply(cursor(join(0, zeros(100)))); err != nil {
			t.Errorf("%s: its reply: %v", name, err)
		}
	}
	var call Call
	if err := call.Begin(5, 3, 9, 1, cursor(nil), nil); err != nil || text(&call) != "" {
		t.Errorf("version 9: %s, %v", text(&call), err)
	}
}

func TestFail(t *testing.T) {
	c := begin(t, 3, 1, "file")
	c.Fail()
	if got := text(c); got != "getattr file [10006]" {
		t.Error(got)
	}
}

// TestCallIsUsedAgain begins a call in the place of another.
func TestCallIsUsedAgain(t *testing.T) {
	c := begin(t, 3, 14, "dir", "name", "to", "other").answered(t, 0)
	if err := c.Begin(5, 3, 3, 1, cursor(join("file")), nil); err != nil || text(c) != "getattr file" {
		t.Errorf("%s, %v", text(c), err)
	}
	big := begin(t, 3, 3, "dir", string(make([]byte, 1000)))
	big.Release()
	if cap(big.arena) > keepArena {
		t.Errorf("%d bytes are kept", cap(big.arena))
	}
}
