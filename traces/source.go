package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Source is a trace that can be read several times, each time from the start
// and with the same operations. Inputs must be closed before their Source.
type Source interface {
	// Name is how error messages and reports call the trace.
	Name() string
	Open() (Input, error)
	Close() error
}

// Stdin is the path that stands for standard input.
const Stdin = "-"

// NewSource returns the trace at a path, or on stdin if the path is "-". What
// can be read only once, standard input and pipes, is spooled: copied as it
// is to a temporary file that Close removes, 64 GiB at most.
func NewSource(path string, stdin io.Reader, opt Options) (Source, error) {
	if path == Stdin {
		return spool(stdin, "stdin", opt)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if info.Mode().IsRegular() {
		return &fileSource{path, opt}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	return spool(f, path, opt)
}

// Bytes returns the trace held in memory, plain or compressed. The bytes are
// not copied and must not change.
func Bytes(name string, data []byte, opt Options) Source {
	return &sectionSource{name: name, at: bytes.NewReader(data), size: int64(len(data)), opt: opt}
}

// OpenFile opens the file at a path for one reading. The reader closes it.
func OpenFile(path string, opt Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	r, err := NewReader(f, path, opt)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// fileError names the file once, without the name of the system call.
func fileError(path string, err error) error {
	if pe, ok := err.(*os.PathError); ok {
		err = pe.Err
	}
	return &StreamError{File: path, Err: err}
}

type fileSource struct {
	path string
	opt  Options
}

func (s *fileSource) Name() string { return s.path }
func (s *fileSource) Close() error { return nil }

func (s *fileSource) Open() (Input, error) {
	r, err := OpenFile(s.path, s.opt)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// sectionSource is a trace that is read by position, so that all its readers
// can share one file.
type sectionSource struct {
	name string
	at   io.ReaderAt
	size int64
	opt  Options
	file *os.File // the spool, nil if the trace is in memory
}

func (s *sectionSource) Name() string { return s.name }

func (s *sectionSource) Open() (Input, error) {
	r, err := NewReader(io.NewSectionReader(s.at, 0, s.size), s.name, s.opt)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *sectionSource) Close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return discard(file)
}

// spoolLimit bounds the disk space that standard input may take.
const spoolLimit int64 = 64 << 30

func spool(r io.Reader, name string, opt Options) (Source, error) {
	return spoolAtMost(r, name, opt, spoolLimit)
}

func spoolAtMost(r io.Reader, name string, opt Options, limit int64) (Source, error) {
	file, err := os.CreateTemp("", "tidemark-trace-*")
	if err != nil {
		return nil, &StreamError{File: name, Err: fmt.Errorf("spooling: %w", err)}
	}
	// Where the system allows it, the file loses its name now, so that not even
	// a killed process leaves it behind; elsewhere discard removes it.
	_ = os.Remove(file.Name())
	n, err := io.Copy(file, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = ErrTooLarge
	}
	if err != nil {
		discard(file)
		return nil, &StreamError{File: name, Err: fmt.Errorf("spooling: %w", err)}
	}
	return &sectionSource{name: name, at: file, size: n, opt: opt, file: file}, nil
}

// discard closes and removes a temporary file.
func discard(file *os.File) error {
	err := file.Close()
	if left := os.Remove(file.Name()); err == nil && !errors.Is(left, fs.ErrNotExist) {
		err = left
	}
	return err
}
