package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/storedir/durable"
	"github.com/tidemark/tidemark/server/wal"
)

// spoiler is a data directory, for a test that makes it one to be refused.
type spoiler struct {
	t       *testing.T
	dir     string
	earlier string // the directory when its log was not trimmed yet
}

func (s spoiler) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// path returns the only file that the pattern names.
func (s spoiler) path(pattern string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, pattern))
	if s.check(err); len(found) != 1 {
		s.t.Fatalf("%s: %q", pattern, found)
	}
	return found[0]
}

func (s spoiler) edit(pattern string, change func(b []byte) []byte) {
	s.t.Helper()
	path := s.path(pattern)
	b, err := os.ReadFile(path)
	s.check(err)
	s.check(os.WriteFile(path, change(b), 0o640))
}

func (s spoiler) flip(pattern string, at int) {
	s.edit(pattern, func(b []byte) []byte {
		b[at] ^= 1
		return b
	})
}

func (s spoiler) grow(pattern, by string) {
	s.edit(pattern, func(b []byte) []byte { return append(b, by...) })
}

func (s spoiler) cut(pattern string, bytes int) {
	s.edit(pattern, func(b []byte) []byte { return b[:len(b)-bytes] })
}

func (s spoiler) remove(name string) { s.check(os.RemoveAll(filepath.Join(s.dir, name))) }

// renew puts a format version that is to come into a page, whose last four
// bytes are its checksum.
func (s spoiler) renew(pattern string) {
	s.edit(pattern, func(b []byte) []byte {
		page := b[:layout.PageSize]
		page[8] = 9
		binary.LittleEndian.PutUint32(page[layout.PageSize-4:], layout.Checksum(0, page[:layout.PageSize-4]))
		return b
	})
}

// older puts files back that were there earlier.
func (s spoiler) older(pattern string) {
	paths, err := filepath.Glob(filepath.Join(s.earlier, pattern))
	if s.check(err); len(paths) == 0 {
		s.t.Fatalf("no %s was there", pattern)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		s.check(err)
		name, err := filepath.Rel(s.earlier, path)
		s.check(err)
		s.check(os.WriteFile(filepath.Join(s.dir, name), b, 0o640))
	}
}

// opened calls use with the parts of the directory.
func (s spoiler) opened(use func(*storedir.Dir, *wal.Disk, *blocks.Store)) {
	dir, err := storedir.Open(s.dir, storedir.Options{})
	s.check(err)
	log, _, err := wal.Open(dir.LogDir(), dir.StoreID(), wal.Options{})
	s.check(err)
	st, _, err := blocks.Open(disk.OS(storedir.BlocksPath(s.dir)), blocks.Options{Store: dir.StoreID(), BlockSize: dir.BlockSize()})
	s.check(err)
	use(dir, log, st)
	s.check(errors.Join(st.Close(), log.Close(), dir.Close()))
}

// entry appends an entry to the log under a new epoch, as a server does.
func (s spoiler) entry(payload []byte) {
	s.opened(func(dir *storedir.Dir, log *wal.Disk, _ *blocks.Store) {
		epoch, err := dir.NextEpoch()
		s.check(err)
		_, err = log.Fence(epoch)
		s.check(err)
		_, err = log.Append(payload)
		s.check(err)
	})
}

// state makes a checkpoint with another state.
func (s spoiler) state(of func(blocks.Durable) []byte) {
	s.opened(func(_ *storedir.Dir, _ *wal.Disk, st *blocks.Store) {
		d := st.Durable()
		s.check(st.Begin(blocks.Moment{LogIndex: d.LogIndex, Stable: d.Stable}, bytes.NewReader(of(d))))
		for done := false; !done; {
			var err error
			done, err = st.Step()
			s.check(err)
		}
	})
}

// crash leaves in the directory what crashes leave, and a start removes: a torn
// end of the log, an interrupted trim, an unfinished checkpoint, slots that no
// checkpoint names.
func (s spoiler) crash() {
	if segments, _ := filepath.Glob(filepath.Join(s.dir, "log", "[0-9]*")); len(segments) > 0 { // the pattern is good
		s.grow("log/"+filepath.Base(slices.Max(segments)), "torn")
		s.check(os.WriteFile(filepath.Join(s.dir, "log", "bounds"+durable.TempSuffix), nil, 0o640))
	}
	if _, err := os.Stat(storedir.BlocksPath(s.dir)); err == nil {
		s.check(os.WriteFile(filepath.Join(s.dir, "blocks", "index-00000000000fffff"), []byte("unfinished"), 0o640))
		s.check(os.WriteFile(filepath.Join(s.dir, "blocks", "header.new"), nil, 0o640))
		s.grow("blocks/blocks", "not named")
	}
}

