package nfs

// procedure is what a number means in one protocol version.
type procedure struct {
	name string
	proc Proc
}

// version2 are the procedures of RFC 1094, section 2.2.
var version2 = [...]procedure{
	{"NULL", Other}, {"GETATTR", GetAttr}, {"SETATTR", SetAttr}, {"ROOT", Other},
	{"LOOKUP", Lookup}, {"READLINK", ReadLink}, {"READ", Read}, {"WRITECACHE", Other},
	{"WRITE", Write}, {"CREATE", Create}, {"REMOVE", Remove}, {"RENAME", Rename},
	{"LINK", Link}, {"SYMLINK", Symlink}, {"MKDIR", Mkdir}, {"RMDIR", Rmdir},
	{"READDIR", ReadDir}, {"STATFS", Other},
}

// version3 are the procedures of RFC 1813, section 3.3.
var version3 = [...]procedure{
	{"NULL", Other}, {"GETATTR", GetAttr}, {"SETATTR", SetAttr}, {"LOOKUP", Lookup},
	{"ACCESS", Access}, {"READLINK", ReadLink}, {"READ", Read}, {"WRITE", Write},
	{"CREATE", Create}, {"MKDIR", Mkdir}, {"SYMLINK", Symlink}, {"MKNOD", Mknod},
	{"REMOVE", Remove}, {"RMDIR", Rmdir}, {"RENAME", Rename}, {"LINK", Link},
	{"READDIR", ReadDir}, {"READDIRPLUS", ReadDir}, {"FSSTAT", Other}, {"FSINFO", Other},
	{"PATHCONF", Other}, {"COMMIT", Commit},
}

// version4 are the procedures of RFC 7530, section 15.
var version4 = [...]procedure{{"NULL", Other}, {"COMPOUND", Other}}

// unknown is the name of a number that the protocol does not give.
const unknown = "unknown"

// procedures returns the table of a version, nil if there is none.
func procedures(version uint32) []procedure {
	switch version {
	case 2:
		return version2[:]
	case 3:
		return version3[:]
	case 4:
		return version4[:]
	}
	return nil
}

// ProcOf returns the procedure with a number in a protocol version, Other if no
// operation comes from it or there is no such number.
func ProcOf(version, number uint32) Proc {
	if table := procedures(version); number < uint32(len(table)) {
		return table[number].proc
	}
	return Other
}

// ProcName returns the name that the protocol gives to a procedure's number,
// such as "READDIRPLUS", or "unknown".
func ProcName(version, number uint32) string {
	return nameIn(procedures(version), number)
}

func nameIn(table []procedure, number uint32) string {
	if number < uint32(len(table)) && table[number].name != "" {
		return table[number].name
	}
	return unknown
}
