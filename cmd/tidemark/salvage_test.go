package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
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
func fill(t *testing.T, db *client.DB) (ids []occ.BlockID, had [][][]byte) {
	t.Helper()
	had = make([][][]byte, served)
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
	return ids, had
}

// TestSalvageAfterKill: a directory as a crash leaves it is clean or torn, and
// nothing that was acknowledged is lost by a salvage.
func TestSalvageAfterKill(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "new")
	p, err := launch(t.Context(), t.TempDir(), "--dir="+dir, "--listen=127.0.0.1:0", "--block-size=512", "--checkpoint=0.05")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	db, err := client.Dial(t.Context(), p.Addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids, had := fill(t, db)
	p.Kill()
	db.Close()
	before := content(t, dir)
	for _, args := range [][]string{{"check", dir}, {"dump", "--blocks", dir}, {"salvage", dir, "-o", to}, {"check", to}} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"store"}, args...), &environment{ctx: t.Context(), stdout: &out, stderr: &errs}); code != 0 {
			t.Fatalf("store %s: exit code %d: %s%s", args, code, &out, &errs)
		}
	}
	if !maps.Equal(before, content(t, dir)) {
		t.Error("the directory was changed")
	}
	withServer(t, to, func(db *client.DB) { compare(t, db, ids, had, nil, true) })
}

// TestSalvage damages a store that a server has written, and serves what is
// salvaged of it.
func TestSalvage(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "data")
	var ids []occ.BlockID
	var had [][][]byte
	withServer(t, whole, func(db *client.DB) { ids, had = fill(t, db) })
	var out, errs bytes.Buffer
	if code := run([]string{"store", "check", whole}, &environment{ctx: t.Context(), stdout: &out, stderr: &errs}); code != 0 || !strings.Contains(out.String(), "checkpoint") {
		t.Fatalf("exit code %d: %s%s", code, &out, &errs)
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		newest bool // every block has its newest version
		starts bool // a server does
	}{
		"header": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/header"), func(b []byte) []byte { clear(b); return b })
		}, true, false},
		"block": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/blocks"), flipBit(firstSlot(t, dir)+100))
		}, false, true},
		"index": {func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "blocks/index-*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			edit(t, files[0], flipBit(60))
		}, true, false},
		"log": {func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "log/0*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			edit(t, files[0], flipBit(60))
		}, false, false},
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
			if code := run([]string{"store", "check", dir}, env); code != exitFound || strings.Contains(out.String(), "no server starts") == c.starts {
				t.Errorf("exit code %d: %s%s", code, &out, &errs)
			}
			copied := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			s, err := server.Open(server.Options{Dir: copied})
			if (err == nil) != c.starts {
				t.Errorf("a server says %v", err)
			}
			if err == nil {
				s.Shutdown(context.Background()) // which may meet the damage
			}
			out.Reset()
			if code := run([]string{"store", "salvage", dir, "-o", to, "--json"}, env); code != 0 {
				t.Fatalf("exit code %d: %s", code, &errs)
			}
			if !maps.Equal(before, content(t, dir)) {
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

// firstSlot is where the data of the first block are in the block file.
func firstSlot(t *testing.T, dir string) int {
	t.Helper()
	d, err := blockdir.Open(filepath.Join(dir, "blocks"), layout.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at := int64(0)
	damage, err := d.ReadIndex(d.Newest().Header, layout.Visitor{State: func([]byte) {}, Version: func(v layout.Version) error {
		if v.Size > 0 && at == 0 {
			at = d.Owner.SlotOffset(v.Slot)
		}
		return nil
	}})
	if damage != nil || err != nil || at == 0 {
		t.Fatalf("%v, %v, %d", damage, err, at)
	}
	return int(at)
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
