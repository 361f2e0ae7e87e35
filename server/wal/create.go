package wal

import (
	"errors"

	"github.com/tidemark/tidemark/occ"
)

// Create makes a log in dir, which is empty or missing, with one entry that was
// written under this epoch. So a store that does not begin with its log can be
// told from one whose log was lost. Everything is durable when it returns.
func Create(dir string, store occ.StoreID, epoch uint64, payload []byte) (err error) {
	d, _, err := Open(dir, store, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if _, err := d.Fence(epoch); err != nil {
		return err
	}
	_, err = d.Append(payload)
	return err
}
