package sim_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/traces"
)

// memory is a trace in memory.
type memory []traces.Op

func (m memory) Name() string                { return "memory" }
func (m memory) Open() (traces.Input, error) { return memoryInput{traces.Slice(m)}, nil }
func (m memory) Close() error                { return nil }

type memoryInput struct{ traces.Stream }

func (memoryInput) Close() error                        { return nil }
func (memoryInput) Skipped() (int64, *traces.LineError) { return 0, nil }

// nonsense is a trace of all types of operations on few files, directories and
// names, at random: what a hostile or lossy trace may hold.
func nonsense(seed uint64, n int) memory {
	rng := rand.New(rand.NewPCG(seed, 8))
	place := func() (traces.FID, string) { return traces.FID(rng.IntN(6)), string(rune('a' + rng.IntN(5))) }
	ops := make(memory, n)
	for i := range ops {
		op := traces.Op{
			Time: 1_000_000_000 + int64(i)*1500, Line: int64(i + 1), Host: uint32(rng.IntN(5)), FID: traces.FID(rng.IntN(12)),
			Type: traces.Types[rng.IntN(len(traces.Types))], Action: traces.Action(rng.IntN(2)), Off: rng.Int64N(9000), Size: rng.Int64N(9000),
		}
		if op.Type > traces.Close {
			op.Action = traces.Write
			if op.Type == traces.Lookup {
				op.Action = traces.Read
			}
		}
		if op.Type == traces.Lookup || op.Type == traces.Rename || op.Type == traces.Link || rng.IntN(2) == 0 {
			op.Place = &traces.Place{}
			op.Place.Dir, op.Place.Name = place()
			if op.Type == traces.Rename {
				op.Place.ToDir, op.Place.ToName = place()
			}
		}
		ops[i] = op
	}
	return ops
}

// TestNonsenseIsCorrectUnderEverySetting: whatever a trace says of names, the
// history is serializable and the file system consistent, and the same again.
func TestNonsenseIsCorrectUnderEverySetting(t *testing.T) {
	for seed := range uint64(2) {
		l, err := exp.NewLoad("nonsense", nonsense(seed, 1500), 4096, seed == 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "cannot be") {
			t.Errorf("notes %q", l.Notes)
		}
		for _, s := range exp.Standard() {
			var runs [2][]byte
			for i := range runs {
				f := run(t, l, s, sim.Replay{Tree: true})
				if f.Replay.Absent == 0 || f.Replay.Odd == 0 || f.Replay.Failed > 0 || f.Replay.ReadWrite < 500 || l.Plan.Image.Misplaced == 0 {
					t.Errorf("seed %d, %s: %+v, %d misplaced", seed, s, f.Replay, l.Plan.Image.Misplaced)
				}
				if runs[i], err = json.Marshal(f); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(runs[0], runs[1]) {
				t.Errorf("seed %d, %s: two runs differ:\n%s\n%s", seed, s, runs[0], runs[1])
			}
		}
	}
}

// TestNonsenseOfOneHostLeavesTheSameTree: what one host does, one thing at a
// time, leaves the same tree under all settings.
func TestNonsenseOfOneHostLeavesTheSameTree(t *testing.T) {
	ops := nonsense(9, 1500)
	for i := range ops {
		ops[i].Host = 1
		ops[i].Time = ops[0].Time + int64(i)*30_000
		if ops[i].Type == traces.Open || ops[i].Type == traces.Block && ops[i].Action == traces.Write {
			ops[i].Type, ops[i].Action = traces.Attr, traces.Write // which overlaps with nothing
		}
	}
	leavesOneTree(t, load(t, ops), "occ", "inf", "2s", "0s")
}
