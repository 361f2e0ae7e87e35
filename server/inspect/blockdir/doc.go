// Package blockdir looks at the directory of a block store (package blocks)
// that nobody writes to: its header slots, its index files, its slots. It opens
// files for reading alone, and goes on past damage.
package blockdir
