package chaos_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/bench/chaos"
	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
)

var (
	rounds = flag.Int("rounds", 4, "how often the server is killed, and how many connections a client may lose on average")
	seed   = flag.Uint64("seed", 0, "of the random choices; 0 takes a random one")
)

// program is the server.
var program string

func TestMain(m *testing.M) { os.Exit(proc.WithProgram(&program, m.Run)) }

// noLeaks checks when everything else of a test has ended that no goroutine is
// left.
func noLeaks(t *testing.T) { t.Cleanup(func() { goleak.VerifyNone(t) }) }

// patience bounds how long a test waits for what must happen.
func patience(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func random(t testing.TB) (*rand.Rand, uint64) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	return rand.New(rand.NewPCG(s, 0)), s
}

func start(t testing.TB, flags ...string) (s *proc.Server, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s, err := proc.NewServer(t.Context(), dir, append([]string{program, "serve", "--checkpoint=0.05", "--memory=1"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, dir
}

// check looks at the store in dir, which is not served, as "store check" does.
func check(dir string) error {
	if out, err := exec.Command(program, "store", "check", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("store check: %w: %s", err, out)
	}
	return nil
}

// bounds are those of the readers.
var bounds = []time.Duration{0, 20 * time.Millisecond, time.Second, client.Unbounded}

// TestKills kills the server under clients that count what was acknowledged. In
// between the store is whole, and at the end it holds what they counted.
func TestKills(t *testing.T) {
	noLeaks(t)
	rng, seed := random(t)
	s, dir := start(t)
	ctx := patience(t, 2*time.Minute+time.Duration(*rounds)*20*time.Second)
	f, err := chaos.NewFleet(ctx, chaos.Options{Addr: s.Addr, Clients: 64, Shared: 4, Bounds: bounds, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	if err := chaos.Kill(ctx, s, f, *rounds, rng, func() error { return check(dir) }); err != nil {
		t.Error(err)
	}
	r, err := f.Stop(ctx)
	t.Logf("%d kills: %v", *rounds, r)
	if err != nil {
		t.Error(err)
	}
	if r.Reconnects == 0 || r.Views == 0 {
		t.Error("nothing was put to the test")
	}
	if err := errors.Join(s.Stop(), check(dir)); err != nil {
		t.Error(err)
	}
}

func TestCutConnections(t *testing.T) {
	noLeaks(t)
	_, seed := random(t)
	s, _ := start(t)
	p, err := chaos.NewProxy(s.Addr, seed)
	if err != nil {
		t.Fatal(err)
	}
	const clients = 16
	ctx := patience(t, 2*time.Minute+time.Duration(*rounds)*20*time.Second)
	f, err := chaos.NewFleet(ctx, chaos.Options{
		Addr: p.Addr, Clients: clients, Shared: 4, Bounds: bounds, Seed: seed, Silence: 150 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for ended := int64(0); ended < int64(clients**rounds) && err == nil; {
		err = f.Await(ctx, 20)
		ended = p.Ended[chaos.Cut].Load() + p.Ended[chaos.Freeze].Load()
	}
	if err != nil {
		t.Error(err)
	}
	p.Peace()
	if err := f.AwaitAll(ctx); err != nil {
		t.Error(err)
	}
	r, err := f.Stop(ctx)
	t.Logf("%d connections cut, %d frozen: %v", p.Ended[chaos.Cut].Load(), p.Ended[chaos.Freeze].Load(), r)
	if err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}
