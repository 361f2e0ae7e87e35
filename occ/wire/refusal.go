package wire

import "github.com/tidemark/tidemark/occ"

// ErrorCode says why a request was refused. The list is append-only.
type ErrorCode uint64

const (
	CodeMalformed  ErrorCode = 1  // the message made no sense; the connection ends
	CodeVersion    ErrorCode = 2  // unknown protocol version; the connection ends
	CodeWrongStore ErrorCode = 3  // the client expected another store
	CodeTooLarge   ErrorCode = 4  // Limit is exceeded by Value
	CodeStoreFull  ErrorCode = 5  // the memory budget Limit would be exceeded
	CodeSequence   ErrorCode = 6  // a sequence number out of order, or reused for another request
	CodeStopping   ErrorCode = 7  // the server is shutting down
	CodeDenied     ErrorCode = 8  // a control message that this server does not take
	CodeBusy       ErrorCode = 9  // a queue of the server is full; nothing was done
	CodeDamaged    ErrorCode = 10 // data of the store cannot be read
	CodeGone       ErrorCode = 11 // timestamp Value is gone; all from Limit on can be read
	CodePinned     ErrorCode = 12 // the name is pinned already, at timestamp Value
	CodeNoPin      ErrorCode = 13 // nothing is pinned under this name
	CodePinName    ErrorCode = 14 // a new pin's name is not UTF-8, or has control characters
)

// Error answers a request that was refused, or with Req 0 says why the
// connection is about to end. Limit and Value are 0 where they mean nothing.
type Error struct {
	Req    uint64
	Stable occ.Timestamp
	Code   ErrorCode
	Limit  uint64
	Value  uint64
	Text   string
}
