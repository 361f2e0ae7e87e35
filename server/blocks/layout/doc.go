// Package layout is the form of the files in which a store keeps its blocks:
// bytes to values and back. It opens no file.
//
// There are three kinds of files; package blocks says when they are written.
// Integers are little-endian, checksums are CRC-32C. Format version 1,
// frozen:
//
// The header file has two slots of 4096 bytes at 0 and 4096; checkpoint n is
// in slot n mod 2:
//
//	offset  bytes  field
//	     0      8  magic "TIDECHKP"
//	     8      4  format version
//	    12      4  block size in bytes
//	    16     16  store id
//	    32      8  number of the checkpoint
//	    40      8  log index: the checkpoint holds all groups up to it
//	    48      8  stable: the newest timestamp in the checkpoint
//	    56      8  size of the index file in bytes
//	    64      4  checksum of the index file
//	    68      4  slots: every slot that the index names is below it
//	    72      8  versions in the index
//	    80   4012  zero
//	  4092      4  checksum of bytes 0 to 4091
//
// The block file begins with a page like that, magic "TIDEBLKS", of which
// only magic, version, block size, store id and checksum are used; behind it
// are the slots, of 32 bytes and one block each. Behind the data of a slot is
// whatever was there:
//
//	offset  bytes  field
//	     0      4  magic "SLOT"
//	     4      4  length of the data, not 0
//	     8      8  block
//	    16      8  from: the timestamp at which the version begins, not 0
//	    24      4  checksum of bytes 0 to 23, 28 to 31 and the data
//	    28      4  zero
//	    32      -  data, without the block's trailing zeros
//
// The complement of the checksum says that the version's data were to be made
// of damaged ones: it has none, and is as damaged as with any other wrong
// checksum.
//
// An index file begins with 48 bytes: magic "TIDEINDX", format version,
// block size, store id, number of the checkpoint (8 bytes), zero (4 bytes),
// checksum of bytes 0 to 43. Frames follow:
//
//	offset  bytes  field
//	     0      4  kind: 1 state, 2 versions, 3 end
//	     4      4  length of the payload
//	     8      4  number of the frame, from 0
//	    12      4  checksum of bytes 0 to 11 and the payload
//	    16      -  payload
//
// Frames of state come first; their payloads one after another are what
// package blocks was given to keep. A frame of versions holds, for each
// version, in order of blocks and for a block of from, these uvarints: block
// minus the block of the version before it in the frame, or minus 0; from;
// length; and the slot unless the length is 0. Uvarints are minimal. The last
// frame is the end; it holds the number of versions and the number of bytes
// of state, 8 bytes each.
//
// In every later version magic, version and checksum of pages and of the head
// of an index file keep place and meaning.
package layout
