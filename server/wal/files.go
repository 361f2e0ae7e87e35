package wal

import (
	"os"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

// files are the steps by which the log makes durable what it changes itself,
// beside the entries, which the library syncs. Tests look at the directory
// before and after each step: a crash there must leave a log that opens.
type files struct {
	sync    func(*os.File) error
	syncDir func(dir string) error
	replace func(path string, data []byte) error // atomic and durable
}

// osFiles are those of the operating system.
func osFiles() files {
	return files{sync: (*os.File).Sync, syncDir: durable.SyncDir, replace: durable.Replace}
}
