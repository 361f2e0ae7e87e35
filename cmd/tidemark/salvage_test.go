package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/inspect/salvage"
)

// withServer opens a store and calls do with a client.
func withServer(t *testing.T, dir string, do func(db *client.DB)) {
	t.Helper()
	s, err := server.Open(server.Options{Dir: dir, BlockSize: 512, CheckpointBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	db, err := client.Local(s, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(db)
}

const served = 40 // blocks

// fill writes every block of a new store some times. What it returns are the
// blocks and all data that they ever had, the newest last.
func fill(t *testing.T, dir string) (ids []occ.BlockID, had [][][]byte) {
	t.Helper()
	had = make([][][]byte, served)
	withServer(t, dir, func(db *client.DB) {
		for round := range 12 {
			for i := range served {
				data := bytes.Repeat([]byte{byte(1 + round), byte(1 + i)}, 200)
				err := db.Update(t.Context(), func(tx *client.Tx) error {
					if round == 0 {
						id, err := tx.Create()
						if err != nil {
							return err
						}
						ids = append(ids[:i], id)
					}
					return tx.Write(ids[i], data)
				})
				if err != nil {
					t.Fatal(err)
				}
				had[i] = append(had[i], data)
			}
		}
	})
	return ids, had
}

// TestSalvage damages a store that a server has written, and serves what is
// salvaged of it.
func TestSalvage(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "data")
	ids, had := fill(t, whole)
	var out, errs bytes.Buffer
	if code := run([]string{"store", "check", whole}, &environment{ctx: t.Context(), stdout: &out, stderr: &errs}); code != 0 || !strings.Contains(out.String(), "checkpoint") {
		t.Fatalf("exit code %d: %s%s", code, &out, &errs)
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		newest bool // every block has its newest version
	}{
		"header": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/header"), func(b []byte) []byte { clear(b); return b })
		}, true},
		"block": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/blocks"), flipBit(4096+3*(512+32)+100))
		}, false},
		"index": {func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "blocks/index-*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			edit(t, files[0], flipBit(60))
		}, true},
		"log": {func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "log/0*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			edit(t, files[0], flipBit(60))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "new")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			before := content(t, dir)
			var out, errs bytes.Buffer
			env := &environment{ctx: t.Context(), stdout: &out, stderr: &errs}
			if code := run([]string{"store", "salvage", dir, "-o", to, "--json"}, env); code != 0 {
				t.Fatalf("exit code %d: %s", code, &errs)
			}
			if fmt.Sprint(content(t, dir)) != fmt.Sprint(before) {
				t.Error("the directory was changed")
			}
			lost := make(map[occ.BlockID]bool)
			var summary *salvage.Summary
			for line := range strings.Lines(out.String()) {
				var l struct {
					Loss    *salvage.Loss
					Summary *salvage.Summary
				}
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				if l.Loss != nil && l.Loss.Kind == salvage.Block {
					lost[l.Loss.Block] = true
				}
				summary = l.Summary
			}
			if summary == nil || summary.Blocks == 0 {
				t.Fatalf("it printed %s", &out)
			}
			if code := run([]string{"store", "check", to}, env); code != 0 {
				t.Errorf("the new store is not whole: %s%s", &out, &errs)
			}
			withServer(t, to, func(db *client.DB) { compare(t, db, ids, had, lost, c.newest) })
		})
	}
}

// compare reads all blocks, and writes one more.
func compare(t *testing.T, db *client.DB, ids []occ.BlockID, had [][][]byte, lost map[occ.BlockID]bool, newest bool) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *client.Tx) error {
		for i, id := range ids {
			data, err := tx.Read(id)
			if err != nil {
				return err
			}
			data = bytes.TrimRight(data, "\x00")
			age := -1
			for n, old := range had[i] {
				if bytes.Equal(data, old) {
					age = len(had[i]) - 1 - n
				}
			}
			if age < 0 && (len(data) > 0 || !lost[id]) || newest && age > 0 {
				t.Errorf("block %d has %d bytes, version %d from the newest; listed: %t", id, len(data), age, lost[id])
			}
		}
		id, err := tx.Create()
		for _, old := range ids {
			if id == old {
				err = errors.Join(err, fmt.Errorf("block %d was created twice", id))
			}
		}
		return errors.Join(err, tx.Write(id, []byte("new")))
	})
	if err != nil {
		t.Error(err)
	}
}
