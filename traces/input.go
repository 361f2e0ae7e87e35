package traces

import (
	"errors"
	"io"
)

// Opener reads operations from the bytes of a file in some format, which are
// no longer compressed. The name stands in error messages. The Input does not
// close r.
type Opener func(r io.Reader, name string, opt Options) (Input, error)

// Text is the Opener of the text form.
func Text(r io.Reader, name string, opt Options) (Input, error) {
	return NewReader(r, name, opt), nil
}

// input is an Input with what lies under it.
type input struct {
	Input
	unpacked *Unpacked
	file     io.Closer // nil if there is none to close
}

// openInput opens a trace of size bytes.
func openInput(r io.Reader, size int64, name string, opt Options, open Opener) (*input, error) {
	u, err := Unpack(watch(r, opt, size))
	if err != nil {
		return nil, &StreamError{File: name, Err: err}
	}
	in, err := open(u, name, opt)
	if err != nil {
		u.Close()
		return nil, err
	}
	return &input{Input: in, unpacked: u}, nil
}

// Close closes what the operations were read from, too. A second Close does
// nothing more than that of the Input inside.
func (in *input) Close() error {
	err := errors.Join(in.Input.Close(), in.unpacked.Close())
	if in.file != nil {
		err = errors.Join(err, in.file.Close())
		in.file = nil
	}
	return err
}

// Findings returns those of the Input inside.
func (in *input) Findings() []Finding { return Findings(in.Input) }

// Format names the format and the compression.
func (in *input) Format() string {
	name := Format(in.Input)
	if c := in.unpacked.Compression(); c != "" {
		name += ", " + c
	}
	return name
}

// watch lets Options.Watch see how far a file of size bytes has been read.
func watch(r io.Reader, opt Options, size int64) io.Reader {
	if opt.Watch == nil {
		return r
	}
	return &watched{r: r, watch: opt.Watch, size: size}
}

type watched struct {
	r     io.Reader
	watch func(read, size int64) error
	read  int64
	size  int64
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.watch(w.read, w.size); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.read += int64(n)
	return n, err
}
