// Package sample holds a real NFS trace of 4.5 seconds, so that the project
// can be tried without finding one first. PROVENANCE.md beside this file says
// where it is from and what it cannot show; LICENSE is its licence.
package sample

import (
	_ "embed"

	"github.com/tidemark/tidemark/traces"
)

// Name is how the trace is called in messages and reports.
const Name = "sample:nfs1-set6"

//go:embed nfs1-set6.txt.gz
var data []byte

// Source returns the trace: 7,372 operations of 56 hosts.
func Source() traces.Source { return traces.Bytes(Name, data, traces.Options{}) }
