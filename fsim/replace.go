package fsim

// ReplaceEntry writes anew the entry whose record holds byte off of a
// directory, or else the next one after it: the entry is taken out and put back where it was, so its
// block gets a new version while names and handles stay as they are. It reads
// the directory from off on, up to the entry. ErrNotExist means that there is
// none at off or after.
func (fs *FS) ReplaceEntry(tx Tx, dir Handle, off int64) (Entry, error) {
	entry, err := fs.replaceEntry(tx, dir, off)
	if err != nil {
		return Entry{}, opErr("replace an entry in directory", dir.Ino, err)
	}
	return entry, nil
}

func (fs *FS) replaceEntry(tx Tx, dir Handle, off int64) (Entry, error) {
	var d inode
	if err := fs.loadDir(tx, dir, &d); err != nil {
		return Entry{}, err
	}
	if off < 0 {
		return Entry{}, ErrInvalid
	}
	e := fs.edit(tx, 0)
	var entry Entry
	err := fs.dirBlocks(tx, dir.Ino, &d, uint64(off)>>fs.shift, d.size>>fs.shift, func(b dirBlock) (bool, error) {
		var hit record
		err := b.each(func(r record) bool {
			hit = r
			return !r.free() && b.at+uint64(r.off+r.size) > uint64(off)
		})
		if err != nil || hit.free() || b.at+uint64(hit.off+hit.size) <= uint64(off) {
			return false, err
		}
		entry = Entry{Name: string(hit.name), Handle: hit.h, Kind: hit.kind, Off: int64(b.at) + int64(hit.off)}
		data, err := e.modify(b.rel)
		if err == nil {
			putRecord(data, hit, entry.Name)
		}
		return true, err
	})
	if err != nil {
		return Entry{}, err
	}
	if entry.Name == "" {
		return Entry{}, ErrNotExist
	}
	return entry, e.flush()
}
