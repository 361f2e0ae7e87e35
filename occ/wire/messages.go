package wire

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Version is the protocol version that this package speaks.
const Version = 1

// Absent stands for "no version" where a timestamp is optional.
const Absent = occ.Open

// Message is one message of the protocol, always as a pointer to one of the
// structs in this file. Requests carry a request number that is unique among
// those under way on their connection and at least 1; a reply carries the number of its
// request.
type Message interface {
	// Type is the byte that names the message on the wire.
	Type() Type
}

// Type names a message on the wire. The values are frozen.
type Type uint8

// Requests have types below 64, server messages from 64 on.
const (
	TypeHello    Type = 1
	TypePing     Type = 2
	TypeRead     Type = 3
	TypeCommit   Type = 4
	TypeValidate Type = 5
	TypeLease    Type = 6
	TypeStatus   Type = 7
	TypeClock    Type = 8
	TypePin      Type = 9
	TypeUnpin    Type = 10
	TypePins     Type = 11
	TypeChanges  Type = 12

	TypeWelcome     Type = 64
	TypePong        Type = 65
	TypeReadReply   Type = 66
	TypeItems       Type = 67
	TypeConflict    Type = 68
	TypeValidated   Type = 69
	TypeOutcome     Type = 70
	TypeLeaseReply  Type = 71
	TypeStatusReply Type = 72
	TypeError       Type = 73

	TypePinReply     Type = 74
	TypePinsReply    Type = 75
	TypeChangesReply Type = 76
)

// Hello opens a connection; it is the first message and the only one that
// carries the protocol's magic and version. A zero Session asks for a new
// session; a zero Store accepts any store.
type Hello struct {
	Req     uint64
	Version uint64
	Session occ.SessionID
	Store   occ.StoreID
	Epoch   uint64        // the server epoch last seen, 0 for none
	Stable  occ.Timestamp // the client's GLUB
}

// Ping asks for nothing but the stable timestamp: it makes a sync point
// (section 4).
type Ping struct{ Req uint64 }

// Read asks for versions of blocks; the reply has one result for each item,
// in their order.
type Read struct {
	Req   uint64
	Items []ReadItem
}

// ReadItem asks for the version of Block at timestamp At, or for the newest
// stable one when At is occ.Latest. Have, unless Absent, is the version that
// the client has already: the answer may then be "still current".
type ReadItem struct {
	Block occ.BlockID
	At    occ.Timestamp
	Have  occ.Timestamp
}

// Commit asks to validate and commit a read/write transaction. Seq numbers
// the commits of a session from 1, without gaps; Acked says that the answers
// to all numbers up to it have arrived. Digest is the CRC-32C of the encoded
// read and write sets (see CommitDigest). Resend marks a commit that was
// sent before on an earlier connection. Urgent says that the transaction has
// lost several times: if it conflicts again, the server may hold others back.
type Commit struct {
	Req    uint64
	Seq    uint64
	Acked  uint64
	Digest uint32
	Resend bool
	Urgent bool
	Reads  []occ.Read
	Writes []occ.Write
}

// Validate asks whether a transaction without writes read the stable state.
type Validate struct {
	Req   uint64
	Reads []occ.Read
}

// Lease asks for Count consecutive block ids that no other client gets.
type Lease struct {
	Req   uint64
	Count uint64
}

// Status asks for the server's counters and resource usage.
type Status struct{ Req uint64 }

// Clock moves the server's retention clock to Now, which a replay counts in
// trace time. Only a server that was started with an external clock takes it.
type Clock struct {
	Req uint64
	Now time.Duration
}

// Welcome answers Hello.
type Welcome struct {
	Req       uint64
	Stable    occ.Timestamp
	Store     occ.StoreID
	Session   occ.SessionID
	Epoch     uint64
	BlockSize uint64        // bytes
	Retention time.Duration // how long superseded versions stay readable
	Limits    Limits
}

