package nfsxdr

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

var (
	session  = list{53, zeros(16), 1, 0, 0, 0}
	stateID  = zeros(stateid)
	changed  = zeros(20)
	bitmap   = list{2, 1, 2}
	noAttrs  = list{0, ""}
	sized    = func(n uint64) list { return list{1, sizeOnly, string(join(n))} }
	both     = func(size uint64) list { return list{2, sizeOnly, 2, string(join(size, 0o644))} }
	putFH    = func(h string) list { return list{22, h} }
	getAttr  = list{9, bitmap}
	getFH    = list{10}
	saveFH   = list{32}
	restored = list{31}
	owner    = list{uint64(7), "owner"}

	sessionOK = list{53, 0, zeros(36)}
	putFHOK   = list{22, 0}
	attrsOK   = list{9, 0, 1, 2, "attributes"}
	saveOK    = list{32, 0}
	restoreOK = list{31, 0}
)

func gotFH(h string) list { return list{10, 0, h} }

// opened4 is the results of OPEN in a directory that changed or not.
func opened4(atomic int, before, after uint64) list {
	return list{18, 0, stateID, atomic, before, after, 0, 1, 0, 0}
}

// compoundOf is the arguments of a COMPOUND.
func compoundOf(ops ...list) list {
	all := list{"tag", 1, len(ops)}
	for _, op := range ops {
		all = append(all, op)
	}
	return all
}

// resultsOf is its results.
func resultsOf(status int, results ...list) list {
	all := list{status, "tag", len(results)}
	for _, r := range results {
		all = append(all, r)
	}
	return all
}

// openArgs is OPEN of a name, which it makes.
func openArgs(name string, how ...any) list {
	return list{18, 0, 3, 0, owner, 1, how, 0, name}
}

