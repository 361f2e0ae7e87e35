package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// A name from before servers refused what cannot be printed is printed quoted,
// and can be deleted.
func TestOldSnapshotName(t *testing.T) {
	dir := t.TempDir()
	d, err := storedir.Open(dir, storedir.Options{BlockSize: 512})
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := d.NextEpoch()
	if err != nil {
		t.Fatal(err)
	}
	const name = "two\nlines\x1b[2J"
	err = wal.Create(d.LogDir(), d.StoreID(), epoch, record.Append(nil, record.Group{Records: []record.Record{
		&record.Epoch{Epoch: epoch}, &record.Pin{Name: name}, &record.Pin{Name: "plain, but Übersicht"},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	srv, err := server.Open(server.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(context.Background())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)
	tidemark := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"store", "snapshot"}, args...)
		if code := run(append(args, "--server="+l.Addr().String()), &environment{ctx: t.Context(), stdout: &out, stderr: &errs}); code != 0 {
			t.Fatalf("%q: exit code %d, %s", args, code, &errs)
		}
		return out.String()
	}
	const listed = "0          until deleted  plain, but Übersicht\n0          until deleted  \"two\\nlines\\x1b[2J\"\n"
	if got := tidemark("list"); !strings.Contains(got, listed) {
		t.Errorf("it prints\n%s", got)
	}
	if got, want := tidemark("delete", name), "snapshot \"two\\nlines\\x1b[2J\" deleted\n"; got != want {
		t.Errorf("it prints %q", got)
	}
	if got := tidemark("list"); strings.Contains(got, "two") {
		t.Errorf("it prints\n%s", got)
	}
}
