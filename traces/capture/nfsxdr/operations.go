package nfsxdr

// Numbers of the operations that are decoded and not just passed over, those
// that set the current handle among them (RFC 8881, section 16.2.3.1; RFC
// 7862, section 15).
const (
	opAccess       = 3
	opClose        = 4
	opCommit       = 5
	opCreate       = 6
	opDelegReturn  = 8
	opGetAttr      = 9
	opGetFH        = 10
	opLink         = 11
	opLookup       = 15
	opLookupParent = 16
	opOpen         = 18
	opOpenAttr     = 19
	opPutFH        = 22
	opPutPublic    = 23
	opPutRoot      = 24
	opRead         = 25
	opReadDir      = 26
	opReadLink     = 27
	opRemove       = 28
	opRename       = 29
	opRestoreFH    = 31
	opSaveFH       = 32
	opSetAttr      = 34
	opWrite        = 38
	opLayoutCommit = 49
	opAllocate     = 59
	opCopy         = 60
	opDeallocate   = 62
	opReadPlus     = 68
	opWriteSame    = 70
	opClone        = 71
	opSetXattr     = 73
	opRemoveXattr  = 75

	operationsEnd = 76
)

// operation is how arguments and results are passed over. What is decoded
// has no layout.
type operation struct {
	known         bool
	args, results layout
}

// operations are all operations by number: RFC 7530, section 16, RFC 8881,
// section 18, RFC 7862, section 15, RFC 8276, section 8.
var operations = [operationsEnd]operation{
	opAccess:       {true, "i", "ii"},
	opClose:        {true, "is", "s"},
	opCommit:       {true, "", "h"},
	opCreate:       {true, "", "cb"},
	7:              {true, "h", ""}, // DELEGPURGE
	opDelegReturn:  {true, "s", ""},
	opGetAttr:      {true, "b", "f"},
	opGetFH:        {true, "", ""},
	opLink:         {true, "", "c"},
	12:             {true, "iihhL", "s"}, // LOCK
	13:             {true, "ihhho", ""},  // LOCKT
	14:             {true, "iishh", "s"}, // LOCKU
	opLookup:       {true, "", ""},
	opLookupParent: {true, "", ""},
	17:             {true, "f", ""}, // NVERIFY
	opOpen:         {true, "", ""},
	opOpenAttr:     {true, "i", ""},
	20:             {true, "si", "s"},   // OPEN_CONFIRM
	21:             {true, "siii", "s"}, // OPEN_DOWNGRADE
	opPutFH:        {true, "", ""},
	opPutPublic:    {true, "", ""},
	opPutRoot:      {true, "", ""},
	opRead:         {true, "", ""},
	opReadDir:      {true, "", "h{hof}i"},
	opReadLink:     {true, "", ""},
	opRemove:       {true, "", "c"},
	opRename:       {true, "", "cc"},
	30:             {true, "h", ""}, // RENEW
	opRestoreFH:    {true, "", ""},
	opSaveFH:       {true, "", ""},
	33:             {true, "o", "(S)"}, // SECINFO
	opSetAttr:      {true, "", "b"},
	35:             {true, "hoiooi", "hh"}, // SETCLIENTID
	36:             {true, "hh", ""},       // SETCLIENTID_CONFIRM
	37:             {true, "f", ""},        // VERIFY
	opWrite:        {true, "", ""},
	39:             {true, "ho", ""}, // RELEASE_LOCKOWNER

	40:             {true, "i(B)", ""},                                           // BACKCHANNEL_CTL
	41:             {true, "sii", "sii"},                                         // BIND_CONN_TO_SESSION
	42:             {true, "hoiP(oot)", "hiiRhoo(oot)"},                          // EXCHANGE_ID
	43:             {true, "hiiiiiiii(i)iiiiii(i)i(B)", "siiiiiiii(i)iiiiii(i)"}, // CREATE_SESSION
	44:             {true, "s", ""},                                              // DESTROY_SESSION
	45:             {true, "s", ""},                                              // FREE_STATEID
	46:             {true, "ibttbb", "G"},                                        // GET_DIR_DELEGATION
	47:             {true, "siib", "iob"},                                        // GETDEVICEINFO
	48:             {true, "iihh", "hh(s)i"},                                     // GETDEVICELIST
	opLayoutCommit: {true, "hhis(h)(t)io", "(h)"},                                // LAYOUTCOMMIT
	50:             {true, "iiihhhsi", "is(hhiio)"},                              // LAYOUTGET
	51:             {true, "iiiY", "(s)"},                                        // LAYOUTRETURN
	52:             {true, "i", "(S)"},                                           // SECINFO_NO_NAME
	53:             {true, "siiii", "siiiii"},                                    // SEQUENCE
	54:             {true, "oo", "o"},                                            // SET_SSV
	55:             {true, "(s)", "(i)"},                                         // TEST_STATEID
	56:             {true, "iW", "D"},                                            // WANT_DELEGATION
	57:             {true, "h", ""},                                              // DESTROY_CLIENTID
	58:             {true, "i", ""},                                              // RECLAIM_COMPLETE

	opAllocate:    {true, "shh", ""},
	opCopy:        {true, "sshhhii(N)", "(s)hihii"},
	61:            {true, "sN", "ts(N)"}, // COPY_NOTIFY
	opDeallocate:  {true, "shh", ""},
	63:            {true, "shhb", "b"},      // IO_ADVISE
	64:            {true, "hhs(sii)", ""},   // LAYOUTERROR
	65:            {true, "hhshhhhsio", ""}, // LAYOUTSTATS
	66:            {true, "s", ""},          // OFFLOAD_CANCEL
	67:            {true, "s", "h(i)"},      // OFFLOAD_STATUS
	opReadPlus:    {true, "", ""},
	69:            {true, "shi", "ih"}, // SEEK
	opWriteSame:   {true, "sihhhhiho", "(s)hih"},
	opClone:       {true, "sshhh", ""},
	72:            {true, "o", "o"}, // GETXATTR
	opSetXattr:    {true, "ioo", "c"},
	74:            {true, "hi", "h(o)i"}, // LISTXATTRS
	opRemoveXattr: {true, "o", "c"},
}

// operationOf returns an operation, and false if nothing is known of it.
func operationOf(number uint32) (operation, bool) {
	if number >= operationsEnd {
		return operation{}, false
	}
	o := operations[number]
	return o, o.known
}

// changes says whether an operation without an exchange acts on the current
// file, so that GETATTR after it fetches the attributes that this left.
func changes(number uint32) bool {
	switch number {
	case opDelegReturn, opLayoutCommit, opAllocate, opCopy, opDeallocate, opWriteSame, opClone, opSetXattr, opRemoveXattr:
		return true
	}
	return false
}
