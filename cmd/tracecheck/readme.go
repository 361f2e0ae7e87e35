package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// counts are numbers by what they count, named as README and readers are
// brought together.
type counts map[string]int64

// entry is what the README says of a file.
type entry struct {
	file string
	want counts
	// operations says that it mentions every operation of COMPOUND calls.
	operations bool
}

var (
	messages  = regexp.MustCompile(`^- NFS calls (\d+) \(matched replies (\d+)\); clients (\d+); connections (\d+); servers (\d+); transport (.*?); first to last NFS message (\S+) s\.`)
	version   = regexp.MustCompile(`^NFS v(\d): `)
	program   = regexp.MustCompile(`^(.+) v(\d+) proc (\d+) x(\d+)$`)
	procedure = regexp.MustCompile(`^(\w+) (\d+)$`)
	frames    = regexp.MustCompile(`bytes; (\d+) frames; (\d+) cut by snap length; (\d+) IP-fragment frames`)

	compounds = regexp.MustCompile(`Sub-operations in the \d+ COMPOUND calls: ([^.]+)\.`)

	auspexCounts = regexp.MustCompile(`(set\d+) ((?:\w+ (?:READ|WRITE) [\d,]*\d(?:, )?)+)`)
	auspexCount  = regexp.MustCompile(`(\w+ (?:READ|WRITE)) ([\d,]*\d)`)

	dumpLines = regexp.MustCompile(`(\d+) lines: (\d+) TCP, (\d+) UDP; NFSv3 calls (\d+) and replies (\d+), NFSv2 calls (\d+) and replies (\d+); (\d+) distinct client addresses; times from (\S+) to (\d+\.\d+)`)
	dumpCalls = regexp.MustCompile(`C(\d) ([^;.]+)`)
)

// parseReadme returns an entry for every file that a heading names.
func parseReadme(text string) (entries []entry) {
	for _, section := range strings.Split(text, "\n### ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		for _, file := range strings.Split(heading, " and ") {
			e := entry{file: strings.TrimSpace(file), want: counts{}}
			e.capture(body)
			e.auspex(body)
			e.dump(body)
			entries = append(entries, e)
		}
	}
	return entries
}

// capture reads what is said of a packet capture.
func (e *entry) capture(body string) {
	if m := frames.FindStringSubmatch(body); m != nil {
		e.want["frames"], e.want["frames cut"], e.want["fragments"] = number(m[1]), number(m[2]), number(m[3])
	}
	for _, line := range strings.Split(body, "\n") {
		if m := messages.FindStringSubmatch(line); m != nil {
			for i, name := range []string{"calls", "replies", "clients", "connections", "servers"} {
				e.want[name] = number(m[i+1])
			}
			e.want["over tcp"], e.want["over udp"] = 0, 0
			for _, t := range strings.Split(m[6], ", ") {
				if name, n, ok := strings.Cut(t, " "); ok {
					e.want["over "+name] = number(n)
				}
			}
			e.want["microseconds"] = micros(m[7])
		}
		if calls, ok := strings.CutPrefix(line, "- Calls: "); ok && e.want["frames"] > 0 {
			e.calls(strings.TrimSuffix(calls, "."))
		}
		if m := compounds.FindStringSubmatch(line); m != nil {
			e.suboperations(m[1])
		}
	}
}

// suboperations reads operations of COMPOUND calls: with their numbers, then
// those that came once, or that there are a few more.
func (e *entry) suboperations(text string) {
	counted, once, _ := strings.Cut(text, ", and one each of ")
	counted, _, few := strings.Cut(counted, ", and a few more")
	for _, item := range strings.Split(counted, ", ") {
		if m := procedure.FindStringSubmatch(item); m != nil {
			e.want[operation(m[1])] = number(m[2])
		}
	}
	for _, name := range strings.FieldsFunc(once, func(r rune) bool { return r == ',' || r == ' ' }) {
		e.want[operation(name)] = 1
	}
	e.operations = !few
}

// calls reads calls by procedure: parts separated by semicolons, each of a
// version or of other programs.
func (e *entry) calls(text string) {
	for _, part := range strings.Split(text, "; ") {
		prefix := ""
		if m := version.FindStringSubmatch(part); m != nil {
			prefix, part = "v"+m[1]+" ", part[len(m[0]):]
		}
		part = strings.TrimPrefix(part, "other RPC: ")
		for _, item := range strings.Split(part, ", ") {
			if m := procedure.FindStringSubmatch(item); m != nil && prefix != "" {
				e.want[prefix+m[1]] = number(m[2])
			} else if m := program.FindStringSubmatch(item); m != nil {
				e.want[other(strings.TrimSuffix(m[1], " program"), m[2], m[3])] = number(m[4])
			}
		}
	}
}

// other names a procedure of another program.
func other(program, version, procedure string) string {
	return fmt.Sprintf("other %s v%s proc %s", program, version, procedure)
}

// auspex reads what is said of texts in the Auspex format: the counts of the
// set in the file's name.
func (e *entry) auspex(body string) {
	if !strings.HasSuffix(e.file, "-auspex-style.txt") {
		return
	}
	for _, m := range auspexCounts.FindAllStringSubmatch(body, -1) {
		if !strings.Contains(e.file, "-"+m[1]+"-") {
			continue
		}
		for _, c := range auspexCount.FindAllStringSubmatch(m[2], -1) {
			e.want[c[1]] = number(c[2])
		}
	}
}

// dump reads what is said of an nfsdump text.
func (e *entry) dump(body string) {
	m := dumpLines.FindStringSubmatch(body)
	if m == nil {
		return
	}
	e.want["lines"] = number(m[1])
	e.want["calls"], e.want["replies"] = number(m[4])+number(m[6]), number(m[5])+number(m[7])
	e.want["clients"] = number(m[8])
	e.want["microseconds"] = micros(m[10]) - micros(m[9])
	_, calls, _ := strings.Cut(body, "- Calls: ")
	calls, _, _ = strings.Cut(calls, "\n")
	for _, m := range dumpCalls.FindAllStringSubmatch(calls, -1) {
		each, one := strings.CutSuffix(m[2], " 1 each")
		for _, item := range strings.Split(each, ", ") {
			name, n, _ := strings.Cut(item, " ")
			if one {
				n = strings.TrimSpace(n + " 1")
			}
			if name == "readdirp" {
				name = "readdirplus"
			}
			e.want["v"+m[1]+" "+strings.ToUpper(name)] += number(n)
		}
	}
}

// number is a whole number, which the patterns above made sure of.
func number(s string) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// micros is a number of seconds in microseconds; "None" is 0.
func micros(s string) int64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return int64(math.Round(f * 1e6))
}
