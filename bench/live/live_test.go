package live_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/live"
	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
)

// program is the binary that the tests run as the server.
var program string

var (
	rounds = flag.Int("rounds", 4, "how often the server is killed during a replay")
	seed   = flag.Uint64("seed", 0, "of the moments when it is killed; 0 takes a random one")
)

// mute as the first argument makes the test binary a server that never
// listens.
const mute = "mute"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == mute {
		fmt.Fprintln(os.Stderr, "no comment")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	return proc.WithProgram(&program, m.Run)
}

// tidy checks at the end of a test that no goroutine and no file is left.
func tidy(t *testing.T) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		goleak.VerifyNone(t)
		left, err := os.ReadDir(tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
	})
}

func load(t *testing.T, hosts int, d time.Duration) *exp.Load {
	t.Helper()
	p := gen.DefaultDense()
	p.Hosts, p.Duration = hosts, d
	l, err := exp.NewLoad("test", p.Source(), 4096, false)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serve() live.Options { return live.Options{Command: []string{program, "serve"}} }

func TestReplay(t *testing.T) {
	l := load(t, 4, 3*time.Second)
	for _, setting := range []exp.Setting{{Mode: client.Conventional}, {Epsilon: 2 * time.Second}} {
		t.Run(setting.String(), func(t *testing.T) {
			tidy(t)
			want, err := sim.Run(l, setting, sim.Replay{})
			if err != nil {
				t.Fatal(err)
			}
			o := serve()
			o.Tree, o.MinCPU, o.MaxRounds = true, time.Hour, 2
			got, err := live.Run(t.Context(), l, setting, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rounds != 2 {
				t.Errorf("%d rounds", got.Rounds)
			}
			type counts struct{ readOnly, readWrite, operations, failed, odd int64 }
			g, w := got.Replay, want.Replay
			if g, w := (counts{g.ReadOnly, g.ReadWrite, g.Operations, g.Failed, g.Odd}),
				(counts{2 * w.ReadOnly, 2 * w.ReadWrite, 2 * w.Operations, 0, 0}); g != w {
				t.Errorf("counts %+v, want %+v: twice those of the simulator", g, w)
			}
			// All transactions of the hosts are judged, and those that built
			// the image.
			h := got.History
			if n := int64(h.Checked[history.ReadOnly] + h.Checked[history.Validated] + h.Checked[history.Committed]); n <= g.ReadOnly+g.ReadWrite {
				t.Errorf("%v, but %+v", h, g)
			}
			if h.Total > 0 || h.TooOld > 0 || got.Problems > 0 {
				t.Errorf("%v, %d problems", h, got.Problems)
			}
			if c := got.CPU; c.Client.Mean <= 0 || c.Server.Mean <= 0 || c.Wall <= 0 || c.Hosts != 4 {
				t.Errorf("CPU %+v", c)
			}
			if n := got.ReadOnlyLatency.Count + got.ReadWriteLatency.Count; n != g.ReadOnly+g.ReadWrite {
				t.Errorf("%d latencies of %+v", n, g)
			}
			if got.Tree == "" || got.Traffic.Messages == 0 || got.LogBytes == 0 {
				t.Errorf("tree %q, traffic %+v, log %d bytes", got.Tree, got.Traffic, got.LogBytes)
			}
		})
	}
}

func TestPacedReplay(t *testing.T) {
	tidy(t)
	l := load(t, 2, 3*time.Second)
	o := serve()
	o.Speed = 10
	f, err := live.Run(t.Context(), l, exp.Setting{Epsilon: time.Second}, o)
	if err != nil {
		t.Fatal(err)
	}
	if least := time.Duration(l.Plan.Last-l.Plan.First) * time.Microsecond / 10; f.CPU.Wall < least {
		t.Errorf("it took %v, less than %v", f.CPU.Wall, least)
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	l := load(t, 1, 2*time.Second)
	for _, c := range []struct {
		name    string
		command []string
		want    string
	}{
		{"missing program", []string{"/no/such/program"}, "no such file"},
		{"ends at once", []string{program, "version"}, `it printed "", not where it listens; it said: tidemark: unknown flag`},
		{"wrong flags", []string{program, "serve", "--memory=0"}, "--memory must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tidy(t)
			_, err := live.Run(t.Context(), l, exp.Setting{}, live.Options{Command: c.command})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q, not one line with %q", err, c.want)
			}
		})
	}
}

// TestStoreTooSmall: when the server refuses commits because its store is
// full, the replay fails, whether the image is being built or not.
func TestStoreTooSmall(t *testing.T) {
	for _, c := range []struct{ action, want string }{
		{"READ", "of the starting image"},
		{"WRITE", "transaction 1"},
	} {
		t.Run(c.action, func(t *testing.T) {
			tidy(t)
			line := fmt.Sprintf("1.0 Block %s FID: 1 OFF: 0 SIZE: 8000000 HOST: 1\n", c.action)
			l, err := exp.NewLoad("large", traces.Bytes("large", []byte(line), traces.Options{}), 4096, false)
			if err != nil {
				t.Fatal(err)
			}
			o := serve()
			o.ServerFlags = []string{"--max-size=4"}
			_, err = live.Run(t.Context(), l, exp.Setting{}, o)
			var aborted *client.AbortError
			if !errors.As(err, &aborted) || aborted.Reason != occ.AbortRefused || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

var errEnough = errors.New("enough")

func TestCancelled(t *testing.T) {
	l := load(t, 8, 20*time.Second)
	for _, c := range []struct {
		name    string
		command []string
		after   bool // the replay has begun
	}{
		{"before it listens", []string{os.Args[0], mute}, false},
		{"at once", []string{program, "serve"}, false},
		{"in the middle", []string{program, "serve"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tidy(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			begun := int64(0)
			o := live.Options{Command: c.command, Progress: func(_ int, n int64) {
				begun = n
				cancel(errEnough)
			}}
			if !c.after {
				cancel(errEnough)
			}
			_, err := live.Run(ctx, l, exp.Setting{Epsilon: time.Second}, o)
			if !errors.Is(err, errEnough) {
				t.Errorf("it ended with %v", err)
			}
			if c.after != (begun > 0) || begun > l.Plan.Operations/2 {
				t.Errorf("%d of %d operations had begun", begun, l.Plan.Operations)
			}
		})
	}
}

// TestServerDies kills the server in the middle of a replay.
func TestServerDies(t *testing.T) {
	tidy(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	killed := false
	o := live.Options{
		Command: []string{"sh", "-c", `echo $$ > "$0"; exec "$@"`, pidFile, program, "serve"},
		Progress: func(int, int64) {
			if killed {
				return
			}
			killed = true
			text, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		},
	}
	_, err := live.Run(t.Context(), load(t, 8, 10*time.Second), exp.Setting{}, o)
	if !killed || !errors.Is(err, client.ErrDisconnected) && !errors.Is(err, client.ErrOutcomeUnknown) {
		t.Errorf("it ended with %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%q does not say how the server ended", err)
	}
}

// TestReplayThroughKills: hosts go on by themselves while the server is killed
// under them; the file system is sound after it and every transaction of
// the trace has happened once.
func TestReplayThroughKills(t *testing.T) {
	tidy(t)
	l := load(t, 8, 10*time.Second)
	o := serve()
	o.Kills, o.Seed = *rounds, cmp.Or(*seed, rand.Uint64())
	t.Logf("%d kills, seed %d", o.Kills, o.Seed)
	setting := exp.Setting{Epsilon: time.Second}
	want, err := sim.Run(l, setting, sim.Replay{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := live.Run(t.Context(), l, setting, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v; %d reconnections, %d commits sent again, %d in doubt; %v", f.Replay, f.Clients.Reconnects, f.Clients.Resent, f.Clients.InDoubt, f.History)
	c, w := f.Replay, want.Replay
	if c.ReadOnly != w.ReadOnly || c.ReadWrite != w.ReadWrite || c.Operations != w.Operations || c.Failed > 0 || f.Problems > 0 {
		t.Errorf("%+v and %d problems, want what the simulator counts: %+v", c, f.Problems, w)
	}
	if f.Clients.Reconnects == 0 { // of hosts; one kill soon after another may pass unnoticed
		t.Errorf("%d reconnections", f.Clients.Reconnects)
	}
}
