package blocks

import (
	"errors"
	"slices"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// Checked is what Check has looked at.
type Checked struct {
	Durable         // the checkpoint
	State    []byte // as it was given to Begin
	Versions int
	Bytes    int64 // of data
}

// Check reads all of the last checkpoint on a disk that nobody writes to, and
// changes nothing. It calls damaged for every version whose data are damaged.
// An error says that the checkpoint itself cannot be opened, like the error of
// Open, or that the disk cannot be read.
func Check(d disk.Disk, o Options, damaged func(*CorruptError)) (Checked, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Checked{}, err
	}
	s := newStore(d, o)
	names, err := s.list()
	if err != nil {
		return Checked{}, err
	}
	if !slices.Contains(names, headerName) {
		return Checked{}, &CorruptError{File: headerName, Reason: "the file is missing"}
	}
	defer s.closeFiles()
	_, state, err := s.load(names)
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Durable: s.mu.durable, State: state}
	err = s.all(func(v layout.Version) error {
		c.Versions++
		c.Bytes += int64(v.Size)
		if v.Size == 0 {
			return nil
		}
		_, err := s.fetch(ref{v.Block, v.From}, place{size: v.Size, slot: v.Slot})
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
			damaged(corrupt)
			return nil
		}
		return err
	})
	return c, err
}
