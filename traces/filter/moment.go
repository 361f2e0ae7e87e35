package filter

import (
	"fmt"
	"strings"
	"time"
)

// Moment is a time in a trace: absolute, or counted from the first operation
// of the file.
type Moment struct {
	us       int64 // microseconds, since 1970 or since the first operation
	relative bool
}

// layouts are those of absolute times, in UTC if they do not say otherwise.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"}

// ParseMoment reads a time such as "+10m", ten minutes after the first
// operation, "748521923.4", seconds since 1970, and "1993-09-20 10:25:23".
func ParseMoment(text string) (*Moment, error) {
	fault := fmt.Errorf("%q is no time: give one like +10m, 748521923.4, or 1993-09-20T10:25:23", text)
	if after, relative := strings.CutPrefix(text, "+"); relative {
		d, err := time.ParseDuration(after)
		if err != nil || d < 0 {
			return nil, fault
		}
		return &Moment{d.Microseconds(), true}, nil
	}
	if d, err := time.ParseDuration(text + "s"); err == nil && strings.Trim(text, "0123456789.") == "" {
		return &Moment{us: d.Microseconds()}, nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return &Moment{us: t.UnixMicro()}, nil
		}
	}
	return nil, fault
}

// or returns the moment in microseconds since 1970, or otherwise if there is
// none.
func (m *Moment) or(otherwise, first int64) int64 {
	switch {
	case m == nil:
		return otherwise
	case m.relative:
		return first + m.us
	}
	return m.us
}