// Pong answers Ping and Clock. With Req 0 it is a heartbeat, sent after a
// silence; it then makes no sync point.
type Pong struct {
	Req    uint64
	Stable occ.Timestamp
}

// ReadReply answers Read.
type ReadReply struct {
	Req     uint64
	Stable  occ.Timestamp
	Results []ReadResult
}

// ReadStatus says what a ReadResult holds.
type ReadStatus uint8

const (
	// StatusCurrent: From and Data of the newest stable version; the client
	// is registered as its holder and holds it open.
	StatusCurrent ReadStatus = 0
	// StatusStill: the version the client named in Have is the newest; no
	// data; the client is registered as its holder.
	StatusStill ReadStatus = 1
	// StatusClosed: From, To and Data of a version that has been superseded.
	StatusClosed ReadStatus = 2
	// StatusGone: the timestamp asked for is below Horizon, the oldest
	// timestamp that can still be read.
	StatusGone ReadStatus = 3
)

// ReadResult is the answer to one ReadItem. From is the start of the version,
// with every status but StatusGone. Data goes on the wire without its trailing
// zero bytes, and only with StatusCurrent and StatusClosed; Decode returns it
// as it was there, DecodeWith at the length of a block, both in memory of its
// own. Empty Data is a block of zeros.
type ReadResult struct {
	Status  ReadStatus
	From    occ.Timestamp
	To      occ.Timestamp // StatusClosed only
	Horizon occ.Timestamp // StatusGone only
	Data    []byte
}

// Items carries, in timestamp order, what the groups that were just applied
// mean to one client, and the stable timestamp that holds after the last.
type Items struct {
	Stable occ.Timestamp
	Items  []Item
}

// ItemKind says what an Item is.
type ItemKind uint8

const (
	// ItemDeprecated: version From of Block ended at At.
	ItemDeprecated ItemKind = 0
	// ItemCommitted: the client's own commit, request Req, has timestamp At.
	ItemCommitted ItemKind = 1
	// ItemDropped: the server no longer registers the client as holder of
	// version From of Block, which is good through At.
	ItemDropped ItemKind = 2
)

// Item is one entry of Items.
type Item struct {
	Kind  ItemKind
	At    occ.Timestamp
	Block occ.BlockID   // ItemDeprecated, ItemDropped
	From  occ.Timestamp // ItemDeprecated, ItemDropped
	Req   uint64        // ItemCommitted
}

// Conflict answers a Commit or Validate whose read set is out of date. Blocks
// names each block that changed with the timestamp of its newest version.
type Conflict struct {
	Req    uint64
	Stable occ.Timestamp
	Blocks []occ.Read
}

// Validated answers Validate: the reads hold at Stable.
type Validated struct {
	Req    uint64
	Stable occ.Timestamp
}

// OutcomeStatus says what the server knows of a commit that was sent again.
type OutcomeStatus uint8

const (
	// OutcomeCommitted: it committed at At.
	OutcomeCommitted OutcomeStatus = 0
	// OutcomeConflict: it did not commit.
	OutcomeConflict OutcomeStatus = 1
	// OutcomeUnknown: the server has no record of it any more.
	OutcomeUnknown OutcomeStatus = 2
)

// Outcome answers a Commit that was marked Resend. It conveys the outcome
// alone: the client installs, registers and closes nothing (section 8).
type Outcome struct {
	Req    uint64
	Stable occ.Timestamp
	Status OutcomeStatus
	At     occ.Timestamp // OutcomeCommitted only
}

// LeaseReply answers Lease: the ids First to First+Count-1.
type LeaseReply struct {
	Req    uint64
	Stable occ.Timestamp
	First  occ.BlockID
	Count  uint64
}

// StatusReply answers Status.
type StatusReply struct {
	Req    uint64
	Stable occ.Timestamp
	Values []Counter
}

// Counter is a named figure of a StatusReply.
type Counter struct {
	Name  string
	Value uint64
}
