package nfs

// operations are those of a version 4 COMPOUND by number: RFC 7530, section
// 16, RFC 8881, section 18, RFC 7862, section 15, and RFC 8276, section 8. CREATE makes directories and special files but
// no plain ones, and which of them is in its arguments, so its Proc is Mknod.
var operations = [...]procedure{
	3: {"ACCESS", Access}, 4: {"CLOSE", Close}, 5: {"COMMIT", Commit}, 6: {"CREATE", Mknod},
	7: {"DELEGPURGE", Other}, 8: {"DELEGRETURN", Other}, 9: {"GETATTR", GetAttr}, 10: {"GETFH", Other},
	11: {"LINK", Link}, 12: {"LOCK", Other}, 13: {"LOCKT", Other}, 14: {"LOCKU", Other},
	15: {"LOOKUP", Lookup}, 16: {"LOOKUPP", Other}, 17: {"NVERIFY", Other}, 18: {"OPEN", Open},
	19: {"OPENATTR", Other}, 20: {"OPEN_CONFIRM", Other}, 21: {"OPEN_DOWNGRADE", Other}, 22: {"PUTFH", Other},
	23: {"PUTPUBFH", Other}, 24: {"PUTROOTFH", Other}, 25: {"READ", Read}, 26: {"READDIR", ReadDir},
	27: {"READLINK", ReadLink}, 28: {"REMOVE", Remove}, 29: {"RENAME", Rename}, 30: {"RENEW", Other},
	31: {"RESTOREFH", Other}, 32: {"SAVEFH", Other}, 33: {"SECINFO", Other}, 34: {"SETATTR", SetAttr},
	35: {"SETCLIENTID", Other}, 36: {"SETCLIENTID_CONFIRM", Other}, 37: {"VERIFY", Other}, 38: {"WRITE", Write},
	39: {"RELEASE_LOCKOWNER", Other},

	40: {"BACKCHANNEL_CTL", Other}, 41: {"BIND_CONN_TO_SESSION", Other}, 42: {"EXCHANGE_ID", Other},
	43: {"CREATE_SESSION", Other}, 44: {"DESTROY_SESSION", Other}, 45: {"FREE_STATEID", Other},
	46: {"GET_DIR_DELEGATION", Other}, 47: {"GETDEVICEINFO", Other}, 48: {"GETDEVICELIST", Other},
	49: {"LAYOUTCOMMIT", Other}, 50: {"LAYOUTGET", Other}, 51: {"LAYOUTRETURN", Other},
	52: {"SECINFO_NO_NAME", Other}, 53: {"SEQUENCE", Other}, 54: {"SET_SSV", Other}, 55: {"TEST_STATEID", Other},
	56: {"WANT_DELEGATION", Other}, 57: {"DESTROY_CLIENTID", Other}, 58: {"RECLAIM_COMPLETE", Other},

	59: {"ALLOCATE", Other}, 60: {"COPY", Other}, 61: {"COPY_NOTIFY", Other}, 62: {"DEALLOCATE", Other},
	63: {"IO_ADVISE", Other}, 64: {"LAYOUTERROR", Other}, 65: {"LAYOUTSTATS", Other}, 66: {"OFFLOAD_CANCEL", Other},
	67: {"OFFLOAD_STATUS", Other}, 68: {"READ_PLUS", Read}, 69: {"SEEK", Other}, 70: {"WRITE_SAME", Other},
	71: {"CLONE", Other}, 72: {"GETXATTR", Other}, 73: {"SETXATTR", Other}, 74: {"LISTXATTRS", Other},
	75: {"REMOVEXATTR", Other},
}

// OperationOf returns what an operation of a COMPOUND is, Other if no operation
// of a trace comes from it or there is no such number.
func OperationOf(number uint32) Proc {
	if number < uint32(len(operations)) {
		return operations[number].proc
	}
	return Other
}

// OperationName returns the name that the protocol gives to the number of an
// operation of a COMPOUND, such as "PUTFH", or "unknown".
func OperationName(number uint32) string { return nameIn(operations[:], number) }
