package take

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// DamagedError says that the server cannot read a block that belongs into the
// backup. Its cause is the *client.AbortError.
type DamagedError struct {
	Block occ.BlockID
	From  occ.Timestamp // of its version
	Cause error
	text  string // the server's
}

// Error says what can be done, too.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("no backup can be made, as block %d has damaged data since timestamp %d: write the whole block anew, or make a new store of what is whole with tidemark store salvage (the server says: %s)",
		e.Block, e.From, e.text)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Cause }

// blame finds the block of a batch because of which reading it failed with err,
// if that is damage.
func (j *job) blame(ctx context.Context, batch []occ.Read, err error) error {
	if !damaged(err, new(*client.AbortError)) {
		return err
	}
	for _, b := range batch {
		var why *client.AbortError
		if _, alone := j.read(ctx, []occ.BlockID{b.Block}); damaged(alone, &why) {
			return &DamagedError{Block: b.Block, From: b.From, Cause: why, text: why.Refused.Text}
		}
	}
	return err
}

// damaged reports whether err says that data are damaged, and sets why.
func damaged(err error, why **client.AbortError) bool {
	return errors.As(err, why) && (*why).Refused != nil && (*why).Refused.Code == wire.CodeDamaged
}
