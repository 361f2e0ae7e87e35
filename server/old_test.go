package server

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// beforeBlocks is a copy of a data directory that was written when there were
// no block files: five commits of two servers, in four segments.
func beforeBlocks(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/before-blocks")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBeforeBlocks: such a directory opens with all that is in it, then and
// when the block files are there.
func TestBeforeBlocks(t *testing.T) {
	dir := beforeBlocks(t)
	var session occ.SessionID
	if _, err := hex.Decode(session[:], []byte("1a6834d6810e641985363c45c9fb9b3f")); err != nil {
		t.Fatal(err)
	}
	for epoch := range uint64(3) {
		s := running(t, Options{Dir: dir})
		c := pipe(t, s).hello(session)
		if w := c.welcome; w.Session != session || w.Stable != 5 || w.BlockSize != 512 || w.Epoch != epoch+3 {
			t.Fatalf("%+v", w)
		}
		for seq, at := range []occ.Timestamp{1, 3, 4, 5} {
			m := []*wire.Commit{
				c.commit(nil, write(1, "one")),
				c.commit([]occ.Read{{Block: 1, From: 1}}, occ.Write{Block: 1, Ranges: []occ.Range{{Off: 1, Data: []byte("N")}, {Off: 9, Data: []byte("!")}}}),
				c.commit(nil, write(2, "2")),
				c.commit([]occ.Read{{Block: 3, From: 2}}, occ.Write{Block: 3, Ranges: []occ.Range{{Off: 0, Data: []byte("T")}}}),
			}[seq]
			m.Seq, m.Req, m.Resend = uint64(seq)+1, c.next(), true
			c.send(m)
			if o := expect[*wire.Outcome](c); o.Status != wire.OutcomeCommitted || o.At != at {
				t.Fatalf("commit %d: %+v", m.Seq, o)
			}
		}
		c.reads(1, 3, "oNe\x00\x00\x00\x00\x00\x00!")
		c.reads(2, 4, "2")
		c.reads(3, 5, "Three")
		c.send(&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: 2, At: 3, Have: wire.Absent}}})
		if r := expect[*wire.ReadReply](c).Results[0]; r.Status != wire.StatusClosed || string(r.Data) != "two" || r.From != 2 || r.To != 4 {
			t.Fatalf("%+v", r)
		}
		c.send(&wire.Lease{Req: c.next(), Count: 10})
		if l := expect[*wire.LeaseReply](c); l.First != occ.BlockID(21+10*epoch) {
			t.Fatalf("%+v", l)
		}
		shutdown(t, s)
	}
}

// TestNewerVersion: files of a format that is not known are refused by what
// they are, not as damaged, and left as they are.
func TestNewerVersion(t *testing.T) {
	for file, says := range map[string]string{
		"tidemark.store": "store has format version 2, this program knows 1",
		"blocks/header":  "block store has format version 2, this program knows 1: DIR/blocks/header, offset 0",
		"blocks/blocks":  "block store has format version 2, this program knows 1: DIR/blocks/blocks, offset 0",
	} {
		t.Run(file, func(t *testing.T) {
			dir := beforeBlocks(t)
			shutdown(t, running(t, Options{Dir: dir}))
			path := filepath.Join(dir, file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for rest := b; len(rest) > 0; rest = rest[min(len(rest), layout.PageSize):] {
				const version = 8 // where it is, in all of them
				if rest[version] = 2; len(rest) >= layout.PageSize {
					sum := layout.Checksum(0, rest[:layout.PageSize-4])
					binary.LittleEndian.PutUint32(rest[layout.PageSize-4:], sum)
				}
			}
			if err := os.WriteFile(path, b, 0o640); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			for range 2 {
				s, err := Open(Options{Dir: dir})
				if err == nil {
					shutdown(t, s)
					err = errors.New("it was opened")
				}
				if !strings.Contains(err.Error(), strings.ReplaceAll(says, "DIR", dir)) {
					t.Fatal(err)
				}
			}
			if after := files(t, dir); !maps.Equal(before, after) {
				t.Fatal("the directory was changed")
			}
		})
	}
}
