// Package wire turns the messages between client and server into bytes and
// back. This text is the specification of the bytes, version 1; what the
// messages mean is said beside their types and in the protocol.
//
// # Frames
//
// Each direction of a connection is a sequence of frames, nothing between
// them:
//
//	+----------------+----------+----------------+-------------+
//	| length uvarint | type u8  | request uvarint| fields ...  |
//	+----------------+----------+----------------+-------------+
//	                 |<--------------- length ---------------->|
//
// The length counts the bytes after itself; it is at least 1 and at most the
// receiver's limit (MaxFrame until a Welcome has named another). A receiver
// checks it before it allocates anything. Items has no request number: its
// fields begin right after the type.
//
// A Ping of request 300, and its Pong with stable 1000, as bytes:
//
//	03 02 ac 02
//	05 41 ac 02 e8 07
//
// # Encodings
//
//	u8        one byte
//	u32       four bytes, least significant first
//	id        16 bytes as they are
//	uvarint   a number below 2^64: seven bits a byte, least significant group
//	          first, the top bit of each byte but the last set (the base 128
//	          varint of Protocol Buffers)
//	delta p   a number as its difference from p: d = (v - p) mod 2^64, taken
//	          as a signed number, then zigzag (0, -1, 1, -2 become 0, 1, 2, 3),
//	          then uvarint
//	below p   a number as the uvarint (p - v) mod 2^64
//	above p   a number as the uvarint (v - p) mod 2^64
//	duration  nanoseconds, delta 0
//	text      uvarint length in bytes, then that many bytes; meant to be UTF-8,
//	          which is not checked
//
// There is exactly one encoding of a message. A receiver refuses, as
// malformed: a uvarint longer than it has to be or beyond 64 bits, an unknown
// type, status, kind or flag, bytes after the last field, block data whose
// last byte is zero, and request number 0 except in Pong and Error.
//
// Blocks go without their trailing zero bytes; a block of zeros is no bytes at
// all. The receiver knows the size of a block from Welcome.
//
// # Requests
//
//	1 Hello     request, magic 54 44 4d 4b ("TDMK"), version uvarint,
//	            session id, store id, epoch uvarint, stable uvarint
//	2 Ping      request
//	3 Read      request, read items
//	4 Commit    request, flags u8 (1: sent before, 2: some write is of
//	            ranges, 4: urgent), seq uvarint, acked below seq,
//	            digest u32, read set, write set
//	5 Validate  request, read set
//	6 Lease     request, count uvarint
//	7 Status    request
//	8 Clock     request, now duration
//	9 Pin       request, at uvarint, lease duration, name text
//	10 Unpin    request, name text
//	11 Pins     request, after text
//	12 Changes  request, first uvarint, since uvarint, at uvarint,
//	            limit uvarint
//
// # Server messages
//
//	64 Welcome      request, stable uvarint, store id, session id,
//	                epoch uvarint, block size uvarint, retention duration,
//	                limits
//	65 Pong         request (0: heartbeat), stable uvarint
//	66 ReadReply    request, stable uvarint, results
//	67 Items        stable uvarint, items
//	68 Conflict     request, stable uvarint, read set (the changed blocks)
//	69 Validated    request, stable uvarint
//	70 Outcome      request, stable uvarint, status u8 (0 committed,
//	                1 conflict, 2 unknown), if committed: at below stable
//	71 LeaseReply   request, stable uvarint, first uvarint, count uvarint
//	72 StatusReply  request, stable uvarint, count uvarint, then for each
//	                counter: name text, value uvarint
//	73 Error        request (0: of no request), stable uvarint, code uvarint,
//	                limit uvarint, value uvarint, text
//	74 PinReply     request, stable uvarint, at below stable
//	75 PinsReply    request, stable uvarint, horizon below stable,
//	                last u8 (1 if there are no more, else 0), count uvarint,
//	                then for each pin: name text, at below stable,
//	                left duration
//	76 ChangesReply request, stable uvarint, last u8 (as before), next
//	                uvarint if last is 0, read set (the changed blocks)
//
// Limits are, in this order: frame bytes, commit bytes, commit reads, commit
// writes, read blocks, lease blocks, outcomes, holds, reads and leases, each a
// uvarint, and freshness and silence, durations.
//
// # Read sets and write sets
//
// A read set is its number of entries, a uvarint, and for each entry
//
//	block   delta block of the entry before (0 for the first)
//	from    delta from of the entry before (0 for the first)
//
// Neighbouring blocks that one transaction wrote thus take two bytes each.
//
// A write set is its number of entries, a uvarint, and for each entry
//
//	block   delta block of the entry before (0 for the first)
//	size    uvarint
//	data    size bytes
//
// If flag 2 of the Commit is set, which it is exactly if some entry is of
// ranges, each entry says which form it has:
//
//	block   delta block of the entry before (0 for the first)
//	form    uvarint: size << 1, or (number of ranges - 1) << 1 | 1
//	data    size bytes, or the ranges
//
// The ranges of a block follow each other in the order of their offsets; none
// is empty, no two overlap or touch, and none ends beyond MaxBlock. A range is
//
//	gap     uvarint: its offset, if it is the first; else its offset - 1 -
//	        the end of the range before, where the end is offset + size
//	size    uvarint: its size in bytes - 1
//	data    its bytes; they may end with zeros
//
// so that 16 bytes at offset 1000 of the block after that of the entry before
// take 21 bytes:
//
//	02 01 e8 07 0f ...
//	|  |  |     |  data
//	|  |  |     size - 1
//	|  |  gap
//	|  one range
//	block
//
// Entries keep the order in which they were given. The digest of a Commit is
// the CRC-32C of all its bytes after the digest: both sets with their counts.
// If flag 2 is set, a byte of value 2 is put before them. The other flags do
// not change it.
//
// # Read items
//
// A Read begins its items with the uvarint
//
//	number of items << 2 | 2 if any item has a version | 1 if any item names a timestamp
//
// and then gives for each item
//
//	block   delta block of the item before (0 for the first)
//	at      if bit 0 is set: delta at of the item before (2^64-1 for the first)
//	have    if bit 1 is set: delta have of the item before (2^64-1 for the first)
//
// 2^64-1 stands for "the newest" in at and for "none" in have. A bit is set
// only if some item needs it.
//
// # Results
//
// The results of a ReadReply follow each other to the end of the frame; there
// is no count. Each is
//
//	tag     uvarint: size of the data << 3 | 4 in the last result | status
//	from    below stable, unless the status is 3
//	to      above from, if the status is 2
//	horizon below stable, if the status is 3
//	data    if the status is 0 or 2
//
// with the statuses 0 current, 1 still current, 2 closed, 3 gone. In the last
// result the data runs to the end of the frame and the size in the tag is 0.
// A reply with no results ends after stable.
//
// The reply to a read of one block, with stable 1000 and a block that starts
// with "hi" and was written at 990:
//
//	08 42 05 e8 07 04 0a 68 69
//	|  |  |  |     |  |  data
//	|  |  |  |     |  stable - from
//	|  |  |  |     tag: last, current
//	|  |  |  stable
//	|  |  request 5
//	|  type
//	length
//
// # Items
//
// Items are packed into bits, because deprecations are what a server sends
// most. Let n be their number. The fields are
//
//	head    uvarint: n << 2 | kind, where kind is 0 if all are deprecations,
//	        1 if all are commit replies, 2 if all are dropped holds, and 3
//	        if they differ. If n is 0, the kind is 0 and nothing follows
//	at      of the first item: delta stable
//	k       u8, if n > 1: see below
//	wb, wa  u8 each, if n > 1 and some item names a block: widths in bits
//	b0, a0  uvarint each, if some item names a block: smallest block, and
//	        smallest age, which is (at - from) mod 2^64
//	bits    of each item in turn, see below; then zero bits up to a full byte
//	reqs    of each commit reply in turn: the request, above the one before
//	        (0 for the first)
//
// The bits of an item, most significant first in each byte and each number:
//
//	kind    2 bits, if head says that they differ
//	step    if it is not the first: at - at of the item before, as
//	        step >> k one bits, a zero bit, and the low k bits (a Rice code)
//	block   wb bits: block - b0, unless it is a commit reply
//	age     wa bits: age - a0, unless it is a commit reply
//
// The timestamps of items never fall. wb and wa are the widths of the largest
// block - b0 and age - a0; with n = 1 they are 0 and not sent. k is
// floor(log2(average step)), where the average is rounded down, and 0 if that
// is 0. A receiver refuses a batch whose head, k, b0, a0, wb or wa are not
// these.
//
// With b0 and a0 a single item is a handful of uvarints. In a batch, items of
// one timestamp spend one bit on it, neighbouring blocks a few, and whatever
// the numbers are, a hundred deprecations below 2^32 take at most 1,200 bytes
// with everything around them: steps cost at most (k + 3) bits each, where
// k is 25 at most, blocks and ages 32.
//
// # Bounds
//
// A list has at most MaxEntries entries, and so have all ranges of a Commit
// together; a Read and its reply have at most MaxReadItems. A decoder refuses a count that the remaining bytes cannot hold
// before it allocates the list, and padded results that would not fit a frame
// if they were full. What a server takes beyond that it publishes in Limits;
// DefaultLimits are the usual ones.
//
// # What is frozen
//
// The frame, Hello as a whole (so that any two versions can tell each other
// apart; a server answers an unknown version with Error, code 2), Error as a
// whole, and every message of version 1 as described here, bytes in testdata
// included. Type numbers, statuses, kinds, flags and error codes are never
// given another meaning. Types from 13 to 63 and from 77 to 255, and error codes
// from 15, may be added; a peer sends a new type only when the version that
// both speak has it, and a receiver takes an unknown error code for a refusal
// like any other. A change of an existing message is a new Version.
package wire