func TestCompound(t *testing.T) {
	noDelegation := list{18, 0, stateID, changed, 0, 1, 0, 0}
	for _, e := range []struct {
		name          string
		args, results list
		want          string
	}{
		{"attributes", compoundOf(session, putFH("file"), getAttr), resultsOf(0, sessionOK, putFHOK, attrsOK), "getattr file [0]"},
		{"no reply", compoundOf(session, putFH("file"), getAttr), nil, "getattr file"},
		{"access and attributes", compoundOf(putFH("file"), list{3, 63}, getAttr), resultsOf(0, putFHOK, list{3, 0, 1, 1}, attrsOK), "access file [0]"},
		{"attributes twice", compoundOf(putFH("file"), getAttr, getAttr), nil, "getattr file"},
		{"attributes of another file", compoundOf(putFH("file"), list{3, 63}, putFH("other"), getAttr), nil, "access file; getattr other"},
		{"attributes of the same file", compoundOf(putFH("file"), list{3, 63}, putFH("file"), getAttr), nil, "access file"},
		{"delegation returned", compoundOf(putFH("file"), getAttr, list{8, stateID}), resultsOf(0, putFHOK, attrsOK, list{8, 0}), "getattr file [0]"},
		{"delegation returned first", compoundOf(putFH("file"), list{8, stateID}, getAttr), nil, ""},
		{"lookup", compoundOf(putFH("dir"), list{15, "name"}, getFH, getAttr), resultsOf(0, putFHOK, list{15, 0}, gotFH("file"), attrsOK),
			"lookup dir/name = file [0]"},
		{"lookup fails", compoundOf(putFH("dir"), list{15, "name"}, getFH, getAttr), resultsOf(2, putFHOK, list{15, 2}), "lookup dir/name [2]"},
		{"path", compoundOf(list{24}, list{15, "a"}, list{15, "b"}, getFH), resultsOf(0, list{24, 0}, list{15, 0}, list{15, 0}, gotFH("b")),
			"lookup/a [0]; lookup/b = b [0]"},
		{"root", compoundOf(list{24}, getFH, getAttr), resultsOf(0, list{24, 0}, gotFH("root"), attrsOK), "getattr root [0]"},
		{"saved and restored", compoundOf(putFH("dir"), saveFH, putFH("other"), restored, list{28, "name"}), nil, "remove dir/name"},
		{"named attributes", compoundOf(putFH("file"), list{19, 1}, getFH, getAttr), resultsOf(0, putFHOK, list{19, 0}, gotFH("attributes"), attrsOK), "getattr attributes [0]"},
		{"root twice", compoundOf(list{24}, getFH, putFH("file"), getAttr, list{24}, list{15, "a"}), resultsOf(0, list{24, 0}, gotFH("root"), putFHOK, attrsOK, list{24, 0}, list{15, 0}),
			"getattr file [0]; lookup root/a [0]"},
		{"parent", compoundOf(putFH("dir"), list{16}, getFH, getAttr), resultsOf(0, putFHOK, list{16, 0}, gotFH("up"), attrsOK), "getattr up [0]"},
		{"open", compoundOf(putFH("dir"), openArgs("name", 0, both(0)), getFH, list{3, 63}, getAttr),
			resultsOf(0, putFHOK, noDelegation, gotFH("file"), list{3, 0, 1, 1}, attrsOK),
			"open dir/name = file size 0 creates writes [0]; access file [0]"},
		{"open of an old kind", compoundOf(putFH("dir"), saveFH, openArgs("name", 1, noAttrs), getFH, getAttr, restored, getAttr),
			resultsOf(0, putFHOK, saveOK, list{18, 0, stateID, changed, 0, 0, 1, stateID, 0, 1, 2, 3, "who"}, gotFH("file"), attrsOK, restoreOK, attrsOK),
			"open dir/name = file creates writes [0]"},
		{"open exclusively", compoundOf(putFH("dir"), openArgs("name", 3, uint64(9), sized(5)), getFH),
			resultsOf(0, putFHOK, list{18, 0, stateID, changed, 0, 0, 2, stateID, 0, 1, uint64(5), 1, 2, 3, "who"}, gotFH("file")),
			"open dir/name = file size 5 creates writes [0]"},
		{"open exclusively, old", compoundOf(putFH("dir"), openArgs("name", 2, uint64(9)), getFH),
			resultsOf(0, putFHOK, list{18, 0, stateID, changed, 0, 0, 3, 1, 0}, gotFH("file")), "open dir/name = file creates writes [0]"},
		{"open of what was there", compoundOf(putFH("dir"), openArgs("name", 0, both(0)), getFH, list{3, 63}),
			resultsOf(0, putFHOK, opened4(1, 8, 8), gotFH("file"), list{3, 0, 1, 1}), "open dir/name = file size 0 writes [0]; access file [0]"},
		{"open of a new file", compoundOf(putFH("dir"), openArgs("name", 0, both(0)), getFH), resultsOf(0, putFHOK, opened4(1, 8, 9), gotFH("file")),
			"open dir/name = file size 0 creates writes [0]"},
		{"open, changes not told apart", compoundOf(putFH("dir"), openArgs("name", 0, both(0)), getFH), resultsOf(0, putFHOK, opened4(0, 8, 8), gotFH("file")),
			"open dir/name = file size 0 creates writes [0]"},
		{"open by handle", compoundOf(putFH("file"), list{18, 0, 1, 0, owner, 0, 4}, getAttr), resultsOf(0, putFHOK, list{18, 0, stateID, changed, 0, 0, 3, 0}, attrsOK),
			"open file [0]"},
		{"open with a delegation", compoundOf(putFH("dir"), list{18, 0, 1, 0, owner, 0, 2, stateID, "name"}, getFH), resultsOf(0, putFHOK, noDelegation, gotFH("file")),
			"open dir/name = file [0]"},
		{"close", compoundOf(putFH("file"), list{4, 1, stateID}, getAttr), resultsOf(0, putFHOK, list{4, 0, stateID}, attrsOK), "close file [0]"},
		{"read", compoundOf(putFH("file"), list{25, stateID, uint64(8), 100}, getAttr), resultsOf(0, putFHOK, list{25, 0, 1, "data!"}, attrsOK), "read file 8+100 done 5 [0]"},
		{"read, sparse", compoundOf(putFH("file"), list{68, stateID, uint64(8), 100}),
			resultsOf(0, putFHOK, list{68, 0, 1, 2, 0, uint64(8), "data!", 1, uint64(13), uint64(60)}), "read file 8+100 done 65 [0]"},
		{"write", compoundOf(putFH("file"), list{38, stateID, uint64(8), 2, "some data"}, getAttr), resultsOf(0, putFHOK, list{38, 0, 9, 2, uint64(1)}, attrsOK), "write file 8+9 done 9 [0]"},
		{"commit", compoundOf(putFH("file"), list{5, uint64(8), 100}), resultsOf(0, putFHOK, list{5, 0, uint64(1)}), "commit file 8+100 [0]"},
		{"truncate", compoundOf(putFH("file"), list{34, stateID, both(100)}, getAttr), resultsOf(0, putFHOK, list{34, 0, bitmap}, attrsOK), "setattr file size 100 [0]"},
		{"mode", compoundOf(putFH("file"), list{34, stateID, list{2, 0, 2, string(join(0o644))}}), resultsOf(0, putFHOK, list{34, 0, bitmap}), "setattr file [0]"},
		{"mkdir", compoundOf(putFH("dir"), list{6, 2, "name", noAttrs}, getFH, getAttr), resultsOf(0, putFHOK, list{6, 0, changed, bitmap}, gotFH("new"), attrsOK), "mkdir dir/name = new [0]"},
		{"symlink", compoundOf(putFH("dir"), list{6, 5, "target", "name", noAttrs}, getFH), resultsOf(0, putFHOK, list{6, 0, changed, bitmap}, gotFH("new")), "symlink dir/name = new 0+6 [0]"},
		{"device", compoundOf(putFH("dir"), list{6, 4, 1, 2, "name", noAttrs}, getFH), resultsOf(0, putFHOK, list{6, 0, changed, bitmap}, gotFH("new")), "mknod dir/name = new [0]"},
		{"remove", compoundOf(putFH("dir"), list{28, "name"}, getAttr), resultsOf(0, putFHOK, list{28, 0, changed}, attrsOK), "remove dir/name [0]"},
		{"rename", compoundOf(putFH("dir"), saveFH, putFH("to"), list{29, "name", "other"}, getAttr, restored, getAttr),
			resultsOf(0, putFHOK, saveOK, putFHOK, list{29, 0, changed, changed}, attrsOK, restoreOK, attrsOK), "rename dir/name to to/other [0]"},
		{"link", compoundOf(putFH("file"), saveFH, putFH("dir"), list{11, "name"}), resultsOf(0, putFHOK, saveOK, putFHOK, list{11, 0, changed}), "link file to dir/name [0]"},
		{"readdir", compoundOf(putFH("dir"), list{26, uint64(5), uint64(0), 1024, 32768, bitmap}, getAttr),
			resultsOf(0, putFHOK, list{26, 0, uint64(0), 1, uint64(6), "a", noAttrs, 1, uint64(7), "b", noAttrs, 0, 1}, attrsOK), "readdir dir 5+32768 [0]"},
		{"readlink", compoundOf(putFH("file"), list{27}), resultsOf(0, putFHOK, list{27, 0, "target"}), "readlink file 0+6 [0]"},
		{"two reads, one fails", compoundOf(putFH("file"), list{25, stateID, uint64(8), 100}, list{25, stateID, uint64(108), 100}, list{25, stateID, uint64(208), 100}),
			resultsOf(70, putFHOK, list{25, 0, 0, "data"}, list{25, 70}), "read file 8+100 done 4 [0]; read file 108+100 [70]"},
		{"nothing carried out", compoundOf(putFH("file"), getAttr), resultsOf(10021), ""},
	} {
		c := begin(t, 4, 1, e.args...)
		if e.results != nil {
			c.answered(t, e.results...)
		}
		if got := text(c); got != e.want {
			t.Errorf("%s: got %s\nwant %s", e.name, got, e.want)
		}
	}
}

