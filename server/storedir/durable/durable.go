// Package durable reads and replaces small files that describe a directory,
// and makes the names in a directory survive a loss of power.
package durable

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// TempSuffix ends the name of a file that Replace has not finished. Such a
// file may be removed by whoever owns the directory.
const TempSuffix = ".TEMP"

// steps are those by which something becomes durable. Tests look at the files
// before and after each.
type steps struct {
	sync   func(*os.File) error // a file or a directory
	rename func(from, to string) error
}

// osSteps are those of the operating system.
func osSteps() steps { return steps{sync: (*os.File).Sync, rename: os.Rename} }

// SyncDir makes the names in dir durable: files created, renamed or removed.
func SyncDir(dir string) error { return osSteps().syncDir(dir) }

func (s steps) syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := s.sync(f); err != nil {
		f.Close()
		return fmt.Errorf("sync directory: %w", err)
	}
	return f.Close()
}

// Replace gives the file at path the content data, atomically: after a crash
// at any moment the file has its old content or the new one, and once
// Replace has returned nil, the new one.
func Replace(path string, data []byte) error { return osSteps().replace(path, data) }

func (s steps) replace(path string, data []byte) error {
	temp := path + TempSuffix
	if err := s.write(temp, data); err != nil {
		os.Remove(temp)
		return err
	}
	if err := s.rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return s.syncDir(filepath.Dir(path))
}

func (s steps) write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := s.sync(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Read returns the content of a file that should have n bytes. Of a longer
// one it returns n+1, enough to see that it is too long.
func Read(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)+1))
}
