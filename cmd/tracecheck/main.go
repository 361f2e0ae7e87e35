// Command tracecheck compares what the readers of traces make of the files in
// a directory with what its README.md says that each of them holds, as
// counted by other programs.
//
//	go run ./cmd/tracecheck DIR
//
// It prints a line for each file: ok, or what differs, or that there is no
// reader for it. Its exit status is 1 if anything differs, or if there is no
// reader for a file of which the README counts something.
//
// What it compares: calls by version and procedure, operations of COMPOUND
// calls where they are listed, calls of other RPC programs, replies to known calls, clients, connections, servers, transport
// and the time from the first to the last NFS message; of texts in the Auspex
// format, operations by type and action; of nfsdump texts, calls and replies
// in all, calls by procedure, clients and lines.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tracecheck DIR")
		os.Exit(2)
	}
	differ, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracecheck:", err)
		os.Exit(2)
	}
	if differ > 0 {
		fmt.Printf("%d files differ\n", differ)
		os.Exit(1)
	}
}

// run checks every file that the README of a directory describes, and returns
// how many differ.
func run(dir string) (differ int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return 0, err
	}
	entries := parseReadme(string(text))
	if len(entries) == 0 {
		return 0, fmt.Errorf("%s describes no file", filepath.Join(dir, "README.md"))
	}
	for _, e := range entries {
		verdict, ok := check(filepath.Join(dir, e.file), e)
		if !ok {
			differ++
		}
		fmt.Printf("%-48s %s\n", e.file, verdict)
	}
	return differ, nil
}