// TestRoot carries the handle of the root from a call that shows it to one
// that does not.
func TestRoot(t *testing.T) {
	plain := begin(t, 4, 1, compoundOf(putFH("file"), getAttr)...)
	if got := plain.Root([]byte("root")); string(got) != "root" || text(plain) != "getattr file" {
		t.Errorf("%q, %s", got, text(plain))
	}
	path := func() *Call { return begin(t, 4, 1, compoundOf(list{24}, list{15, "a"}, list{15, "b"})...) }
	unknown := path()
	if got := unknown.Root(nil); got != nil {
		t.Errorf("%q", got)
	}
	unknown.Exchanges(func(x *nfs.Exchange) {
		if !x.Hidden || x.File != nil {
			t.Errorf("%+v", x)
		}
	})
	shown := begin(t, 4, 1, compoundOf(list{24}, getFH)...).answered(t, resultsOf(0, list{24, 0}, gotFH("root"))...)
	root := shown.Root([]byte("an older one"))
	if string(root) != "root" {
		t.Errorf("%q", root)
	}
	known := path()
	if got := known.Root(root); string(got) != "root" || text(known) != "lookup root/a; lookup/b" {
		t.Errorf("%q, %s", got, text(known))
	}
}

// TestResultsThatAreNotKnown has a reply of which only the first words are
// known: these tell the status of every operation.
func TestResultsThatAreNotKnown(t *testing.T) {
	args := compoundOf(putFH("file"), list{25, stateID, uint64(8), 100}, list{3, 1}, list{4, 1, stateID})
	results := join(resultsOf(70, putFHOK, list{25, 0, 0, string(zeros(100))}, list{3, 70})...)
	c := begin(t, 4, 1, args...)
	cur := xdr.New(results[:40], nil, len(results))
	if status, err := c.Reply(&cur); status != 70 || err == nil {
		t.Errorf("status %d, %v", status, err)
	}
	if got := text(c); got != "read file 8+100 done 100 [0]; access file [70]" {
		t.Error(got)
	}
}

