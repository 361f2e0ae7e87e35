package rpc

import "fmt"

// Programs that matter by number.
const (
	NFS = 100003
	// callbackFirst and callbackLast bound the numbers of the programs that
	// clients of NFS version 4 offer to their servers: the transient range of
	// RFC 5531, section 8.3.
	callbackFirst = 0x40000000
	callbackLast  = 0x5fffffff
	// The programs of a Unix system, registered as RFC 5531 says there.
	systemFirst = 100000
	systemLast  = 100400
)

// known says whether a program may go with NFS.
func known(program uint32) bool {
	return program >= systemFirst && program <= systemLast || program >= callbackFirst && program <= callbackLast
}

// ProgramName returns the name of a program, or "program" and its number.
func ProgramName(program uint32) string {
	switch program {
	case 100000:
		return "PORTMAP"
	case NFS:
		return "NFS"
	case 100005:
		return "MOUNT"
	case 100011:
		return "RQUOTA"
	case 100021:
		return "NLM"
	case 100024:
		return "STAT"
	case 100227:
		return "NFSACL"
	}
	if program >= callbackFirst && program <= callbackLast {
		return "callback"
	}
	return fmt.Sprintf("program %d", program)
}