// spoiled is a copy of the two directories, and what crashes left in it.
func (s spoiler) spoiled(t *testing.T, spoil func(spoiler)) string {
	t.Helper()
	s.t, s.dir = t, filepath.Join(t.TempDir(), "s")
	dir := s.dir
	s.check(os.CopyFS(s.dir, os.DirFS(filepath.Join(filepath.Dir(s.earlier), "now"))))
	spoil(s)
	s.crash()
	return dir
}

// refusable returns a directory whose log was trimmed, and the same some time
// before.
func refusable(t *testing.T) spoiler {
	t.Helper()
	s := spoiler{t: t, earlier: filepath.Join(t.TempDir(), "earlier")}
	dir := filepath.Join(filepath.Dir(s.earlier), "now")
	first := running(t, Options{Dir: dir})
	pipe(t, first).hello(occ.SessionID{}).committed(nil, write(1, "early"))
	shutdown(t, first)
	s.check(os.CopyFS(s.earlier, os.DirFS(dir)))
	second := running(t, Options{Dir: dir, CheckpointBytes: 256 << 10})
	moreThanASegment(pipe(t, second).hello(occ.SessionID{}))
	shutdown(t, second)
	return s
}

// as is whether an error is, or wraps, an E.
func as[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// TestRefusalChangesNothing: whatever a start refuses stays as it was, together
// with what crashes have left in it, and is refused again. The check of the
// store agrees.
func TestRefusalChangesNothing(t *testing.T) {
	base := refusable(t)
	t.Run("nothing to refuse", func(t *testing.T) {
		dir := base.spoiled(t, func(spoiler) {})
		left := files(t, dir)
		shutdown(t, running(t, Options{Dir: dir}))
		after := files(t, dir)
		for _, name := range []string{"/log/bounds" + durable.TempSuffix, "/blocks/header.new", "/blocks/index-00000000000fffff"} {
			if _, was := left[name]; !was {
				t.Errorf("there was no %s", name)
			}
			if _, still := after[name]; still {
				t.Errorf("%s is there still", name)
			}
		}
	})
	for name, c := range map[string]struct {
		spoil func(spoiler)
		opts  Options
		is    func(error) bool
		check inspect.Kind // of the first finding, if there must be one
		newer bool         // the check does not judge it
	}{
		"store file damaged": {spoil: func(s spoiler) { s.flip("tidemark.store", 20) }, is: is(storedir.ErrDamaged), check: inspect.StoreFile},
		"store file missing": {spoil: func(s spoiler) { s.remove("tidemark.store") }, is: is(storedir.ErrForeign), check: inspect.StoreFile},
		"store file newer":   {spoil: func(s spoiler) { s.flip("tidemark.store", 8) }, is: as[*storedir.VersionError], newer: true},
		"store file older":   {spoil: func(s spoiler) { s.older("tidemark.store") }, is: is(storedir.ErrOlder), check: inspect.StoreFile},
		"other block size":   {opts: Options{BlockSize: 512}, is: as[*storedir.BlockSizeError]},
		"small frames":       {opts: Options{Limits: wire.Limits{FrameBytes: 4096}}, is: as[*OptionsError]},
		"log damaged":        {spoil: func(s spoiler) { s.flip("log/[0-9]*", 70) }, is: as[*wal.CorruptError], check: inspect.Log},
		"log missing":        {spoil: func(s spoiler) { s.remove("log") }, is: is(ErrLogShort), check: inspect.Fit},
		"log older":          {spoil: func(s spoiler) { s.remove("log"); s.check(os.Mkdir(s.dir+"/log", 0o750)); s.older("log/*") }, is: is(ErrLogShort), check: inspect.Fit},
		"bounds damaged":     {spoil: func(s spoiler) { s.flip("log/bounds", 9) }, is: as[*wal.CorruptError], check: inspect.Log},
		"records newer":      {spoil: func(s spoiler) { s.entry([]byte{99, 0}) }, is: is(record.ErrVersion), newer: true},
		"records damaged":    {spoil: func(s spoiler) { s.entry([]byte("\x01\x01\x77?")) }, is: is(record.ErrKind), check: inspect.Record},
		"blocks missing":     {spoil: func(s spoiler) { s.remove("blocks") }, is: is(ErrNoCheckpoint), check: inspect.Fit},
		"header missing":     {spoil: func(s spoiler) { s.remove("blocks/header") }, is: as[*blocks.CorruptError], check: inspect.Header},
		"header newer":       {spoil: func(s spoiler) { s.renew("blocks/header") }, is: as[*blocks.VersionError], newer: true},
		"headers damaged":    {spoil: func(s spoiler) { s.flip("blocks/header", 50); s.flip("blocks/header", 50+layout.PageSize) }, is: as[*blocks.CorruptError], check: inspect.Header},
		"header older":       {spoil: func(s spoiler) { s.older("blocks/header") }, is: as[*blocks.CorruptError], check: inspect.Index},
		"checkpoint older":   {spoil: func(s spoiler) { s.older("blocks/header"); s.older("blocks/index-*") }, is: is(ErrNoCheckpoint), check: inspect.Fit},
		"index damaged":      {spoil: func(s spoiler) { s.flip("blocks/index-*", 60) }, is: as[*blocks.CorruptError], check: inspect.Index},
		"index missing":      {spoil: func(s spoiler) { s.check(os.Remove(s.path("blocks/index-*"))) }, is: as[*blocks.CorruptError], check: inspect.Index},
		"state newer":        {spoil: func(s spoiler) { s.state(func(blocks.Durable) []byte { return []byte{99} }) }, is: is(record.ErrVersion), newer: true},
		"log of a new epoch": {spoil: func(s spoiler) {
			before, err := os.ReadFile(s.path("tidemark.store"))
			s.check(err)
			s.entry(record.Append(nil, record.Group{}))
			s.edit("tidemark.store", func([]byte) []byte { return before })
		}, is: is(storedir.ErrOlder), check: inspect.StoreFile},
		"state of a new epoch": {spoil: func(s spoiler) {
			s.state(func(d blocks.Durable) []byte {
				return record.AppendState(nil, &record.State{Stable: d.Stable, Epoch: 77, Next: 1})
			})
		}, is: is(storedir.ErrOlder), check: inspect.StoreFile},
		"state impossible": {spoil: func(s spoiler) {
			s.state(func(d blocks.Durable) []byte {
				return record.AppendState(nil, &record.State{Stable: d.Stable, Horizon: d.Stable + 1, Next: 1})
			})
		}, is: as[*core.RestoreError], check: inspect.Index},
		"state of another timestamp": {spoil: func(s spoiler) {
			s.state(func(d blocks.Durable) []byte {
				return record.AppendState(nil, &record.State{Stable: d.Stable + 1, Next: 1})
			})
		}, is: as[*core.RestoreError], check: inspect.Index},
		"record impossible": {spoil: func(s spoiler) {
			s.entry(record.Append(nil, record.Group{Records: []record.Record{&record.Lease{First: 1 << 40, Count: 1}}}))
		}, is: as[*core.ReplayError], check: inspect.Replay},
		"block file newer": {spoil: func(s spoiler) { s.renew("blocks/blocks") }, is: as[*blocks.VersionError], newer: true},
		"block file short": {spoil: func(s spoiler) { s.cut("blocks/blocks", 4*layout.PageSize) }, is: as[*blocks.CorruptError], check: inspect.BlockFile},
		"another store's": {spoil: func(s spoiler) {
			other := t.TempDir()
			shutdown(t, running(t, Options{Dir: other}))
			b, err := os.ReadFile(filepath.Join(other, "tidemark.store"))
			s.check(err)
			s.check(os.WriteFile(filepath.Join(s.dir, "tidemark.store"), b, 0o640))
		}, is: as[*wal.StoreError], check: inspect.Header},
	} {
		t.Run(name, func(t *testing.T) {
			if c.spoil == nil {
				c.spoil = func(spoiler) {}
			}
			dir := base.spoiled(t, c.spoil)
			before := files(t, dir)
			c.opts.Dir = dir
			for range 2 {
				s, err := Open(c.opts)
				if err == nil {
					shutdown(t, s)
				}
				if !c.is(err) {
					t.Fatalf("opened with: %v", err)
				}
				after := files(t, dir)
				for file, content := range after {
					if was, there := before[file]; !there || was != content {
						t.Errorf("%s was changed or created", file)
					}
				}
				if len(after) < len(before) {
					t.Errorf("of %q are left %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				}
			}
			var found []inspect.Finding
			sum, err := inspect.Check(t.Context(), dir, inspect.CheckOptions{Report: func(f inspect.Finding) error {
				if !f.Torn {
					found = append(found, f)
				}
				return nil
			}})
			if (err != nil) != c.newer || err == nil && (sum.Verdict == inspect.Damaged) != (c.check != "") {
				t.Fatalf("the check says %+v, %v", sum, err)
			}
			if c.check != "" && found[0].Kind != c.check {
				t.Errorf("the check finds %v", found)
			}
		})
	}
}
