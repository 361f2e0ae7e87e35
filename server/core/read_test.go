package core

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// TestReadsEndWithTheirConnection: nothing is kept of the reads of a connection
// that has ended, and their loads are ignored.
func TestReadsEndWithTheirConnection(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 1, Data: []byte("x")}}))
	w.settle()
	w.open(2)
	for req := range uint64(3) {
		w.core.Receive(2, latest(10+req, 1))
	}
	var loads []Load
	for _, e := range w.core.Take() {
		if l, ok := e.(Load); ok && l.Conn == 2 && l.Blocks == 1 {
			loads = append(loads, l)
		}
	}
	if len(loads) != 3 || len(w.core.reads) != 3 {
		t.Fatalf("%d loads, %d reads", len(loads), len(w.core.reads))
	}
	w.core.Disconnect(2)
	if len(w.core.reads) != 0 {
		t.Fatalf("%d reads are kept", len(w.core.reads))
	}
	w.core.Loaded(loads[0].ID, [][]byte{[]byte("x")})
	w.core.LoadFailed(loads[1].ID, errors.New("damaged"))
	if effects := w.core.Take(); len(effects) != 0 {
		t.Fatalf("%v", effects)
	}
}
