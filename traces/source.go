package traces

import (
	"bytes"
	"io"
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

// NewSource returns the trace at a path, or on stdin if the path is "-", whose
// operations the opener reads. What can be read only once, standard input and
// pipes, is spooled, unless Options.Once is set: copied as it is to a temporary
// file that Close removes, 64 GiB at most.
func NewSource(path string, stdin io.Reader, opt Options, open Opener) (Source, error) {
	if path == Stdin && opt.Once {
		return &onceSource{name: "stdin", r: stdin, opt: opt, open: open}, nil
	}
	if path == Stdin {
		return spool(stdin, "stdin", opt, open)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if info.IsDir() {
		return nil, &StreamError{File: path, Err: ErrDirectory}
	}
	if info.Mode().IsRegular() {
		return &fileSource{path, opt, open}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if opt.Once {
		return &onceSource{name: path, r: f, opt: opt, open: open, file: f}, nil
	}
	defer f.Close()
	return spool(f, path, opt, open)
}

// Bytes returns the trace held in memory in the text form, plain or
// compressed. The bytes are not copied and must not change.
func Bytes(name string, data []byte, opt Options) Source {
	return &sectionSource{name: name, at: bytes.NewReader(data), size: int64(len(data)), opt: opt, open: Text}
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
	open Opener
}

func (s *fileSource) Name() string { return s.path }
func (s *fileSource) Close() error { return nil }

func (s *fileSource) Open() (Input, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fileError(s.path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fileError(s.path, err)
	}
	in, err := openInput(f, info.Size(), s.path, s.opt, s.open)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.file = f
	return in, nil
}

// onceSource is a trace that is read as it comes.
type onceSource struct {
	name string
	r    io.Reader // nil once it was opened
	opt  Options
	open Opener
	file io.Closer // nil if the caller closes it
}

func (s *onceSource) Name() string { return s.name }

func (s *onceSource) Open() (Input, error) {
	if s.r == nil {
		return nil, &StreamError{File: s.name, Err: ErrOnce}
	}
	r := s.r
	s.r = nil
	return openInput(r, -1, s.name, s.opt, s.open)
}

func (s *onceSource) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// sectionSource is a trace that is read by position, so that all its readers
// can share one file.
type sectionSource struct {
	name string
	at   io.ReaderAt
	size int64
	opt  Options
	open Opener
	file *os.File // the spool, nil if the trace is in memory
}

func (s *sectionSource) Name() string { return s.name }

func (s *sectionSource) Open() (Input, error) {
	in, err := openInput(io.NewSectionReader(s.at, 0, s.size), s.size, s.name, s.opt, s.open)
	if err != nil {
		return nil, err
	}
	return in, nil
}

func (s *sectionSource) Close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return discard(file)
}
