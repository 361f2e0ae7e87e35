// Package nfsdump reads the text that the nfsdump program writes, the form of
// the NFS traces that Harvard published (2001 to 2003; SNIA keeps them).
//
// # Lines
//
// A line is a call or a reply. Numbers are hexadecimal but for times:
//
//	time source destination U|T C3|R3|C2|R2 xid procedure name [status] field value ...
//
// Time is in seconds since 1970. Source and destination are address.port,
// where the address is mostly a number that hides the real one. Status, of
// replies, is OK or a number. Names are in double quotes, with \20 for a
// space and the like. The last 6 words of a call and the last 10 of a reply
// are debugging output.
//
// A Reader takes from calls fh and fh2 (in a commit, file), name and name2
// (version 2: fn and fn2), off or offset, count, maxcnt or tcount, cookie,
// size and sdata, and from replies the status, count, the first fh, and the
// length of the text of a link. Package nfs says what operations these become.
// The Line of an operation is that of its call.
//
// # Damage
//
// The published files are damaged here and there, so that no line ends the
// reading. These are passed over, and counted by Skipped: lines that do not
// begin as above, that are over MaxLine, that hold zero bytes, and a last line
// that is cut off. The following are messages, but odd ones, and counted in
// Findings:
//
//	SHORT PACKET         a call makes no operation; of a reply it is only
//	                     known that it came
//	JUMBO, LONGPACKET    the word is dropped
//	impossible values,   a call makes no operation; of a reply the rest counts
//	missing fields
//	swapped halves       the size in a setattr before 9 September 2003 whose
//	                     upper 32 bits are what the lower ones should be is
//	                     corrected
//	fractions of seconds are taken as numbers of microseconds; the first six
//	                     digits of one that is longer count
//	clock set back       calls and replies find each other all the same; the
//	                     times of the operations are those of the lines, see
//	                     traces.Reorder
package nfsdump
