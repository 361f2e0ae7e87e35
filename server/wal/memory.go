package wal

import (
	"fmt"
	"sync"

	"github.com/tidemark/tidemark/occ"
)

// DefaultMemoryLimit is a limit for NewMemory that suits a store inside one
// process.
const DefaultMemoryLimit = 64 << 20

// Memory is a log in memory, for simulation and for stores that live and die
// with their process. It outlives the Logs opened on it as a disk outlives a
// server, so that a restart can be simulated.
//
// Its entries are those that Disk would write, checksums included. It keeps
// at most limit bytes of payload, and always the newest entry: beyond that
// the oldest entries are dropped as if they had been trimmed, and a reader
// that wanted them gets ErrTrimmed.
type Memory struct {
	store occ.StoreID
	limit int

	mu struct {
		sync.Mutex
		first    uint64 // index of payloads[0]
		payloads [][]byte
		bytes    int
		head     Head
		epoch    uint64 // of the writer
	}
}

// NewMemory returns an empty log that keeps at most limit bytes of payload.
func NewMemory(store occ.StoreID, limit int) *Memory {
	m := &Memory{store: store, limit: limit}
	m.mu.first = 1
	return m
}

// Open returns a Log on m. It writes nothing before it has fenced m; from
// then on the Logs opened before it are fenced.
func (m *Memory) Open() *MemoryLog { return &MemoryLog{m: m} }

// MemoryLog is one server's view of a Memory.
type MemoryLog struct {
	m      *Memory
	epoch  uint64 // guarded by m.mu
	closed bool   // guarded by m.mu
}

var _ Log = (*MemoryLog)(nil)

// Fence implements Log.
func (l *MemoryLog) Fence(epoch uint64) (Head, error) {
	mu := &l.m.mu
	mu.Lock()
	defer mu.Unlock()
	if l.closed {
		return Head{}, ErrClosed
	}
	if epoch <= mu.epoch {
		return Head{}, fmt.Errorf("%w: epoch %d is not above %d", ErrFenced, epoch, mu.epoch)
	}
	mu.epoch, l.epoch = epoch, epoch
	return mu.head, nil
}

// Append implements Log. It never returns ErrUnknown or ErrPoisoned.
func (l *MemoryLog) Append(payload []byte) (uint64, error) {
	mu := &l.m.mu
	mu.Lock()
	defer mu.Unlock()
	switch {
	case l.closed:
		return 0, ErrClosed
	case l.epoch == 0 || l.epoch != mu.epoch:
		return 0, fmt.Errorf("%w: own epoch %d, that of the writer %d", ErrFenced, l.epoch, mu.epoch)
	case len(payload) > MaxPayload:
		return 0, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), MaxPayload)
	}
	index := mu.head.Index + 1
	entry, crc := appendEntry(make([]byte, 0, headerLen+len(payload)), header{
		store: l.m.store, epoch: l.epoch, index: index, prev: mu.head.CRC,
	}, payload)
	mu.payloads = append(mu.payloads, entry[headerLen:])
	mu.bytes += len(payload)
	mu.head = Head{Index: index, CRC: crc, Epoch: l.epoch}
	for mu.bytes > l.m.limit && len(mu.payloads) > 1 {
		l.m.dropOldest()
	}
	return index, nil
}

// dropOldest drops one entry. m.mu is held.
func (m *Memory) dropOldest() {
	m.mu.bytes -= len(m.mu.payloads[0])
	m.mu.payloads[0] = nil
	m.mu.payloads = m.mu.payloads[1:]
	m.mu.first++
}

// Read implements Log.
func (l *MemoryLog) Read(from uint64, fn func(index uint64, payload []byte) error) error {
	l.m.mu.Lock()
	first, last := l.m.mu.first, l.m.mu.head.Index
	l.m.mu.Unlock()
	return readEach(from, first, last, l.get, fn)
}

// get returns the payload of entry index, shared with the log.
func (l *MemoryLog) get(index uint64) ([]byte, error) {
	mu := &l.m.mu
	mu.Lock()
	defer mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case index < mu.first:
		return nil, trimmed(index, mu.first)
	}
	return mu.payloads[index-mu.first], nil
}

// Trim implements Log.
func (l *MemoryLog) Trim(upTo uint64) error {
	mu := &l.m.mu
	mu.Lock()
	defer mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	for mu.first <= upTo && len(mu.payloads) > 1 {
		l.m.dropOldest()
	}
	return nil
}

// Head implements Log.
func (l *MemoryLog) Head() Head {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.m.mu.head
}

// Epoch implements Log. The Memory forgets no writer.
func (l *MemoryLog) Epoch() uint64 {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.m.mu.epoch
}

// Close implements Log. The Memory stays.
func (l *MemoryLog) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.closed = true
	return nil
}
