// Package ready is the line that a server prints to standard output once
// clients can connect: whoever started the server waits for it, and learns the
// address.
package ready

import (
	"net"
	"strings"
)

const prefix = "tidemark: listening on "

// Line is the line of a server that listens at addr, with its end.
func Line(addr net.Addr) string { return prefix + addr.String() + "\n" }

// Addr is the address in a line with its end; ok tells whether it is such a
// line, and whole.
func Addr(line string) (addr string, ok bool) {
	line, whole := strings.CutSuffix(line, "\n")
	addr, ok = strings.CutPrefix(line, prefix)
	return addr, ok && whole
}
