package wire

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// newRand returns a generator whose seed is printed when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// number draws from all magnitudes, the ends of the range among them.
func number(r *rand.Rand) uint64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64
	}
	return r.Uint64() >> r.IntN(64)
}

func request(r *rand.Rand) uint64      { return max(1, number(r)) }
func stamp(r *rand.Rand) occ.Timestamp { return occ.Timestamp(number(r)) }

// content returns a block that does not end with a zero byte, at times none.
func content(r *rand.Rand) []byte {
	n := r.IntN(40)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(3))
	}
	b[n-1] |= 1
	return b
}

func list[T any](r *rand.Rand, one func() T) []T {
	n := r.IntN(6)
	if n == 0 {
		return nil
	}
	l := make([]T, n)
	for i := range l {
		l[i] = one()
	}
	return l
}

func readSet(r *rand.Rand) []occ.Read {
	return list(r, func() occ.Read { return occ.Read{Block: occ.BlockID(number(r)), From: stamp(r)} })
}

// randomWrite draws either form; ranges lie anywhere in the largest block.
func randomWrite(r *rand.Rand) occ.Write {
	w := occ.Write{Block: occ.BlockID(number(r))}
	if r.IntN(3) > 0 {
		w.Data = content(r)
		return w
	}
	off := 0
	for range 1 + r.IntN(5) {
		off += r.IntN(MaxBlock / 8 >> r.IntN(17))
		data := make([]byte, 1+r.IntN(10))
		for i := range data {
			data[i] = byte(r.IntN(3))
		}
		w.Ranges = append(w.Ranges, occ.Range{Off: uint32(off), Data: data})
		off += len(data) + 1
	}
	return w
}

func randomItem(r *rand.Rand) Item {
	it := Item{Kind: ItemKind(r.IntN(3)), At: stamp(r)}
	if it.Kind == ItemCommitted {
		it.Req = request(r)
	} else {
		it.Block, it.From = occ.BlockID(number(r)), stamp(r)
	}
	return it
}

func randomItems(r *rand.Rand) []Item {
	items := list(r, func() Item { return randomItem(r) })
	if r.IntN(2) == 0 && len(items) > 0 { // all of one kind, close together
		base := stamp(r) >> 1
		for i := range items {
			items[i] = Item{Kind: ItemDeprecated, At: base + occ.Timestamp(r.IntN(3)), Block: occ.BlockID(r.IntN(9)), From: base}
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.At, b.At) })
	return items
}

func randomResult(r *rand.Rand) ReadResult {
	res := ReadResult{Status: ReadStatus(r.IntN(4)), From: stamp(r)}
	switch res.Status {
	case StatusCurrent:
		res.Data = content(r)
	case StatusClosed:
		res.To, res.Data = stamp(r), content(r)
	case StatusGone:
		res.From, res.Horizon = 0, stamp(r)
	}
	return res
}

