package restore

import (
	"context"
	"path/filepath"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir"
)

// Stepwise is Directory, with every step behind the blocks done by step. dir is
// the directory, or the one whose name is synced.
func Stepwise(ctx context.Context, path string, chain *backup.Chain, o Options, step func(name, dir string, do func() error) error) (Result, error) {
	f := osSteps()
	return directory(ctx, filepath.Clean(path), chain, o, steps{
		log: func(dir string, store occ.StoreID, epoch uint64, first []byte) error {
			return step("log", filepath.Dir(dir), func() error { return f.log(dir, store, epoch, first) })
		},
		store: func(dir string, id storedir.Identity) error {
			return step("store file", dir, func() error { return f.store(dir, id) })
		},
		rename: func(from, to string) error {
			return step("rename", from, func() error { return f.rename(from, to) })
		},
		syncDir: func(dir string) error {
			return step("sync parent", dir, func() error { return f.syncDir(dir) })
		},
	})
}
