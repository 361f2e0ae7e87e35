package live

import (
	"fmt"
	"syscall"
	"time"
)

// cpuTime is the user plus system time of this process.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// meter adds up this process's CPU time while it runs.
type meter struct {
	total   time.Duration
	started time.Duration
	err     error
}

func (m *meter) start() { m.started = m.read() }
func (m *meter) pause() { m.total += m.read() - m.started }

func (m *meter) read() time.Duration {
	t, err := cpuTime()
	if err != nil {
		m.err = err
	}
	return t
}
