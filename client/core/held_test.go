package core_test

import (
	"testing"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// More commits than the server keeps outcomes for: those beyond wait at the
// client until earlier ones are answered, and none is refused.
func TestCommitsAreHeldAtTheOutcomeLimit(t *testing.T) {
	s, c := start(t, 1)
	var txs []*scriptTx
	for i := range 2*scriptOutcomes + 3 {
		txs = append(txs, c[0].queueWrite(occ.Timestamp(i+1), occ.BlockID(200+i)))
	}
	c[0].collect()
	c[0].counts(wire.TypeCommit, scriptOutcomes)
	s.settle()
	for i, tx := range txs {
		tx.is(core.Committed)
		if tx.CommitAt() != occ.Timestamp(i+1) {
			t.Errorf("commit %d is at %d: held commits changed their order", i, tx.CommitAt())
		}
	}
	c[0].counts(wire.TypeCommit, len(txs))
}

// A commit that was held when its connection was lost was never sent: it
// aborts, and those that were sent are resolved.
func TestHeldCommitsOverAReconnect(t *testing.T) {
	s, c := start(t, 1)
	var txs []*scriptTx
	for i := range scriptOutcomes + 2 {
		txs = append(txs, c[0].queueWrite(occ.Timestamp(i+1), occ.BlockID(200+i)))
	}
	c[0].send()
	c[0].disconnect()
	for i, tx := range txs {
		if held := i >= scriptOutcomes; held {
			tx.is(core.Aborted)
		} else {
			tx.is(core.Committing)
		}
	}
	for s.syncing {
		s.sync()
	}
	c[0].reconnect()
	s.settle()
	for _, tx := range txs[:scriptOutcomes] {
		tx.is(core.Committed)
	}
	c[0].write(scriptOutcomes+1, x)
}
