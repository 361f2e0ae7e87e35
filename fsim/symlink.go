package fsim

import "strings"

// MaxTarget is the longest text of a symbolic link in bytes, as on most
// systems.
const MaxTarget = 4095

// Symlink makes a symbolic link and enters it in dir. Its text, which is
// stored as the content of a file is, has 1 to MaxTarget bytes (else
// ErrInvalid or ErrTooLarge) and no zero byte; nothing follows it. Read returns
// it. Affinity and mtime are as for Create.
func (fs *FS) Symlink(tx Tx, dir Handle, name, text string, affinity uint32, mtime int64) (Handle, error) {
	h, err := fs.symlink(tx, dir, name, text, affinity, mtime)
	if err != nil {
		return Handle{}, nameErr("make symbolic link", dir.Ino, name, err)
	}
	return h, nil
}

func (fs *FS) symlink(tx Tx, dir Handle, name, text string, affinity uint32, mtime int64) (Handle, error) {
	switch {
	case len(text) > MaxTarget:
		return Handle{}, ErrTooLarge
	case text == "" || strings.IndexByte(text, 0) >= 0:
		return Handle{}, ErrInvalid
	}
	n := inode{kind: Symlink, links: 1, mtime: mtime}
	return fs.createInode(tx, dir, name, &n, []byte(text), affinity)
}
