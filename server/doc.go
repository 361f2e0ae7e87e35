// Package server runs a Tidemark store: the shell around package core, which
// decides everything. Here are the goroutines, the sockets, the clock, the
// log and the data.
//
// # Goroutines
//
// The core has one owner at a time: whoever holds Server.owner. A connection's
// reader decodes what has arrived, becomes the owner, lets the core decide,
// carries out the effects, gives the core up, and sends what that left for its
// own connection: a request that can be answered at once costs one goroutine.
// The connection's writer sends everything else, all that is queued in one
// write. The log writer makes one group at a time durable while the next one
// forms; then it is the owner for as long as applying takes. A third kind
// tells the core the time four times a second. Serve runs on its caller's goroutine.
//
// Nobody waits for a disk or a network as the owner.
//
// Shutdown waits for all of them: when the group under way is answered the
// connections are closed; readers and writers end with their connection, the
// log writer with the last owner.
//
// # Limits
//
// Connections, the time to a first message, the time of a write, and the
// bytes and messages queued for a connection have limits in Options. A
// connection that exceeds one is dropped; nothing is lost but its cache's
// freshness, and no other connection waits for it. A reader that waits to
// become the owner reads no further, and so its client waits. Undecided input
// is at most batchMessages small messages, or one frame, for each connection.
//
// # Failure
//
// When the log or the block store cannot be written, the server stops: nothing
// that is not durable was visible, nothing is acknowledged any more,
// connections are closed and Serve returns the error. What was acknowledged is
// in the log, or in the checkpoint before it.
//
// Data that cannot be read costs whoever asks for it an error, and so does a
// commit that would change a part of it: that is read before the commit is
// decided, by the connection's goroutine and others that help it, and kept until
// it is applied, so that the owner never reads from disk.
package server
