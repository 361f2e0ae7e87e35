package blocks

import (
	"fmt"
	"testing/fstest"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
)

// checked is what was found of the last checkpoint on a disk.
type checked struct {
	header   layout.Header
	state    []byte
	versions int
	damaged  []*blockdir.Damage // to data of versions
}

// checkDisk reads all of the last checkpoint on a disk, as an offline check
// does, without any code of the Store. An error says that there is none
// that is whole, apart from the data of versions.
func checkDisk(d disk.Disk, o Options) (checked, error) {
	img, err := readDisk(d)
	if err != nil {
		return checked{}, err
	}
	return img.check(o)
}

func (img image) check(o Options) (c checked, err error) {
	files := fstest.MapFS{}
	for name, b := range img {
		files[name] = &fstest.MapFile{Data: b}
	}
	dir, err := blockdir.OpenFS(files, "", o.owner())
	if err != nil {
		return c, err
	}
	defer dir.Close()
	newest := dir.Newest()
	if newest == nil {
		return c, fmt.Errorf("no header is whole: %+v", dir.Headers)
	}
	c.header = newest.Header
	for _, damage := range []*blockdir.Damage{dir.BlocksPage, dir.Short(c.header)} {
		if damage != nil {
			return c, damage
		}
	}
	damage, err := dir.ReadIndex(c.header, layout.Visitor{
		State: func(b []byte) { c.state = append(c.state, b...) },
		Version: func(v layout.Version) error {
			c.versions++
			_, damage, err := dir.Read(v)
			if damage != nil {
				c.damaged = append(c.damaged, damage)
			}
			return err
		},
	})
	if damage != nil {
		return c, damage
	}
	return c, err
}
