package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const readme = `# Captures

## Text

### a.tsv and a-set6-auspex-style.txt

Counts: set6 Block READ 3,736, Attr READ 3,598, Block WRITE 38. set0 Block READ 1.

### dump.txt

- 118 lines: 93 TCP, 25 UDP; NFSv3 calls 51 and replies 53, NFSv2 calls 6 and replies 8; 13 distinct client addresses; times from 1.5 to 3.75.
- Calls: C3 getattr 5, readdirp 3; C2 read, write 1 each.

## Packet captures

### one.pcap

- Size 18,266 bytes; 99 frames; 1 cut by snap length; 2 IP-fragment frames.
- NFS calls 36 (matched replies 35); clients 1; connections 2; servers 3; transport tcp 36; first to last NFS message 0.032518 s.
- Calls: NFS v3: GETATTR 6, SETATTR 5; NFS v2: NULL 1; other RPC: MOUNT v3 proc 0 x3, callback program v1 proc 0 x1.

### none.pcap

- Size 1,056 bytes; 10 frames; 0 cut by snap length; 0 IP-fragment frames.
- NFS calls 0 (matched replies 0); clients 0; connections 0; servers 0; transport -; first to last NFS message None s.
- Calls: other RPC: MOUNT v3 proc 0 x3.

### four.pcap

- Size 1 bytes; 2 frames; 0 cut by snap length; 0 IP-fragment frames.
- Calls: NFS v4: COMPOUND 3.
- Notes: NFSv4.1 with pNFS. Sub-operations in the 3 COMPOUND calls: SEQUENCE 27, GETFH 4, and one each of CLOSE, OPEN. SYN 5.

### more.pcap

- Size 1 bytes; 2 frames; 0 cut by snap length; 0 IP-fragment frames.
- Notes: Sub-operations in the 525 COMPOUND calls: SEQUENCE 521, READ 5, and a few more. In the replies READ is 4.
`

func TestParseReadme(t *testing.T) {
	want := []entry{
		{"a.tsv", counts{}, false},
		{"a-set6-auspex-style.txt", counts{"Block READ": 3736, "Attr READ": 3598, "Block WRITE": 38}, false},
		{"dump.txt", counts{"lines": 118, "calls": 57, "replies": 61, "clients": 13, "microseconds": 2_250_000,
			"v3 GETATTR": 5, "v3 READDIRPLUS": 3, "v2 READ": 1, "v2 WRITE": 1}, false},
		{"one.pcap", counts{"frames": 99, "frames cut": 1, "fragments": 2, "calls": 36, "replies": 35, "clients": 1, "connections": 2, "servers": 3,
			"over tcp": 36, "over udp": 0, "microseconds": 32518, "v3 GETATTR": 6, "v3 SETATTR": 5, "v2 NULL": 1,
			"other MOUNT v3 proc 0": 3, "other callback v1 proc 0": 1}, false},
		{"none.pcap", counts{"frames": 10, "frames cut": 0, "fragments": 0, "calls": 0, "replies": 0, "clients": 0, "connections": 0, "servers": 0,
			"over tcp": 0, "over udp": 0, "microseconds": 0, "other MOUNT v3 proc 0": 3}, false},
		{"four.pcap", counts{"frames": 2, "frames cut": 0, "fragments": 0, "v4 COMPOUND": 3,
			"v4 operation SEQUENCE": 27, "v4 operation GETFH": 4, "v4 operation CLOSE": 1, "v4 operation OPEN": 1}, true},
		{"more.pcap", counts{"frames": 2, "frames cut": 0, "fragments": 0, "v4 operation SEQUENCE": 521, "v4 operation READ": 5}, false},
	}
	got := parseReadme(readme)
	for i := range want {
		if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("entry %d: got %v\nwant %v", i, got[min(i, len(got)-1)], want[i])
		}
	}
}

// TestRun checks a capture whose README is right, then one whose README is
// not, and files that cannot be read.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	capture, err := os.ReadFile("../../traces/capture/testdata/zeek-mount-unmount.pcap")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("m.pcap", string(capture))
	write("x.tsv", "something else\n")
	write("a-set1-auspex-style.txt", "1.000000 Attr READ FID: a OFF: 0 SIZE: 0 HOST: 1\n")
	const right = `
### m.pcap
- Size 1,056 bytes; 10 frames; 0 cut by snap length; 0 IP-fragment frames.
- NFS calls 0 (matched replies 0); clients 0; connections 0; servers 0; transport -; first to last NFS message None s.
- Calls: other RPC: MOUNT v3 proc 0 x3, MOUNT v3 proc 1 x1, MOUNT v3 proc 3 x1.
### x.tsv
### a-set1-auspex-style.txt
Counts: set1 Attr READ 1.
`
	for _, c := range []struct {
		readme string
		differ int
	}{
		{right, 0},
		{strings.Replace(right, "proc 1 x1", "proc 1 x2", 1), 1},
		{strings.Replace(right, ", MOUNT v3 proc 3 x1", "", 1), 1},
		{strings.Replace(right, "Attr READ 1", "Attr READ 2", 1), 1},
		{right + "### missing.pcap\n", 1},
	} {
		write("README.md", c.readme)
		if differ, err := run(dir); err != nil || differ != c.differ {
			t.Errorf("%d files differ, not %d; %v", differ, c.differ, err)
		}
	}
	write("README.md", strings.Replace(right, "### x.tsv\n", "### x.tsv\n- Size 9 bytes; 10 frames; 0 cut by snap length; 0 IP-fragment frames.\n", 1))
	if differ, err := run(dir); err != nil || differ != 1 {
		t.Errorf("without a reader for what is counted, %d files differ; %v", differ, err)
	}
	write("README.md", "nothing")
	if _, err := run(dir); err == nil {
		t.Error("a README without files was taken")
	}
}

// TestOperationsOfCompounds compares lists of operations that are whole, and
// such that are not.
func TestOperationsOfCompounds(t *testing.T) {
	want := counts{"v4 COMPOUND": 1, operation("READ"): 2}
	for _, c := range []struct {
		whole   bool
		got     counts
		differs int
	}{
		{true, counts{"v4 COMPOUND": 1, operation("READ"): 2}, 0},
		{true, counts{"v4 COMPOUND": 1, operation("READ"): 2, operation("OPEN"): 1}, 1},
		{false, counts{"v4 COMPOUND": 1, operation("READ"): 2, operation("OPEN"): 1}, 0},
		{false, counts{"v4 COMPOUND": 1, operation("READ"): 1, "v4 NULL": 1}, 2},
	} {
		if got := compare(entry{want: want, operations: c.whole}, c.got); len(got) != c.differs {
			t.Errorf("%v, whole %v: %v", c.got, c.whole, got)
		}
	}
}
