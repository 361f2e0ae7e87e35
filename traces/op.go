package traces

import (
	"fmt"
	"math"
	"strings"
)

// Type says what an operation acts on. The zero Type is not valid.
type Type uint8

// The types of the Auspex format, and then those that other formats have
// beyond it. Those are all writes, but for Lookup.
const (
	Attr   Type = iota + 1 // attributes read (getattr) or set (setattr)
	Block                  // a range of file data moved
	Dir                    // a range of a directory moved
	Delete                 // the file was deleted
	Open                   // a file that is not a directory was opened
	Close                  // and closed

	Lookup   // the file was found under a name, and its attributes read
	Create   // the file was made, empty
	Mkdir    // the directory was made
	Rmdir    // the directory was removed
	Rename   // the file or directory got another name, in the same or another directory
	Link     // the file got one more name
	Symlink  // the symbolic link was made; Size is the length of its text
	Truncate // the file's size was set to Off
	Commit   // data in the range were to be made durable
)

// Types lists the valid types in the order of their values.
var Types = [...]Type{Attr, Block, Dir, Delete, Open, Close,
	Lookup, Create, Mkdir, Rmdir, Rename, Link, Symlink, Truncate, Commit}

// Action says which way an operation goes.
type Action uint8

// The two actions.
const (
	Read Action = iota
	Write
)

// FID names a file. Its 64 bits have no structure that may be relied on.
type FID uint64

// Op is one operation of a trace.
type Op struct {
	Time   int64  // microseconds since 1970-01-01 UTC
	FID    FID    // the file
	Off    int64  // first byte of the range; for Open and Close about the file's size
	Size   int64  // bytes in the range; may be 0
	Line   int64  // line of the trace, or number in a trace without lines, from 1; 0 if it was not read from a trace
	Host   uint32 // the asking client, as numbered in the trace
	Type   Type
	Action Action
	// Place is where in the directory tree the operation acts, nil if the
	// trace does not tell. It is shared and must not change.
	Place *Place
}

// Place is a directory entry. Of an operation that has one it is the entry
// under which the file was found, made or removed.
type Place struct {
	Dir  FID
	Name string // 1 to MaxName bytes, without '/' and the zero byte, neither "." nor ".."
	// ToDir and ToName are the new entry of a Rename; else they are zero.
	ToDir  FID
	ToName string
}

const (
	// MaxTime is the latest time of an operation: the end of the year 9999.
	MaxTime int64 = 253402300799_999999
	// MaxTransfer is the largest range in bytes that one Block or Dir
	// operation may move. It is far beyond what NFS moves in one call and
	// bounds what one line can make a replay do.
	MaxTransfer int64 = 16 << 20
	// MaxName is the length in bytes of the longest name, that of NFS
	// version 2 and of most file systems.
	MaxName = 255
)

var typeNames = [...]string{"", "Attr", "Block", "Dir", "Delete", "Open", "Close",
	"Lookup", "Create", "Mkdir", "Rmdir", "Rename", "Link", "Symlink", "Truncate", "Commit"}

// String returns the type as the trace format spells it.
func (t Type) String() string {
	if t >= Attr && t <= Commit {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// String returns the action as the trace format spells it.
func (a Action) String() string {
	switch a {
	case Read:
		return "READ"
	case Write:
		return "WRITE"
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// String returns the id in 16 hexadecimal digits.
func (f FID) String() string { return fmt.Sprintf("%016x", uint64(f)) }

// End returns the first byte after the operation's range.
func (o Op) End() int64 { return o.Off + o.Size }

// String returns the operation as a line of the text form.
func (o Op) String() string { return string(AppendText(nil, o)) }

// Check reports what makes the operation impossible: an unknown type or
// action, a time or range that is negative or too large, a type beyond the
// Auspex format with the wrong action, a place that cannot be or that the
// type lacks. Every operation that
// a Reader returns passes; one that passes cannot overflow End.
func (o Op) Check() error {
	if reason := o.fault(); reason != "" {
		return &OpError{Line: o.Line, Reason: reason}
	}
	return nil
}

// fault returns what is wrong with the operation, or "".
func (o Op) fault() string {
	switch {
	case o.Type < Attr || o.Type > Commit:
		return fmt.Sprintf("unknown type %d", uint8(o.Type))
	case o.Action > Write:
		return fmt.Sprintf("unknown action %d", uint8(o.Action))
	case o.Time < 0:
		return "time is before 1970"
	case o.Time > MaxTime:
		return "time is after the year 9999"
	case o.Off < 0:
		return "OFF is negative"
	case o.Size < 0:
		return "SIZE is negative"
	case o.Off > math.MaxInt64-o.Size:
		return "OFF plus SIZE does not fit 63 bits"
	case (o.Type == Block || o.Type == Dir) && o.Size > MaxTransfer:
		return fmt.Sprintf("SIZE is over %d bytes for one transfer", MaxTransfer)
	case o.Type > Close && (o.Action == Read) != (o.Type == Lookup):
		return fmt.Sprintf("a %v cannot be a %v", o.Type, o.Action)
	}
	return o.placeFault()
}

// placeFault returns what is wrong with the operation's place, or "".
func (o Op) placeFault() string {
	p := o.Place
	switch {
	case p == nil && (o.Type == Lookup || o.Type == Rename || o.Type == Link):
		return fmt.Sprintf("a %v needs a directory and a name", o.Type)
	case p == nil:
		return ""
	case !validName(p.Name):
		return fmt.Sprintf("impossible name %.40q", p.Name)
	case o.Type == Rename && !validName(p.ToName):
		return fmt.Sprintf("impossible name %.40q", p.ToName)
	case o.Type != Rename && (p.ToName != "" || p.ToDir != 0):
		return fmt.Sprintf("a %v has one name only", o.Type)
	}
	return ""
}

func validName(s string) bool {
	return len(s) > 0 && len(s) <= MaxName && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}
