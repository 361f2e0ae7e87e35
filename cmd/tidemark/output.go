package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

// outputPerm is the mode of a file for which nothing else is asked.
const outputPerm = 0o644

// output is where a command writes what is not for the terminal. A file appears
// only when it is complete and durable. What is there already and is no file,
// such as a device or a pipe, is written to as it is.
type output struct {
	w    io.Writer // nil in the zero output, which nobody asked for
	file outputFile
	path string // what file is to be called
	keep bool   // a file that has that name

	direct *os.File // in place of file

	do outputSteps
}

// outputFile is what an output uses of an *os.File.
type outputFile interface {
	io.Writer
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// outputSteps are what an output does with names. Tests make each of them fail,
// or crash in it.
type outputSteps struct {
	exists  func(path string) bool
	create  func(dir, pattern string) (outputFile, error) // see os.CreateTemp
	rename  func(from, to string) error
	remove  func(path string) error
	syncDir func(dir string) error
}

// osOutputSteps are those of the operating system.
func osOutputSteps() outputSteps {
	return outputSteps{
		exists: func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		},
		create:  func(dir, pattern string) (outputFile, error) { return os.CreateTemp(dir, pattern) },
		rename:  os.Rename,
		remove:  os.Remove,
		syncDir: durable.SyncDir,
	}
}

// outputOptions of a file; the zero value works.
type outputOptions struct {
	perm fs.FileMode // outputPerm if 0
	keep bool        // refuse to take the place of a file
}

// newOutput returns the output for a flag that names a file, or - for standard
// output. Waiting for the reader of a named pipe ends with ctx.
func newOutput(ctx context.Context, path string, stdout io.Writer, opts outputOptions) (*output, error) {
	switch path {
	case "":
		return nil, usage("a file to write needs a name")
	case "-":
		return &output{w: stdout}, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := openPatiently(ctx, path, os.O_WRONLY)
		if err != nil {
			return nil, err
		}
		return &output{w: f, direct: f}, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays
	}
	return newOutputFile(path, opts, osOutputSteps())
}

// newOutputFile returns the output for what is to be a file.
func newOutputFile(path string, opts outputOptions, do outputSteps) (*output, error) {
	o := &output{path: path, keep: opts.keep, do: do}
	if err := o.mayAppear(); err != nil {
		return nil, err
	}
	f, err := do.create(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	o.w, o.file = f, f
	perm := opts.perm
	if perm == 0 {
		perm = outputPerm
	}
	if err := f.Chmod(perm); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// mayAppear refuses the place of a file that is to be kept.
func (o *output) mayAppear() error {
	if o.keep && o.do.exists(o.path) {
		return fmt.Errorf("%s exists already; --force replaces it", o.path)
	}
	return nil
}

// close gives the file its name, once it is durable, and makes that durable.
// When a step before the name fails, what had the name keeps it, and discard
// removes the file.
func (o *output) close() error {
	if o.direct != nil {
		err := o.direct.Close()
		o.direct = nil
		return err
	}
	if o.file == nil {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if err := o.mayAppear(); err != nil { // it took a while
		return err
	}
	if err := o.do.rename(o.file.Name(), o.path); err != nil {
		return err
	}
	o.file = nil
	return o.do.syncDir(filepath.Dir(o.path))
}

// discard removes what is not complete.
func (o *output) discard() {
	if o.direct != nil {
		o.direct.Close()
	}
	if o.file != nil {
		o.file.Close()
		o.do.remove(o.file.Name())
	}
}
