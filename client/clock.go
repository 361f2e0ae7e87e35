//go:build linux || darwin

package client

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock is a monotonic clock that keeps counting while the machine
// sleeps, which the clock behind time.Since does not on Linux (protocol,
// section 2).
func bootClock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(sleepingClock, &ts); err != nil {
		panic("client: the system has no monotonic clock: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
