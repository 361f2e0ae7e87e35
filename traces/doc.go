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
// # The extension of the text form
//
// Other formats tell more than the Auspex format has words for. The text form
// writes it with further types, Lookup, Create, Mkdir, Rmdir, Rename, Link,
// Symlink, Truncate and Commit, and with the place of an operation as further
// words at the end of its line, four of them or, for a Rename, eight:
//
//	1063931188.1 Create WRITE FID: 1f OFF: 0 SIZE: 0 HOST: 7 DIR: 2a NAME: "to do.txt"
//	1063931188.2 Rename WRITE FID: 1f OFF: 0 SIZE: 0 HOST: 7 DIR: 2a NAME: "to do.txt" TODIR: 2b TONAME: "caf\xe9"
//
// in which
//
//   - DIR and TODIR are file handles like FID;
//   - NAME and TONAME are names in quotation marks, in which the escapes of a
//     string in Go stand for bytes that cannot be printed, for quotation marks
//     and for backslashes; blanks may stand for themselves, and so may bytes
//     that are no UTF-8;
//   - Lookup, Link and Rename have a place, any other type may have one;
//   - Lookup is a READ, and all other types beyond the six are a WRITE.
//
// A line with one of the six types and without a place is a line of the
// genuine format. Line numbers are those of the file, and so not kept when
// operations are written elsewhere. The operations of a capture, which has no
// lines, are numbered like the lines of its text form.
//
// # From file to operations
//
//	Source -> Unpack -> Reader -> Reorder -> whoever consumes the operations
//
// A Source can be read several times and unpacks what is compressed; which
// Reader it hands the bytes to is up to its Opener (package traces/format knows
// them all). Readers work in constant memory, and Reorder puts operations that
// are slightly out of order back into order of time. Reading a trace twice
// gives the same operations twice.
package traces
