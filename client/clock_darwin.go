package client

import "golang.org/x/sys/unix"

// On macOS CLOCK_MONOTONIC counts the time asleep too.
const sleepingClock = unix.CLOCK_MONOTONIC
