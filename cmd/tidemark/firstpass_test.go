package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// findings is a trace in which this was found.
type findings struct {
	traces.Source
	list []traces.Finding
}

func (s findings) Open() (traces.Input, error) {
	in, err := s.Source.Open()
	return found{in, s.list}, err
}

type found struct {
	traces.Input
	list []traces.Finding
}

func (in found) Findings() []traces.Finding { return in.list }
func (in found) Format() string             { return "some format" }

// TestWarnsOnceOfWhatIsOdd reads a trace twice to the end, or not to it.
func TestWarnsOnceOfWhatIsOdd(t *testing.T) {
	odd := []traces.Finding{{Group: "Calls", Name: "READ", Count: 7},
		{Group: "Packets", Name: "cut short", Count: 2, Odd: true}, {Group: "Calls", Name: "sent again", Count: 3, Odd: true}}
	for name, c := range map[string]struct {
		list []traces.Finding
		read int
		want string
	}{
		"sound":        {odd[:1], 3, ""},
		"odd":          {odd[:2], 3, "warning: t holds what a sound trace would not: Packets, cut short: 2 (tidemark trace info lists it)\n"},
		"odder":        {odd, 3, "warning: t holds what a sound trace would not: Packets, cut short: 2; and 1 more kinds (tidemark trace info lists it)\n"},
		"not read out": {odd, 1, ""},
	} {
		var errs bytes.Buffer
		env := &environment{ctx: t.Context(), stderr: &errs}
		pass := &firstPass{env: env, name: "t", progress: newProgress(&errs)}
		src := followed{interruptible{findings{traces.Bytes("t", []byte(line+line), traces.Options{}), c.list}, env.ctx}, pass}
		for range 2 {
			in, err := src.Open()
			if err != nil {
				t.Fatal(err)
			}
			if traces.Format(in) != "some format" || len(traces.Findings(in)) != len(c.list) {
				t.Errorf("%s: what the format tells is lost", name)
			}
			for range c.read {
				if _, err = in.Next(); err != nil {
					break
				}
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		if errs.String() != c.want {
			t.Errorf("%s: printed %q", name, &errs)
		}
	}
}

// TestReadingEndsWithTheProgram: it does not take an operation to notice.
func TestReadingEndsWithTheProgram(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	cause := errors.New("some signal")
	end(cause)
	pass := &firstPass{env: &environment{ctx: ended}, progress: newProgress(nil)}
	if err := pass.watch(0, 10); err != cause {
		t.Errorf("got %v", err)
	}
}

func TestProgressTellsBytes(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.showBytes("reading", 1, 2)
	if out.Len() > 0 {
		t.Errorf("%q is no terminal", &out)
	}
	p.active = true
	p.showBytes("reading t", 500_000, 2_000_000)
	p.showBytes("reading t", 600_000, 2_000_000) // too soon
	p.showBytes("reading s", 5_000_000, -1)
	p.clear()
	if want := "\r\x1b[Kreading t: 25% of 2.0 MB\r\x1b[Kreading s: 5.0 MB\r\x1b[K"; out.String() != want {
		t.Errorf("%q", &out)
	}
}

// TestBrokenPipe: somebody who has read enough is no failure, unless a file
// was to be written.
func TestBrokenPipe(t *testing.T) {
	for _, args := range []string{"trace head -", "trace convert - --to=auspex", "trace filter - --to-format=binary"} {
		var errs bytes.Buffer
		env := &environment{ctx: t.Context(), stdin: strings.NewReader(line), stdout: brokenPipe{}, stderr: &errs}
		if code := run(strings.Fields(args), env); code != 0 || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, %q", args, code, &errs)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }
