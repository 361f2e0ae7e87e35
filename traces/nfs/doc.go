// Package nfs turns NFS traffic into operations of a trace. Readers of packet
// captures and of nfsdump text decode calls and replies; a Matcher joins them
// to Exchanges, which do not depend on the protocol version; a Translator
// makes operations of these; a Tally counts the messages. Nothing here reads
// files or packets.
//
// # Operations
//
// An exchange that succeeded, or whose reply was not seen, becomes, where
// "file" is what the handle of the call stands for:
//
//	GETATTR, ACCESS      Attr READ of the file
//	SETATTR              Truncate of the file if it sets the size, else
//	                     Attr WRITE
//	LOOKUP               Lookup of what was found; without a reply, of what the
//	                     name stood for before, or nothing. Of names that are
//	                     no entries, such as "..", Attr READ of what was found
//	READLINK             Block READ of the text, from 0
//	READ                 Block READ of the bytes that were moved or, if that is
//	                     not known, asked for. At the end of a file these are
//	                     none: it remains an operation, which reads the inode
//	WRITE                Block WRITE likewise; of no bytes, nothing
//	READDIR, READDIRPLUS Dir READ; Off is the cookie if it is below 2^31, else
//	                     0; Size is what was asked for, 64 KiB at most
//	COMMIT               Commit; Size 0 means to the end of the file
//	CREATE, MKNOD        Create, and Truncate if a size above 0 is set. CREATE
//	                     of a file that was there under that name: Truncate if
//	                     a size is set, else Attr WRITE
//	MKDIR, SYMLINK       Mkdir, Symlink
//	REMOVE, RMDIR        Delete, Rmdir; REMOVE of what is known to be a
//	                     directory is Rmdir, since version 4 has no RMDIR
//	RENAME, LINK         Rename, Link
//	OPEN                 Create if it may have made the file and the file was
//	                     not known; Open; Truncate if a size is set that the
//	                     file does not have
//	CLOSE                Close
//	all others           nothing
//
// Time is that of the call. An exchange that failed becomes nothing; neither
// does one with values that Op.Check refuses, such as a range beyond 63 bits
// or a transfer over traces.MaxTransfer. Both are counted.
//
// # Files
//
// The FID of a file is that of its handle, see FileID. REMOVE and RENAME give
// names only. A Translator therefore remembers what names were last seen to
// stand for. For a name that it does not know, the FID is a hash of the
// directory's FID and the name: the same name then is the same file, but it is
// another one than the one with its handle, should that ever appear.
package nfs
