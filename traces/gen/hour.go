package gen

import (
	"fmt"
	"time"
)

// Hour are the parameters of the load "auspex-hour". The rest of its shape are
// the constants of shape.go.
type Hour struct {
	Seed       uint64
	Hosts      int
	Operations int64 // exactly so many
	Duration   time.Duration
	// WriteShare is the part of the transactions that are read/write.
	WriteShare float64
	// SharingShare is the part of the accesses that go to files which
	// several hosts use.
	SharingShare float64
}

// The report's figures for the first hour of the Auspex trace, which Default
// and the number of transactions an operation follow.
const (
	reportOperations   = 100_000
	reportHosts        = 134
	reportReadOnly     = 65_883
	reportReadWrite    = 3_882
	reportTransactions = reportReadOnly + reportReadWrite
)

// DefaultHour returns the parameters whose load is like the report's.
func DefaultHour() Hour {
	return Hour{
		Seed: 1, Hosts: reportHosts, Operations: reportOperations, Duration: time.Hour,
		WriteShare: float64(reportReadWrite) / reportTransactions, SharingShare: 0.12,
	}
}

// Limits of the parameters.
const (
	MaxHosts      = 1 << 16
	MaxOperations = 1_000_000_000
	MinDuration   = time.Second
	MaxDuration   = 366 * 24 * time.Hour
	// MinHostOperations is the least average number of operations of a host,
	// so that every host has some.
	MinHostOperations = 10
	// MaxHostRate is the largest average number of operations of one host in
	// a second.
	MaxHostRate = 1000
)

// ParamError says which parameter is out of its limits.
type ParamError struct {
	Name   string // as a flag spells it
	Reason string
}

func (e *ParamError) Error() string { return e.Name + " " + e.Reason }

// Check returns a *ParamError for the first parameter that is out of its
// limits. What it passes gives exactly Operations operations by exactly Hosts
// hosts within Duration.
func (h Hour) Check() error {
	bad := func(name, format string, args ...any) error {
		return &ParamError{name, fmt.Sprintf(format, args...)}
	}
	switch {
	case h.Hosts < 1 || h.Hosts > MaxHosts:
		return bad("hosts", "must be from 1 to %d, not %d", MaxHosts, h.Hosts)
	case h.Operations < MinHostOperations*int64(h.Hosts) || h.Operations > MaxOperations:
		return bad("operations", "must be from %d, which is %d for each host, to %d, not %d",
			MinHostOperations*int64(h.Hosts), MinHostOperations, MaxOperations, h.Operations)
	case h.Duration < MinDuration || h.Duration > MaxDuration:
		return bad("duration", "must be from %v to %v, not %v", MinDuration, MaxDuration, h.Duration)
	case h.Operations/int64(h.Hosts) > MaxHostRate*int64(h.Duration/time.Second):
		return bad("duration", "of %v is too short: more than %d operations a second for each host", h.Duration, MaxHostRate)
	case !(h.WriteShare >= 0 && h.WriteShare <= 1):
		return bad("writes", "must be from 0 to 1, not %v", h.WriteShare)
	case !(h.SharingShare >= 0 && h.SharingShare <= 1):
		return bad("sharing", "must be from 0 to 1, not %v", h.SharingShare)
	}
	return nil
}

// transactions returns how many transactions there are, and how many of them
// are read/write.
func (h Hour) transactions() (all, writes int64) {
	all = (portion(2*h.Operations, reportTransactions, reportOperations) + 1) / 2
	return all, (portion(2*all, int64(oddsOf(h.WriteShare)), int64(certain)) + 1) / 2
}
