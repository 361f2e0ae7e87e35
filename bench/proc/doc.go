// Package proc runs Tidemark servers in processes of their own, for tests
// and measurements: it builds the program, and starts, kills and stops a
// server on one directory and one address.
package proc
