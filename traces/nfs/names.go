package nfs

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/tidemark/tidemark/traces"
)

const (
	// MaxNames is how many names of files a Translator remembers.
	MaxNames = 1 << 16
	// MaxFiles is how many files a Translator remembers to exist.
	MaxFiles = 1 << 16
)

// FileID returns the FID of a file handle: the first 8 bytes, big endian, of
// its SHA-256.
func FileID(handle []byte) traces.FID {
	sum := sha256.Sum256(handle)
	return traces.FID(binary.BigEndian.Uint64(sum[:]))
}

// entry is a name in a directory.
type entry struct {
	dir  traces.FID
	name string
}

// meaning is what a name stands for.
type meaning struct {
	place *traces.Place
	fid   traces.FID
}

// names knows what names stand for and which files there are, as far as it was
// told and has not forgotten.
type names struct {
	entries cache[entry, meaning]
	files   cache[traces.FID, bool] // whether it is a directory
}

func newNames() names {
	return names{newCache[entry, meaning](MaxNames), newCache[traces.FID, bool](MaxFiles)}
}

// find returns what a name stands for, nil if that is not known.
func (n *names) find(dir traces.FID, name []byte) *meaning {
	slot, ok := n.entries.index[entry{dir, string(name)}] // makes no string
	if !ok {
		return nil
	}
	return n.entries.at(slot)
}

// learn remembers a name and returns it as a place, nil if there can be no such
// name.
func (n *names) learn(dir traces.FID, name []byte, fid traces.FID) *traces.Place {
	if m := n.find(dir, name); m != nil {
		m.fid = fid
		return m.place
	}
	p := placeOf(dir, name)
	if p != nil {
		*n.entries.put(entry{dir, p.Name}) = meaning{p, fid}
	}
	return p
}

// forget forgets a name.
func (n *names) forget(dir traces.FID, name []byte) {
	n.entries.remove(entry{dir, string(name)})
}

// exists remembers that there is a file.
func (n *names) exists(fid traces.FID) { n.files.put(fid) }

// isDirectory remembers that a file is a directory.
func (n *names) isDirectory(fid traces.FID) { *n.files.put(fid) = true }

// known returns whether a file is known to exist and to be a directory.
func (n *names) known(fid traces.FID) (exists, directory bool) {
	slot, ok := n.files.index[fid]
	return ok, ok && n.files.slots[slot].value
}

// placeOf returns a name as a place, nil if there can be no such name.
func placeOf(dir traces.FID, name []byte) *traces.Place {
	if len(name) > traces.MaxName {
		return nil
	}
	p := &traces.Place{Dir: dir, Name: string(name)}
	if (traces.Op{Type: traces.Lookup, Place: p}).Check() != nil {
		return nil
	}
	return p
}

// nameID returns the FID of a file of which only the name is known. It is the
// same for the same name in the same directory.
func nameID(dir traces.FID, name []byte) traces.FID {
	b := make([]byte, 0, 9+traces.MaxName)
	b = binary.BigEndian.AppendUint64(b, uint64(dir))
	b = append(b, '/')
	return FileID(append(b, name...))
}
