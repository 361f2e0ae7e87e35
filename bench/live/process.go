package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout is how long a server may take until it listens.
	startTimeout = 20 * time.Second
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = 20 * time.Second
	// maxOutput bounds what is kept of a server's messages, in bytes.
	maxOutput = 16 << 10
)

// Process is a server in a process of its own, on a fresh directory.
type Process struct {
	Addr string

	cmd    *exec.Cmd
	dir    string
	errors *tail
	exited chan error
}

// Ready is what a server prints before its address once it listens.
const Ready = "tidemark: listening on "

// Start runs command, which must be a Tidemark server that takes the flags of
// "tidemark serve", and returns when it listens.
func Start(ctx context.Context, command []string, flags ...string) (*Process, error) {
	dir, err := os.MkdirTemp("", "tidemark-live-*")
	if err != nil {
		return nil, err
	}
	args := append(command[1:len(command):len(command)], "--dir", dir+"/store", "--listen", "127.0.0.1:0")
	p := &Process{cmd: exec.Command(command[0], append(args, flags...)...), dir: dir, errors: &tail{}, exited: make(chan error, 1)}
	p.cmd.Stderr = p.errors
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a server: %w", err), os.RemoveAll(dir))
	}
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if addr, ok := strings.CutPrefix(lines.Text(), Ready); ok {
				ready <- addr
			}
		}
		_, _ = io.Copy(io.Discard, out) // a line beyond the scanner's limit
		p.exited <- p.cmd.Wait()
	}()
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case addr, ok := <-ready:
		if ok {
			p.Addr = addr
			return p, nil
		}
		err = errors.New("it ended before it listened")
	case <-timeout.C:
		err = fmt.Errorf("it did not listen within %v", startTimeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	err = fmt.Errorf("starting a server: %w; it said: %s", err, p.errors)
	p.kill()
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// Stop asks the server to stop, waits for it, and removes its directory. An
// unclean end is an error.
func (p *Process) Stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case exit := <-p.exited:
		if exit != nil {
			err = fmt.Errorf("the server ended with %w; it said: %s", exit, p.errors)
		} else if errors.Is(err, os.ErrProcessDone) {
			err = nil
		}
	case <-timeout.C:
		err = fmt.Errorf("the server did not stop within %v", stopTimeout)
		p.kill()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

func (p *Process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - maxOutput; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	if s := strings.TrimSpace(string(t.text)); s != "" {
		return s
	}
	return "nothing"
}
