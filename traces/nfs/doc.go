// Package nfs turns NFS traffic into operations of a trace. Readers of packet
// captures and of nfsdump text decode calls and replies; a Matcher joins them
// to Exchanges, which do not depend on the protocol version; a Translator
// makes operations of these. Nothing here reads files or packets.
package nfs
