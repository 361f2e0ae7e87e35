package capture

import (
	"net/netip"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

// compound is a COMPOUND call of so many operations, and answer its reply.
func compound(xid, count int, operations ...int) []byte {
	return append(words(xid, 0, 2, 100003, 4, 1, 0, 0, 0, 0, 0, 0, count), words(operations...)...)
}

func answer(xid, count int, results ...int) []byte {
	return append(words(xid, 1, 0, 0, 0, 0, 0, 0, count), words(results...)...)
}

// TestRootIsRemembered has two servers, of which one shows its root. Paths from
// there begin in a known directory, and those of the other one do not; neither
// is odd.
func TestRootIsRemembered(t *testing.T) {
	const handle, a, b, c, e = 0x726f6f74, 0x61000000, 0x62000000, 0x63000000, 0x65000000
	path := []int{24, 15, 1, a, 15, 1, b, 10}
	found := func(handle int) []int { return []int{24, 0, 15, 0, 15, 0, 10, 0, 4, handle} }
	d := &datagrams{t: t, size: 65528}
	d.send(1, 2, 900, 2049, compound(1, 3, 24, 10, 9, 0))
	d.send(2, 1, 2049, 900, answer(1, 3, 24, 0, 10, 0, 4, handle, 9, 0, 0, 0))
	d.send(1, 2, 900, 2049, compound(2, 4, path...))
	d.send(2, 1, 2049, 900, answer(2, 4, found(b)...))
	d.send(1, 2, 900, 2049, compound(3, 3, 24, 15, 1, c, 10))
	d.send(2, 1, 2049, 900, answer(3, 3, 24, 0, 15, 0, 10, 0, 4, c))
	d.send(1, 3, 900, 2049, compound(4, 4, path...))
	d.send(3, 1, 2049, 900, answer(4, 4, found(e)...))
	o := d.outcome()
	root := nfs.FileID(words(handle))
	if len(o.ops) != 2 || o.ops[0].FID != root || o.ops[1].FID != nfs.FileID(words(c)) || o.ops[1].Place.Dir != root || o.ops[1].Place.Name != "c" {
		t.Errorf("got\n%s%v", o.text(), o.err)
	}
	o.expect(t, map[string]int64{
		"NFS calls without operations: without a file handle": 0, "NFS calls without operations: on files whose handle is not shown": 3,
		"NFS calls without operations: lookups and opens of unknown result": 1, "NFS: calls and replies that cannot be decoded": 0,
	})
}

// TestRootsAreBounded has more servers than roots are remembered of.
func TestRootsAreBounded(t *testing.T) {
	tk := newTalk()
	for i := range MaxRoots + 10 {
		server := netip.AddrFrom4([4]byte(words(i)))
		c := call{server: nfs.EndOf(netip.AddrPortFrom(server, 2049))}
		args, results := words(0, 0, 2, 24, 10), words(0, 0, 2, 24, 0, 10, 0, 4, i)
		a, r := xdr.New(args, nil, len(args)), xdr.New(results, nil, len(results))
		if err := c.Begin(1, 1, 4, 1, &a, func(uint32) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(&r); err != nil {
			t.Fatal(err)
		}
		tk.root(&c)
	}
	if len(tk.roots) != MaxRoots {
		t.Errorf("%d roots", len(tk.roots))
	}
}
