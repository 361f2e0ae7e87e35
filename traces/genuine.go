package traces

// ToAuspex appends to dst what the Auspex format has for the operation, with
// its time, host and line number, and without a place. An operation of one of
// the format's six types stays as it is. The others become what is nearest
// when the trace is replayed:
//
//	Lookup            Attr READ of the file
//	Create, Symlink   Attr WRITE of what was made; a replay makes the file that
//	                  is written first, and its directory entry with it
//	Truncate          Attr WRITE of the file
//	Mkdir             Dir WRITE of the directory that it was made in or, if the
//	                  trace does not tell which, of the new one
//	Rmdir             Delete of the directory
//	Rename            Dir WRITE of the old directory and, if it is another one,
//	                  of the new directory
//	Link              Attr WRITE of the file and Dir WRITE of the directory
//	Commit            nothing: every write of a replay is durable
//
// Names, and the size that a Truncate sets, are lost.
func ToAuspex(dst []Op, op Op) []Op {
	place := op.Place
	op.Place = nil
	if op.Type <= Close {
		return append(dst, op)
	}
	op.Off, op.Size = 0, 0
	as := func(t Type, fid FID) Op {
		o := op
		o.Type, o.FID = t, fid
		return o
	}
	switch op.Type {
	case Lookup, Create, Symlink, Truncate: // the action is the same
		return append(dst, as(Attr, op.FID))
	case Mkdir:
		if place == nil {
			return append(dst, as(Dir, op.FID))
		}
		return append(dst, as(Dir, place.Dir))
	case Rmdir:
		return append(dst, as(Delete, op.FID))
	case Link:
		return append(dst, as(Attr, op.FID), as(Dir, place.Dir))
	case Rename:
		dst = append(dst, as(Dir, place.Dir))
		if place.ToDir != place.Dir {
			dst = append(dst, as(Dir, place.ToDir))
		}
	}
	return dst
}
