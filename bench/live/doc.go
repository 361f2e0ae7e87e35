// Package live replays a load with real processes: a server of its own over
// TCP on loopback with its log on disk, and all hosts of the trace in this
// process, each with its own client, connection and cache.
//
// Hosts run concurrently, but an operation starts only when all operations
// more than Window of trace time earlier have finished, so that the trace's
// order is kept to within that. Time, for freshness bounds and for the
// server's retention, is trace time: the time of the newest event that was
// started.
//
// CPU is user plus system time as each process reports it of itself, around
// the replay alone: starting, building the image, parsing and checking are
// outside. A replay is repeated from a fresh store until enough CPU has been
// gathered to be told.
package live
