// Package storage measures a server whose data are on disk: a store larger
// than its memory, starts, disk space after overwrites, commits during
// checkpoints, and commits beside a program that only appends and syncs. It
// has tests and benchmarks alone; "make storage" runs them at full size, and
// docs/performance.md has the figures.
package storage
