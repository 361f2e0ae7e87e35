// Package traces reads file-system traces: streams of operations that hosts
// sent to a file server. An operation names a file and a byte range; nothing
// here knows blocks, transactions or the store.
//
// # The Auspex text format
//
// One line is one operation, in eleven words separated by blanks:
//
//	748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896 SIZE: 4096 HOST: 1066
//
// in which
//
//   - the time is in seconds since 1970 (UTC) with up to six decimals; more
//     decimals are read and dropped. It is kept as an integer number of
//     microseconds and never passes through a float;
//   - the type is Attr, Block, Dir, Delete, Open or Close and the action READ
//     or WRITE, in exactly this spelling;
//   - FID is an opaque file handle of 1 to 16 hexadecimal digits;
//   - OFF, SIZE and HOST are decimal. For Open and Close, OFF is the
//     approximate file size, which nothing here relies on.
//
// Additional blanks, carriage returns and empty lines are ignored, and the
// last line need not end in a newline. Source: the publisher's description at
// tracehost.cs.berkeley.edu/auspex.html.
//
// # From file to operations
//
//	Source -> Reader -> Reorder -> whoever consumes the operations
//
// A Source can be read several times, a Reader unpacks and parses in constant
// memory, and Reorder puts lines that are slightly out of order back into
// order of time. Reading a trace twice gives the same operations twice.
package traces