func TestUnknownOperation(t *testing.T) {
	var seen []uint32
	c := Call{}
	err := c.Begin(5, 3, 4, 1, cursor(join(compoundOf(putFH("file"), list{3, 63}, list{99, 1, 2}, list{4, 1, stateID})...)), func(n uint32) { seen = append(seen, n) })
	if err == nil || text(&c) != "access file" || fmt.Sprint(seen) != "[22 3 99]" {
		t.Errorf("%s, %v, %v", text(&c), err, seen)
	}
	c.answered(t, resultsOf(10044, putFHOK, list{3, 0, 1, 1}, list{99, 10044})...)
	if got := text(&c); got != "access file [0]" {
		t.Error(got)
	}
	// A reply that does not belong to the call.
	c = *begin(t, 4, 1, compoundOf(putFH("file"), getAttr)...)
	if _, err := c.Reply(cursor(join(resultsOf(0, list{22, 0}, list{3, 0, 1, 1})...))); err == nil {
		t.Error("another operation was taken for GETATTR")
	}
}

func TestOperationsAreBounded(t *testing.T) {
	ops := make([]list, MaxOperations+1)
	for i := range ops {
		ops[i] = putFH(fmt.Sprint(i))
	}
	c := Call{}
	if err := c.Begin(5, 3, 4, 1, cursor(join(compoundOf(ops...)...)), func(uint32) {}); err == nil || len(c.ops) != MaxOperations {
		t.Errorf("%d operations, %v", len(c.ops), err)
	}
}

