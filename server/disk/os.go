package disk

import (
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

const filePerm = 0o640

// OS returns the directory at path, which must exist, as a Disk.
func OS(path string) Disk { return osDisk(path) }

// Path returns what messages call a file of d: its path, if d is a directory of
// the operating system, and else its name.
func Path(d Disk, name string) string {
	if dir, ok := d.(osDisk); ok {
		return filepath.Join(string(dir), name)
	}
	return name
}

type osDisk string

func (d osDisk) path(name string) (string, error) {
	return filepath.Join(string(d), name), checkName(name)
}

func (d osDisk) Open(name string) (File, error) {
	path, err := d.path(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDisk) Remove(name string) error {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

func (d osDisk) Rename(from, to string) error {
	old, err := d.path(from)
	if err != nil {
		return err
	}
	path, err := d.path(to)
	if err != nil {
		return err
	}
	return os.Rename(old, path)
}

func (d osDisk) List() ([]string, error) {
	entries, err := os.ReadDir(string(d)) // sorted
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (d osDisk) SyncDir() error { return durable.SyncDir(string(d)) }

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
