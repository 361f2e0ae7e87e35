package infer

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// trace reads operations written as "seconds type action file host", one on
// a line; every Block covers bytes 0 to 100.
func trace(t testing.TB, text string) []traces.Op {
	t.Helper()
	var ops []traces.Op
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		typ := slices.IndexFunc(traces.Types[:], func(typ traces.Type) bool { return typ.String() == w[1] })
		op, err := traces.ParseAuspex(fmt.Appendf(nil, "%s Attr %s FID: %s OFF: 0 SIZE: 100 HOST: %s", w[0], w[2], w[3], w[4]))
		if err != nil || typ < 0 {
			t.Fatalf("%s: %v", line, err)
		}
		if op.Type = traces.Types[typ]; op.Type > traces.Close && op.Type < traces.Truncate {
			op.Place = &traces.Place{Dir: 0xd, Name: w[3]}
			if op.Type == traces.Rename {
				op.Place.ToDir, op.Place.ToName = 0xe, w[3]
			}
		}
		op.Line = int64(len(ops) + 1)
		ops = append(ops, op)
	}
	return ops
}

// brief writes events shortly: B2+w is "tx 2 begins, read/write", D2:5 "tx 2
// does line 5" and E2/closed "tx 2 ends, closed". Begin adds < and what it
// waits for. The time in seconds stands before the first event that has it.
func brief(events []Event) string {
	var out []string
	last := int64(-1)
	for _, e := range events {
		if e.Time != last {
			last = e.Time
			out = append(out, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", last/1_000_000, last%1_000_000), "0"), ".")+":")
		}
		switch e.Kind {
		case Begin:
			s := fmt.Sprintf("B%d", e.Tx)
			if e.Class == ReadWrite {
				s += "+w"
			}
			if e.Waits != nil {
				s += "<" + strings.Trim(fmt.Sprint(e.Waits), "[]")
			}
			out = append(out, s)
		case Do:
			out = append(out, fmt.Sprintf("D%d:%d", e.Tx, e.Op.Line))
		case End:
			out = append(out, fmt.Sprintf("E%d/%s", e.Tx, strings.ReplaceAll(e.Cause.String(), " ", "-")))
		}
	}
	return strings.Join(out, " ")
}

func infer(t testing.TB, ops []traces.Op, opt Options) ([]Event, Counts) {
	t.Helper()
	e := NewEvents(traces.Slice(ops), opt)
	var out []Event
	for ev, err := range e.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
	}
	if _, err := e.Next(); err != io.EOF {
		t.Fatalf("after the end: %v", err)
	}
	return out, e.Counts()
}