// TestOperations passes over the arguments and results of every operation
// that has nothing to decode, written by hand from the RFCs.
func TestOperations(t *testing.T) {
	channel := list{0, 1, 2, 3, 4, 5, 1, 9}
	secret := list{2, bitmap, bitmap, 1, "oid", 0, 5, 6}
	netloc := list{3, "tcp", "10.0.0.1.8.1"}
	written := list{1, stateID, uint64(5), 2, uint64(9)}
	deviceID := zeros(16)
	for number, c := range map[int]struct{ args, results list }{
		7:  {list{uint64(1)}, nil},
		12: {list{1, 0, uint64(0), uint64(9), 1, 5, stateID, 6, owner}, list{stateID}},
		13: {list{1, uint64(0), uint64(9), owner}, nil},
		14: {list{1, 5, stateID, uint64(0), uint64(9)}, list{stateID}},
		17: {list{noAttrs}, nil},
		19: {list{1}, nil},
		20: {list{stateID, 1}, list{stateID}},
		21: {list{stateID, 1, 1, 0}, list{stateID}},
		23: {nil, nil},
		30: {list{uint64(1)}, nil},
		33: {list{"name"}, list{3, 0, 1, 6, "oid", 0, 1}},
		35: {list{uint64(1), "client", 0x40000000, "tcp", "10.0.0.1.8.1", 1}, list{uint64(1), uint64(2)}},
		36: {list{uint64(1), uint64(2)}, nil},
		37: {list{sized(5)}, nil},
		39: {list{owner}, nil},
		40: {list{0x40000000, 3, 0, 1, 5, "host", 0, 0, 2, 8, 9, 6, 1, "a", "b"}, nil},
		41: {list{zeros(16), 3, 0}, list{zeros(16), 3, 0}},
		42: {list{uint64(1), "client", 0, secret, 1, "domain", "name", zeros(12)},
			list{uint64(1), 1, 0, 2, bitmap, bitmap, 0, 1, 128, 5, 1, "handle", uint64(0), "server", "scope", 0}},
		43: {list{uint64(1), 1, 0, channel, channel, 0x40000000, 1, 0}, list{zeros(16), 1, 0, channel, channel}},
		44: {list{zeros(16)}, nil},
		45: {list{stateID}, nil},
		46: {list{0, bitmap, zeros(12), zeros(12), bitmap, bitmap}, list{0, uint64(1), stateID, bitmap, bitmap, bitmap}},
		47: {list{deviceID, 1, 4096, bitmap}, list{1, "body", bitmap}},
		48: {list{1, 10, uint64(0), uint64(0)}, list{uint64(0), uint64(0), 1, deviceID, 1}},
		49: {list{uint64(0), uint64(9), 0, stateID, 1, uint64(8), 0, 1, "body"}, list{1, uint64(9)}},
		50: {list{0, 1, 1, uint64(0), uint64(9), uint64(9), stateID, 4096}, list{1, stateID, 1, uint64(0), uint64(9), 1, 1, "body"}},
		51: {list{0, 1, 1, 1, uint64(0), uint64(9), stateID, "body"}, list{1, stateID}},
		52: {list{0}, list{1, 1}},
		54: {list{"ssv", "digest"}, list{"digest"}},
		55: {list{2, stateID, stateID}, list{2, 0, 0}},
		56: {list{0, 1, 2}, list{1, stateID, 0, 0, 0, 0, "who"}},
		57: {list{uint64(1)}, nil},
		58: {list{0}, nil},
		59: {list{stateID, uint64(0), uint64(9)}, nil},
		60: {list{stateID, stateID, uint64(0), uint64(0), uint64(9), 1, 1, 1, netloc}, list{written, 1, 1}},
		61: {list{stateID, netloc}, list{zeros(12), stateID, 1, netloc}},
		62: {list{stateID, uint64(0), uint64(9)}, nil},
		63: {list{stateID, uint64(0), uint64(9), bitmap}, list{bitmap}},
		64: {list{uint64(0), uint64(9), stateID, 1, deviceID, 5, 25}, nil},
		65: {list{uint64(0), uint64(9), stateID, uint64(1), uint64(2), uint64(3), uint64(4), deviceID, 1, "body"}, nil},
		66: {list{stateID}, nil},
		67: {list{stateID}, list{uint64(5), 1, 0}},
		69: {list{stateID, uint64(0), 1}, list{1, uint64(9)}},
		70: {list{stateID, 2, uint64(0), uint64(512), uint64(4), uint64(0), 0, uint64(0), "pattern"}, list{written}},
		71: {list{stateID, stateID, uint64(0), uint64(0), uint64(9)}, nil},
		72: {list{"user.a"}, list{"value"}},
		73: {list{0, "user.a", "value"}, list{changed}},
		74: {list{uint64(0), 4096}, list{uint64(0), 2, "a", "b", 1}},
		75: {list{"user.a"}, list{changed}},
	} {
		c := begin(t, 4, 1, compoundOf(list{number, c.args}, putFH("file"), list{3, 63})...).
			answered(t, resultsOf(0, list{number, 0, c.results}, putFHOK, list{3, 0, 1, 1})...)
		if got := text(c); got != "access file [0]" {
			t.Errorf("%s: %s", nfs.OperationName(uint32(number)), got)
		}
	}
}

