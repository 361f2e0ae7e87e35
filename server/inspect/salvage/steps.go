package salvage

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/storedir/durable"
	"github.com/tidemark/tidemark/server/wal"
)

// steps are where the blocks go, and those that follow when they are durable
// there, in their order. Tests look at the directory before each: what a crash
// leaves must be no store, or all of it, with its report.
type steps struct {
	disk    func(dir string) disk.Disk
	log     func(dir string, store occ.StoreID, epoch uint64, first []byte) error // durable when it returns
	report  func(path string, text []byte) error                                  // likewise
	store   func(dir string, id storedir.Identity) error                          // likewise
	syncDir func(dir string) error
}

// osSteps are those of the operating system.
func osSteps() steps {
	return steps{disk: disk.OS, log: wal.Create, report: durable.Replace, store: storedir.Create, syncDir: durable.SyncDir}
}
