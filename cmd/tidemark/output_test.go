package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/traces/gen"
)

// What is no file is written to and stays what it is; a link stays one.
func TestOutputKeepsWhatIsThere(t *testing.T) {
	o, err := newOutput(t.Context(), os.DevNull, nil, outputOptions{})
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
	if o, err = newOutput(t.Context(), link, nil, outputOptions{}); err != nil {
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

// A named pipe is written to when it has a reader. Waiting for one ends with the
// context.
func TestOutputToAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	reader := make(chan []byte, 1)
	late := time.AfterFunc(30*time.Second, func() { // else it would wait for ever, if it does
		b := make([]byte, len("new"))
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil { // so there is no end before all is read
			io.ReadFull(f, b)
			f.Close()
		}
		reader <- b
	})
	if _, err := newOutput(ctx, pipe, nil, outputOptions{}); !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
	late.Reset(0) // lets go of what still waits to open it, too
	o, err := newOutput(t.Context(), pipe, nil, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(o.w, "new"); err != nil {
		t.Error(err)
	}
	if err := o.close(); err != nil {
		t.Error(err)
	}
	if got := <-reader; string(got) != "new" {
		t.Errorf("the reader has got %q", got)
	}
}

// recorder stands in the place of an output's file, and fails one step.
type recorder struct {
	*os.File
	steps []string
	fails string
	cause error
}

func (r *recorder) step(name string, do func() error) error {
	r.steps = append(r.steps, name)
	if name == r.fails {
		return r.cause
	}
	return do()
}

func (r *recorder) Sync() error  { return r.step("sync", r.File.Sync) }
func (r *recorder) Close() error { return r.step("close", r.File.Close) }

// A file gets its name only when it is durable, and none that is not takes the
// place of an older one.
func TestOutputAppearsWhenItIsDurable(t *testing.T) {
	all := []string{"sync", "close", "rename", "sync directory"}
	for n := range len(all) + 1 {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := newOutput(t.Context(), path, nil, outputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(o.w, "new"); err != nil {
			t.Fatal(err)
		}
		r := &recorder{File: o.file.(*os.File), cause: errors.New("no more room")}
		want, wantErr, wantSteps := "new", error(nil), all
		if n < len(all) {
			r.fails, wantErr, wantSteps = all[n], r.cause, all[:n+1]
		}
		if n < 3 {
			want = "old"
		}
		rename, syncDir := o.do.rename, o.do.syncDir
		o.file = r
		o.do.rename = func(from, to string) error { return r.step("rename", func() error { return rename(from, to) }) }
		o.do.syncDir = func(d string) error {
			if d != dir {
				t.Errorf("directory %s is synced, not %s", d, dir)
			}
			return r.step("sync directory", func() error { return syncDir(d) })
		}
		if err := o.close(); !errors.Is(err, wantErr) {
			t.Errorf("%q fails: close returns %v", r.fails, err)
		}
		if !slices.Equal(r.steps, wantSteps) {
			t.Errorf("%q fails: the steps are %q", r.fails, r.steps)
		}
		o.discard()
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%q fails: the file holds %q (%v)", r.fails, got, err)
		}
		if files, err := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("%q fails: the directory holds %v (%v)", r.fails, files, err)
		}
	}
}

// Others may read most files, but not one that holds what a store does.
func TestOutputPermissions(t *testing.T) {
	for want, opts := range map[fs.FileMode]outputOptions{0o644: {}, 0o600: {perm: backupPerm}} {
		path := filepath.Join(t.TempDir(), "file")
		o, err := newOutput(t.Context(), path, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("the mode is %v, not %v (%v)", info.Mode(), want, err)
		}
	}
}

// A file that is to be kept is, also if it came while the output was written.
func TestOutputKeepsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	o, err := newOutput(t.Context(), path, nil, outputOptions{keep: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err == nil {
		t.Error("close returns no error")
	}
	o.discard()
	if got, err := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if _, err := newOutput(t.Context(), path, nil, outputOptions{keep: true}); err == nil {
		t.Error("a new output returns no error")
	}
	if files, err := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("the directory holds %v (%v)", files, err)
	}
}

// full is a disk without room.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// A trace so short that it is written only at its end must be written then.
func TestGeneratedTraceMustFit(t *testing.T) {
	h := gen.DefaultHour()
	h.Hosts, h.Operations = 2, 100
	src, err := h.Source()
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("no more room")
	env := &environment{ctx: t.Context(), stderr: io.Discard}
	if err := (&genOutput{Output: "-"}).fill(env, full{cause}, src, 0); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
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
