// Package pcap reads files of captured packets, in one pass and in constant
// memory.
//
// Two formats are known, each in both byte orders:
//
//	pcap     a header of 24 bytes, then for each packet 16 bytes (seconds,
//	         fraction, bytes kept, bytes on the wire) and what was kept. The
//	         first four bytes say whether fractions are micro- or nanoseconds.
//	         Seconds are unsigned, so they reach to the year 2106.
//	pcapng   a sequence of blocks, each with its type and twice its length;
//	         sections, interfaces with their own link type and unit of time,
//	         packets (the enhanced, the simple and the obsolete block). Other
//	         blocks are passed over.
//
// Sources: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
//
// A file need not be sound. What cannot be is passed over up to the next
// place that looks like a packet, and counted; only a file that does not
// begin like a capture is an error.
//
// The library that the packets go through afterwards has readers, too. They
// refuse versions before 2.4, end at the first damage and take pcapng blocks
// as large as their length says, so they are not used here.
package pcap
