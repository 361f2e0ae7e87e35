// Package capture reads the operations of a trace from a capture of network
// packets, in one pass and in bounded memory.
//
//	pcap -> packet -> tcp -> rpc -> nfsxdr -> nfs -> operations
//	file    UDP, TCP  streams  messages  calls   exchanges
//
// Each arrow is a package below this one, but for nfs, which all NFS traffic
// has in common. None of them waits for a capture to be sound: what is lost
// or cannot be is counted, and reading goes on with the next packet, message
// or call.
//
// Which end of a connection is the client is told by what it says, not by its
// address or port, and any port may carry RPC. Calls are handed out in the
// order in which they were captured completely; see nfs.Matcher for how they
// are joined with replies. In version 4 every operation of a COMPOUND is an
// exchange of its own. GETATTR is one only if no operation before it in the
// same call acted on the same file: else the client asks what attributes that
// has left, which the operation stands for already.
//
// # What can be had of a cut packet
//
// Captures often keep only the beginning of each packet. Offsets, lengths and
// handles stand in front of the data, so reads and writes survive it; names
// and results that were cut do not. A cut segment leaves a hole of known size
// in its stream, and as long as that lies within a message the next one is
// found where it is.
package capture
