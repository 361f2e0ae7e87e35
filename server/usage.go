package server

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/occ/wire"
)

// usage returns what this process has used so far: CPU time, user and system
// together, in microseconds, the largest resident set in bytes, and how often a
// page had to be mapped, which is dear on virtual machines.
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
	// Linux counts in it what the process was before it became this program,
	// which is as large as the one that started it. What it says of the memory
	// of this program alone is here.
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		rss = cmp.Or(highWater(string(status)), rss)
	}
	return []wire.Counter{
		{Name: "cpu_us", Value: micros(u.Utime) + micros(u.Stime)},
		{Name: "max_rss_bytes", Value: rss},
		{Name: "page_faults", Value: uint64(u.Minflt) + uint64(u.Majflt)},
	}
}

// highWater is the largest resident set that Linux's status of a process
// tells, in bytes; 0 if it tells none.
func highWater(status string) uint64 {
	_, rest, _ := strings.Cut(status, "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 54)
	if err != nil {
		return 0
	}
	return kilobytes * 1024
}

// usage returns the figures of the block store, if there is one.
func (st *storage) usage() []wire.Counter {
	if st.blocks == nil {
		return nil
	}
	b := st.blocks.Stats()
	return []wire.Counter{
		{Name: "block_file_bytes", Value: uint64(b.BlockBytes)},
		{Name: "block_slots", Value: uint64(b.Slots)},
		{Name: "block_slots_live", Value: uint64(b.LiveSlots)},
		{Name: "block_slots_free", Value: uint64(b.FreeSlots)},
		{Name: "block_index_memory_bytes", Value: uint64(b.MemoryBytes)},
		{Name: "cache_bytes", Value: uint64(b.CacheBytes)},
		{Name: "cache_hits", Value: b.CacheHits},
		{Name: "cache_misses", Value: b.CacheMisses},
		{Name: "checkpoints", Value: b.Checkpoints},
		{Name: "dirty_bytes", Value: uint64(b.DirtyBytes)},
	}
}
