// Package proc runs servers in processes of their own, for live replays,
// measurements and tests: it starts any program that tells its address like
// one of Tidemark's, kills it, stops it and starts it again, and builds
// Tidemark's own.
package proc
