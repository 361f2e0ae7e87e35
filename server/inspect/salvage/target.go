package salvage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

const (
	dirPerm = 0o750

	// ReportName is the file in a salvaged store that says what it is.
	ReportName = "salvaged.json"
)

// checkTarget refuses a new directory that exists, or lies in the old one.
func checkTarget(dir, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &TargetError{to, "exists already"}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old, err := resolve(dir)
	if err != nil {
		return err
	}
	parent, err := resolve(filepath.Dir(to))
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(old, parent)
	if err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return &TargetError{to, "lies in the old one"}
	}
	return nil
}

// resolve returns the absolute path of a directory without symbolic links.
func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// create begins the new store. Until finish the directory is none.
func (s *salvage) create(to string) (err error) {
	s.held = occ.NewVersions(occ.Faults{})
	s.held.SetHeads(occ.Open, occ.Open) // of each block only the newest version
	path := storedir.BlocksPath(to)
	if err := os.Mkdir(path, dirPerm); err != nil {
		return err
	}
	s.out, _, err = blocks.Open(s.do.disk(path), blocks.Options{
		Store: s.owner.Store, BlockSize: s.owner.BlockSize, DirtyBytes: dirtyBytes, CacheBytes: cacheBytes,
	})
	return err
}

// report says which blocks and snapshots are lost.
func (s *salvage) report() error {
	for _, b := range slices.Sorted(maps.Keys(s.lost)) {
		kept := s.held.Current(b)
		if kept > 0 {
			s.LostStale++
		} else {
			s.LostZeros++
		}
		if err := s.lose(Loss{Kind: Block, Block: b, Version: s.lost[b], Kept: kept}); err != nil {
			return err
		}
	}
	s.Snapshots = uint64(len(s.snapshots))
	for _, name := range slices.Sorted(maps.Keys(s.snapshots)) {
		if err := s.lose(Loss{Kind: Snapshot, Name: name, First: uint64(s.snapshots[name])}); err != nil {
			return err
		}
	}
	s.Blocks = uint64(s.held.Blocks())
	if s.Blocks == 0 && (s.Base == fromPieces || s.LostZeros+s.LostEntries+s.LostTransactions > 0) {
		return ErrNothing
	}
	return nil
}

// finish makes the new store durable, and a store.
func (s *salvage) finish(to string) error {
	state := record.State{Stable: s.Stable, Horizon: s.Stable, Epoch: s.Epoch, Next: s.plan.next}
	err := s.out.Begin(blocks.Moment{LogIndex: 1, Stable: s.Stable}, bytes.NewReader(record.AppendState(nil, &state)))
	for done := false; err == nil && !done; {
		if err = s.ended(); err == nil {
			done, err = s.out.Step()
		}
	}
	if err = errors.Join(err, s.out.Close()); err != nil {
		return err
	}
	first := record.Append(nil, record.Group{Records: []record.Record{&record.Epoch{Epoch: s.Epoch}}})
	if err := s.do.log(storedir.LogPath(to), s.owner.Store, s.Epoch, first); err != nil {
		return err
	}
	text, err := json.MarshalIndent(&s.Summary, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := s.do.report(filepath.Join(to, ReportName), append(text, '\n')); err != nil {
		return err
	}
	if err := s.do.store(to, storedir.Identity{Store: s.owner.Store, BlockSize: s.owner.BlockSize, Epoch: s.Epoch}); err != nil {
		return err
	}
	return s.do.syncDir(filepath.Dir(to))
}
