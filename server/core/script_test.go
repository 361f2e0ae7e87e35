package core

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/samber/lo"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestScripts runs the scenarios in testdata: directives, a line of dashes,
// and the effects that they have, in order. Blocks are letters, connections
// c1, c2 and so on; x@3 is version 3 of block x. Rewrite the output with
// -update only after understanding why it changed.
func TestScripts(t *testing.T) {
	files := lo.Must(filepath.Glob("testdata/*.txt"))
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, want, _ := strings.Cut(string(lo.Must(os.ReadFile(file))), "----\n")
			got := runScript(t, script)
			if *update {
				if err := os.WriteFile(file, []byte(script+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func runScript(t *testing.T, script string) string {
	var out strings.Builder
	s := &scripted{t: t, out: &out, req: map[string]uint64{}}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if s.world == nil {
			s.world = newWorld(s.config(line))
			s.world.settle()
			s.world.trace = s.print
			if strings.HasPrefix(line, "config") {
				continue
			}
		}
		fmt.Fprintf(&out, "> %s\n", line)
		s.run(strings.Fields(line))
		for _, p := range s.world.problems {
			fmt.Fprintf(&out, "PROBLEM %s\n", p)
			if !s.faulty {
				t.Errorf("%s: %s", line, p)
			}
		}
		s.world.problems = nil
	}
	return out.String()
}

type scripted struct {
	t      *testing.T
	world  *world
	out    *strings.Builder
	req    map[string]uint64
	faulty bool
}

// config reads the first line, if it is one.
func (s *scripted) config(line string) Config {
	cfg := Config{BlockSize: 16, Limits: wire.DefaultLimits()}
	words := strings.Fields(line)
	if words[0] != "config" {
		return cfg
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseUint(value, 10, 64)
		switch key {
		case "memory":
			cfg.MemoryBytes = int64(n)
		case "index":
			cfg.IndexBytes = int64(n)
		case "holds":
			cfg.Limits.Holds = n
		case "outcomes":
			cfg.Limits.Outcomes = n
		case "reads":
			cfg.Limits.CommitReads = n
		case "writes":
			cfg.Limits.CommitWrites = n
		case "commitbytes":
			cfg.Limits.CommitBytes = n
		case "frame":
			cfg.Limits.FrameBytes = n
		case "leases":
			cfg.Limits.LeaseBlocks = n
		case "retention":
			cfg.Retention = lo.Must(time.ParseDuration(value))
		case "externalclock":
			cfg.ExternalClock = true
		case "losedeprecation":
			cfg.Faults.LoseDeprecation, s.faulty = true, true
		case "stableahead":
			cfg.Faults.StableAhead, s.faulty = true, true
		default:
			s.t.Fatalf("config %q", w)
		}
	}
	return cfg
}

func (s *scripted) run(words []string) {
	w := s.world
	switch words[0] {
	case "open": // connections with a session each, quietly
		w.trace = nil
		for _, c := range words[1:] {
			w.connect(connID(c))
			w.receive(connID(c), &wire.Hello{Req: s.next(c), Version: wire.Version})
			w.settle()
		}
		w.trace = s.print
	case "connect":
		w.connect(connID(words[1]))
	case "disconnect":
		w.core.Disconnect(connID(words[1]))
		delete(w.streams, connID(words[1]))
		w.pump()
	case "flush":
		w.flush()
	case "durable":
		w.durable()
	case "settle":
		w.settle()
	case "hold":
		w.holdLoad = true
	case "release":
		w.release()
	case "fail": // all loads that are held back
		held := w.loads
		w.loads = nil
		for _, l := range held {
			w.core.LoadFailed(l.ID, errors.New("checksum mismatch"))
		}
		w.pump()
	case "flood": // "flood c2 3 256 x=a": commits 3 to 258, without their effects
		w.trace = nil
		for i := range number(words[3]) {
			seq := strconv.FormatUint(uint64(number(words[2])+i), 10)
			w.receive(connID(words[1]), s.message([]string{words[1], "commit", seq, "w:" + words[4]}))
		}
		w.trace = s.print
	case "tick":
		w.core.Tick(lo.Must(time.ParseDuration(words[1])))
		w.pump()
	case "crash":
		w.trace = nil
		w.boot()
		w.settle()
		w.trace = s.print
	case "restore": // from a checkpoint of now
		w.trace = nil
		w.restore(w.checkpoint())
		w.settle()
		w.trace = s.print
	case "stop":
		w.core.Stop()
	case "idle":
		fmt.Fprintf(s.out, "  %v\n", w.core.Idle())
	default:
		if words[len(words)-1] == "unreadable" {
			w.bases.Err = errors.New("a block is damaged")
		}
		w.receive(connID(words[0]), s.message(words))
		w.bases.Err = nil
	}
}

func (s *scripted) next(c string) uint64 {
	s.req[c]++
	return s.req[c]
}

// message builds a request: "c1 read x y@3 z?2", "c1 commit 4 r:x@1 w:y=data
// acked=2 resend", "c1 validate x@1", "c1 lease 10" and so on.
func (s *scripted) message(words []string) wire.Message {
	req := s.next(words[0])
	args := words[2:]
	switch words[1] {
	case "hello":
		m := &wire.Hello{Req: req, Version: wire.Version}
		for _, a := range args {
			key, value, _ := strings.Cut(a, "=")
			n := byte(lo.Must(strconv.Atoi(value)))
			switch key {
			case "session":
				m.Session = occ.SessionID{n}
			case "store":
				m.Store = occ.StoreID{n}
			case "version":
				m.Version = uint64(n)
			}
		}
		return m
	case "ping":
		return &wire.Ping{Req: req}
	case "zeroping":
		return &wire.Ping{}
	case "pong":
		return &wire.Pong{Req: req}
	case "read":
		return &wire.Read{Req: req, Items: lo.Map(args, func(a string, _ int) wire.ReadItem {
			it := wire.ReadItem{Block: block(a), At: occ.Latest, Have: wire.Absent}
			a, have, ok := strings.Cut(a, "?")
			if ok {
				it.Have = number(have)
			}
			if _, at, ok := strings.Cut(a, "@"); ok {
				it.At = number(at)
			}
			return it
		})}
	case "commit":
		return s.commit(req, args)
	case "validate":
		return &wire.Validate{Req: req, Reads: readSet(args)}
	case "lease":
		return &wire.Lease{Req: req, Count: uint64(number(args[0]))}
	case "clock":
		return &wire.Clock{Req: req, Now: lo.Must(time.ParseDuration(args[0]))}
	case "status":
		return &wire.Status{Req: req}
	case "pin": // "c1 pin name 3 lease=10s"
		m := &wire.Pin{Req: req, Name: args[0], At: number(args[1])}
		if len(args) > 2 {
			m.Lease = lo.Must(time.ParseDuration(strings.TrimPrefix(args[2], "lease=")))
		}
		return m
	case "unpin":
		return &wire.Unpin{Req: req, Name: args[0]}
	case "pins":
		return &wire.Pins{Req: req, After: strings.Join(args, "")}
	case "changes": // "c1 changes x 2 5 100": from block x on, since 2, at 5, at most 100
		return &wire.Changes{Req: req, First: block(args[0]), Since: number(args[1]), At: number(args[2]), Limit: uint64(number(args[3]))}
	}
	s.t.Fatalf("directive %q", words)
	return nil
}

func (s *scripted) commit(req uint64, args []string) wire.Message {
	var reads []occ.Read
	var writes []occ.Write
	for _, a := range args[1:] {
		if list, ok := strings.CutPrefix(a, "r:"); ok {
			reads = readSet(strings.Split(list, ","))
		}
		if list, ok := strings.CutPrefix(a, "w:"); ok {
			for w := range strings.SplitSeq(list, ",") {
				_, data, _ := strings.Cut(w, "=")
				writes = append(writes, occ.Write{Block: block(w), Data: []byte(strings.ReplaceAll(data, "0", "\x00"))})
			}
		}
	}
	m := newCommit(req, uint64(number(args[0])), reads, writes)
	for _, a := range args[1:] {
		if n, ok := strings.CutPrefix(a, "acked="); ok {
			m.Acked = uint64(number(n))
		}
		m.Resend = m.Resend || a == "resend"
		m.Urgent = m.Urgent || a == "urgent"
		if a == "baddigest" {
			m.Digest++
		}
	}
	return m
}

func connID(s string) ConnID                         { return ConnID(number(strings.TrimPrefix(s, "c"))) }
func number(s string) occ.Timestamp                  { return occ.Timestamp(lo.Must(strconv.ParseUint(s, 10, 64))) }
func block(s string) occ.BlockID                     { return occ.BlockID(s[0]) }
func version(b occ.BlockID, at occ.Timestamp) string { return fmt.Sprintf("%c@%d", rune(b), at) }

func readSet(args []string) []occ.Read {
	return lo.Map(args, func(a string, _ int) occ.Read {
		_, from, _ := strings.Cut(a, "@")
		return occ.Read{Block: block(a), From: number(from)}
	})
}
