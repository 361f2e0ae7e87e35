package server

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// TestUnreadable: a client is told which version cannot be read, and no path of
// the server; its log has all.
func TestUnreadable(t *testing.T) {
	const path = "/srv/store/blocks/blocks"
	var log bytes.Buffer
	s := &Server{opts: Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	for want, cause := range map[string]error{
		"data cannot be read: block 7 from 2: checksum mismatch (the server's log says more)": &blocks.CorruptError{File: path, Offset: 5176, Block: 7, From: 2, Reason: "checksum mismatch"},
		"data cannot be read: block 7 from 2: the disk failed (the server's log says more)":   &blocks.IOError{Op: "read", File: "blocks", Cause: &fs.PathError{Op: "read", Path: path, Err: syscall.EIO}},
	} {
		log.Reset()
		if got := s.unreadable(core.Ref{Block: 7, From: 2}, "reading blocks", cause).Error(); got != want {
			t.Errorf("a client is told %q", got)
		}
		if l := log.String(); strings.Count(l, "\n") != 1 || !strings.Contains(l, "block=7 timestamp=2") || !strings.Contains(l, path) {
			t.Errorf("the log has %q", l)
		}
	}
}

// failing is a disk that returns no slot.
type failing struct{ disk.Disk }

func (d failing) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	if name == "blocks" && err == nil {
		f = failingFile{f}
	}
	return f, err
}

type failingFile struct{ disk.File }

func (f failingFile) ReadAt(b []byte, at int64) (int, error) {
	if at == 0 {
		return f.File.ReadAt(b, at)
	}
	return 0, &fs.PathError{Op: "read", Path: "/srv/store/blocks/blocks", Err: syscall.EIO}
}

// TestUnreadableOnTheWire: whether a version is to be read or to be changed.
func TestUnreadableOnTheWire(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, 1<<20)
	s := running(t, scripted(log, d))
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(7, "gone"))
	shutdown(t, s)

	c := pipe(t, running(t, scripted(log, failing{d}))).hello(occ.SessionID{})
	for _, m := range []wire.Message{
		&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: 7, At: occ.Latest}}},
		c.commit([]occ.Read{{Block: 7, From: 1}}, occ.Write{Block: 7, Ranges: []occ.Range{{Off: 0, Data: []byte("x")}}}),
	} {
		const want = "data cannot be read: block 7 from 1: the disk failed (the server's log says more)"
		c.send(m)
		if e := expect[*wire.Error](c); e.Code != wire.CodeDamaged || e.Text != want {
			t.Errorf("%+v", e)
		}
	}
}
