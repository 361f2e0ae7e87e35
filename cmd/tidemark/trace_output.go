package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/binary"
)

// The forms in which operations can be written.
const (
	formText   = "text"
	formAuspex = "auspex"
	formBinary = "binary"
)

// outputForm is where operations are written, and in which form.
type outputForm struct {
	form string
	path string // - for standard output
}

// copyTrace writes what pick leaves of a trace. What is lost on the way is
// told to notes.
func (env *environment) copyTrace(f inputFlags, to outputForm, pick func(traces.Stream) traces.Stream, notes io.Writer) error {
	if to.form == formBinary && to.path == "-" && isTerminal(env.stdout) {
		return usage("binary output is not for a terminal: give a file with -o")
	}
	p := newProgress(env.stderr)
	p.active = p.active && (to.path != "-" || !isTerminal(env.stdout)) // not between the operations
	src, err := env.openShowing(f.Trace, traces.Options{SkipUnknown: f.SkipUnknown, Once: true}, p)
	if err != nil {
		return err
	}
	defer src.Close()
	in, err := src.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := newOutput(env.ctx, to.path, env.stdout, outputOptions{})
	if err != nil {
		return err
	}
	defer out.discard()
	// A reader that has seen enough is no failure.
	signal.Ignore(syscall.SIGPIPE)
	buffer := bufio.NewWriterSize(out.w, 256<<10)
	done, err := writeOps(pick(in), buffer, to.form)
	if flushing := buffer.Flush(); err == nil {
		err = flushing
	}
	if err == nil {
		err = out.close()
	}
	if to.path == "-" && errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err != nil {
		return err
	}
	if done.ops == 0 {
		fmt.Fprintln(notes, "note: no operation is left")
	}
	if done.lost != (losses{}) {
		fmt.Fprintf(notes, "note: %v\n", &done.lost)
	}
	if n, first := in.Skipped(); n > 0 {
		fmt.Fprintf(notes, "warning: lines skipped: %d, the first: %v\n", n, first)
	}
	return nil
}

// written is what became of a stream.
type written struct {
	ops  int64 // operations taken from it
	lost losses
}

// writeOps writes a stream in a form.
func writeOps(in traces.Stream, w *bufio.Writer, form string) (done written, err error) {
	write, end := func(op traces.Op) error {
		_, err := w.Write(append(traces.AppendText(w.AvailableBuffer(), op), '\n'))
		return err
	}, func() error { return nil }
	switch form {
	case formAuspex:
		var ops []traces.Op
		write = func(op traces.Op) error {
			ops = traces.ToAuspex(ops[:0], op)
			done.lost.count(&op, len(ops))
			for _, op := range ops {
				if _, err := w.Write(append(traces.AppendAuspex(w.AvailableBuffer(), op), '\n')); err != nil {
					return err
				}
			}
			return nil
		}
	case formBinary:
		b, err := binary.NewWriter(w)
		if err != nil {
			return done, err
		}
		write, end = b.Write, b.Close
	}
	for op, err := range traces.All(in) {
		if err == nil {
			err = write(op)
		}
		if err != nil {
			return done, err
		}
		done.ops++
	}
	return done, end()
}

// losses are what the Auspex format could not express.
type losses struct {
	types [traces.Commit + 1]int64 // of types that it lacks
	left  int64                    // of them, left out
	names int64                    // operations of its own types that had a place
}

func (l *losses) count(op *traces.Op, written int) {
	switch {
	case op.Type > traces.Close:
		l.types[op.Type]++
		if written == 0 {
			l.left++
		}
	case op.Place != nil:
		l.names++
	}
}

// String returns the losses as one line.
func (l *losses) String() string {
	var list []string
	total := int64(0)
	for _, t := range traces.Types {
		if n := l.types[t]; n > 0 {
			list = append(list, fmt.Sprintf("%d %v", n, t))
			total += n
		}
	}
	text := "the Auspex format has no words for "
	if total > 0 {
		text += strings.Join(list, ", ") + fmt.Sprintf(": %d became what is nearest, %d were left out", total-l.left, l.left)
	}
	if l.names > 0 {
		if total > 0 {
			text += "; nor for "
		}
		text += fmt.Sprintf("the names of %d operations more", l.names)
	}
	return text
}
