package server

const (
	// indexShare is how many times the index of the last checkpoint the log
	// grows before the next one is due, so that indexes, which are written
	// whole each time, are no more than an eighth of what goes to the log, up
	// to maxStretch.
	indexShare = 8
	// maxStretch bounds how many times Options.CheckpointBytes the log may grow
	// for that reason. A start replays the log at about 100 MiB a second, and
	// has to read the index besides.
	maxStretch = 2
)

// checkpointInterval returns how many bytes the log grows from one checkpoint
// to the next: at least least, and at most maxStretch times that, if the index
// of the last one took so many bytes.
func checkpointInterval(least, index int64) int64 {
	wanted := index * indexShare
	if wanted/maxStretch >= least { // least may be too large to be multiplied, but not then
		return least * maxStretch
	}
	return max(least, wanted)
}
