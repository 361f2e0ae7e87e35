package restore

import (
	"os"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/storedir/durable"
	"github.com/tidemark/tidemark/server/wal"
)

// steps are those that follow when the blocks are durable, in their order. Tests
// look at the directory before and after each: what a crash there leaves must be
// no store, or all of it.
type steps struct {
	log     func(dir string, store occ.StoreID, epoch uint64, first []byte) error // durable when it returns
	store   func(dir string, id storedir.Identity) error                          // likewise
	rename  func(from, to string) error
	syncDir func(dir string) error
}

// osSteps are those of the operating system.
func osSteps() steps {
	return steps{log: wal.Create, store: storedir.Create, rename: os.Rename, syncDir: durable.SyncDir}
}
