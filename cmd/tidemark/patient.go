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

// patiently calls do, and waits for it until ctx ends. Then a goroutine is left
// behind that waits on, until the program ends.
func patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}

// patientWriter writes to w patiently. Once ctx has ended, nobody may change any
// more what was to be written.
type patientWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (p patientWriter) Write(b []byte) (int, error) {
	return patiently(p.ctx, func() (int, error) { return p.w.Write(b) })
}

// openPatiently opens what exists, to read it or to write to it: opening a named
// pipe waits for its other end.
func openPatiently(ctx context.Context, path string, flag int) (*os.File, error) {
	return patiently(ctx, func() (*os.File, error) { return os.OpenFile(path, flag, 0) })
}
