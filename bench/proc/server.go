package proc

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/server/ready"
)

const (
	// startTimeout is how long a server may take until it listens.
	startTimeout = time.Minute
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = time.Minute
)

// Server is a program that serves in a process of its own. It can be killed
// and started again: there is one process at a time.
type Server struct {
	Addr string // where it listens, or did last

	program exec.Cmd // what each start starts a copy of
	cmd     *exec.Cmd
	in      io.Closer // its standard input
	end     error     // how it ended, once somebody has waited for it
	said    transcript
}

// NewServer launches command, which takes the flags of "tidemark serve", on a
// data directory and a port of its own, which it keeps when it starts again.
func NewServer(ctx context.Context, dir string, command ...string) (*Server, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(command[1:], []string{"--dir", dir, "--listen", addr, "--until-eof"})
	return Launch(ctx, exec.Command(command[0], args...))
}

// Launch starts a program that prints the line of package ready, behind which
// nothing is read, and ends with its standard input: it does when this process
// ends, however that comes about. Of cmd, which must not be used again, the program, its arguments, its
// directory and its environment count. Launch returns when the program
// listens, or with an error when it has ended: ctx bounds the start alone.
func Launch(ctx context.Context, cmd *exec.Cmd) (*Server, error) {
	s := &Server{program: *cmd}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// FreeAddr is a free address on loopback, for a server that is started there
// more than once. Ports that the kernel hands out to connections would be taken
// by somebody while the server is down, so it is below those of Linux and of the
// other systems.
func FreeAddr() (string, error) {
	var first error
	for port := 20000 + int(time.Now().UnixNano()/1000%10000); port < 32000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// Start starts the server, which is not running, as Launch did.
func (s *Server) Start(ctx context.Context) error {
	cmd := s.program
	cmd.Stderr = &s.said
	// In a group of its own it is not interrupted together with this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe() // kept open until Wait
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the server did not start: %w", err)
	}
	s.cmd, s.in = &cmd, in
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not listen within %v", startTimeout))
	defer cancel()
	inTime := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n') // a part of a line is no address
	addr, ok := ready.Addr(line)
	if !inTime() {
		err = context.Cause(ctx)
	} else if !ok {
		err = fmt.Errorf("it printed %q, not where it listens", line)
	} else {
		s.Addr = addr
		return nil
	}
	s.Kill()
	return fmt.Errorf("the server did not start: %w; it said: %s", err, s.lastWords())
}

// Kill ends the server as kill -9 does, and returns when it has ended.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may be gone already
	_ = s.Wait()
}

// Wait waits until the server has ended and returns how, also if that is known
// already.
func (s *Server) Wait() error {
	if s.cmd.ProcessState == nil {
		s.end = s.cmd.Wait() // which closes its standard input
	}
	return s.end
}

// Stop asks the server to stop, with SIGTERM, and waits until it has. An
// unclean end is an error, and one before this call, too.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // if it is gone already, that tells how
	return s.stopped()
}

// EndInput ends the server's standard input, which makes it stop, and waits
// like Stop.
func (s *Server) EndInput() error {
	_ = s.in.Close() // it may be closed already
	return s.stopped()
}

func (s *Server) stopped() error {
	kill := time.AfterFunc(stopTimeout, func() { _ = s.cmd.Process.Kill() })
	err := s.Wait()
	late := !kill.Stop()
	switch {
	case err == nil:
		return nil
	case late:
		err = fmt.Errorf("%w: it did not stop within %v", err, stopTimeout)
	}
	return fmt.Errorf("the server ended with %w; it said: %s", err, s.lastWords())
}

// Said is what the server has written to its standard error so far, in all its
// lives: the end of it, if that is much.
func (s *Server) Said() string { return s.said.String() }

// lastWords are the end of what it has said, for an error.
func (s *Server) lastWords() string {
	said := strings.TrimSpace(s.Said())
	return cmp.Or(said[max(0, len(said)-maxLastWords):], "nothing")
}
