package main

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/traces"
)

// captured brings the name of a finding together with those of the README. It
// returns "" for what the README does not count.
func captured(f traces.Finding) string {
	var n, procedure int
	switch {
	case f.Group == "NFS messages":
		return messageCounts[f.Name]
	case f.Group == "Packets":
		return packetCounts[f.Name]
	case f.Group == "NFS version 4 operations":
		return operation(f.Name)
	case scan(f.Group, "NFS version %d calls", &n):
		return fmt.Sprintf("v%d %s", n, f.Name)
	case f.Group == "Calls of other RPC programs":
		program, rest, _ := strings.Cut(f.Name, " version ")
		if scan(rest, "%d procedure %d", &n, &procedure) {
			return other(program, fmt.Sprint(n), fmt.Sprint(procedure))
		}
	}
	return ""
}

var messageCounts = map[string]string{
	"calls": "calls", "replies": "replies", "clients": "clients", "connections": "connections", "servers": "servers",
	"calls over TCP": "over tcp", "calls over UDP": "over udp", "microseconds from first to last": "microseconds",
}

var packetCounts = map[string]string{
	"all": "frames", "cut by the capture": "frames cut", "parts of larger IP datagrams": "fragments",
}

// operation names an operation of COMPOUND calls.
func operation(name string) string { return "v4 operation " + name }

func scan(s, format string, into ...any) bool {
	n, err := fmt.Sscanf(s, format, into...)
	return err == nil && n == len(into)
}
