package replay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
)

// short is a path without the directory hh, and without zeros before the number of
// a file; "" if it is not below one.
func short(path string) string {
	_, p, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.TrimLeft(p, "0")
}

// paths returns the files and directories of the volume, sorted, each with its
// size, or a slash if it is a directory. What the trace does not place begins with
// its number in hexadecimal digits.
func (r *rig) paths() (list []string) {
	r.t.Helper()
	var nodes []fsim.Node
	r.do(func() (err error) {
		nodes, err = r.volume.Tree(context.Background(), r.builder)
		return err
	})
	for _, n := range nodes {
		p := short(n.Path)
		switch {
		case p == "":
			continue
		case n.Kind == fsim.Dir:
			p += "/"
		case n.Kind == fsim.Symlink:
			p += fmt.Sprintf(" -> %d", n.Size)
		default:
			p += fmt.Sprintf(" %d", n.Size)
		}
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

// contentAt returns the content of the file at a path as paths gives it.
func (r *rig) contentAt(path string) (data []byte) {
	r.t.Helper()
	r.view(func(tx *client.Tx) error {
		return r.volume.FS.Walk(tx, func(p string, info fsim.Info, h fsim.Handle) (err error) {
			if short(p) == path {
				data = make([]byte, info.Size)
				_, err = r.volume.FS.Read(tx, h, 0, data)
			}
			return err
		})
	})
	return data
}
