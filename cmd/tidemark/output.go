package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// output is where a command writes what is not for the terminal. A file appears only when it is complete.
type output struct {
	w    io.Writer // nil if nobody asked for them
	file *os.File
	path string
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
	if o.file == nil {
		return nil
	}
	err := errors.Join(o.file.Sync(), o.file.Close(), os.Rename(o.file.Name(), o.path))
	o.file = nil
	return err
}

// discard removes what is not complete.
func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
