package traces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// spoolLimit bounds the disk space that standard input may take.
const spoolLimit int64 = 64 << 30

// spool copies what can be read only once to a temporary file.
func spool(r io.Reader, name string, opt Options, open Opener) (Source, error) {
	return spoolAtMost(r, name, opt, open, spoolLimit)
}

func spoolAtMost(r io.Reader, name string, opt Options, open Opener, limit int64) (Source, error) {
	file, err := os.CreateTemp("", "tidemark-trace-*")
	if err != nil {
		return nil, &StreamError{File: name, Err: fmt.Errorf("spooling: %w", err)}
	}
	// Where the system allows it, the file loses its name now, so that not even
	// a killed process leaves it behind; elsewhere discard removes it.
	_ = os.Remove(file.Name())
	n, err := io.Copy(file, io.LimitReader(watch(r, opt, -1), limit+1))
	if err == nil && n > limit {
		err = ErrTooLarge
	}
	if err != nil {
		discard(file)
		return nil, &StreamError{File: name, Err: fmt.Errorf("spooling: %w", err)}
	}
	return &sectionSource{name: name, at: file, size: n, opt: opt, open: open, file: file}, nil
}

// discard closes and removes a temporary file.
func discard(file *os.File) error {
	err := file.Close()
	if left := os.Remove(file.Name()); err == nil && !errors.Is(left, fs.ErrNotExist) {
		err = left
	}
	return err
}
