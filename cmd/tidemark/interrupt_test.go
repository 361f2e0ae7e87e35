package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/traces/gen"
)

const line = "1070903040.000000 Attr READ FID: a1 OFF: 0 SIZE: 0 HOST: 1\n"

// TestInterruptedWhileItWaitsForInput interrupts a program that has read some
// of its standard input, which does not end.
func TestInterruptedWhileItWaitsForInput(t *testing.T) {
	program, err := exec.LookPath("tidemark")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"trace", "info", "-"}, {"replay", "-"}, {"bench", "-"}} {
		cmd := exec.Command(program, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: when it is written, the program is reading.
		if _, err := io.WriteString(in, strings.Repeat(line, 1<<14)); err != nil {
			t.Error(err)
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		err = cmd.Wait()
		if cmd.ProcessState.ExitCode() != exitFailure || errs.String() != "tidemark: interrupted\n" || out.Len() > 0 {
			t.Errorf("%v: %v, printed %q and %q", args, err, &out, &errs)
		}
	}
}

// TestInterruptedWhileOutputStalls interrupts a backup whose reader has stopped
// reading: it ends, and lets its timestamp go.
func TestInterruptedWhileOutputStalls(t *testing.T) {
	program, err := exec.LookPath("tidemark")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.Open(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)
	db, err := client.Local(srv, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	data := bytes.Repeat([]byte("stalls"), db.BlockSize()/6) // of all blocks far more than a pipe holds
	if err := db.Update(t.Context(), func(tx *client.Tx) error {
		for i := range 512 {
			if err := tx.Write(occ.BlockID(i+1), data); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "store", "backup", "--server="+l.Addr().String())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1024)); err != nil { // it is writing more than the header
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitFailure || errs.String() != "tidemark: interrupted\n" {
		t.Errorf("%v, printed %q", err, &errs)
	}
	if pins, err := db.Pins(t.Context()); err != nil || len(pins.Pins) > 0 {
		t.Errorf("still pinned: %v (%v)", pins.Pins, err)
	}
}

// TestInterruptedReplay interrupts a simulation in the middle.
func TestInterruptedReplay(t *testing.T) {
	p := gen.DefaultDense()
	p.Hosts, p.Duration = 4, 20*time.Second
	interrupted := errors.New("interrupted by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	l, err := exp.NewLoad("test", interruptible{p.Source(), ctx}, blockSize, false)
	if err != nil {
		t.Fatal(err)
	}
	begun := int64(0)
	_, err = sim.Run(l, exp.Standard()[1], sim.Replay{Progress: func(n int64) {
		begun = n
		cancel(interrupted)
	}})
	if !errors.Is(err, interrupted) {
		t.Errorf("the replay ended with %v", err)
	}
	if begun == 0 || begun > l.Plan.Operations/2 {
		t.Errorf("it ended after %d of %d operations", begun, l.Plan.Operations)
	}
}

// TestRun runs commands without a process around them.
func TestRun(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(errors.New("some signal"))
	for _, c := range []struct {
		args   string
		ctx    context.Context
		stdin  io.Reader
		code   int
		stderr string
	}{
		{"trace info -", t.Context(), strings.NewReader(line), 0, ""},
		{"trace info -", t.Context(), iotest.ErrReader(errors.New("no more paper")), exitFailure, "tidemark: stdin: no more paper\n"},
		{"replay -", t.Context(), iotest.ErrReader(errors.New("no more paper")), exitFailure, "tidemark: stdin: spooling: no more paper\n"},
		{"replay -", ended, strings.NewReader(line), exitFailure, "tidemark: interrupted\n"},
		{"store check in\xe9", t.Context(), nil, exitUsage, "tidemark: argument \"in\\xe9\" is not UTF-8 (try tidemark --help)\n"},
		{"trace gen auspex-hour", ended, nil, exitFailure, "tidemark: interrupted\n"},
		{"replay - --live", ended, strings.NewReader(line), exitFailure, "tidemark: interrupted\n"},
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(c.args), &environment{ctx: c.ctx, stdin: c.stdin, stdout: &out, stderr: &errs})
		if code != c.code || errs.String() != c.stderr {
			t.Errorf("%s: exit code %d, %q", c.args, code, &errs)
		}
	}
}

// TestInterruptedWhileABackupIsAwaited interrupts commands that read a backup
// from a named pipe: one that nobody writes to, and one whose writer stalls.
func TestInterruptedWhileABackupIsAwaited(t *testing.T) {
	for _, args := range [][]string{{"store", "restore", "-o", "new"}, {"store", "backup", "-o", "file", "--since"}} {
		for _, stalls := range []bool{false, true} {
			if stalls && args[1] == "backup" {
				continue // of the earlier backup just the head is read, at once
			}
			t.Chdir(t.TempDir())
			if err := syscall.Mkfifo("pipe", 0o600); err != nil {
				t.Fatal(err)
			}
			var writer *os.File
			write := func() (err error) {
				writer, err = os.OpenFile("pipe", os.O_RDWR, 0) // does not wait for a reader
				return err
			}
			if stalls {
				if err := write(); err != nil {
					t.Fatal(err)
				}
			}
			letGo := sync.OnceFunc(func() {
				if writer != nil || write() == nil {
					writer.Close()
				}
			})
			late := time.AfterFunc(30*time.Second, letGo) // else it would wait for ever, if it does
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel) // most likely while it waits; before, it ends the same way
			var out, errs bytes.Buffer
			code := run(append(args, "pipe"), &environment{ctx: ctx, stdout: &out, stderr: &errs})
			if code != exitFailure || errs.String() != "tidemark: interrupted\n" {
				t.Errorf("%v, stalls %v: exit code %d, %s", args, stalls, code, &errs)
			}
			if !late.Stop() {
				t.Errorf("%v, stalls %v: it waited for the pipe", args, stalls)
			}
			letGo() // what still waits
		}
	}
}
