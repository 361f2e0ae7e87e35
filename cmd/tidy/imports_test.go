package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tidemark/tidemark"

// root is the root of the module, seen from this package.
const root = "../.."

// room says what of our own a package may reach, by transitive dependency, and
// why it must not reach more. A name that ends in /... stands for a whole
// tree.
type room struct {
	name string
	may  []string
	why  string
}

// house is every package. Everything may know occ; occ knows nobody.
var house = []room{
	{"occ", nil, "the vocabulary and the decisions depend on nothing that could change them"},
	{"occ/wire", []string{"occ"}, "a format is bytes and values, not connections"},
	{"occ/history", []string{"occ"}, "a judge shares no code with whom it judges"},
	{"server/record", []string{"occ"}, "the disk format must outlive the protocol"},
	{"server/storedir/durable", nil, "files, not transactions"},
	{"server/storedir", []string{"occ", "server/storedir/durable"}, "a directory holds a store, and does not know what is in it"},
	{"server/wal", []string{"occ", "server/storedir/durable"}, "the log carries bytes; the disk format must outlive the protocol"},
	{"server/ready", nil, "a line of text is for servers and for whoever starts one"},
	{"server/disk", []string{"server/storedir/durable"}, "a disk has files, not transactions"},
	{"server/blocks/layout", []string{"occ"}, "the disk format must outlive the protocol"},
	{"server/blocks", []string{"occ", "server/blocks/layout", "server/disk", "server/storedir/durable"}, "it keeps what it is told to keep, and every file it touches is on a Disk"},
	{"server/core", []string{"occ", "occ/wire", "server/record"}, "inputs in, effects out: whoever carries them out is above it"},
	{"server/inspect/blockdir", []string{"occ", "server/blocks/layout"}, "it reads files, and has no means to write them"},
	{"server/inspect", []string{"occ", "occ/wire", "server/blocks/layout", "server/core", "server/inspect/blockdir", "server/record", "server/storedir", "server/storedir/...", "server/wal"}, "it looks at a store that no server uses, and has no means to write one"},
	{"server/inspect/salvage", []string{"occ", "server/blocks", "server/blocks/layout", "server/disk", "server/inspect/blockdir", "server/record", "server/storedir", "server/storedir/...", "server/wal"}, "it takes data from files, and asks no server what they mean"},
	{"server", []string{"occ", "occ/wire", "server/..."}, "a server does not know its clients, and no load"},
	{"client/core", []string{"occ", "occ/wire", "occ/history"}, "decisions do not know the connection"},
	{"client", []string{"occ", "occ/wire", "occ/history", "client/core"}, "a client embeds no server"},
	{"backup", []string{"occ"}, "a backup must be readable without a server, and without a store"},
	{"backup/take", []string{"backup", "client", "client/core", "occ", "occ/..."}, "it asks a server like any client"},
	{"backup/restore", []string{"backup", "occ", "server/blocks", "server/blocks/layout", "server/disk", "server/record", "server/storedir", "server/storedir/durable", "server/wal"}, "it makes what a server opens, and runs none"},
	{"fsim", []string{"occ"}, "a file system needs the few methods of its Tx, whoever has them"},
	{"fsim/replay", []string{"occ/...", "occ", "client/...", "client", "fsim", "traces", "traces/infer"}, "it runs against any server, simulated or real"},
	{"traces", nil, "an operation names files, not blocks"},
	{"traces/infer", []string{"traces"}, "transactions are found in the trace alone"},
	{"traces/nfs", []string{"traces"}, "what NFS says becomes operations, whatever it was captured in"},
	{"traces/nfsdump", []string{"traces", "traces/nfs"}, "a text is read for what it says, not for who wants it"},
	{"traces/capture/pcap", []string{"traces"}, "a file holds packets, whatever is in them"},
	{"traces/capture/packet", []string{"traces", "traces/capture/pcap"}, "a packet carries bytes, whatever they mean"},
	{"traces/capture/tcp", []string{"traces", "traces/capture/pcap", "traces/capture/packet"}, "a stream is bytes, whatever they mean"},
	{"traces/capture/xdr", nil, "a format of numbers and strings"},
	{"traces/capture/rpc", []string{"traces/capture/xdr"}, "messages are found in any stream, of whatever program they are"},
	{"traces/capture/nfsxdr", []string{"traces", "traces/nfs", "traces/capture/xdr"}, "a call is decoded, however it was carried"},
	{"traces/capture", []string{"traces", "traces/nfs", "traces/capture/..."}, "it joins the layers, and knows no other format"},
	{"traces/sample", []string{"traces"}, "data"},
	{"traces/binary", []string{"traces"}, "a form of the operations alone"},
	{"traces/format", []string{"traces", "traces/binary", "traces/nfs", "traces/nfsdump", "traces/capture", "traces/capture/..."}, "it knows the formats and nothing of what becomes of the operations"},
	{"traces/filter", []string{"traces"}, "a part of a trace is picked by its operations alone"},
	{"traces/survey", []string{"traces", "traces/infer"}, "a trace is described, whatever format it is in"},
	{"traces/gen", []string{"traces"}, "a load is a trace like any other"},
	{"bench/exp", []string{"occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/infer"}, "figures do not depend on how they were gathered"},
	{"bench/report", []string{"occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/infer", "bench/exp"}, "tables are made from figures, however these were gathered"},
	{"bench/sim", []string{"occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/infer", "bench/exp", "server/core", "server/record"}, "the simulated server is the core alone: no socket, no disk"},
	{"bench/proc", []string{"server/ready"}, "it knows of a server what its command line says"},
	{"bench/live", []string{"bench/proc", "server/ready", "occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/infer", "bench/exp"}, "the server is a process of its own"},
	{"bench/chaos", []string{"bench/proc", "server/ready", "occ", "occ/...", "client", "client/..."}, "the server is a process of its own, and the clients do nothing but count"},
	{"bench/storage", nil, "measurements alone"},
	{"bench", []string{"occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/...", "bench/...", "server/core", "server/record", "server/ready"}, "commands are above it"},
	{"cmd/tidemark", []string{"occ", "occ/...", "client", "client/...", "fsim", "fsim/replay", "traces", "traces/...", "bench", "bench/...", "server", "server/...", "backup", "backup/..."}, "commands are imported by nobody"},
	{"cmd/tracecheck", []string{"traces", "traces/..."}, "commands are imported by nobody"},
	{"cmd/tidy", nil, "commands are imported by nobody"},
}

