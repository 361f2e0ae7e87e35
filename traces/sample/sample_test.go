package sample_test

import (
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
	"github.com/tidemark/tidemark/traces/survey"
)

// The figures are those of PROVENANCE.md.
func TestSample(t *testing.T) {
	src := sample.Source()
	defer src.Close()
	info, err := survey.Collect(src)
	if err != nil {
		t.Fatal(err)
	}
	if info.Operations != 7372 || info.Hosts != 56 || info.Files != 611 || info.Sharing.Shared() != 295 {
		t.Errorf("%d operations, %d hosts, %d files, %d shared", info.Operations, info.Hosts, info.Files, info.Sharing.Shared())
	}
	want := []survey.OpCount{
		{Type: "Attr", Action: "READ", Count: 3598},
		{Type: "Block", Action: "READ", Count: 3736},
		{Type: "Block", Action: "WRITE", Count: 38},
	}
	for i, k := range info.ByKind {
		if i >= len(want) || k != want[i] {
			t.Errorf("kinds: %v", info.ByKind)
			break
		}
	}
	if info.Clamped != 0 || info.Skipped != 0 {
		t.Errorf("%d lines clamped, %d skipped", info.Clamped, info.Skipped)
	}
	if info.Span() < 4_500_000 || info.Span() > 4_600_000 {
		t.Errorf("span %d µs", info.Span())
	}
}

// TestLimits pins what the sample cannot show, so that nobody draws the wrong
// conclusion from a better one without noticing.
func TestLimits(t *testing.T) {
	in, err := sample.Source().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	type read struct {
		host uint32
		fid  traces.FID
		off  int64
	}
	seen := map[read]bool{}
	writers := map[traces.FID]map[uint32]bool{}
	users := map[traces.FID]map[uint32]bool{}
	for op, err := range traces.All(in) {
		if err != nil {
			t.Fatal(err)
		}
		note(users, op)
		if op.Type != traces.Block {
			continue
		}
		if op.Action == traces.Write {
			note(writers, op)
			continue
		}
		k := read{op.Host, op.FID, op.Off}
		if seen[k] {
			t.Errorf("host %d reads %s at %d twice", op.Host, op.FID, op.Off)
		}
		seen[k] = true
	}
	if len(writers) != 6 {
		t.Errorf("%d files are written", len(writers))
	}
	for fid := range writers {
		if len(users[fid]) != 1 {
			t.Errorf("written file %s has %d users", fid, len(users[fid]))
		}
	}
}

func note(m map[traces.FID]map[uint32]bool, op traces.Op) {
	if m[op.FID] == nil {
		m[op.FID] = map[uint32]bool{}
	}
	m[op.FID][op.Host] = true
}
