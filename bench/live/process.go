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
	alive  io.Closer // its standard input: the server stops when this ends
	dir    string
	errors *tail // complete once it has exited
	exited chan error
}

// Ready is what a server prints before its address once it listens.
const Ready = "tidemark: listening on "

// Start runs command, which must be a Tidemark server that takes the flags of
// "tidemark serve", and returns when it listens. The server ends when this
// process does, however that comes about.
func Start(ctx context.Context, command []string, flags ...string) (*Process, error) {
	dir, err := os.MkdirTemp("", "tidemark-live-*")
	if err != nil {
		return nil, err
	}
	args := append(command[1:len(command):len(command)], "--dir", dir+"/store", "--listen", "127.0.0.1:0", "--until-eof")
	p := &Process{cmd: exec.Command(command[0], append(args, flags...)...), dir: dir, errors: &tail{}, exited: make(chan error, 1)}
	p.cmd.Stderr = p.errors
	// In a group of its own it is not interrupted together with this process,
	// which stops it in its turn.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.launch()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a server: %w", err), os.RemoveAll(dir))
	}
	ready := make(chan string, 1)
	go p.watch(out, ready)
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
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
	err = fmt.Errorf("starting a server: %w; it said: %s", err, p.errors)
	return nil, errors.Join(err, p.clean())
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
		if addr, ok := strings.CutPrefix(lines.Text(), Ready); ok && !told {
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
	_ = p.alive.Close()
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
