package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidemark/tidemark/bench/proc"
)

// process is a server in a process of its own.
type process struct {
	cmd    *exec.Cmd
	addr   string
	stderr bytes.Buffer // complete when the process has ended
}

// launch starts "tidemark serve" on a free port and returns when it listens.
func launch(dir string, flags ...string) (*process, error) {
	program, err := exec.LookPath("tidemark")
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, append([]string{"serve"}, flags...)...)}
	p.cmd.Dir, p.cmd.Stderr = dir, &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), proc.Ready)
	if err != nil || !ok {
		p.kill()
		return nil, fmt.Errorf("the server printed %q (%v); it said: %s", line, err, &p.stderr)
	}
	p.addr = addr
	return p, nil
}

// kill ends the process as a crash would.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// stop asks the server to stop and waits for it.
func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if end := p.cmd.Wait(); end != nil {
		err = fmt.Errorf("%w; it said: %s", end, &p.stderr)
	}
	return err
}

// servers are the servers of a script, by the names of their variables.
type servers map[string]*process

type serversKey struct{}

// serve starts a server and sets the variable NAME to its address; stop stops
// it, which must leave exit code 0.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "serve NAME FLAG...")
	p, err := launch(ts.MkAbs("."), args[1:]...)
	ts.Check(err)
	ts.Defer(p.kill)
	ts.Setenv(args[0], p.addr)
	ts.Value(serversKey{}).(servers)[args[0]] = p
}

func stop(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "stop NAME")
	p := ts.Value(serversKey{}).(servers)[args[0]]
	if p == nil {
		ts.Fatalf("no server %q", args[0])
	}
	ts.Check(p.stop())
}

func TestServeStopsWhenInputEnds(t *testing.T) {
	program, err := exec.LookPath("tidemark")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--in-memory", "--listen=127.0.0.1:0", "--until-eof")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, proc.Ready) {
		t.Errorf("it printed %q (%v)", line, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