// deciding packages are pure: the same inputs give the same outputs. They must
// not import what follows.
var deciding = []string{
	"occ",
	"occ/wire",
	"occ/history",
	"server/record",
	"server/core",
	"client/core",
	"fsim",
	"traces/infer",
	"traces/nfs",
	"traces/nfsdump",
	"traces/binary",
	"traces/filter",
	"traces/survey",
	"bench/exp",
	"bench/report",
	"traces/gen",
	"traces/capture",
	"traces/capture/pcap",
	"traces/capture/packet",
	"traces/capture/tcp",
	"traces/capture/xdr",
	"traces/capture/rpc",
	"traces/capture/nfsxdr",
	"server/blocks/layout",
	"backup",
}

var impure = map[string]string{
	"net":          "a decision needs no connection",
	"os":           "a decision needs no file, no environment and no process",
	"os/exec":      "a decision needs no process",
	"syscall":      "a decision needs no system call",
	"sync":         "what has one owner needs no lock",
	"sync/atomic":  "what has one owner needs no lock",
	"context":      "what never waits has nothing to cancel",
	"log":          "results are returned, not logged",
	"log/slog":     "results are returned, not logged",
	"math/rand":    "its functions share a source that nobody seeds",
	"math/rand/v2": "its functions share a source that nobody can seed",
	"crypto/rand":  "no two runs would be alike",
	"runtime":      "a decision does not depend on the machine",
	"unsafe":       "memory is the language's business",
}

// excepted are deciding packages that may import one of these all the same.
var excepted = map[[2]string]string{
	{"traces/gen", "math/rand/v2"}: "its generators are seeded; that it calls nothing else is checked in the source",
}

// listed is what "go list" says of a package.
type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
	Deps       []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func list(t *testing.T) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps", "./...")
	cmd.Dir = root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// allows reports whether a name is on a list.
func allows(list []string, name string) bool {
	return slices.ContainsFunc(list, func(may string) bool {
		tree, all := strings.CutSuffix(may, "...")
		return may == name || all && strings.HasPrefix(name, tree)
	})
}

// importProblems returns what is wrong with what a package imports.
func importProblems(p listed) (problems []string) {
	add := func(parts ...string) { problems = append(problems, p.name()+" "+strings.Join(parts, "")) }
	i := slices.IndexFunc(house, func(r room) bool { return r.name == p.name() })
	if i < 0 {
		add("has no room in the house: say what it may import, and why not more")
		return problems
	}
	for _, dep := range p.Deps {
		if own, ours := strings.CutPrefix(dep, module+"/"); ours && !allows(house[i].may, own) {
			add("must not reach ", own, ": ", house[i].why)
		}
		if dep == "testing" && !strings.HasPrefix(p.name(), "cmd/tidy") {
			add("reaches testing, which belongs to tests")
		}
	}
	for _, imported := range p.Imports {
		reason, banned := impure[imported]
		if _, except := excepted[[2]string{p.name(), imported}]; banned && !except && slices.Contains(deciding, p.name()) {
			add("decides and must not import ", imported, ": ", reason)
		}
	}
	return problems
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		for _, problem := range importProblems(p) {
			t.Error(problem)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.name())
		}
	}
	exists := func(name string) bool {
		return slices.ContainsFunc(packages, func(p listed) bool { return p.name() == name })
	}
	for _, r := range house {
		if !exists(r.name) {
			t.Errorf("there is no package %s: take it out of the house", r.name)
		}
		if r.why == "" {
			t.Errorf("no reason is given for %s", r.name)
		}
	}
	for _, name := range deciding {
		if !exists(name) {
			t.Errorf("there is no package %s", name)
		}
	}
	for e := range excepted {
		i := slices.IndexFunc(packages, func(p listed) bool { return p.name() == e[0] })
		if i < 0 || !slices.Contains(packages[i].Imports, e[1]) {
			t.Errorf("the exception for %s in %s is not needed", e[1], e[0])
		}
	}
}

// TestBadImportsAreNoticed checks the check.
func TestBadImportsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		pkg           string
		imports, deps []string
		want          string
	}{
		{"occ", []string{"fmt"}, []string{"fmt", "os", "sync"}, ""},
		{"occ", []string{"os"}, nil, "occ decides and must not import os"},
		{"occ", nil, []string{module + "/server/core"}, "occ must not reach server/core"},
		{"server", nil, []string{module + "/server/core", module + "/occ"}, ""},
		{"server", []string{"net", "sync"}, []string{module + "/client"}, "server must not reach client"},
		{"server", nil, []string{module + "/serverless"}, "server must not reach serverless"},
		{"traces/gen", []string{"math/rand/v2"}, nil, ""},
		{"traces/gen", []string{"math/rand"}, nil, "must not import math/rand"},
		{"client", nil, []string{"testing"}, "client reaches testing"},
		{"attic", nil, nil, "attic has no room"},
	} {
		got := importProblems(listed{ImportPath: module + "/" + c.pkg, Imports: c.imports, Deps: c.deps})
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%+v: found %q", c, got)
		}
	}
}