// TestRules has a test for each row of the table in the package comment.
func TestRules(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{"Open begins an explicit open, Close ends it", `
			1 Open READ a 1
			2 Block READ a 1
			3 Block READ a 1
			4 Close READ a 1`,
			"1: B1 2: D1:2 3: D1:3 4: E1/closed"},
		{"Open ends the host's open of that file", `
			1 Open READ a 1
			2 Block READ a 1
			3 Open READ a 1
			4 Close READ a 1`,
			"1: B1 2: D1:2 3: E1/reopened B2 D2:3 4: E2/closed"},
		{"Open ends an implicit open as well", `
			1 Block READ a 1
			3 Open READ a 1
			4 Block READ a 1
			5 Close READ a 1`,
			"1: B1 D1:1 3: E1/reopened B2 4: D2:3 5: E2/closed"},
		{"Open leaves other hosts and files alone", `
			1 Open READ a 1
			1 Open READ a 2
			1 Open READ b 1
			2 Block READ a 1
			3 Block READ a 2
			4 Block READ b 1
			5 Close READ a 1
			5 Close READ a 2
			5 Close READ b 1`,
			"1: B1 B2 B3 2: D1:4 3: D2:5 4: D3:6 5: E1/closed E2/closed E3/closed"},
		{"Close ends an implicit open", `
			1 Block READ a 1
			2 Close READ a 1`,
			"1: B1 D1:1 2: E1/closed"},
		{"Close without an open is ignored", `
			1 Close READ a 1
			2 Open READ b 1
			3 Close READ a 1
			4 Close READ b 2
			5 Close READ b 1
			6 Close READ b 1`,
			"2: B1 D1:2 5: E1/closed"},
		{"Block belongs to the open, or begins one", `
			1 Block READ a 1
			2 Block READ a 1
			3 Block READ a 2
			4 Close READ a 1
			5 Block READ a 1
			6 Close READ a 1
			7 Close READ a 2`,
			"1: B1 D1:1 2: D1:2 3: B2 D2:3 4: E1/closed 5: B3 D3:5 6: E3/closed 7: E2/closed"},
		{"Attr READ ends an implicit open of that file by that host", `
			1 Block READ a 1
			1 Block READ b 1
			1 Block READ a 2
			2 Attr READ a 1
			3 Block READ a 1`,
			"1: B1 D1:1 B2 D2:2 B3 D3:3 2: E1/attribute-read B4 D4:4 E4/done 3: B5 D5:5 E2/end-of-trace E3/end-of-trace E5/end-of-trace"},
		{"Attr READ leaves an explicit open", `
			1 Open READ a 1
			2 Attr READ a 1
			3 Block READ a 1
			4 Close READ a 1`,
			"1: B1 2: B2 D2:2 E2/done 3: D1:3 4: E1/closed"},
		{"Attr WRITE ends nothing", `
			1 Block WRITE a 1
			1 Open READ b 1
			2 Attr WRITE a 1
			2 Attr WRITE b 1
			3 Block WRITE a 1
			3 Block READ b 1
			4 Close READ a 1
			4 Close READ b 1`,
			"1: B1+w D1:1 B2 2: B3+w D3:3 E3/done B4+w D4:4 E4/done 3: D1:5 D2:6 4: E1/closed E2/closed"},
		{"Dir ends nothing", `
			1 Block READ a 1
			2 Dir READ a 1
			3 Dir WRITE a 1
			4 Close READ a 1`,
			"1: B1 D1:1 2: B2 D2:2 E2/done 3: B3+w D3:3 E3/done 4: E1/closed"},
		{"Delete ends every host's open of that file and waits for them", `
			1 Open READ a 1
			2 Block WRITE a 2
			3 Block READ b 1
			4 Block READ a 1
			5 Delete READ a 3
			6 Close READ a 1
			7 Delete WRITE a 3`,
			"1: B1 2: B2+w D2:2 3: B3 D3:3 4: D1:4 5: E1/deleted E2/deleted B4+w<1 2 D4:5 E4/done 7: B5+w D5:7 E5/done E3/end-of-trace"},
		{"Delete waits for the deleter's own open", `
			1 Block READ a 1
			2 Delete READ a 1
			3 Block WRITE a 1`,
			"1: B1 D1:1 2: E1/deleted B2+w<1 D2:2 E2/done 3: B3+w D3:3 E3/end-of-trace"},
		{"a Block exactly 120 s later is inside", `
			1 Block READ a 1
			121 Block WRITE a 1
			121.000001 Block READ a 1`,
			"1: B1+w D1:1 121: D1:2 121.000001: E1/timed-out B2 D2:3 E2/end-of-trace"},
		{"120 s count from the begin, and from nothing later", `
			1 Open READ a 1
			100 Block READ a 1
			200 Block READ a 1
			215 Close READ a 1
			216 Close READ a 1`,
			"1: B1 100: D1:2 121.000001: E1/timed-out 200: B2 D2:3 215: E2/closed"},
		{"timers go before the lines of the same time, oldest first", `
			1 Open READ b 1
			1 Open READ a 1
			2 Open READ c 1
			121.000001 Attr READ a 1
			122.000001 Close READ c 1`,
			"1: B1 D1:1 B2 D2:2 2: B3 D3:3 121.000001: E1/timed-out E2/timed-out B4 D4:4 E4/done 122.000001: E3/timed-out"},
		{"the end of the trace ends every open, at the last time", `
			1 Open READ b 1
			2 Block READ a 2
			3 Attr READ c 1`,
			"1: B1 D1:1 2: B2 D2:2 3: B3 D3:3 E3/done E1/end-of-trace E2/end-of-trace"},
		{"a Block WRITE makes any open read/write, other actions do not count", `
			1 Open READ a 1
			2 Block READ a 1
			3 Block WRITE a 1
			4 Close READ a 1
			5 Open WRITE b 1
			6 Block READ b 1
			7 Close WRITE b 1
			8 Block READ c 1
			9 Block WRITE c 1`,
			"1: B1+w 2: D1:2 3: D1:3 4: E1/closed 5: B2 6: D2:6 7: E2/closed 8: B3+w D3:8 9: D3:9 E3/end-of-trace"},
		{"an empty pair is read-only and reads the inode", `
			1 Open WRITE a 1
			2 Close WRITE a 1`,
			"1: B1 D1:1 2: E1/closed"},
		{"Lookup ends an implicit open of that file by that host, as Attr READ does", `
			1 Block WRITE a 1
			1 Block READ b 1
			1 Block READ a 2
			1 Open READ c 1
			2 Lookup READ a 1
			2 Lookup READ c 1
			3 Block READ a 1
			3 Block READ c 1
			4 Close READ c 1`,
			"1: B1+w D1:1 B2 D2:2 B3 D3:3 B4 2: E1/attribute-read B5 D5:5 E5/done B6 D6:6 E6/done " +
				"3: B7 D7:7 D4:8 4: E4/closed E2/end-of-trace E3/end-of-trace E7/end-of-trace"},
		{"Rmdir ends every host's open and waits, as Delete does", `
			1 Open READ a 1
			2 Block READ a 2
			2 Block READ b 1
			5 Rmdir WRITE a 3`,
			"1: B1 D1:1 2: B2 D2:2 B3 D3:3 5: E1/deleted E2/deleted B4+w<1 2 D4:4 E4/done E3/end-of-trace"},
		{"what makes, names or cuts a file is read/write and ends nothing", `
			1 Block READ a 1
			2 Create WRITE a 1
			3 Mkdir WRITE a 1
			4 Symlink WRITE a 1
			5 Link WRITE a 1
			6 Rename WRITE a 1
			7 Truncate WRITE a 1
			8 Close READ a 1`,
			"1: B1 D1:1 2: B2+w D2:2 E2/done 3: B3+w D3:3 E3/done 4: B4+w D4:4 E4/done 5: B5+w D5:5 E5/done " +
				"6: B6+w D6:6 E6/done 7: B7+w D7:7 E7/done 8: E1/closed"},
		{"Commit ends an implicit open that writes", `
			1 Block READ a 1
			2 Block WRITE a 1
			3 Commit WRITE a 1
			4 Block READ a 1`,
			"1: B1+w D1:1 2: D1:2 3: E1/committed 4: B2 D2:4 E2/end-of-trace"},
		{"Commit does nothing to other opens, or without one", `
			1 Block READ a 1
			1 Open READ b 1
			1 Block WRITE b 1
			1 Block WRITE c 2
			2 Commit WRITE a 1
			2 Commit WRITE b 1
			2 Commit WRITE c 1
			3 Close READ b 1`,
			"1: B1 D1:1 B2+w D2:3 B3+w D3:4 3: E2/closed E1/end-of-trace E3/end-of-trace"},
		{"lines out of order by up to a second find their place", `
			1.5 Close READ a 1
			1.0 Open READ a 1
			0.5 Attr READ a 1`,
			"0.5: B1 D1:3 E1/done 1: B2 D2:2 1.5: E2/closed"},
		{"equal times keep the order of lines", `
			1 Close READ a 1
			1 Open READ a 1
			1 Block READ a 1
			1 Attr READ a 1`,
			"1: B1 D1:3 B2 D2:4 E2/done E1/end-of-trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, _ := infer(t, trace(t, c.trace), Options{})
			if got := brief(events); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPerOperation(t *testing.T) {
	events, counts := infer(t, trace(t, `
		1 Open WRITE a 1
		2 Block WRITE a 1
		3 Block READ a 1
		4 Attr WRITE a 1
		5 Dir READ d 1
		6 Delete READ a 2
		7 Commit WRITE a 1
		7 Lookup READ a 1
		8 Rmdir WRITE d 1
		200 Close WRITE a 1`), Options{PerOperation: true})
	const want = "1: B1 D1:1 E1/done 2: B2+w D2:2 E2/done 3: B3 D3:3 E3/done 4: B4+w D4:4 E4/done " +
		"5: B5 D5:5 E5/done 6: B6+w D6:6 E6/done 7: B7 D7:8 E7/done 8: B8+w D8:9 E8/done 200: B9 D9:10 E9/done"
	if got := brief(events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if counts.Singles != 9 || counts.ReadOnly != 5 || counts.ReadWrite != 4 || counts.IdleCommits != 1 || counts.UnmatchedCloses != 0 {
		t.Errorf("%+v", counts)
	}
}

func TestCounts(t *testing.T) {
	_, got := infer(t, trace(t, `
		1 Open READ a 1
		2 Open READ a 1
		3 Block READ a 1
		4 Close READ a 1
		5 Close READ a 1
		6 Block WRITE b 1
		7 Attr READ b 1
		8 Block WRITE b 2
		9 Delete READ b 1
		10 Block READ c 1
		200 Open READ c 1
		100 Open READ d 1
		200 Dir WRITE c 1
		200 Block WRITE e 1
		200 Commit WRITE e 1
		200 Commit WRITE e 1
		200 Commit WRITE c 1`), Options{})
	want := Counts{
		Operations: 17, ReadOnly: 6, ReadWrite: 5, Singles: 3, ExplicitOpens: 4, ImplicitOpens: 4, EmptyOpens: 3,
		Closed: 1, Reopened: 1, AttrRead: 1, Deleted: 1, Committed: 1, IdleCommits: 2, TimedOut: 1, EndOfTrace: 2, UnmatchedCloses: 1,
		MaxOpen: 3, MaxBuffered: got.MaxBuffered, LongestWaitList: 1,
		ReorderCounts: traces.ReorderCounts{OutOfOrder: 1},
	}
	if got != want || got.Transactions() != 11 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
