package proc

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Ready is what a server prints before its address once it listens.
const Ready = "tidemark: listening on "

// startTimeout is how long a server may take until it listens.
const startTimeout = time.Minute

// Server is a server that can be killed and started again: one directory, one
// address, and one process at a time.
type Server struct {
	Addr string

	command []string
	cmd     *exec.Cmd
	said    transcript
}

// NewServer starts command, which takes the flags of "tidemark serve", on a
// data directory and a port of its own. The server ends when this process
// does, however that comes about.
func NewServer(dir string, command ...string) (*Server, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: addr, command: append(command, "--dir", dir, "--listen", addr, "--until-eof")}
	return s, s.Start()
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

// Start starts the server, which is not running, and returns when it listens.
func (s *Server) Start() error {
	s.cmd = exec.Command(s.command[0], s.command[1:]...)
	s.cmd.Stderr = &s.said
	// In a group of its own it is not interrupted together with this process.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := s.cmd.StdinPipe(); err != nil { // kept open until Wait
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(startTimeout, func() { _ = s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if late.Stop() && err == nil && strings.HasPrefix(line, Ready) {
		return nil
	}
	s.Kill()
	return fmt.Errorf("the server did not start: it printed %q (%w); it said: %s", line, errors.Join(err), &s.said)
}

// Kill ends the server as kill -9 does, and returns when it has ended.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may be gone already
	_ = s.Wait()
}

// Wait waits until the server has ended and returns how.
func (s *Server) Wait() error { return s.cmd.Wait() } // which closes its standard input

// Stop asks the server to stop and waits for it. An unclean end is an error.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.Wait(); err != nil {
		return fmt.Errorf("the server ended with %w; it said: %s", err, &s.said)
	}
	return nil
}

// Said is what the server has written to its standard error so far, in all its
// lives: the end of it, if that is much.
func (s *Server) Said() string { return s.said.String() }

// maxTranscript bounds what is kept of a server's messages, in bytes.
const maxTranscript = 1 << 20

type transcript struct {
	mu   sync.Mutex
	text []byte
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTranscript; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
