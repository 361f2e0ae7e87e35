package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// groups is how many log entries the stores of these tests hold: an epoch, a
// session, a lease, and then a transaction in each.
const groups = 13

// makeStore writes a store of several small segments.
func makeStore(t *testing.T, dir string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := storedir.Open(dir, storedir.Options{BlockSize: 512})
	check(err)
	epoch, err := d.NextEpoch()
	check(err)
	log, _, err := wal.Open(d.LogDir(), d.StoreID(), wal.Options{SegmentBytes: 500})
	check(err)
	_, err = log.Fence(epoch)
	check(err)
	session := occ.SessionID{7}
	for n := range uint64(groups) {
		var r record.Record
		switch n {
		case 0:
			r = &record.Epoch{Epoch: epoch}
		case 1:
			r = &record.Session{ID: session}
		case 2:
			r = &record.Lease{Session: session, First: 1, Count: 64}
		default:
			r = &record.Commit{At: occ.Timestamp(n - 2), Session: session, Seq: n, Acked: n - 1,
				Writes: []occ.Write{{Block: occ.BlockID(1 + n%4), Data: bytes.Repeat([]byte{byte(n)}, 20)}}}
		}
		_, err := log.Append(record.Append(nil, record.Group{Records: []record.Record{r}}))
		check(err)
	}
	check(log.Close())
	check(d.Close())
}

// place is where a log entry stands.
type place struct {
	file    string
	at, end int
	prefix  int
}

// places finds the entries of an undamaged store, by their indexes.
func places(t *testing.T, dir string) []place {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "log", "0*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("segments %v, %v", files, err)
	}
	all := []place{{}}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(b); {
			n, p := binary.Uvarint(b[at:])
			all = append(all, place{file, at, at + p + int(n), p})
			at += p + int(n)
		}
	}
	return all
}

// content is every file of a directory.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			files[path] = "directory"
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// edit changes a file.
func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func flipBit(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 4; return b }
}

