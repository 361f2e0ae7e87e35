package main

import (
	"context"
	"io"
	"os"
)

// patient reads from r ahead, so that waiting for it can end with ctx. Then a
// goroutine is left behind that waits on, until the program ends.
type patient struct {
	ctx    context.Context
	r      io.Reader
	chunks chan chunk // nil until the first Read
	now    chunk
}

type chunk struct {
	data []byte
	err  error
}

func newPatient(ctx context.Context, r io.Reader) *patient { return &patient{ctx: ctx, r: r} }

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	if p.chunks == nil {
		p.chunks = make(chan chunk, 1)
		go p.ahead()
	}
	if len(p.now.data) == 0 && p.now.err == nil {
		select {
		case p.now = <-p.chunks:
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	if n := copy(b, p.now.data); n > 0 {
		p.now.data = p.now.data[n:]
		return n, nil
	}
	return 0, p.now.err
}

func (p *patient) ahead() {
	for {
		data := make([]byte, 64<<10)
		n, err := p.r.Read(data)
		select {
		case p.chunks <- chunk{data[:n], err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// patientWriter writes to w, so that waiting for it can end with ctx. Then a
// goroutine is left behind that waits on with the bytes, which nobody may change
// any more, until the program ends.
type patientWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (p patientWriter) Write(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	go func() {
		n, err := p.w.Write(b)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-p.ctx.Done():
		return 0, context.Cause(p.ctx)
	}
}

// openPatiently opens what exists, to read it or to write to it, so that waiting
// for it, as for the other end of a named pipe, can end with ctx. Then a goroutine
// is left behind that waits on, until the program ends.
func openPatiently(ctx context.Context, path string, flag int) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(path, flag, 0)
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
