package gen

// The shape of the hour. docs/loads.md gives the source of each of these
// numbers, or says that it is an assumption.

// Times, in microseconds.
const (
	// hourStart is 03:00 in Berkeley on Monday 20 September 1993, the hour of
	// the one line of the trace that is known.
	hourStart = 748_519_200_000_000
	// meanGap is between the beginnings of two transactions of a burst.
	meanGap = 30_000
	// A transfer follows the one before it after meanTransfer on average.
	meanTransfer = 6_000
	// An open without transfers ends after meanGlance on average, and any
	// other is held for leastHold, or up to 2^doublings times as long.
	meanGlance     = 1_000
	leastHold      = 2_000
	readDoublings  = 6
	writeDoublings = 5
	// answer is how long after its end an open counts as one: a host looks at
	// what it wrote when the server has answered.
	answer = 20_000
	// recent is how long ago a quick overwrite follows at most.
	recent = 30_000_000
)

// Transactions.
const (
	meanBurst = 20 // transactions
	// sliceTransactions is the mean number of transactions in a slice of the
	// trace: the numbers of each kind are exact at the ends of slices.
	sliceTransactions = 1000
)

// Shares of the read-only transactions.
var (
	openShare    = oddsOf(0.31) // opens; nearly all others are lone Attr READ records
	readShare    = oddsOf(0.13) // of these opens: those that move blocks, the others hit the client's cache
	dirReadShare = oddsOf(0.01)
)

// Shares of the read/write transactions.
var (
	writeOpenShare = oddsOf(0.60)
	deleteShare    = oddsOf(0.06)
	dirWriteShare  = oddsOf(0.05) // the others are lone Attr WRITE records
)

// Where read/write opens go. Of what is left after these, files are new.
var (
	quickShare   = oddsOf(0.80) // of writes: again to a file of the host's last 30 s, if there is one
	againShare   = oddsOf(0.75) // of the others: to a file that the host wrote before that
	foreignShare = oddsOf(0.06) // of all: to a file that another host wrote last
	editShare    = oddsOf(0.25) // of longer writes: the first block is read, not written
)

// Where other accesses go.
var (
	firstShare  = oddsOf(0.15) // of opens that read: a file that the host has not read
	writtenBy   = oddsOf(0.10) // of accesses to own files: one that the host wrote
	commonShare = oddsOf(0.70) // of shared accesses: files of the whole site, the others of the workgroup
	doubleShare = oddsOf(0.05) // of opens with blocks: transfers of 8,192 bytes instead of 4,096
)

// Files.
const (
	homeFiles   = 32 // of each host, used again and again
	commonFiles = 32 // of the whole site
	groupHosts  = 8
	groupFiles  = 6 // of each workgroup
	groupBlocks = 2
	blockBytes  = 4096
	// maxDoublings bounds the sizes of files: 2^9 blocks are 2 MiB.
	maxDoublings = 9
	// remembered is how many files that it wrote a host remembers.
	remembered = 16
	// dirBytes is how much of a directory one Dir READ moves.
	dirBytes = 1024
)

// clients are how many clients the server has for every reportHosts that show
// up, and firstHost is the lowest id of one.
const (
	clients   = 236
	firstHost = 1003
)

// dayRate is the rate of operations at each full hour of the day, relative to
// the others; between them it changes evenly.
var dayRate = [24]int64{60, 54, 50, 48, 54, 60, 66, 76, 92, 112, 128, 136, 134, 138, 146, 150, 148, 140, 124, 106, 94, 84, 76, 68}

// startOfDay is the time of day of hourStart in seconds, in Berkeley.
const startOfDay = 3 * 3600
