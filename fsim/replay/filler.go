package replay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// fillerName is the name of the n-th entry that only fills a directory.
func fillerName(dir traces.FID, n int) string { return fmt.Sprintf("%08x%08x", uint32(dir), n) }

func isFiller(dir traces.FID, name string) bool {
	digits, ok := strings.CutPrefix(name, fmt.Sprintf("%08x", uint32(dir)))
	_, err := strconv.ParseUint(digits, 16, 32)
	return ok && len(digits) == 8 && err == nil
}

// fill adds links to one empty file to a directory until it is as large as
// the trace shows it, at most maxDirectory.
func (b *builder) fill(f infer.File) error {
	dir, target := b.v.files[f.FID].Handle, fsim.Handle{}
	for n := 0; ; n++ {
		if err := b.begin(); err != nil {
			return err
		}
		info, err := b.v.FS.Stat(b.tx, dir)
		if err != nil {
			return err
		}
		if info.Size >= min(f.Size, maxDirectory) {
			return nil
		}
		name := fillerName(f.FID, n)
		if target == (fsim.Handle{}) {
			target, err = b.v.FS.Create(b.tx, dir, name, fsim.File, uint32(f.FID), b.now)
		} else {
			err = b.v.FS.Link(b.tx, dir, name, target, b.now)
		}
		if err != nil && !errors.Is(err, fsim.ErrExist) { // the trace may use such a name
			return err
		}
		if n%64 == 63 {
			if err := b.wrote(4); err != nil {
				return err
			}
		}
	}
}
