package core

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// ConnID names a connection; an id is never reused.
type ConnID uint64

// LoadID names a Load effect; an id is never reused.
type LoadID uint64

// Ref names the data of one version.
type Ref struct {
	Block occ.BlockID
	From  occ.Timestamp
}

// Effect is something for the embedding to do: one of Send, Hangup, Append,
// Put, Drop and Load, by value. The package comment says how.
type Effect interface{ effect() }

// Send queues Message on the stream of Conn. The message must not be changed
// (except that counters may be added to a StatusReply).
type Send struct {
	Conn    ConnID
	Message wire.Message
}

// Hangup ends the connection; Reason is for the log.
type Hangup struct {
	Conn   ConnID
	Reason string
}

// Append makes Records durable as one group. Bytes is the sum of their
// encoded sizes. The slice is valid until Durable is called.
type Append struct {
	Records []record.Record
	Bytes   int
}

// Put keeps the data of version From of Block, without its trailing zeros:
// Data, or if there are Ranges what Value makes of them and version Base, the
// one just before it. Base was put earlier and is not yet dropped, or is 0,
// which has no data. BaseData is the data of Base, if the commit came with it.
type Put struct {
	Block  occ.BlockID
	From   occ.Timestamp
	Data   []byte
	Base   occ.Timestamp
	Ranges []occ.Range

	BaseData []byte
}

// Ref names the version to keep.
func (p Put) Ref() Ref { return Ref{Block: p.Block, From: p.From} }

// Value is the data to keep. It calls load, if at all, for the data of the
// base, if that did not come with the commit. The base stays as it is.
func (p Put) Value(load func(Ref) []byte) []byte {
	if p.Ranges == nil {
		return p.Data
	}
	base := p.BaseData
	if base == nil {
		base = load(Ref{Block: p.Block, From: p.Base})
	}
	return occ.Patch(base, p.Ranges)
}

// Drop forgets the data of version From of Block.
type Drop struct {
	Block occ.BlockID
	From  occ.Timestamp
}

// Load fetches the data of Refs, to be returned by Loaded in their order, for a
// read by Conn. Its reply will carry Blocks blocks: those of Refs and others
// whose data is at hand, or not needed.
type Load struct {
	ID     LoadID
	Conn   ConnID
	Refs   []Ref
	Blocks int
}

func (Send) effect()   {}
func (Hangup) effect() {}
func (Append) effect() {}
func (Put) effect()    {}
func (Drop) effect()   {}
func (Load) effect()   {}
