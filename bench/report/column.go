// Package report makes what people and programs read out of the figures of an
// experiment: the comparison table for the terminal, and JSON lines.
package report

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/occ"
)

// Column is one setting's figures: traffic, aborts, hits and staleness come
// from the simulation, CPU and latency from the live replay. Either may be nil.
type Column struct {
	Setting exp.Setting
	Sim     *exp.Figures
	Live    *exp.Figures
}

// Comparison is the replay of one load under several settings.
type Comparison struct {
	Load    *exp.Load
	Columns []Column
	// Conditions are the options that the figures depend on, as "name value".
	Conditions []string
}

// row is one line of the table: a title and how a column fills it. Rows of
// which every cell is empty are left out.
type row struct {
	title string
	cell  func(c Column, first Column) string
}

// section is a group of rows under a heading.
type section struct {
	title string
	rows  []row
}

// fromSim and fromLive make cells from figures that may be missing.
func fromSim(f func(*exp.Figures) string) func(Column, Column) string {
	return func(c, _ Column) string {
		if c.Sim == nil {
			return ""
		}
		return f(c.Sim)
	}
}

func fromLive(f func(*exp.Figures) string) func(Column, Column) string {
	return func(c, _ Column) string {
		if c.Live == nil {
			return ""
		}
		return f(c.Live)
	}
}

// ratio makes a cell that relates a column's value to the first column's.
func ratio(value func(Column) (float64, bool)) func(Column, Column) string {
	return func(c, first Column) string {
		v, ok := value(c)
		base, okBase := value(first)
		if !ok || !okBase || base == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", v/base)
	}
}

func simTraffic(c Column) (float64, bool) {
	if c.Sim == nil {
		return 0, false
	}
	return float64(c.Sim.Traffic.Bytes), true
}

func liveServer(c Column) (float64, bool) {
	if c.Live == nil {
		return 0, false
	}
	return c.Live.CPU.Server.Mean, true
}

func liveClient(c Column) (float64, bool) {
	if c.Live == nil {
		return 0, false
	}
	return c.Live.CPU.Client.Mean, true
}

