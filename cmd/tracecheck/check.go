package main

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture"
	"github.com/tidemark/tidemark/traces/nfsdump"
)

const headSize = 4096

// check compares a file with its entry. It says what differs, and whether
// nothing does.
func check(path string, e entry) (verdict string, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return err.Error(), false
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".bz2") {
		in = bzip2.NewReader(file)
	}
	text := bufio.NewReaderSize(in, 1<<20)
	head, err := text.Peek(headSize)
	if err != nil && err != io.EOF {
		return err.Error(), false
	}
	var got counts
	switch {
	case capture.Recognize(head):
		got, err = readCapture(text, e.file)
	case nfsdump.Recognize(head):
		got, err = readDump(text, e.file)
	case e.want["Attr READ"] > 0:
		got, err = readAuspex(text, e.file)
	default: // which is right only for what holds nothing to count
		return "no reader", len(e.want) == 0
	}
	if err != nil {
		return err.Error(), false
	}
	if differs := compare(e, got); len(differs) > 0 {
		return strings.Join(differs, "; "), false
	}
	return fmt.Sprintf("ok (%d counts)", len(e.want)), true
}

// compare lists what is wanted or found and not the same. A count that is not
// mentioned is zero, unless it has no place in the README at all.
func compare(e entry, got counts) (differs []string) {
	if len(e.want) == 0 {
		return []string{"the README has no counts"}
	}
	for name, n := range e.want {
		if got[name] != n {
			differs = append(differs, fmt.Sprintf("%s: %d, not %d", name, got[name], n))
		}
	}
	for name, n := range got {
		if _, known := e.want[name]; !known && n != 0 && (e.operations || !strings.HasPrefix(name, operation(""))) {
			differs = append(differs, fmt.Sprintf("%s: %d, not mentioned", name, n))
		}
	}
	slices.Sort(differs)
	return differs
}

// drain reads a trace to its end. That there is no operation in it is no
// failure here.
func drain(s traces.Stream) error {
	for {
		_, err := s.Next()
		switch {
		case err == io.EOF, errors.Is(err, capture.ErrNoNFS), errors.Is(err, traces.ErrEmpty):
			return nil
		case err != nil:
			return err
		}
	}
}

func readCapture(in io.Reader, name string) (counts, error) {
	r, err := capture.NewReader(in, name, traces.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := drain(r); err != nil {
		return nil, err
	}
	got := counts{}
	for _, f := range r.Findings() {
		if name := captured(f); name != "" {
			got[name] += f.Count
		}
	}
	return got, nil
}

func readDump(in io.Reader, name string) (counts, error) {
	r, err := nfsdump.NewReader(in, name, traces.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := drain(r); err != nil {
		return nil, err
	}
	got := counts{"lines": r.Lines()}
	for _, f := range r.Findings() {
		switch name := captured(f); name {
		case "connections", "servers", "over tcp", "over udp": // counted otherwise in the README
		case "":
			if f.Name == "clients in replies only" {
				got["clients"] += f.Count
			}
		default:
			got[name] += f.Count
		}
	}
	return got, nil
}

func readAuspex(in io.Reader, name string) (counts, error) {
	r := traces.NewReader(in, name, traces.Options{})
	defer r.Close()
	got := counts{}
	for op, err := range traces.All(r) {
		if err != nil {
			return nil, err
		}
		got[op.Type.String()+" "+op.Action.String()]++
	}
	return got, nil
}
