package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/bench/proc"
)

const (
	// startTimeout is how long a server may take until it listens.
	startTimeout = time.Minute
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = time.Minute
	// restarts is how often a restart is tried: somebody's connection may have
	// been given the port meanwhile.
	restarts = 5
	// maxOutput bounds what is kept of a server's messages, in bytes.
	maxOutput = 16 << 10
)

// Process is a server in a process of its own, on a fresh directory.
type Process struct {
	Addr string

	cmd    *exec.Cmd
	args   []string  // what a restart starts: on the same directory and port
	alive  io.Closer // its standard input: the server stops when this ends
	dir    string
	errors *tail // complete once it has exited
	exited chan error
}

// Start runs command, which must be a Tidemark server that takes the flags of
// "tidemark serve", and returns when it listens. The server ends when this
// process does, however that comes about.
func Start(ctx context.Context, command []string, flags ...string) (*Process, error) {
	dir, err := os.MkdirTemp("", "tidemark-live-*")
	if err != nil {
		return nil, err
	}
	p := &Process{dir: dir, args: slices.Concat(command, []string{"--dir", dir + "/store", "--until-eof"}, flags)}
	if err := p.run(ctx, "127.0.0.1:0"); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a server: %w", err), p.clean())
	}
	return p, nil
}

// Crash ends the server as kill -9 does and starts it again, on the same
// directory and address.
func (p *Process) Crash(ctx context.Context) error {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
	_ = p.alive.Close()
	var err error
	for range restarts {
		if err = p.run(ctx, p.Addr); err == nil {
			return nil
		}
	}
	return fmt.Errorf("starting the server again: %w", err)
}

// run starts a server that listens at addr and returns when it does. After an
// error it has ended.
func (p *Process) run(ctx context.Context, addr string) error {
	args := append(p.args[1:len(p.args):len(p.args)], "--listen", addr)
	p.cmd, p.errors, p.exited = exec.Command(p.args[0], args...), &tail{}, make(chan error, 1)
	p.cmd.Stderr = p.errors
	// In a group of its own it is not interrupted together with this process,
	// which stops it in its turn.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.launch()
	if err != nil {
		p.exited <- err // there is nothing to end
		return err
	}
	ready := make(chan string, 1)
	go p.watch(out, ready)
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case addr, ok := <-ready:
		if ok {
			p.Addr = addr
			return nil
		}
		err = errors.New("it ended before it listened")
	case <-timeout.C:
		err = fmt.Errorf("it did not listen within %v", startTimeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_ = p.cmd.Process.Kill() // it may be gone already
	p.exited <- <-p.exited   // for whoever ends it once more
	return fmt.Errorf("%w; it said: %s", err, p.errors)
}

// launch starts the program with pipes to its input and from its output.
func (p *Process) launch() (out io.Reader, err error) {
	if p.alive, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return out, p.cmd.Start()
}

// watch tells the address once the server has printed it, and how the server
// ended once it has.
func (p *Process) watch(out io.Reader, ready chan<- string) {
	lines := bufio.NewScanner(out)
	told := false
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), proc.Ready); ok && !told {
			told = true
			ready <- addr // does not block: it has room for one
		}
	}
	_, _ = io.Copy(io.Discard, out) // what follows a line beyond the scanner's limit
	p.exited <- p.cmd.Wait()
	close(ready)
}

// Stop asks the server to stop, waits for it, and removes its directory. An
// unclean end is an error.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // if it is gone already, exited tells how
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	var err error
	select {
	case exit := <-p.exited:
		if exit != nil {
			err = fmt.Errorf("the server ended with %w; it said: %s", exit, p.errors)
		}
	case <-timeout.C:
		err = fmt.Errorf("the server did not stop within %v", stopTimeout)
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	return errors.Join(err, p.clean())
}

// Kill ends the server at once and removes its directory.
func (p *Process) Kill() error {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
	return p.clean()
}

// clean removes what the server, which has ended, leaves behind.
func (p *Process) clean() error {
	if p.alive != nil {
		_ = p.alive.Close()
	}
	return os.RemoveAll(p.dir)
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
