package server

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/occ/wire"
)

// usage returns what this process has used so far: CPU time, user and system
// together, in microseconds, and the largest resident set in bytes.
func usage() []wire.Counter {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return nil
	}
	micros := func(t unix.Timeval) uint64 { return uint64(t.Nano() / 1000) }
	rss := uint64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		rss *= 1024 // kilobytes elsewhere
	}
	return []wire.Counter{
		{Name: "cpu_us", Value: micros(u.Utime) + micros(u.Stime)},
		{Name: "max_rss_bytes", Value: rss},
	}
}