// TestLayouts checks that no layout has a letter that stands for nothing, and
// that what package nfs knows is known here.
func TestLayouts(t *testing.T) {
	check := func(where string, l layout) {
		depth := 0
		for i := range len(l) {
			switch l[i] {
			case '(', '{':
				depth++
			case ')', '}':
				depth--
			case 'i', 'h', 't', 's', 'o', 'b', 'f', 'c':
			default:
				if unions[l[i]] == nil {
					t.Errorf("%s: %q has no meaning", where, l[i])
				}
			}
		}
		if depth != 0 {
			t.Errorf("%s: brackets do not match", where)
		}
	}
	for number, o := range operations {
		name := nfs.OperationName(uint32(number))
		if o.known != (name != "unknown") {
			t.Errorf("operation %d is %s, but known: %v", number, name, o.known)
		}
		check(name, o.args)
		check(name, o.results)
	}
	for letter, u := range unions {
		for _, arm := range u {
			check(string(rune(letter)), arm)
		}
	}
}

func FuzzCompound(f *testing.F) {
	f.Add(join(compoundOf(session, putFH("dir"), openArgs("name", 0, both(0)), getFH, getAttr)...), join(resultsOf(0, sessionOK, putFHOK)...), uint8(0))
	f.Add(join(compoundOf(putFH("file"), list{38, stateID, uint64(8), 2, "some data"}, getAttr)...), join(resultsOf(0, putFHOK, list{38, 0, 9, 2, uint64(1)}, attrsOK)...), uint8(9))
	f.Add(join(compoundOf(list{43, uint64(1), 1, 0, 0, 1, 2, 3, 4, 5, 1, 9, 0, 1, 2, 3, 4, 5, 0, 7, 1, 0})...), join(resultsOf(0, list{26, 0, uint64(0), 1, uint64(6), "a", noAttrs, 0, 1})...), uint8(0))
	f.Fuzz(func(t *testing.T, args, results []byte, missing uint8) {
		c := Call{}
		fuzzed(t, &c, 4, 1, args, results, int(missing))
		if len(c.ops) > MaxOperations || len(c.parts) > len(c.ops) || len(c.slots) > len(c.ops)+1 {
			t.Fatalf("%d operations, %d exchanges, %d handles", len(c.ops), len(c.parts), len(c.slots))
		}
	})
}

func FuzzCall(f *testing.F) {
	f.Add(false, uint8(7), join("file", uint64(4096), 9, 2, "some data"), join(0, 0, 0, 9, 2, uint64(1)), uint8(0))
	f.Add(true, uint8(13), join(fixed("dir"), "name", "target", -1, -1, -1, -1, zeros(16)), join(0), uint8(3))
	f.Fuzz(func(t *testing.T, old bool, procedure uint8, args, results []byte, missing uint8) {
		version := uint32(3)
		if old {
			version = 2
		}
		fuzzed(t, &Call{}, version, uint32(procedure), args, results, int(missing))
	})
}

// fuzzed decodes a call and its reply, each with missing bytes in the middle.
func fuzzed(t *testing.T, c *Call, version, procedure uint32, args, results []byte, missing int) {
	holed := func(b []byte) *xdr.Cursor {
		half := len(b) / 2
		cur := xdr.New(b[:half], b[min(half+missing, len(b)):], len(b))
		return &cur
	}
	_ = c.Begin(5, 3, version, procedure, holed(args), func(uint32) {})
	_, _ = c.Reply(holed(results))
	c.Exchanges(func(x *nfs.Exchange) {
		if len(x.Name) > maxString || len(x.File) > maxHandle4 || len(x.Result) > maxHandle4 || x.Proc == nfs.Other && x.Answered && procedure != 1 {
			t.Fatalf("%+v", x)
		}
	})
	if c.Size() > 4*(len(args)+len(results))+300*MaxOperations {
		t.Fatalf("%d bytes kept", c.Size())
	}
}

func BenchmarkCompound(b *testing.B) {
	args := join(compoundOf(session, putFH("dir"), openArgs("name", 0, both(0)), getFH, list{3, 63}, getAttr)...)
	results := join(resultsOf(0, sessionOK, putFHOK, list{18, 0, stateID, changed, 0, 1, 0, 0}, gotFH("file"), list{3, 0, 1, 1}, attrsOK)...)
	c := Call{}
	b.SetBytes(int64(len(args) + len(results)))
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Begin(5, 3, 4, 1, cursor(args), func(uint32) {})
		if _, err := c.Reply(cursor(results)); err != nil {
			b.Fatal(err)
		}
		c.Exchanges(func(*nfs.Exchange) {})
	}
}
