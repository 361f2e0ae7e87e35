package client

import (
	"math/rand/v2"
	"time"
)

// urgentAttempt is the attempt of Update from which on its commit is urgent: if
// it loses once more, the server reserves what it read for the next attempt.
const urgentAttempt = 8

// Bounds of the pause before a transaction is run again. The first retry
// comes at once: a conflict reply comes when the winner's writes can be read.
const (
	firstPause = 200 * time.Microsecond
	maxPause   = 50 * time.Millisecond
)

// backoff is the pause after attempt failed, counted from 1: none at first,
// then random within a window that doubles up to maxPause. The randomness
// keeps transactions that lost to each other from meeting again.
func backoff(attempt int, rng *rand.Rand) time.Duration {
	if attempt <= 1 {
		return 0
	}
	window := maxPause
	if shift := attempt - 2; shift < 8 {
		window = min(firstPause<<shift, maxPause)
	}
	return window/2 + time.Duration(rng.Int64N(int64(window/2)))
}

// busyPause is the pause after a request was refused, for the attempt-th time,
// because the server had too much under way: never none.
func busyPause(attempt int, rng *rand.Rand) time.Duration { return backoff(attempt+1, rng) }

// Bounds of the pause before another attempt to connect.
const (
	firstReconnectPause = 2 * time.Millisecond
	maxReconnectPause   = 500 * time.Millisecond
)

// reconnectPause is the pause after attempt to connect failed, counted from 1:
// random within a window that doubles, so that the clients of a server that
// comes back do not all come at once.
func reconnectPause(attempt int, rng *rand.Rand) time.Duration {
	window := maxReconnectPause
	if attempt <= 8 {
		window = min(firstReconnectPause<<attempt, maxReconnectPause)
	}
	return window/2 + time.Duration(rng.Int64N(int64(window/2)))
}
