// Package storedir is the directory in which a store lives: whose it is, who
// may use it now, and how often a server has begun to write to it.
//
// The directory holds
//
//	tidemark.store   what the store is; see below
//	tidemark.lock    empty; locked (flock) by the server that uses the store
//	log/             the commit log; see package wal
//	blocks/          the blocks and their checkpoints; see package blocks
//
// The store file has 44 bytes; integers are little-endian. It is replaced as
// a whole and atomically. Format version 1, frozen:
//
//	offset  bytes  field
//	     0      8  magic "TIDEMARK"
//	     8      4  format version
//	    12     16  store id, random
//	    28      4  block size in bytes
//	    32      8  epoch: how often a server became the writer
//	    40      4  CRC-32C of bytes 0 to 39
//
// In every later version the magic and the version keep place and meaning.
package storedir
