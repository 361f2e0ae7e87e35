package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/backup/take"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
)

const (
	backedBlockSize = 16 << 10
	backedBlocks    = 48 // of which a full backup has several writes
	// leastBackupOperations of the smallest backup: to create the file, four
	// writes, two syncs and the rename.
	leastBackupOperations = 8
)

// backedUp is a store that is backed up to files of a disk that can crash.
type backedUp struct {
	*testing.T
	ctx  context.Context
	db   *client.DB
	has  map[occ.BlockID]string // without zeros at the end
	turn int                    // of write
}

func newBackedUp(t *testing.T) *backedUp {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	srv, err := server.Open(server.Options{BlockSize: backedBlockSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Shutdown(context.Background()) })
	db, err := client.Local(srv, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &backedUp{T: t, ctx: ctx, db: db, has: make(map[occ.BlockID]string)}
}

func (b *backedUp) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// write writes all blocks but every nth.
func (b *backedUp) write(n int) {
	b.Helper()
	b.turn++
	b.check(b.db.Update(b.ctx, func(tx *client.Tx) error {
		for id := occ.BlockID(1); id <= backedBlocks; id++ {
			if int(id)%n == 0 {
				continue
			}
			b.has[id] = strings.Repeat(fmt.Sprintf("%d of turn %d. ", id, b.turn), backedBlockSize/20)
			if err := tx.Write(id, []byte(b.has[id])); err != nil {
				return err
			}
		}
		return nil
	}))
}

// backUp runs the command, which writes a file to d and replaces one that has
// its name, and returns whether it said that it is done.
func (b *backedUp) backUp(d disk.Disk, name string, o take.Options) (said bool, err error) {
	out, err := newOutputFile(name, outputOptions{perm: backupPerm}, diskSteps(d))
	if err != nil {
		return false, err
	}
	var text bytes.Buffer
	c := &storeBackupCmd{Output: name, Force: true}
	err = c.write(b.ctx, &environment{ctx: b.ctx, stdout: &text, stderr: io.Discard}, b.db, out, o)
	return text.Len() > 0, err
}

// diskSteps are those on a disk in place of the working directory.
func diskSteps(d disk.Disk) outputSteps {
	return outputSteps{
		exists: func(path string) bool {
			names, err := d.List()
			return err == nil && slices.Contains(names, path)
		},
		create: func(dir, pattern string) (outputFile, error) {
			name := filepath.Join(dir, strings.ReplaceAll(pattern, "*", "1"))
			f, err := d.Open(name)
			return &diskFile{File: f, name: name}, err
		},
		rename: d.Rename,
		remove: d.Remove,
		syncDir: func(dir string) error {
			if dir != "." {
				return fmt.Errorf("%s is synced", dir)
			}
			return d.SyncDir()
		},
	}
}

// diskFile is an outputFile.
type diskFile struct {
	disk.File
	name string
	at   int64 // where the next Write begins
}

func (f *diskFile) Name() string            { return f.name }
func (f *diskFile) Chmod(fs.FileMode) error { return nil }

func (f *diskFile) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

// put makes a durable file.
func (b *backedUp) put(d disk.Disk, name string, content []byte) {
	b.Helper()
	f, err := d.Open(name)
	b.check(err)
	_, err = f.WriteAt(content, 0)
	b.check(errors.Join(err, f.Sync(), d.SyncDir()))
}

// file returns what a disk has under a name, nil for nothing.
func (b *backedUp) file(d disk.Disk, name string) []byte {
	b.Helper()
	names, err := d.List()
	b.check(err)
	if !slices.Contains(names, name) {
		return nil
	}
	f, err := d.Open(name)
	b.check(err)
	size, err := f.Size()
	b.check(err)
	all, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	b.check(err)
	return append([]byte{}, all...) // not nil
}

// header returns that of a backup.
func (b *backedUp) header(file []byte) *backup.Header {
	b.Helper()
	r, err := backup.NewReader(bytes.NewReader(file), "the backup")
	b.check(err)
	h := r.Header()
	return &h
}

// restores tells why the backups together do not restore to what the store has.
func (b *backedUp) restores(files ...[]byte) error {
	var readers []*backup.Reader
	for i, file := range files {
		r, err := backup.NewReader(bytes.NewReader(file), fmt.Sprint(i))
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	chain, err := backup.NewChain(readers)
	if err != nil {
		return err
	}
	d := disk.NewMemory()
	if _, err := restore.Blocks(b.ctx, d, 5<<32, chain, restore.Options{}); err != nil {
		return err
	}
	s, loaded, err := blocks.Open(d, blocks.Options{Store: b.db.Store(), BlockSize: backedBlockSize})
	if err != nil {
		return err
	}
	defer s.Close()
	has := make(map[occ.BlockID]string)
	err = loaded.Versions(func(id occ.BlockID, from occ.Timestamp, _ int) error {
		data, err := s.Read(id, from)
		if has[id] != "" {
			return fmt.Errorf("two versions of block %d", id)
		}
		has[id] = string(bytes.TrimRight(data, "\x00"))
		return err
	})
	if err == nil && !maps.Equal(has, b.has) {
		err = errors.New("the store has something else")
	}
	return err
}

// A backup, full or of what changed, crashes at every single operation on the
// disk that it is written to, with what was not synced kept, lost, or kept in
// part: under its name there is what was there before, or all of it, and that
// once the command has said that it is done.
func TestBackupCrashesEverywhere(t *testing.T) {
	b := newBackedUp(t)
	made := func(o take.Options) []byte {
		d := disk.NewMemory()
		if said, err := b.backUp(d, "backup", o); err != nil || !said {
			t.Fatalf("%v; the command said that it is done: %v", err, said)
		}
		return b.file(d, "backup")
	}
	b.write(backedBlocks)
	olderFull := made(take.Options{})
	b.write(7)
	full := made(take.Options{})
	since := b.header(full)
	b.write(5)
	olderChanges := made(take.Options{Earlier: since})
	b.write(3)

	for _, c := range []struct {
		what   string
		before []byte // under the name
		o      take.Options
		with   [][]byte // what restoring needs too
	}{
		{"full", nil, take.Options{}, nil},
		{"full in place of an older one", olderFull, take.Options{}, nil},
		{"changes", nil, take.Options{Earlier: since}, [][]byte{full}},
		{"changes in place of older ones", olderChanges, take.Options{Earlier: since}, [][]byte{full}},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := &backedUp{T: t, ctx: b.ctx, db: b.db, has: b.has}
			rng := rand.New(rand.NewPCG(11, 1))
			choices := []func(disk.Unsynced) bool{
				func(disk.Unsynced) bool { return false },
				func(disk.Unsynced) bool { return true },
				func(u disk.Unsynced) bool { return u.Sector < 0 }, // names and sizes
				func(disk.Unsynced) bool { return rng.IntN(2) == 0 },
				func(disk.Unsynced) bool { return rng.IntN(8) > 0 },
			}
			start := disk.NewMemory()
			b.put(start, "full", full)
			if c.before != nil {
				b.put(start, "backup", c.before)
			}
			n, early := 0, 0
			for said := false; !said; n++ {
				d := start.Crash(choices[0])
				d.StopAfter(n)
				var err error
				if said, err = b.backUp(d, "backup", c.o); said != (err == nil) || err != nil && !errors.Is(err, disk.ErrCrashed) {
					t.Fatalf("operation %d: %v; the command said that it is done: %v", n, err, said)
				}
				for i, keep := range choices {
					after := d.Crash(keep)
					if !bytes.Equal(b.file(after, "full"), full) {
						t.Errorf("operation %d, choice %d: the earlier backup is another", n, i)
					}
					file := b.file(after, "backup")
					if !said && bytes.Equal(file, c.before) && (file == nil) == (c.before == nil) {
						continue
					}
					if err := b.restores(append(slices.Clone(c.with), file)...); err != nil {
						t.Errorf("operation %d, choice %d, done: %v: %d bytes under the name: %v", n, i, said, len(file), err)
					}
					if !said {
						early++
					}
				}
			}
			if n <= leastBackupOperations || early == 0 {
				t.Errorf("%d operations, and the backup is there early after %d crashes", n-1, early)
			}
			t.Logf("%d operations, the backup is there early after %d crashes", n-1, early)
		})
	}
}
