package wal

import (
	"errors"

	"github.com/tidemark/tidemark/occ"
)

// Create makes a log in dir, which is empty or missing, with one entry that was
// written under this epoch. So a store that does not begin with its log can be
// told from one whose log was lost. Everything is durable when it returns.
func Create(dir string, store occ.StoreID, epoch uint64, payload []byte) error {
	p, _, err := Prepare(dir, store)
	if err != nil {
		return err
	}
	return p.create(epoch, payload)
}

func (v *Prepared) create(epoch uint64, payload []byte) (err error) {
	d, err := v.Open(Options{})
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
