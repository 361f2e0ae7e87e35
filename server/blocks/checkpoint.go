package blocks

import (
	"fmt"
	"io"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// Moment is what a checkpoint is of: all groups of the log up to LogIndex are
// applied, and stable is Stable.
type Moment struct {
	LogIndex uint64
	Stable   occ.Timestamp
}

// checkpoint is one that is under way.
type checkpoint struct {
	moment Moment
	number uint64

	// Guarded by Store.mu:
	walk    walk  // where the writing of the index is
	dropped []ref // versions of the checkpoint that were dropped since it was begun

	// Guarded by Store.stepping:
	phase  int
	state  io.Reader // what is left of it; nil for nothing
	frame  []byte    // for a piece of it
	mover  mover
	out    output // the index file
	writer *layout.IndexWriter
	header layout.Header
}

// passed reports whether the index that is written has a version already. A
// version is written to the index as it is at that moment; until then it must
// not go.
func (c *checkpoint) passed(r ref) bool { return c.walk.done || r.before(c.walk.start) }

// phases are the steps of a checkpoint in their order; the package comment
// numbers them. Each is called until it is done.
var phases = [...]func(*Store, *checkpoint) (done bool, err error){
	(*Store).writeVersions, // 1
	(*Store).moveVersions,  // 2
	(*Store).syncBlocks,    // 3
	(*Store).writeIndex,    // 4
	(*Store).syncIndex,
	(*Store).writeHeader, // 5
	(*Store).removeIndex, // 6
	(*Store).settle,      // 7
	(*Store).cut,
}

// Begin begins a checkpoint of this moment: every version put so far begins at
// or below m.Stable, and every version put from now on above it. m.Stable does
// not decrease, nor does m.LogIndex; to break one of these rules is a fault of
// the program and panics. Begin does no I/O; Step makes the checkpoint.
//
// state is whatever the caller wants to find again; the Store does not look into
// it. It is read to its end by Steps, which hold no lock that Put, Drop, Get or
// Begin take; before that the checkpoint does not exist. nil is an empty one. If
// it fails, the checkpoint has failed, like the disk.
//
// Errors: ErrBusy, ErrPoisoned, ErrClosed.
func (s *Store) Begin(m Moment, state io.Reader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if s.mu.active != nil {
		return ErrBusy
	}
	if m.Stable < max(s.mu.newest, s.mu.pinned) || m.LogIndex < s.mu.durable.LogIndex {
		panic(fmt.Sprintf("blocks: a checkpoint at %d (log index %d) when there are versions at %d, behind one at %d (log index %d)",
			m.Stable, m.LogIndex, s.mu.newest, s.mu.pinned, s.mu.durable.LogIndex))
	}
	s.mu.pinned = m.Stable
	s.mu.space.soon, s.mu.space.later = s.mu.space.later, nil
	s.mu.active = &checkpoint{
		moment: m, state: state, number: s.mu.durable.Checkpoint + 1, walk: walk{start: oldest, stable: m.Stable},
	}
	return nil
}

// Step makes a bounded piece of the checkpoint that was begun: it writes about
// Options.StepBytes bytes or syncs a file. done means that there is nothing
// left to do; the checkpoint is Durable some steps before that. An error is
// ErrPoisoned or ErrClosed.
func (s *Store) Step() (done bool, err error) {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	s.mu.Lock()
	err = s.writable()
	c := s.mu.active
	s.mu.Unlock()
	if err != nil || c == nil {
		return true, err
	}
	done, err = phases[c.phase](s, c)
	if err != nil {
		return true, s.poison(err)
	}
	if done {
		c.phase++
	}
	if c.phase < len(phases) {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.active = nil
	s.mu.stats.Checkpoints++
	return true, nil
}

func (s *Store) writeVersions(c *checkpoint) (bool, error) { return s.writeDirty(c.moment.Stable) }

func (s *Store) moveVersions(c *checkpoint) (bool, error) { return c.mover.step(s) }

func (s *Store) syncBlocks(*checkpoint) (bool, error) { return true, s.blocks.sync() }

// writeIndex writes a piece of the index file.
func (s *Store) writeIndex(c *checkpoint) (done bool, err error) {
	if c.writer == nil {
		c.writer = layout.NewIndexWriter(s.owner, c.number)
		c.out.name = indexName(c.number)
		if c.out.file, err = s.disk.Open(c.out.name); err != nil {
			return false, &IOError{Op: "create", File: c.out.name, Cause: err}
		}
		c.header = layout.Header{
			Owner: s.owner, Checkpoint: c.number, LogIndex: c.moment.LogIndex, Stable: c.moment.Stable,
		}
	}
	for turn := 0; turn < maxWalks && !done && len(c.writer.Bytes) < s.opts.StepBytes; turn++ {
		if c.state == nil {
			done = s.walkIndex(c)
		} else if err := c.addState(); err != nil {
			return false, err
		}
	}
	if done {
		c.writer.End()
	}
	c.writer.Flush()
	b := c.writer.Bytes
	if err := c.out.write(b, int64(c.header.IndexBytes)); err != nil {
		return false, err
	}
	c.header.IndexBytes += uint64(len(b))
	c.header.IndexCRC = layout.Checksum(c.header.IndexCRC, b)
	c.writer.Bytes = b[:0]
	return done, nil
}

// addState adds a frame of the state to the index file.
func (c *checkpoint) addState() error {
	if c.frame == nil {
		c.frame = make([]byte, layout.MaxFrame)
	}
	n, err := io.ReadFull(c.state, c.frame)
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		c.state = nil // all of it
	default:
		return fmt.Errorf("read the state: %w", err)
	}
	if n > 0 {
		c.writer.State(c.frame[:n])
	}
	return nil
}

// versionBytes is what a version takes in an index file, about.
const versionBytes = 10

// walkIndex adds the next versions to the index file.
func (s *Store) walkIndex(c *checkpoint) (done bool) {
	s.mu.Lock()
	c.walk.budget, c.walk.out = min(maxHold, max(1, s.opts.StepBytes/versionBytes)), c.walk.out[:0]
	s.mu.index.walk(&c.walk)
	versions, done := c.walk.out, c.walk.done
	s.mu.Unlock()
	for _, v := range versions {
		if v.Size > 0 {
			c.header.Slots = max(c.header.Slots, v.Slot+1)
		}
		c.writer.Add(v)
	}
	return done
}

func (s *Store) syncIndex(c *checkpoint) (bool, error) {
	if err := c.out.sync(); err != nil {
		return false, err
	}
	file := c.out.file
	c.out.file = nil
	if err := file.Close(); err != nil {
		return false, &IOError{Op: "close", File: c.out.name, Cause: err}
	}
	return true, s.syncDir()
}

func (s *Store) syncDir() error {
	if err := s.disk.SyncDir(); err != nil {
		return &IOError{Op: "sync", File: "the directory", Cause: err}
	}
	return nil
}

func (s *Store) writeHeader(c *checkpoint) (bool, error) {
	c.header.Versions = c.writer.Versions()
	c.writer = nil
	out := output{file: s.header, name: headerName}
	if err := out.write(c.header.Encode(), layout.HeaderOffset(c.number)); err != nil {
		return false, err
	}
	return true, out.sync()
}

// removeIndex removes the index of the checkpoint before, after which that
// cannot be opened any more.
func (s *Store) removeIndex(c *checkpoint) (bool, error) {
	name := indexName(c.number - 1)
	if err := s.disk.Remove(name); err != nil {
		return false, &IOError{Op: "remove", File: name, Cause: err}
	}
	if err := s.syncDir(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.durable = Durable{Checkpoint: c.number, LogIndex: c.moment.LogIndex, Stable: c.moment.Stable}
	s.mu.stats.IndexBytes = int64(c.header.IndexBytes)
	return true, nil
}

// settle makes slots free that waited for this checkpoint, and then drops
// what was dropped since it was begun.
func (s *Store) settle(c *checkpoint) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := &s.mu.space
	n := min(maxHold, len(sp.soon))
	for _, slot := range sp.soon[:n] {
		sp.give(slot)
	}
	if sp.soon = sp.soon[n:]; len(sp.soon) > 0 {
		return false, nil
	}
	n = min(maxHold, len(c.dropped))
	for _, r := range c.dropped[:n] {
		if where, ok := s.mu.index.get(r); ok {
			s.forget(r, where)
		}
	}
	c.dropped = c.dropped[n:]
	return len(c.dropped) == 0, nil
}

// cut shortens the block file by the free slots at its end.
func (s *Store) cut(*checkpoint) (bool, error) {
	s.mu.Lock()
	shorter := s.mu.space.cut()
	total := s.mu.space.total
	s.mu.Unlock()
	if !shorter {
		return true, nil
	}
	if err := s.blocks.file.Truncate(s.owner.SlotOffset(total)); err != nil {
		return false, &IOError{Op: "truncate", File: blocksName, Cause: err}
	}
	return true, nil
}
