package main

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/server/ready"
)

// TestServeWithoutLogReader: a server goes on when nobody reads its log any
// more.
func TestServeWithoutLogReader(t *testing.T) {
	program, err := exec.LookPath("tidemark")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--in-memory", "--listen=127.0.0.1:0", "--verbose")
	cmd.Stderr = w
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := ready.Addr(line)
	if !ok {
		t.Errorf("it printed %q, %v", line, err)
	}
	r.Close()
	for range 3 { // each logs something
		db, err := client.Dial(t.Context(), addr, client.Options{NoWait: true})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := db.Update(t.Context(), func(tx *client.Tx) error { return tx.Write(1, []byte("x")) }); err != nil {
			t.Error(err)
		}
		db.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
