package client

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// bootClock is a monotonic clock that keeps counting while the machine
// sleeps, which the clock behind time.Since does not (protocol, section 2).
// The system has such a clock, but asking it takes a system call, which costs
// more than a whole read-only transaction. So the system is asked at least
// once in every trusted, and in between the time is that of Go's monotonic
// clock plus what the two were apart.
//
// A sleep in between is noticed because the wall clock goes on in it: when
// wall and monotonic clock do not advance by the same, the system is asked.
// If somebody sets the wall clock, the system is asked once too often. Only a
// wall clock that is set back within trusted of waking time, by what the
// sleep lasted to within slack, would hide a sleep, until trusted is over.
//
// The clock never goes back, and runs at most one reading late. Where it
// catches up, something before seems older than it is; that makes a
// transaction fresher, never staler.
type bootClock struct {
	instant func() (wall, mono time.Duration)
	boot    func() time.Duration
	last    atomic.Pointer[bootReading]
}

const (
	trusted = time.Millisecond
	slack   = 100 * time.Microsecond
)

// bootReading is what the clocks said at one time.
type bootReading struct {
	wall, mono time.Duration
	ahead      time.Duration // of the monotonic clock
}

// processClock is the clock of this process.
var processClock = bootClock{instant: instant, boot: askBoot}

var processStart = time.Now()

func instant() (wall, mono time.Duration) {
	t := time.Now()
	return time.Duration(t.UnixNano()), t.Sub(processStart)
}

func askBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(sleepingClock, &ts); err != nil {
		panic("client: the system has no monotonic clock: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

func (c *bootClock) now() time.Duration {
	wall, mono := c.instant()
	if r := c.last.Load(); r != nil && mono-r.mono < trusted && agree(wall-r.wall, mono-r.mono) {
		return mono + r.ahead
	}
	return c.ask()
}

// ask asks the system. The monotonic clock is read after it, so that what the
// two are apart is never taken for more than it is, and can only grow.
func (c *bootClock) ask() time.Duration {
	for {
		last := c.last.Load()
		wall, mono := c.instant()
		boot := c.boot()
		r := &bootReading{}
		r.wall, r.mono = c.instant()
		if !agree(r.wall-wall, r.mono-mono) {
			continue // a sleep, or a wall clock that was set, just here
		}
		if r.ahead = boot - r.mono; last != nil {
			r.ahead = max(r.ahead, last.ahead)
		}
		if c.last.CompareAndSwap(last, r) {
			return r.mono + r.ahead
		}
	}
}

func agree(a, b time.Duration) bool { return (a - b).Abs() < slack }
