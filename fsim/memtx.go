package fsim

import (
	"fmt"
	"maps"

	"github.com/tidemark/tidemark/occ"
)

// MemTx is a Tx on blocks in memory, for tests and for building images
// without a store. It never conflicts and is not safe for concurrent use.
type MemTx struct {
	// Requests counts the calls of Read and ReadMany, BlocksRead the blocks
	// they returned, BlocksWritten the calls of Write.
	Requests, BlocksRead, BlocksWritten int

	blockSize int
	zero      []byte
	blocks    map[occ.BlockID][]byte
}

// NewMemTx returns an empty store of blocks of the given size in bytes.
func NewMemTx(blockSize int) *MemTx {
	return &MemTx{blockSize: blockSize, zero: make([]byte, blockSize), blocks: map[occ.BlockID][]byte{}}
}

// Read implements Tx.
func (m *MemTx) Read(id occ.BlockID) ([]byte, error) {
	m.Requests++
	return m.get(id), nil
}

// ReadMany implements Tx.
func (m *MemTx) ReadMany(ids []occ.BlockID) ([][]byte, error) {
	m.Requests++
	out := make([][]byte, len(ids))
	for i, id := range ids {
		out[i] = m.get(id)
	}
	return out, nil
}

// Write implements Tx. Data longer than a block is an error.
func (m *MemTx) Write(id occ.BlockID, data []byte) error {
	if len(data) > m.blockSize {
		return fmt.Errorf("fsim: write of %d bytes to block %d of %d", len(data), id, m.blockSize)
	}
	m.BlocksWritten++
	b := make([]byte, m.blockSize)
	copy(b, data)
	m.blocks[id] = b
	return nil
}

// Clone returns an independent store with the same content and counts of
// zero.
func (m *MemTx) Clone() *MemTx {
	return &MemTx{blockSize: m.blockSize, zero: m.zero, blocks: maps.Clone(m.blocks)}
}

func (m *MemTx) get(id occ.BlockID) []byte {
	m.BlocksRead++
	if b, ok := m.blocks[id]; ok {
		return b
	}
	return m.zero
}
