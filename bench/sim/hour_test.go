package sim_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/traces/gen"
)

// TestHour replays the generated hour, which is fitted to the report: about
// 100 aborts under conventional OCC, and the data that ε = 2 s moves.
func TestHour(t *testing.T) {
	src, err := gen.DefaultHour().Source()
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, src)
	occ := run(t, l, exp.Setting{Mode: client.Conventional}, sim.Replay{})
	if occ.Replay.ReadOnly != 65_883 || occ.Replay.ReadWrite != 3_882 || occ.Replay.Odd+occ.Replay.Failed != 0 {
		t.Errorf("conventional: %+v", occ.Replay)
	}
	// A file is looked at after the close of the open that made it, which may
	// have had to begin again.
	if n := occ.Replay.Absent; n > 10 {
		t.Errorf("%d operations on files that do not exist", n)
	}
	if n := occ.Replay.Aborted; n < 50 || n > 200 {
		t.Errorf("conventional OCC aborts %d transactions, not about 100", n)
	}
	ours := run(t, l, exp.Setting{Epsilon: 2 * time.Second}, sim.Replay{})
	if b := ours.Traffic.Bytes; b < 26_000_000 || b > 28_500_000 {
		t.Errorf("at 2 s the traffic is %d bytes, not about 27.2 MB", b)
	}
	if ours.Replay.Aborted*2 > occ.Replay.Aborted || ours.Traffic.Messages*4 > occ.Traffic.Messages {
		t.Errorf("at 2 s %d aborts and %d messages, conventionally %d and %d",
			ours.Replay.Aborted, ours.Traffic.Messages, occ.Replay.Aborted, occ.Traffic.Messages)
	}
}
