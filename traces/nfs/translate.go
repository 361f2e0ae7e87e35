package nfs

import (
	"math"

	"github.com/tidemark/tidemark/traces"
)

// maxDirRead is how many bytes of a directory one ReadDir reads at most. Clients
// ask for more than there is.
const maxDirRead = 64 << 10

// statusNoEntry is NFSERR_NOENT, the same in all versions.
const statusNoEntry = 2

// Translator makes operations of a trace from exchanges, which must come in the
// order of their calls. It remembers what names stand for: MaxNames of them.
type Translator struct {
	names names
	out   []traces.Op // while translating

	failed     int64
	unresolved int64
	guessed    int64
	empty      int64
	nowhere    int64
	hidden     int64
	tooMuch    int64
	impossible int64
}

// NewTranslator returns a Translator that knows no names.
func NewTranslator() *Translator { return &Translator{names: newNames()} }

// Translate appends the operations that come from an exchange to dst, see the
// package documentation. Each passes Op.Check.
func (t *Translator) Translate(x *Exchange, dst []traces.Op) []traces.Op {
	switch {
	case x.Proc == Other:
		return dst
	case x.Answered && x.Status != 0:
		t.failed++
		if x.Status == statusNoEntry && len(x.Name) > 0 {
			t.names.forget(FileID(x.File), x.Name)
		}
		return dst
	case len(x.File) == 0:
		t.without(x)
		return dst
	}
	t.out = dst
	t.translate(x, FileID(x.File))
	dst, t.out = t.out, nil
	return dst
}

// without counts an exchange that lacks a handle that it needs.
func (t *Translator) without(x *Exchange) {
	if x.Hidden {
		t.hidden++
	} else {
		t.nowhere++
	}
}

// translate is Translate for what did not fail; file is the FID of x.File.
func (t *Translator) translate(x *Exchange, file traces.FID) {
	op := x.op(file, traces.Attr, traces.Read)
	switch x.Proc {
	case GetAttr, Access:
		t.emit(op)
	case SetAttr:
		if x.SetSize {
			t.truncate(x, file)
			return
		}
		op.Action = traces.Write
		t.emit(op)
	case Read, Write, ReadLink:
		t.transfer(x, op)
	case ReadDir:
		t.names.isDirectory(file)
		op.Type = traces.Dir
		if x.Offset < 1<<31 { // else it is no place but a number like a hash
			op.Off = int64(x.Offset)
		}
		op.Size = int64(min(x.Count, maxDirRead))
		t.emit(op)
	case Commit:
		op.Type, op.Action = traces.Commit, traces.Write
		op.Off, op.Size = amount(x.Offset), amount(x.Count)
		t.emit(op)
	case Open:
		t.open(x, file)
	case Close:
		op.Type = traces.Close
		t.emit(op)
	case Link:
		t.link(x, file)
	case Lookup, Create, Mknod, Mkdir, Symlink, Remove, Rmdir, Rename:
		t.names.isDirectory(file)
		t.entry(x, file)
	}
}

// transfer handles what moves data of a file.
func (t *Translator) transfer(x *Exchange, op traces.Op) {
	op.Type = traces.Block
	count := x.Count
	switch {
	case x.Proc == ReadLink: // whatever was said of a range
		op.Size = amount(count)
		t.emit(op)
		return
	case x.HasDone && x.Done > x.Count:
		t.tooMuch++
	case x.HasDone:
		count = x.Done
	}
	if x.Proc == Write {
		op.Action = traces.Write
		if count == 0 {
			t.empty++
			return
		}
	}
	op.Off, op.Size = amount(x.Offset), amount(count)
	t.emit(op)
}

func (t *Translator) truncate(x *Exchange, file traces.FID) {
	op := x.op(file, traces.Truncate, traces.Write)
	op.Off = amount(x.Size)
	t.emit(op)
}

// op returns an operation at the time of the call.
func (x *Exchange) op(fid traces.FID, typ traces.Type, action traces.Action) traces.Op {
	return traces.Op{Time: x.Time, Host: x.Host, FID: fid, Type: typ, Action: action}
}

// amount returns a number of bytes, -1, which is no number of bytes, if it has
// more than 63 bits.
func amount(n uint64) int64 {
	if n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// emit gives an operation out, unless it cannot be. It reports whether it did.
func (t *Translator) emit(op traces.Op) bool {
	if op.Check() != nil {
		t.impossible++
		return false
	}
	t.names.exists(op.FID)
	t.out = append(t.out, op)
	return true
}

// Findings returns what was counted and is not zero.
func (t *Translator) Findings() []traces.Finding {
	const group = "NFS calls without operations"
	var f findings
	f.add(group, "failed", t.failed)
	f.add(group, "lookups and opens of unknown result", t.unresolved)
	f.add(group, "writes of no bytes", t.empty)
	f.add(group, "on files whose handle is not shown", t.hidden)
	f.odd(group, "without a file handle", t.nowhere)
	f.odd(group, "with impossible names or ranges", t.impossible)
	f.add("NFS files", "known by name only", t.guessed)
	f.odd("NFS files", "replies of more bytes than asked for", t.tooMuch)
	return f
}