// TestFaults damages a store in every way of a table, and checks the verdict
// and the places that store check names, that it changed nothing, and that a
// server thinks the same.
func TestFaults(t *testing.T) {
	type result struct {
		lines   []string // findings, with DIR for the directory of the log
		verdict string
	}
	name := func(p place) string { return "DIR/" + filepath.Base(p.file) }
	torn := func(p place, index int, reason string, n int) result {
		return result{
			[]string{fmt.Sprintf("torn tail: %s, offset %d, entry %d: %s (%d bytes, which the next start cuts off)", name(p), p.at, index, reason, n)},
			fmt.Sprintf("torn tail: a server starts, and cuts off %d bytes", n),
		}
	}
	one := "damaged at 1 place: no server starts"
	// behind is what is said when entry index is damaged and the next follows.
	behind := func(all []place, index int, reason string) result {
		p, next := all[index], all[index+1]
		line := fmt.Sprintf("corruption: %s, offset %d, entry %d: %s", name(p), p.at, index, reason)
		if next.file == p.file {
			line += fmt.Sprintf(", and entry %d follows whole at offset %d", index+1, next.at+next.prefix)
		}
		return result{[]string{line + fmt.Sprintf(" (%d bytes, 1 entry lost)", p.end-p.at)}, one}
	}
	firstOf := func(all []place, segment int) int { // the index of its first entry
		for i := 1; ; i++ {
			if all[i].at == 0 {
				if segment--; segment < 0 {
					return i
				}
			}
		}
	}
	last := func(all []place) place { return all[groups] }
	after := func(all []place) place { p := last(all); p.at = p.end; return p }

	for fault, do := range map[string]func(dir string, all []place) result{
		"none": func(string, []place) result { return result{verdict: "clean"} },
		"last record cut in its length": func(_ string, all []place) result {
			p := last(all)
			edit(t, p.file, func(b []byte) []byte { return b[:p.at+p.prefix+1] })
			return torn(p, groups, "entry is cut off", p.prefix+1)
		},
		"last record cut in its header": func(_ string, all []place) result {
			p := last(all)
			edit(t, p.file, func(b []byte) []byte { return b[:p.at+20] })
			return torn(p, groups, "entry is cut off", 20)
		},
		"last record cut in its data": func(_ string, all []place) result {
			p := last(all)
			edit(t, p.file, func(b []byte) []byte { return b[:len(b)-1] })
			return torn(p, groups, "entry is cut off", p.end-p.at-1)
		},
		"tail of zeros": func(_ string, all []place) result {
			edit(t, last(all).file, func(b []byte) []byte { return append(b, make([]byte, 4096)...) })
			return torn(after(all), groups+1, "no entry length", 4096)
		},
		"tail of garbage": func(_ string, all []place) result {
			edit(t, last(all).file, func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xa5}, 333)...) })
			return torn(after(all), groups+1, "no entry length", 333)
		},
		"phantom entries": func(_ string, all []place) result { // which parse for the library
			edit(t, last(all).file, func(b []byte) []byte { return append(b, bytes.Repeat([]byte{3, 'a', 'b', 'c'}, 50)...) })
			return torn(after(all), groups+1, "no entry length", 200)
		},
		"flipped bit in the data of the last record": func(_ string, all []place) result {
			p := last(all)
			edit(t, p.file, flipBit(p.end-1))
			return torn(p, groups, "checksum does not match", p.end-p.at)
		},
		"flipped bit in a header, first segment": func(_ string, all []place) result {
			edit(t, all[2].file, flipBit(all[2].at+all[2].prefix+30))
			return behind(all, 2, "checksum does not match")
		},
		"flipped bit in data, first segment": func(_ string, all []place) result {
			edit(t, all[4].file, flipBit(all[4].end-3))
			return behind(all, 4, "checksum does not match")
		},
		"flipped bit in a header, middle segment": func(_ string, all []place) result {
			i := firstOf(all, 1)
			edit(t, all[i].file, flipBit(all[i].prefix))
			return behind(all, i, "no entry header")
		},
		"flipped bit in a length, middle segment": func(_ string, all []place) result {
			i := firstOf(all, 1) + 1
			p := all[i]
			edit(t, p.file, flipBit(p.at))
			return result{[]string{fmt.Sprintf("corruption: %s, offset %d, entry %d: lengths differ, and entry %d follows whole at offset %d (1 byte)",
				name(p), p.at, i, i, p.at+p.prefix)}, one}
		},
		"flipped bit in data, end of the middle segment": func(_ string, all []place) result {
			i := firstOf(all, 2) - 1
			edit(t, all[i].file, flipBit(all[i].end-1))
			return behind(all, i, "checksum does not match")
		},
		"flipped bit in data, last segment": func(_ string, all []place) result {
			i := groups - 1
			if all[i].file != all[groups].file {
				t.Fatal("the last segment has one entry")
			}
			edit(t, all[i].file, flipBit(all[i].end-1))
			return behind(all, i, "checksum does not match")
		},
		"middle segment cut": func(_ string, all []place) result {
			i := firstOf(all, 2) - 1
			edit(t, all[i].file, func(b []byte) []byte { return b[:all[i].at] })
			return result{[]string{fmt.Sprintf("corruption: %s, offset %d, entry %d: segment is short, or one is missing: the next segment begins with entry %d (0 bytes, 1 entry lost)",
				name(all[i]), all[i].at, i, i+1)}, one}
		},
		"first segment missing": func(_ string, all []place) result {
			if err := os.Remove(all[1].file); err != nil {
				t.Fatal(err)
			}
			return result{[]string{fmt.Sprintf("corruption: %s, offset 0, entry 1: segment is missing", name(all[1]))}, one}
		},
		"middle segment missing": func(_ string, all []place) result {
			i, next := firstOf(all, 1), firstOf(all, 2)
			if err := os.Remove(all[i].file); err != nil {
				t.Fatal(err)
			}
			return result{[]string{fmt.Sprintf("corruption: %s, offset %d, entry %d: segment is short, or one is missing: the next segment begins with entry %d (0 bytes, %d entries lost)",
				name(all[1]), all[i-1].end, i, next, next-i)}, one}
		},
		"last segment missing": func(_ string, all []place) result {
			p := last(all)
			if err := os.Remove(p.file); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(q place) bool { return q.file == p.file })
			return result{[]string{fmt.Sprintf("corruption: %s, offset 0, entry %d: segment is missing", name(p), i)}, one}
		},
		"several places": func(_ string, all []place) result {
			i, p := firstOf(all, 1), last(all)
			edit(t, all[2].file, flipBit(all[2].end-1))
			edit(t, all[i].file, flipBit(all[i].end-1))
			edit(t, p.file, func(b []byte) []byte { return b[:len(b)-2] })
			return result{slices.Concat(
				behind(all, 2, "checksum does not match").lines, behind(all, i, "checksum does not match").lines,
				torn(p, groups, "entry is cut off", p.end-p.at-2).lines,
			), "damaged at 2 places: no server starts"}
		},
		"store file damaged": func(dir string, _ []place) result {
			edit(t, filepath.Join(dir, "tidemark.store"), flipBit(20))
			return result{[]string{"corruption: DIR/tidemark.store: store file is damaged: its checksum does not match"}, one}
		},
		"store file missing": func(dir string, _ []place) result {
			if err := os.Remove(filepath.Join(dir, "tidemark.store")); err != nil {
				t.Fatal(err)
			}
			return result{[]string{"corruption: DIR/tidemark.store: store file is missing"}, one}
		},
		"log of another store": func(dir string, _ []place) result {
			other := filepath.Join(t.TempDir(), "other")
			makeStore(t, other)
			if err := os.Rename(filepath.Join(other, "tidemark.store"), filepath.Join(dir, "tidemark.store")); err != nil {
				t.Fatal(err)
			}
			return result{nil, "damaged at 3 places: no server starts"}
		},
	} {
		t.Run(fault, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			makeStore(t, dir)
			want := do(dir, places(t, dir))
			before := content(t, dir)
			var out, errs bytes.Buffer
			code := run([]string{"store", "check", dir}, &environment{ctx: t.Context(), stdout: &out, stderr: &errs})
			findings, summary, found := strings.Cut(out.String(), "\n\n")
			if !found {
				findings, summary = "", out.String()
			}
			findings = strings.ReplaceAll(findings, filepath.Join(dir, "log"), "DIR")
			findings = strings.ReplaceAll(findings, dir, "DIR")
			if text := strings.Join(want.lines, "\n"); want.lines != nil && findings != text {
				t.Errorf("it found\n%s\nnot\n%s", findings, text)
			}
			if !strings.HasSuffix(strings.TrimSpace(summary), "  "+want.verdict) {
				t.Errorf("it says\n%s\nnot %s", summary, want.verdict)
			}
			wantCode, wantErr := 0, ""
			if strings.HasPrefix(want.verdict, "damaged") {
				wantCode, wantErr = exitFound, fmt.Sprintf("tidemark: data directory %s is damaged\n", dir)
			}
			if code != wantCode || errs.String() != wantErr {
				t.Errorf("exit code %d, %q", code, &errs)
			}
			for _, args := range []string{"check --json", "dump", "dump --blocks --from=5"} {
				run(strings.Fields("store "+args+" "+dir), &environment{ctx: t.Context(), stdout: &out, stderr: &errs})
			}
			if after := content(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("the directory was changed")
			}
			s, err := server.Open(server.Options{Dir: dir})
			if (err == nil) != (wantCode == 0) {
				t.Errorf("the verdict is %s, but a server says %v", want.verdict, err)
			}
			if err == nil {
				if err := s.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestUnprintedDamage: who did not get to print the damage does not say that
// there is some.
func TestUnprintedDamage(t *testing.T) {
	dir := t.TempDir()
	makeStore(t, dir)
	edit(t, filepath.Join(dir, "tidemark.store"), flipBit(20))
	for _, args := range [][]string{{"store", "check", dir}, {"store", "check", "--json", dir}} {
		var errs bytes.Buffer
		code := run(args, &environment{ctx: t.Context(), stdout: full{errors.New("no more room")}, stderr: &errs})
		if code != exitFailure || errs.String() != "tidemark: no more room\n" {
			t.Errorf("%q: exit code %d, %q", args, code, &errs)
		}
	}
}

// TestDumpIntoAClosedPipe: whoever reads may stop reading.
func TestDumpIntoAClosedPipe(t *testing.T) {
	dir := t.TempDir()
	makeStore(t, dir)
	program, err := exec.LookPath("tidemark")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := exec.Command(program, "store", "dump", "--blocks", dir)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("%v, %q", err, &errs)
	}
	w.Close()
}
