package wal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// settle mends what a crash left in the verified directory: it completes an
// interrupted trim, cuts a torn end, and syncs what is kept. A crash during
// settle leaves a directory that verifies with the same entries.
func (v *verified) settle(f files, dir string) error {
	for _, path := range v.layout.leftovers {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if n := len(v.layout.segments); n > 0 {
		if s := &v.layout.segments[0]; s.started() {
			final := strings.TrimSuffix(s.path, startSuffix)
			if err := os.Rename(s.path, final); err != nil {
				return err
			}
			s.path = final
		}
		if err := v.rewriteTail(f, dir, v.layout.segments[n-1].path); err != nil {
			return err
		}
	}
	return f.syncDir(dir)
}

// rewriteTail replaces the last segment by a synced copy of its whole
// entries. A sync that failed before the restart may have left pages that
// read well but were never written and never will be; a copy will.
func (v *verified) rewriteTail(f files, dir, path string) error {
	temp := filepath.Join(dir, tailTemp)
	if err := copySynced(f, temp, path, v.kept); err != nil {
		return err
	}
	c := v.tail
	end, bad, err := walk(temp, &c)
	if err != nil {
		return err
	}
	if bad != nil || end != v.kept || c != v.head {
		return fmt.Errorf("%s changed while it was read", path)
	}
	return os.Rename(temp, path)
}

// copySynced makes dst a durable copy of the first n bytes of src.
func copySynced(f files, dst, src string, n int64) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, filePerm)
	if err != nil {
		return err
	}
	// The bare writer keeps the copy from becoming a shared extent, which
	// would be as unwritten as the original.
	if _, err := io.CopyN(struct{ io.Writer }{out}, in, n); err != nil {
		out.Close()
		return err
	}
	if err := f.sync(out); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
