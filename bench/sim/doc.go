// Package sim replays a load in one process, in simulated time: the real
// client library and the real server core, on a simulated network and a
// simulated log. It is deterministic: the same load, setting and options give
// the same figures, byte for byte.
//
// Each transaction of the trace is a coroutine that is suspended where a live
// client would block its goroutine. Bytes are the lengths of encoded frames,
// without what TCP adds. ε is counted in trace time, which is simulated time.
package sim
