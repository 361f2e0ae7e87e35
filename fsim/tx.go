package fsim

import "github.com/tidemark/tidemark/occ"

// Tx is the transaction that an operation runs in. An FS uses it only during
// the call that it was passed to.
type Tx interface {
	// Read returns the content of a block, as long as the store's blocks
	// are, zeros if it was never written. Writes of the same transaction are
	// seen. The bytes are read-only and stay valid.
	Read(id occ.BlockID) ([]byte, error)
	// ReadMany is Read for several blocks in one request. The results are in
	// the order of ids, which it does not keep.
	ReadMany(ids []occ.BlockID) ([][]byte, error)
	// Write sets the content of a block to data, which it copies. Data
	// shorter than a block is padded with zeros.
	Write(id occ.BlockID, data []byte) error
}

// batchBlocks bounds how many blocks the operations that pass over whole
// directories or volumes ask for in one request.
const batchBlocks = 64

// read returns the block with the given number inside the volume.
func (fs *FS) read(tx Tx, rel uint32) ([]byte, error) {
	b, err := tx.Read(fs.id(rel))
	if err != nil {
		return nil, err
	}
	return b, fs.checkLen(rel, b)
}

// readMany returns the blocks with the given numbers in one request, or with
// a plain read if there is only one.
func (fs *FS) readMany(tx Tx, rels []uint32) ([][]byte, error) {
	switch len(rels) {
	case 0:
		return nil, nil
	case 1:
		b, err := fs.read(tx, rels[0])
		return [][]byte{b}, err
	}
	ids := make([]occ.BlockID, len(rels))
	for i, rel := range rels {
		ids[i] = fs.id(rel)
	}
	blocks, err := tx.ReadMany(ids)
	if err != nil {
		return nil, err
	}
	if len(blocks) != len(ids) {
		return nil, corrupt("transaction", "returned %d blocks for %d", len(blocks), len(ids))
	}
	for i, b := range blocks {
		if err := fs.checkLen(rels[i], b); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

func (fs *FS) checkLen(rel uint32, b []byte) error {
	if len(b) != int(fs.geo.BlockSize) {
		return corrupt(blockPlace(rel), "has %d bytes, the volume's blocks %d", len(b), fs.geo.BlockSize)
	}
	return nil
}

func (fs *FS) id(rel uint32) occ.BlockID { return fs.base + occ.BlockID(rel) }
