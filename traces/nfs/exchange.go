package nfs

// Proc is an NFS procedure, whatever number a protocol version gives it. For
// version 4 it is an operation of a COMPOUND.
type Proc uint8

// The procedures of versions 2 (RFC 1094) and 3 (RFC 1813), then what version
// 4 (RFC 7530, RFC 8881) adds. Other stands for what no operation of a trace
// comes from, such as FSSTAT.
const (
	Other Proc = iota
	GetAttr
	SetAttr
	Lookup
	Access
	ReadLink
	Read
	Write
	Create
	Mkdir
	Symlink
	Mknod
	Remove // a file; in version 4 a directory, too
	Rmdir
	Rename
	Link
	ReadDir // READDIRPLUS, too
	Commit
	Open
	Close
)

// Exchange is a call joined with its reply. Byte slices are borrowed: they
// are valid until the function that was given the Exchange returns.
type Exchange struct {
	Time int64  // of the call, microseconds since 1970
	Host uint32 // number of the client
	Proc Proc
	// Answered says that a reply was seen, and Status is its status, 0 for
	// success. Result, ResultSize and Done come from the reply.
	Answered bool
	Status   uint32

	// File is the handle acted on, in version 4 the current one. Where a Name
	// is given it is the directory: Lookup, Create, Mkdir, Symlink, Mknod,
	// Remove, Rmdir, Rename (the old name), Open. For Link it is the file.
	File []byte
	Name []byte
	// ToDir and ToName are the new entry of Rename and Link.
	ToDir  []byte
	ToName []byte
	// Result is the handle of what was found or made, nil if the reply lacks
	// it. For an Open without a Name, File is the file itself.
	Result []byte

	// Hidden says that File or ToDir is empty because neither the call nor the
	// reply has the handle, as of the directories in the midst of a path of
	// version 4.
	Hidden bool

	// Offset and Count are the range of Read, Write and Commit, and the
	// cookie and the bytes asked for of ReadDir. Count is also the length of
	// the text of Symlink and ReadLink.
	Offset, Count uint64
	// Done, if HasDone, is how many bytes the reply says were moved.
	HasDone bool
	Done    uint64
	// SetSize says that SetAttr, Create or Open set the size of the file, to
	// Size.
	SetSize bool
	Size    uint64
	// Creates says that an Open made the file, or may have: it asked for
	// that, and the reply, if there is one, does not say that it was there.
	Creates bool
	// WriteAccess says that an Open asked for access to write.
	WriteAccess bool
}
