package proc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/server/ready"
)

// role is the environment variable that makes the test binary a server: one
// that says "up" and listens until its input ends, or one that does not start:
// it tells "part" of its address and ends, or stays "mute", or prints "other", or
// says "much" before it ends.
const role = "TIDEMARK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		goleak.VerifyTestMain(m)
	case "part":
		fmt.Print(strings.TrimSpace(ready.Line(&net.TCPAddr{Port: 1})))
	case "other":
		fmt.Println("good morning")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "much":
		fmt.Fprint(os.Stderr, strings.Repeat("much. ", 10_000), "The end.\n")
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "up")
		fmt.Print(ready.Line(l.Addr()))
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}
}

func self(as string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as)
	return cmd
}

func dials(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// TestLives: a server runs from each start to its end, and an end that is not
// clean tells how it was and what was said in all lives.
func TestLives(t *testing.T) {
	s, err := proc.Launch(t.Context(), self("server"))
	if err != nil {
		t.Fatal(err)
	}
	first := s.Addr
	if !dials(first) {
		t.Error("it does not listen")
	}
	s.Kill()
	if dials(first) {
		t.Error("it listens after it was killed")
	}
	for range 2 {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer s.Kill()
		if !dials(s.Addr) {
			t.Error("it does not listen again")
		}
		err = s.EndInput()
		if again := s.Wait(); again == nil || !errors.Is(err, again) {
			t.Errorf("it ended with %v, and after that with %v", err, again)
		}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.HasSuffix(err.Error(), "it said: up\nup\nup") {
		t.Errorf("it ended with %v", err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "signal: terminated") {
		t.Errorf("it was stopped with %v", err)
	}
}

// TestNoStart: a server that does not tell its address, or dies while it does,
// was not launched. That none is left, the check for goroutines tells.
func TestNoStart(t *testing.T) {
	for as, want := range map[string]string{
		"part":  "not where it listens; it said: nothing",
		"other": `it printed "good morning\n", not where it listens`,
	} {
		if _, err := proc.Launch(t.Context(), self(as)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", as, err)
		}
	}
	_, err := proc.Launch(t.Context(), self("much"))
	if err == nil || !strings.HasSuffix(err.Error(), "much. The end.") || len(err.Error()) > 17<<10 {
		t.Errorf("much: %.100v", err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err = proc.Launch(ctx, self("mute")); !errors.Is(err, enough) {
		t.Errorf("mute: %v", err)
	}
}
