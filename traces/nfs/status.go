package nfs

// statusNames are the statuses of versions 2 and 3 and the most frequent of
// version 4, without their prefixes: RFC 1094, section 2.3.1, RFC 1813,
// section 2.6, RFC 8881, section 15.1.
var statusNames = [...]struct {
	status uint32
	name   string
}{
	{1, "PERM"}, {2, "NOENT"}, {5, "IO"}, {6, "NXIO"}, {13, "ACCESS"}, {17, "EXIST"}, {18, "XDEV"}, {19, "NODEV"},
	{20, "NOTDIR"}, {21, "ISDIR"}, {22, "INVAL"}, {27, "FBIG"}, {28, "NOSPC"}, {30, "ROFS"}, {31, "MLINK"},
	{63, "NAMETOOLONG"}, {66, "NOTEMPTY"}, {69, "DQUOT"}, {70, "STALE"}, {71, "REMOTE"}, {99, "WFLUSH"},
	{10001, "BADHANDLE"}, {10002, "NOT_SYNC"}, {10003, "BAD_COOKIE"}, {10004, "NOTSUPP"}, {10005, "TOOSMALL"},
	{10006, "SERVERFAULT"}, {10007, "BADTYPE"}, {10008, "DELAY"}, {10009, "SAME"}, {10010, "DENIED"},
	{10011, "EXPIRED"}, {10012, "LOCKED"}, {10013, "GRACE"}, {10014, "FHEXPIRED"}, {10015, "SHARE_DENIED"},
	{10016, "WRONGSEC"}, {10018, "RESOURCE"}, {10019, "MOVED"}, {10020, "NOFILEHANDLE"}, {10022, "STALE_CLIENTID"},
	{10023, "STALE_STATEID"}, {10024, "OLD_STATEID"}, {10025, "BAD_STATEID"}, {10026, "BAD_SEQID"},
	{10027, "NOT_SAME"}, {10029, "SYMLINK"}, {10030, "RESTOREFH"}, {10032, "ATTRNOTSUPP"}, {10033, "NO_GRACE"},
	{10036, "BADXDR"}, {10038, "OPENMODE"}, {10044, "OP_ILLEGAL"}, {10052, "BADSESSION"}, {10053, "BADSLOT"},
	{10054, "COMPLETE_ALREADY"}, {10055, "CONN_NOT_BOUND_TO_SESSION"}, {10063, "SEQ_MISORDERED"},
	{10068, "RETRY_UNCACHED_REP"}, {10078, "DEADSESSION"}, {10087, "DELEG_REVOKED"},
}

// statuses counts failures by status, those without a name together.
type statuses struct {
	counts [len(statusNames)]int64
	others int64
}

func (s *statuses) add(status uint32) {
	for i := range statusNames {
		if statusNames[i].status == status {
			s.counts[i]++
			return
		}
	}
	s.others++
}

func (s *statuses) findings(f *findings) {
	for i, n := range s.counts {
		f.add("NFS errors", statusNames[i].name, n)
	}
	f.odd("NFS errors", "of unknown status", s.others)
}