// generators gives a random message of each type.
var generators = map[Type]func(*rand.Rand) Message{
	TypeHello: func(r *rand.Rand) Message {
		m := &Hello{Req: request(r), Version: number(r), Epoch: number(r), Stable: stamp(r)}
		m.Session[3], m.Store[15] = byte(r.Uint32()), byte(r.Uint32())
		return m
	},
	TypePing: func(r *rand.Rand) Message { return &Ping{Req: request(r)} },
	TypeRead: func(r *rand.Rand) Message {
		mode := r.IntN(4)
		return &Read{Req: request(r), Items: list(r, func() ReadItem {
			it := ReadItem{Block: occ.BlockID(number(r)), At: occ.Latest, Have: Absent}
			if mode&1 != 0 {
				it.At = stamp(r)
			}
			if mode&2 != 0 {
				it.Have = stamp(r)
			}
			return it
		})}
	},
	TypeCommit: func(r *rand.Rand) Message {
		m := &Commit{
			Req: request(r), Seq: number(r), Acked: number(r), Resend: r.IntN(2) == 0, Urgent: r.IntN(2) == 0, Reads: readSet(r),
			Writes: list(r, func() occ.Write { return randomWrite(r) }),
		}
		m.Digest = CommitDigest(m.Reads, m.Writes)
		return m
	},
	TypeValidate: func(r *rand.Rand) Message { return &Validate{Req: request(r), Reads: readSet(r)} },
	TypeLease:    func(r *rand.Rand) Message { return &Lease{Req: request(r), Count: number(r)} },
	TypeStatus:   func(r *rand.Rand) Message { return &Status{Req: request(r)} },
	TypeClock:    func(r *rand.Rand) Message { return &Clock{Req: request(r), Now: time.Duration(number(r))} },
	TypePin: func(r *rand.Rand) Message {
		return &Pin{Req: request(r), At: stamp(r), Lease: time.Duration(number(r)), Name: string(content(r))}
	},
	TypeUnpin: func(r *rand.Rand) Message { return &Unpin{Req: request(r), Name: string(content(r))} },
	TypePins:  func(r *rand.Rand) Message { return &Pins{Req: request(r), After: string(content(r))} },
	TypeChanges: func(r *rand.Rand) Message {
		return &Changes{Req: request(r), First: occ.BlockID(number(r)), Since: stamp(r), At: stamp(r), Limit: number(r)}
	},
	TypePinReply: func(r *rand.Rand) Message { return &PinReply{Req: request(r), Stable: stamp(r), At: stamp(r)} },
	TypePinsReply: func(r *rand.Rand) Message {
		return &PinsReply{Req: request(r), Stable: stamp(r), Horizon: stamp(r), Last: r.IntN(2) == 0, Pins: list(r, func() PinInfo {
			return PinInfo{Name: string(content(r)), At: stamp(r), Left: time.Duration(number(r))}
		})}
	},
	TypeChangesReply: func(r *rand.Rand) Message {
		m := &ChangesReply{Req: request(r), Stable: stamp(r), Last: r.IntN(2) == 0, Blocks: readSet(r)}
		if !m.Last {
			m.Next = occ.BlockID(number(r))
		}
		return m
	},
	TypeWelcome: func(r *rand.Rand) Message {
		m := &Welcome{
			Req: request(r), Stable: stamp(r), Epoch: number(r), BlockSize: number(r), Retention: time.Duration(number(r)),
			Limits: Limits{
				FrameBytes: number(r), CommitBytes: number(r), CommitReads: number(r), CommitWrites: number(r),
				ReadBlocks: number(r), LeaseBlocks: number(r), Outcomes: number(r), Holds: number(r), Reads: number(r), Leases: number(r),
				Freshness: time.Duration(number(r)),
			},
		}
		m.Store[0], m.Session[7] = byte(r.Uint32()), byte(r.Uint32())
		return m
	},
	TypePong: func(r *rand.Rand) Message { return &Pong{Req: number(r), Stable: stamp(r)} },
	TypeReadReply: func(r *rand.Rand) Message {
		return &ReadReply{Req: request(r), Stable: stamp(r), Results: list(r, func() ReadResult { return randomResult(r) })}
	},
	TypeItems: func(r *rand.Rand) Message { return &Items{Stable: stamp(r), Items: randomItems(r)} },
	TypeConflict: func(r *rand.Rand) Message {
		return &Conflict{Req: request(r), Stable: stamp(r), Blocks: readSet(r)}
	},
	TypeValidated: func(r *rand.Rand) Message { return &Validated{Req: request(r), Stable: stamp(r)} },
	TypeOutcome: func(r *rand.Rand) Message {
		m := &Outcome{Req: request(r), Stable: stamp(r), Status: OutcomeStatus(r.IntN(3))}
		if m.Status == OutcomeCommitted {
			m.At = stamp(r)
		}
		return m
	},
	TypeLeaseReply: func(r *rand.Rand) Message {
		return &LeaseReply{Req: request(r), Stable: stamp(r), First: occ.BlockID(number(r)), Count: number(r)}
	},
	TypeStatusReply: func(r *rand.Rand) Message {
		return &StatusReply{Req: request(r), Stable: stamp(r), Values: list(r, func() Counter {
			return Counter{Name: string(content(r)), Value: number(r)}
		})}
	},
	TypeError: func(r *rand.Rand) Message {
		return &Error{
			Req: number(r), Stable: stamp(r), Code: ErrorCode(number(r)), Limit: number(r), Value: number(r),
			Text: string(content(r)),
		}
	},
}

// random draws a message of any type.
func random(r *rand.Rand) Message {
	for {
		if g := generators[Type(r.IntN(128))]; g != nil {
			return g(r)
		}
	}
}
