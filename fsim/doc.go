// Package fsim is a file system in the manner of ext2 whose blocks live in a
// transactional block store. It serves as a worked example of building on
// such a store and as the load of the trace replays.
//
// # Promises
//
// The package is pure: no clock, goroutine, lock or randomness. The same
// operations on the same blocks leave the same blocks. All state is in the
// blocks; an FS holds immutable geometry only, so one FS may be used by any
// number of transactions and clients at once. Isolation, atomicity and
// durability are the transaction's business, not this package's.
//
// An operation reads first, decides, and writes last. One that fails for any
// reason other than a failing Tx.Write has written nothing, so the
// transaction may go on.
//
// Blocks are not trusted. A pointer, size, count or record that cannot be
// right makes the operation fail with a *CorruptError that names the place;
// nothing panics, loops without end or allocates beyond the size of the
// volume. Check finds inconsistencies between places.
//
// Not promised: access times (there are none), and modification times of
// directories on every change of an entry. Setting one would write the inode
// and turn every pair of creations in a directory into a conflict, so a
// directory's time changes only when its size does, or by SetTime.
// A symbolic link is stored and returned, but never followed.
//
// # Cost
//
// A stat reads one block, the inode's. A read adds the indirect blocks on the
// way and the data blocks, the latter in a single request. Overwriting
// allocated blocks writes them and the inode's block. Creating a file reads
// the directory and writes one of its blocks plus three of one block group.
// Renaming writes the one or two blocks of the two entries, and the inode of a
// directory that gets another parent, whose new ancestors it reads.
// Freed blocks are not written.
//
// # Volume
//
// A volume is a contiguous range of block ids. Block numbers inside it are
// 32-bit and relative to its first block; all integers are little endian.
//
//	block 0             superblock, never written again after Mkfs
//	block 1 + g*B       group g, of B blocks; the last group may be shorter
//
// Inside a group, with I inodes per group:
//
//	+0                  descriptor
//	+1                  block bitmap: bit i is data block i of this group
//	+2                  inode bitmap: bit i is inode g*I + i + 1
//	+3                  inode table, ceil(I*128 / block size) blocks
//	+3 + table          data blocks
//
// Bit i of a bitmap is bit i%8, counted from the least significant, of byte
// i/8; bits past the last data block or inode are zero. Blocks after the last
// group that are too few for another group are unused. A group that is all
// zeros is a valid empty group, which is why Mkfs writes four blocks however
// large the volume is.
//
// Superblock, the rest of the block being zero:
//
//	 0  8  magic "tidefsim"
//	 8  4  format version, 2
//	12  4  block size in bytes, a power of two from 512 to 65536
//	16  4  blocks in the volume, the superblock included
//	20  4  groups
//	24  4  blocks per group
//	28  4  inodes per group
//	32  4  CRC-32C of bytes 0 to 31
//
// Group descriptor, the rest of the block being zero. The counts are of what
// is in use, so that zero describes an empty group:
//
//	0  4  data blocks in use
//	4  4  inodes in use
//	8  4  directories among them
//
// Inode, 128 bytes. Number 1 is the root directory; 0 is no inode:
//
//	 0  2  kind: 0 free, 1 file, 2 directory, 3 symbolic link
//	 2  2  links: directory entries that name it; 1 for the root
//	 4  4  generation, raised each time the inode is taken into use, never 0
//	       then; kept while the inode is free, all else being zero
//	 8  8  size in bytes
//	16  8  modification time in microseconds, signed
//	24  4  blocks allocated, indirect ones included
//	28  4  of a directory, the inode of the one that has its entry; 0 for the
//	       root and for what is no directory
//	32 48  12 pointers to data blocks
//	80  4  pointer to an indirect block
//	84  4  pointer to a doubly indirect block
//	88  4  pointer to a triply indirect block
//	92 36  zero
//
// A pointer is a block number, or 0 for a hole, which reads as zeros. An
// indirect block is an array of pointers. No block is allocated wholly past
// the size, and the bytes between the size and the end of the last block are
// zero. The content of a symbolic link is its text, 1 to 4095 bytes.
//
// A directory has no holes and its size is a multiple of the block size.
// Records fill each block exactly and do not cross blocks:
//
//	 0  4  inode, 0 for a free record
//	 4  4  generation of the inode
//	 8  2  length of the record in units of 4 bytes, at least 3
//	10  1  length of the name in bytes, 1 to 255
//	11  1  kind of the inode
//	12  n  the name; no '/' and no zero byte, neither "." nor ".."
//
// What a record has beyond its name is room for later entries. There are no
// records for "." and "..".
//
// Version 1 had neither parents nor symbolic links; it is refused.
package fsim
