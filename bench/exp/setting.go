// Package exp says what an experiment is: a load, the settings under which it
// is replayed, and the figures that come out.
package exp

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/client"
)

// Setting is one column of the comparison table.
type Setting struct {
	Mode client.Mode
	// Epsilon is the freshness bound of read-only transactions, in trace
	// time; it means nothing in Conventional mode.
	Epsilon time.Duration
	// NoActiveAborts switches active aborts off.
	NoActiveAborts bool
}

// Standard is the settings of the report: conventional OCC, and
// read-optimized OCC with ε = 2 s, 0.1 s and 0.
func Standard() []Setting {
	return []Setting{
		{Mode: client.Conventional},
		{Epsilon: 2 * time.Second},
		{Epsilon: 100 * time.Millisecond},
		{Epsilon: 0},
	}
}

// String is the setting as ParseSetting takes it.
func (s Setting) String() string {
	name := "occ"
	if s.Mode == client.ReadOptimized {
		name = s.Epsilon.String()
		if s.Epsilon == client.Unbounded {
			name = "inf"
		}
	}
	if s.NoActiveAborts {
		name += "-passive"
	}
	return name
}

// Title is the setting as a column heading.
func (s Setting) Title() string {
	title := "conventional OCC"
	if s.Mode == client.ReadOptimized {
		switch {
		case s.Epsilon == client.Unbounded:
			title = "ε = ∞"
		case s.Epsilon == 0:
			title = "ε = 0"
		default:
			title = fmt.Sprintf("ε = %g s", s.Epsilon.Seconds())
		}
	}
	if s.NoActiveAborts {
		title += ", passive"
	}
	return title
}

// ParseSetting reads a setting: "occ", a duration such as "2s" or "0" for
// read-optimized OCC with that bound, or "inf" for no bound; "-passive" behind
// it switches active aborts off.
func ParseSetting(text string) (Setting, error) {
	var s Setting
	name, passive := strings.CutSuffix(text, "-passive")
	s.NoActiveAborts = passive
	switch name {
	case "occ":
		s.Mode = client.Conventional
		return s, nil
	case "inf":
		s.Epsilon = client.Unbounded
		return s, nil
	}
	d, err := time.ParseDuration(name)
	if err != nil || d < 0 {
		return Setting{}, fmt.Errorf("setting %q is none of: occ, a freshness bound such as 2s or 0, inf; each with -passive for no active aborts", text)
	}
	s.Epsilon = d
	return s, nil
}
