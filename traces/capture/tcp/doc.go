// Package tcp puts the bytes of TCP connections back in order, as far as a
// capture has them. The two directions of a connection are separate flows.
//
// Segments may come twice, out of order, overlapping, cut, or not at all. The
// first copy of a byte counts. What does not come is waited for as long as
// little enough is held back and little enough time has passed, and as long
// as the other end has not acknowledged it; then it is a gap. The
// acknowledgement matters: without it, calls behind a lost one would be held
// back until after their replies. A flow of which the beginning was not captured begins with the first
// segment that was.
//
// Memory is bounded by the constants of this package, whatever is captured.
package tcp

// Sink takes what a flow carries, in order. Bytes are valid until the call
// returns. Times are those of the packet that made it possible to go on.
type Sink interface {
	// Begin says that what follows has nothing to do with what came before:
	// a new connection if start, else the middle of one.
	Begin(start bool)
	Data(time int64, b []byte)
	// Gap stands for n bytes that were sent but are not known.
	Gap(time int64, n int)
	// End says that the flow is over.
	End()
}

// Counts are what a Table met so far.
type Counts struct {
	// Flows are those that began, with or without their beginning.
	Flows int64
	// Repeated are segments of which every byte had come before.
	Repeated int64
	// Late are segments that came before others sent ahead of them.
	Late int64
	// Gaps are the places where bytes never came, and Lost how many bytes.
	// Cut are bytes that came and were not kept by the capture.
	Gaps, Lost, Cut int64
	// Jumps are flows that went on somewhere else, as after an interruption
	// of the capture.
	Jumps int64
	// Evicted are flows that were forgotten because there were too many.
	Evicted int64
}