// sections are the rows of the table, in order. The first three figures are
// those of the report.
func sections() []section {
	return []section{
		{"as in the report", []row{
			{"network traffic", fromSim(func(f *exp.Figures) string { return bytes(f.Traffic.Bytes) })},
			{"  relative to the first column", ratio(simTraffic)},
			{"average client CPU", fromLive(func(f *exp.Figures) string {
				return seconds(f.CPU.Client.Mean / float64(max(f.CPU.Hosts, 1)))
			})},
			{"  relative to the first column", ratio(liveClient)},
			{"server CPU", fromLive(func(f *exp.Figures) string { return interval(f.CPU.Server) })},
			{"  relative to the first column", ratio(liveServer)},
			{"transactions, read-only", fromSim(func(f *exp.Figures) string { return count(f.Replay.ReadOnly) })},
			{"transactions, read/write", fromSim(func(f *exp.Figures) string { return count(f.Replay.ReadWrite) })},
			{"aborted attempts", fromSim(func(f *exp.Figures) string { return count(f.Replay.Attempts - f.Replay.ReadOnly - f.Replay.ReadWrite) })},
		}},
		{"network, simulated", []row{
			{"messages", fromSim(func(f *exp.Figures) string { return count(f.Traffic.Messages) })},
			{"round trips", fromSim(func(f *exp.Figures) string { return count(f.Traffic.RoundTrips) })},
			{"compulsory data", fromSim(func(f *exp.Figures) string { return bytes(f.Traffic.Compulsory) })},
			{"traffic beyond it", fromSim(func(f *exp.Figures) string {
				return bytes(f.Traffic.Bytes - min(f.Traffic.Bytes, f.Traffic.Compulsory))
			})},
			{"deprecations", fromSim(func(f *exp.Figures) string { return count(f.Clients.Deprecations) })},
			{"pings", fromSim(func(f *exp.Figures) string { return count(f.Clients.Pings) })},
		}},
		{"transactions, simulated", []row{
			{"aborts: refused by validation", fromSim(aborts(occ.AbortConflict))},
			{"aborts: active, told while running", fromSim(aborts(occ.AbortActive))},
			{"transactions given up", fromSim(func(f *exp.Figures) string { return count(f.Replay.Failed) })},
			{"restarts of read-only ones", fromSim(func(f *exp.Figures) string { return count(f.Clients.Restarts) })},
			{"reads from the cache", fromSim(func(f *exp.Figures) string {
				return percent(f.Clients.Hits, f.Clients.Hits+f.Clients.Misses+f.Clients.Joined)
			})},
			{"staleness, mean", fromSim(func(f *exp.Figures) string { return stale(f, f.Staleness.Mean) })},
			{"staleness, p50", fromSim(func(f *exp.Figures) string { return stale(f, f.Staleness.P50) })},
			{"staleness, p99", fromSim(func(f *exp.Figures) string { return stale(f, f.Staleness.P99) })},
			{"staleness, max", fromSim(func(f *exp.Figures) string { return stale(f, f.Staleness.Max) })},
			{"commit log written", fromSim(func(f *exp.Figures) string { return bytes(f.LogBytes) })},
			{"versions kept at the end", fromSim(func(f *exp.Figures) string { return count(int64(f.VersionsKept)) })},
		}},
		{"live, server and clients in processes of their own", []row{
			{"client process CPU, all hosts", fromLive(func(f *exp.Figures) string { return interval(f.CPU.Client) })},
			{"wall time of a replay", fromLive(func(f *exp.Figures) string { return seconds(f.CPU.Wall.Seconds()) })},
			{"replays", fromLive(func(f *exp.Figures) string { return count(int64(f.Rounds)) })},
			{"read-only latency, p50", fromLive(func(f *exp.Figures) string { return seconds(f.ReadOnlyLatency.P50) })},
			{"read-only latency, p99", fromLive(func(f *exp.Figures) string { return seconds(f.ReadOnlyLatency.P99) })},
			{"read/write latency, p50", fromLive(func(f *exp.Figures) string { return seconds(f.ReadWriteLatency.P50) })},
			{"read/write latency, p99", fromLive(func(f *exp.Figures) string { return seconds(f.ReadWriteLatency.P99) })},
		}},
		{"checks", []row{
			{"history, events judged", func(c, _ Column) string { return checked(c) }},
			{"violations", func(c, _ Column) string { return violations(c) }},
			{"fsck problems", func(c, _ Column) string { return problems(c) }},
		}},
	}
}

func aborts(reason occ.AbortReason) func(*exp.Figures) string {
	return func(f *exp.Figures) string { return count(int64(f.Clients.Aborts[reason])) }
}

// stale prints a staleness, which only local read-only transactions have.
func stale(f *exp.Figures, s float64) string {
	if f.Staleness.Count == 0 {
		return "-"
	}
	return seconds(s)
}

func each(c Column, f func(*exp.Figures) int64) string {
	n := int64(0)
	for _, g := range []*exp.Figures{c.Sim, c.Live} {
		if g != nil {
			n += f(g)
		}
	}
	return count(n)
}

func checked(c Column) string {
	return each(c, func(f *exp.Figures) int64 { return int64(f.History.Events()) })
}

func violations(c Column) string {
	return each(c, func(f *exp.Figures) int64 { return int64(f.History.Total + f.History.TooOld) })
}

func problems(c Column) string {
	return each(c, func(f *exp.Figures) int64 { return int64(f.Problems) })
}

// count, bytes, percent, seconds and interval print figures for people.

func count[T int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytes(n uint64) string {
	switch {
	case n >= 10e6:
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	case n >= 10e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case s >= 0.1:
		return fmt.Sprintf("%.2f s", s)
	case d >= 100*time.Microsecond:
		return fmt.Sprintf("%.2f ms", s*1e3)
	default:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
}

func interval(i exp.Interval) string {
	if i.Half == 0 {
		return seconds(i.Mean)
	}
	return fmt.Sprintf("%s ±%.0f%%", seconds(i.Mean), 100*i.Half/i.Mean)
}
