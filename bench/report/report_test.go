package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/report"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it); got:\n%s", path, got)
	}
}

func load() *exp.Load {
	return &exp.Load{
		Name: "a small load", Notes: []string{"it is made up.", "it shows nothing."},
		Plan: &replay.Plan{Hosts: []uint32{3, 4, 7}, Operations: 1234567, First: 1_000_000, Last: 63_450_000, Skipped: 2},
	}
}

func simulated(s exp.Setting, scale uint64) *exp.Figures {
	f := &exp.Figures{
		Setting: s, Rounds: 1, LogBytes: 9_999, VersionsKept: 1_000,
		Replay: replay.Counts{ReadOnly: 9_400, ReadWrite: 600, Attempts: int64(10_000 + 2*scale), Failed: int64(scale % 2)},
		Traffic: exp.Traffic{
			Messages: 20_000 * scale, Bytes: 12_345_678 * scale, RoundTrips: 9_000 * scale, Compulsory: 2_000_000,
			ByType: map[string]exp.Count{"Read": {Messages: 5, Bytes: 60}},
		},
		Clients: core.Stats{Deprecations: 77, Pings: 8 * scale, Restarts: 1, Hits: 90, Misses: 9, Joined: 1},
		History: history.Result{Checked: [5]int{9_400, 0, 600, 20}},
	}
	f.Clients.Aborts[occ.AbortConflict], f.Clients.Aborts[occ.AbortActive] = scale, scale
	if s.Mode == client.ReadOptimized {
		f.Staleness = exp.Quantiles{Count: 9_400, Mean: 0.45, P50: 0.0123, P99: 1.9, Max: 0.00005}
	}
	return f
}

func measured(s exp.Setting, scale float64) *exp.Figures {
	return &exp.Figures{
		Setting: s, Rounds: 3,
		CPU: exp.CPU{
			Client: exp.Interval{Mean: 3 * scale, Half: 0.3}, Server: exp.Interval{Mean: 0.05 * scale, Half: 0.001},
			Hosts: 3, Wall: 1500 * time.Millisecond,
		},
		ReadOnlyLatency:  exp.Quantiles{Count: 1, P50: 0.000001, P99: 0.00234},
		ReadWriteLatency: exp.Quantiles{Count: 1, P50: 0.004, P99: 0.5},
		History:          history.Result{Checked: [5]int{28_200, 0, 1_800, 60}},
	}
}

func comparison(simulate, measure bool) *report.Comparison {
	c := &report.Comparison{Load: load(), Conditions: []string{
		"blocks of 4096 bytes", "simulated latency 500µs one way", "log sync 1ms", "cache 64 MiB a host",
	}}
	for i, s := range []exp.Setting{{Mode: client.Conventional}, {Epsilon: 2 * time.Second}, {Epsilon: client.Unbounded, NoActiveAborts: true}} {
		col := report.Column{Setting: s}
		if simulate {
			col.Sim = simulated(s, uint64(3-i))
		}
		if measure {
			col.Live = measured(s, 1/float64(i+1))
		}
		c.Columns = append(c.Columns, col)
	}
	return c
}

func TestTables(t *testing.T) {
	for _, c := range []struct {
		file          string
		sim, measured bool
	}{{"both.txt", true, true}, {"sim.txt", true, false}, {"live.txt", false, true}} {
		var b bytes.Buffer
		if err := report.Table(&b, comparison(c.sim, c.measured)); err != nil {
			t.Fatal(err)
		}
		golden(t, c.file, b.Bytes())
	}
	var b bytes.Buffer
	if err := report.Reference(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "reference.txt", b.Bytes())
}

func TestMarkdown(t *testing.T) {
	c := comparison(true, true)
	c.Load.Name = "traces/odd_name|*.txt"
	var b bytes.Buffer
	err := report.Markdown(&b, c)
	b.WriteByte('\n')
	if err := errors.Join(err, report.ReferenceMarkdown(&b)); err != nil {
		t.Fatal(err)
	}
	golden(t, "both.md", b.Bytes())
	b.Reset()
	if err := report.Markdown(&b, comparison(true, false)); err != nil {
		t.Fatal(err)
	}
	golden(t, "sim.md", b.Bytes())
	// Every row of a table has as many cells as its head.
	for line := range strings.Lines(b.String()) {
		if n := strings.Count(line, "|"); n != 0 && n != len(c.Columns)+2 {
			t.Errorf("%d cells: %s", n-1, line)
		}
	}
}

// TestWrongFiguresShow: a violation and a problem are in the table.
func TestWrongFiguresShow(t *testing.T) {
	c := comparison(true, true)
	c.Columns[0].Sim.History.Total = 41
	c.Columns[0].Live.History.TooOld = 1
	c.Columns[0].Live.Problems = 17
	var b bytes.Buffer
	if err := report.Table(&b, c); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"  violations": "42", "  fsck problems": "17"} {
		_, rest, _ := strings.Cut(b.String(), line)
		if fields := strings.Fields(rest); len(fields) == 0 || fields[0] != want {
			t.Errorf("the line %q says %.30q, want %s", line, rest, want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	if err := report.JSON(&b, comparison(true, true), "v1"); err != nil {
		t.Fatal(err)
	}
	golden(t, "both.jsonl", b.Bytes())
	type line struct {
		Version, Load, Setting, Kind string
		Operations                   int64
		Skipped                      int64 `json:"skipped_lines"`
		Hosts, Rounds                int
		Conditions                   []string
		Replay                       replay.Counts
		Traffic                      exp.Traffic
		CPU                          exp.CPU
	}
	var lines []line
	for text := range strings.Lines(b.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
		if l.Version != "v1" || l.Load != "a small load" || l.Operations != 1234567 || l.Hosts != 3 || l.Skipped != 2 || len(l.Conditions) != 4 {
			t.Errorf("%+v", l)
		}
		if s, err := exp.ParseSetting(l.Setting); err != nil || s.String() != l.Setting {
			t.Errorf("setting %q: %v", l.Setting, err)
		}
	}
	if len(lines) != 6 {
		t.Fatalf("%d lines for 3 settings by 2 kinds", len(lines))
	}
	first, second := lines[0], lines[1]
	if first.Kind != "sim" || first.Traffic.Bytes != 3*12_345_678 || first.Replay.Attempts != 10_006 || first.Setting != "occ" {
		t.Errorf("%+v", first)
	}
	if second.Kind != "live" || second.CPU.Server.Mean != 0.05 || second.Rounds != 3 || second.Setting != "occ" {
		t.Errorf("%+v", second)
	}

	b.Reset()
	if err := report.JSON(&b, comparison(false, true), "v1"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 3 {
		t.Errorf("%d lines for 3 settings by 1 kind", n)
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWritesThatFail(t *testing.T) {
	w := full{errors.New("disk full")}
	c := comparison(true, true)
	for name, err := range map[string]error{
		"Table": report.Table(w, c), "JSON": report.JSON(w, c, "v1"), "Reference": report.Reference(w),
		"Markdown": report.Markdown(w, c), "ReferenceMarkdown": report.ReferenceMarkdown(w),
	} {
		if !errors.Is(err, w.err) {
			t.Errorf("%s returns %v", name, err)
		}
	}
}
