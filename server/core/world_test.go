package core

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// world embeds a core the way the contract says, holds loads and appends back
// when it is told to, and watches every stream.
type world struct {
	cfg  Config
	core *Core

	bases Bases // of the commits that are received, if set

	values   map[Ref][]byte
	dropped  map[Ref]bool
	log      [][]record.Record // durable
	appended []record.Record   // under way
	loads    []Load            // held back
	holdLoad bool
	sessions byte
	streams  map[ConnID]*stream
	truth    map[occ.BlockID][]occ.Timestamp // versions by the log alone
	contents map[Ref][]byte                  // and what is in them
	pinned   map[string]occ.Timestamp        // by the log alone
	problems []string
	trace    func(Effect) // sees every effect, if set

	onMessage func(ConnID, wire.Message) // sees every message after its stream
}

func newWorld(cfg Config) *world {
	w := &world{cfg: cfg}
	if w.cfg.Store == (occ.StoreID{}) {
		w.cfg.Store = occ.StoreID{1}
	}
	w.cfg.NewSession = func() occ.SessionID {
		w.sessions++
		return occ.SessionID{w.sessions}
	}
	w.boot()
	return w
}

// checkpoint is what a store keeps so that the log before it can go.
type checkpoint struct {
	groups int // of the log
	state  []byte
	values map[Ref][]byte
}

func (w *world) checkpoint() checkpoint {
	return checkpoint{groups: len(w.log), state: stateOf(w.core), values: maps.Clone(w.values)}
}

// versions yields those of a checkpoint.
func (cp checkpoint) versions(yield func(occ.BlockID, occ.Timestamp, int) error) error {
	refs := slices.SortedFunc(maps.Keys(cp.values), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.From, b.From))
	})
	for _, r := range refs {
		if err := yield(r.Block, r.From, len(cp.values[r])); err != nil {
			return err
		}
	}
	return nil
}

// restore makes a core from a checkpoint and the log behind it; whatever was
// not durable is lost.
func (w *world) restore(cp checkpoint) {
	w.reset()
	for _, g := range w.log[:cp.groups] {
		w.note(g)
	}
	w.values = maps.Clone(cp.values)
	if err := w.core.Restore(cp.state, cp.versions); err != nil {
		w.problem("restore: %v", err)
	}
	w.pump()
	w.replay(w.log[cp.groups:])
}

// boot makes a core from the log; whatever was not durable is lost.
func (w *world) boot() {
	w.reset()
	w.replay(w.log)
}

// reset makes a new core that knows nothing.
func (w *world) reset() {
	w.cfg.Epoch++
	w.core = New(w.cfg)
	w.values = make(map[Ref][]byte)
	w.dropped = make(map[Ref]bool)
	w.appended, w.loads = nil, nil
	w.streams = make(map[ConnID]*stream)
	w.truth = make(map[occ.BlockID][]occ.Timestamp)
	w.contents = make(map[Ref][]byte)
	w.pinned = make(map[string]occ.Timestamp)
}

// replay recovers groups of the log and starts the core.
func (w *world) replay(groups [][]record.Record) {
	for _, g := range groups {
		w.note(g)
		if err := w.core.Recover(g); err != nil {
			w.problem("recover: %v", err)
		}
		w.pump()
	}
	w.core.Start(0)
	w.pump()
}

func (w *world) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

func (w *world) note(group []record.Record) {
	for _, r := range group {
		switch r := r.(type) {
		case *record.Commit:
			for _, wr := range r.Writes {
				w.contents[Ref{wr.Block, r.At}] = written(w.contents[Ref{wr.Block, w.at(wr.Block, r.At)}], wr)
				w.truth[wr.Block] = append(w.truth[wr.Block], r.At)
			}
		case *record.Pin:
			w.pinned[r.Name] = r.At
		case *record.Unpin:
			delete(w.pinned, r.Name)
		}
	}
}

