// Package server runs a Tidemark store: the shell around package core, which
// decides everything. Here are the goroutines, the sockets, the clock, the
// log and the data.
//
// # Goroutines
//
// One goroutine, the owner, has the core to itself. It takes what connections
// received from a bounded channel, everything that is there at once, lets the
// core decide, and carries out the effects. Another one, the log writer, makes
// one group at a time durable while the owner forms the next. Each connection
// has a reader, which decodes, and a writer, which encodes and sends all that
// is queued in one write. Serve runs on its caller's goroutine.
//
// Shutdown waits for all of them: the owner finishes the group under way,
// answers and closes the connections; readers and writers end with their
// connection; the log writer ends with the owner.
//
// # Limits
//
// Connections, the time to a first message, the time of a write, and the
// bytes and messages queued for a connection have limits in Options. A
// connection that exceeds one is dropped; nothing is lost but its cache's
// freshness, and no other connection waits for it. A reader that is faster
// than the owner waits, and with it its client. Undecided input takes at most
// inputBatches times the largest frame, and one frame for each connection.
//
// # Failure
//
// When the log fails, the server stops: nothing that is not durable was
// visible, nothing is acknowledged any more, connections are closed and Serve
// returns the error.
package server
