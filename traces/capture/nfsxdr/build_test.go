package nfsxdr

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

// raw is bytes without a length before them.
type raw []byte

// join encodes numbers of 4 bytes (int) and of 8 (uint64), strings with their
// length, and raw bytes.
func join(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case uint64:
			b = binary.BigEndian.AppendUint64(b, p)
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
			b = append(append(b, p...), make([]byte, -len(p)&3)...)
		case raw:
			b = append(b, p...)
		case []any:
			b = append(b, join(p...)...)
		}
	}
	return b
}

// zeros are n bytes.
func zeros(n int) raw { return make(raw, n) }

// fixed is a handle of version 2.
func fixed(name string) raw { return append(raw(name), zeros(maxHandle2-len(name))...) }

func cursor(b []byte) *xdr.Cursor {
	c := xdr.New(b, nil, len(b))
	return &c
}

// begin decodes a call, and reply its reply.
func begin(t testing.TB, version, procedure uint32, args ...any) *Call {
	t.Helper()
	c := &Call{}
	if err := c.Begin(5, 3, version, procedure, cursor(join(args...)), func(uint32) {}); err != nil {
		t.Errorf("version %d procedure %d: %v", version, procedure, err)
	}
	return c
}

func (c *Call) answered(t testing.TB, results ...any) *Call {
	t.Helper()
	if _, err := c.Reply(cursor(join(results...))); err != nil {
		t.Errorf("version %d procedure %d: %v", c.version, c.procedure, err)
	}
	return c
}

var procNames = map[nfs.Proc]string{
	nfs.GetAttr: "getattr", nfs.SetAttr: "setattr", nfs.Lookup: "lookup", nfs.Access: "access", nfs.ReadLink: "readlink",
	nfs.Read: "read", nfs.Write: "write", nfs.Create: "create", nfs.Mkdir: "mkdir", nfs.Symlink: "symlink", nfs.Mknod: "mknod",
	nfs.Remove: "remove", nfs.Rmdir: "rmdir", nfs.Rename: "rename", nfs.Link: "link", nfs.ReadDir: "readdir", nfs.Commit: "commit",
	nfs.Open: "open", nfs.Close: "close", nfs.Other: "other",
}

// text describes the exchanges of a call, one after the other. Those without
// an operation are left out.
func text(c *Call) string {
	var all []string
	c.Exchanges(func(x *nfs.Exchange) {
		if x.Proc == nfs.Other {
			return
		}
		var b strings.Builder
		b.WriteString(procNames[x.Proc])
		for _, p := range []struct {
			name  string
			value []byte
		}{{"", x.File}, {"/", x.Name}, {" to ", x.ToDir}, {"/", x.ToName}, {" = ", x.Result}} {
			if p.value != nil {
				fmt.Fprintf(&b, "%s%s", map[bool]string{true: " ", false: p.name}[p.name == ""], strings.TrimRight(string(p.value), "\x00"))
			}
		}
		if x.Offset+x.Count > 0 {
			fmt.Fprintf(&b, " %d+%d", x.Offset, x.Count)
		}
		for name, set := range map[string]bool{fmt.Sprintf(" done %d", x.Done): x.HasDone} {
			if set {
				b.WriteString(name)
			}
		}
		if x.SetSize {
			fmt.Fprintf(&b, " size %d", x.Size)
		}
		if x.Creates {
			b.WriteString(" creates")
		}
		if x.WriteAccess {
			b.WriteString(" writes")
		}
		if x.Answered {
			fmt.Fprintf(&b, " [%d]", x.Status)
		}
		if x.Time != 5 || x.Host != 3 {
			fmt.Fprintf(&b, " at %d by %d", x.Time, x.Host)
		}
		all = append(all, b.String())
	})
	return strings.Join(all, "; ")
}
