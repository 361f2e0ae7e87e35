package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What is no file is written to and stays what it is; a link stays one.
func TestOutputKeepsWhatIsThere(t *testing.T) {
	o, err := newOutput(os.DevNull, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatalf("%s is %v now (%v)", os.DevNull, info.Mode(), err)
	}

	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if o, err = newOutput(link, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := o.w.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "old" {
		t.Errorf("before it is complete it holds %q", got)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("it holds %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v now (%v)", info.Mode(), err)
	}
}

// Waiting for standard input ends with the context, and what came before is
// read.
func TestPatient(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r, w := io.Pipe()
	p := newPatient(ctx, r)
	go w.Write([]byte("abc"))
	b := make([]byte, 2)
	for _, want := range []string{"ab", "c"} {
		if n, err := p.Read(b); err != nil || string(b[:n]) != want {
			t.Fatalf("read %q, %v, want %q", b[:n], err, want)
		}
	}
	why := errors.New("interrupted")
	cancel(why)
	if _, err := p.Read(b); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	w.Close()

	r, w = io.Pipe()
	go func() {
		w.Write([]byte("end"))
		w.Close()
	}()
	if all, err := io.ReadAll(newPatient(context.Background(), r)); err != nil || string(all) != "end" {
		t.Errorf("read %q, %v", all, err)
	}
}