// written is what a write makes of a block, without zeros at the end.
func written(base []byte, wr occ.Write) []byte {
	data := bytes.Clone(wr.Data)
	if wr.Ranges != nil {
		data = append(bytes.Clone(base), make([]byte, 4096)...) // no larger block gets ranges
	}
	for _, r := range wr.Ranges {
		for i, c := range r.Data {
			data[int(r.Off)+i] = c
		}
	}
	return bytes.TrimRight(data, "\x00")
}

// at is the version of a block at a timestamp.
func (w *world) at(b occ.BlockID, t occ.Timestamp) occ.Timestamp {
	from := occ.Timestamp(0)
	for _, v := range w.truth[b] {
		if v <= t {
			from = v
		}
	}
	return from
}

func (w *world) connect(id ConnID) {
	w.core.Connect(id)
	w.streams[id] = &stream{open: make(map[occ.BlockID]occ.Timestamp), writes: make(map[uint64][]occ.Write), reads: make(map[uint64][]wire.ReadItem)}
}

func (w *world) receive(id ConnID, m wire.Message) {
	if s := w.streams[id]; s != nil {
		switch m := m.(type) {
		case *wire.Read:
			s.reads[m.Req] = m.Items
		case *wire.Commit:
			s.writes[m.Req] = m.Writes
		}
	}
	w.core.ReceiveBased(id, m, w.bases)
	w.pump()
}

func (w *world) flush() {
	w.core.Flush()
	w.pump()
}

// durable completes the append under way.
func (w *world) durable() {
	if w.appended == nil {
		return
	}
	g := append([]record.Record(nil), w.appended...)
	w.log = append(w.log, g)
	w.note(g)
	w.appended = nil
	w.core.Durable()
	w.pump()
}

// settle makes everything durable and answers all loads.
func (w *world) settle() {
	w.holdLoad = false
	w.release()
	for w.flush(); w.appended != nil; {
		w.durable()
	}
}

// release answers the loads that were held back.
func (w *world) release() {
	held := w.loads
	w.loads = nil
	for _, l := range held {
		w.answer(l)
		w.pump()
	}
}

func (w *world) answer(l Load) {
	values := make([][]byte, len(l.Refs))
	for i, r := range l.Refs {
		v, ok := w.values[r]
		if !ok && !w.dropped[r] {
			w.problem("load of %v, which the store does not hold", r)
		}
		values[i] = v
	}
	w.core.Loaded(l.ID, values)
}

func (w *world) pump() {
	for {
		effects := w.core.Take()
		if len(effects) == 0 {
			return
		}
		for _, e := range effects {
			w.carryOut(e)
		}
	}
}

func (w *world) carryOut(e Effect) {
	if w.trace != nil {
		w.trace(e)
	}
	switch e := e.(type) {
	case Send:
		if s := w.streams[e.Conn]; s == nil {
			w.problem("message for connection %d, which is gone", e.Conn)
		} else if body, _, err := wire.SplitFrame(wire.Append(nil, e.Message), w.core.Limits().FrameBytes); err != nil || body == nil {
			w.problem("message does not fit a frame: %v", err)
		} else {
			s.take(w, e.Message)
			if w.onMessage != nil {
				w.onMessage(e.Conn, e.Message)
			}
		}
	case Hangup:
		delete(w.streams, e.Conn)
	case Append:
		if w.appended != nil {
			w.problem("two appends under way")
		}
		w.appended = e.Records
	case Put:
		w.values[e.Ref()] = e.Value(func(base Ref) []byte {
			v, ok := w.values[base]
			if !ok && base.From > 0 {
				w.problem("a put on %v, which the store does not hold", base)
			}
			return v
		})
	case Drop:
		if _, ok := w.values[Ref(e)]; !ok {
			w.problem("drop of a version that the store does not hold")
		}
		delete(w.values, Ref(e))
		w.dropped[Ref(e)] = true
	case Load:
		if w.holdLoad {
			w.loads = append(w.loads, e)
		} else {
			w.answer(e)
		}
	}
}

// newCommit fills in the digest.
func newCommit(req, seq uint64, reads []occ.Read, writes []occ.Write) *wire.Commit {
	return &wire.Commit{Req: req, Seq: seq, Digest: wire.CommitDigest(reads, writes), Reads: reads, Writes: writes}
}

func numbered(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n|1<<63) }
