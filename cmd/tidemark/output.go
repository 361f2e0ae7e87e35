package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// output is where a command writes what is not for the terminal. A file appears
// only when it is complete. What is there already and is no file, such as a
// device or a pipe, is written to as it is.
type output struct {
	w    io.Writer // nil if nobody asked for them
	file *os.File
	path string // what file is to be called

	direct *os.File // in place of file
}

// newOutput returns the output for a flag that names a file, - for standard
// output, or nothing.
func newOutput(path string, stdout io.Writer) (*output, error) {
	switch path {
	case "":
		return &output{}, nil
	case "-":
		return &output{w: stdout}, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &output{w: f, direct: f}, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	o := &output{w: f, file: f, path: path}
	if err := f.Chmod(0o644); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

func (o *output) close() error {
	if o.direct != nil {
		err := o.direct.Close()
		o.direct = nil
		return err
	}
	if o.file == nil {
		return nil
	}
	err := errors.Join(o.file.Sync(), o.file.Close(), os.Rename(o.file.Name(), o.path))
	o.file = nil
	return err
}

// discard removes what is not complete.
func (o *output) discard() {
	if o.direct != nil {
		o.direct.Close()
	}
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
