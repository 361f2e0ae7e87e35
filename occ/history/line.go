package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// line is one line of a saved history; exactly one member is set.
type line struct {
	Event   *eventLine   `json:"event,omitempty"`
	Unknown *unknownLine `json:"unknown,omitempty"`
	InDoubt bool         `json:"in_doubt,omitempty"`
	Applied *appliedLine `json:"applied,omitempty"`
}

// eventLine is an Event. Times are in nanoseconds; Reads is block, version,
// block, version, and so on.
type eventLine struct {
	Client    int           `json:"client"`
	Kind      string        `json:"kind"`
	Lo        occ.Timestamp `json:"lo,omitempty"`
	Hi        occ.Timestamp `json:"hi,omitempty"`
	Commit    occ.Timestamp `json:"commit,omitempty"`
	Reads     []uint64      `json:"reads,omitempty"`
	Writes    []occ.BlockID `json:"writes,omitempty"`
	Begin     time.Duration `json:"begin,omitempty"`
	End       time.Duration `json:"end,omitempty"`
	BeginSeq  uint64        `json:"begin_seq,omitempty"`
	EndSeq    uint64        `json:"end_seq,omitempty"`
	Epsilon   time.Duration `json:"epsilon,omitempty"`
	Chosen    bool          `json:"chosen,omitempty"`
	NoOpacity bool          `json:"no_opacity,omitempty"`
}

type unknownLine struct {
	Timestamp occ.Timestamp `json:"ts"`
	Writes    []occ.BlockID `json:"writes,omitempty"`
}

type appliedLine struct {
	Time   time.Duration `json:"t"`
	Stable occ.Timestamp `json:"stable"`
}

var (
	errNotOne   = errors.New("not exactly one of event, unknown, in_doubt and applied")
	errTrailing = errors.New("more than one value on the line")
	errOddReads = errors.New("reads are not pairs of block and version")
)

func eventToLine(e Event) *eventLine {
	l := &eventLine{
		Client: e.Client, Kind: e.Kind.String(),
		Lo: e.Lo, Hi: e.Hi, Commit: e.Commit, Writes: e.Writes,
		Begin: e.Begin, End: e.End, BeginSeq: e.BeginSeq, EndSeq: e.EndSeq,
		Epsilon: e.Epsilon, Chosen: e.Chosen, NoOpacity: e.NoOpacity,
	}
	for _, r := range e.Reads {
		l.Reads = append(l.Reads, uint64(r.Block), uint64(r.From))
	}
	return l
}

func (l *eventLine) event() (Event, error) {
	kind, ok := kindNamed(l.Kind)
	if !ok {
		return Event{}, fmt.Errorf("no kind of event is named %.40q", l.Kind)
	}
	if len(l.Reads)%2 != 0 {
		return Event{}, errOddReads
	}
	e := Event{
		Client: l.Client, Kind: kind,
		Lo: l.Lo, Hi: l.Hi, Commit: l.Commit, Writes: l.Writes,
		Begin: l.Begin, End: l.End, BeginSeq: l.BeginSeq, EndSeq: l.EndSeq,
		Epsilon: l.Epsilon, Chosen: l.Chosen, NoOpacity: l.NoOpacity,
	}
	if n := len(l.Reads) / 2; n > 0 {
		e.Reads = make([]occ.Read, n)
		for i := range e.Reads {
			e.Reads[i] = occ.Read{Block: occ.BlockID(l.Reads[2*i]), From: occ.Timestamp(l.Reads[2*i+1])}
		}
	}
	return e, nil
}

// deliver parses one line and hands it to the sink.
func deliver(text []byte, to Sink) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var l line
	if err := d.Decode(&l); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	set := 0
	for _, is := range []bool{l.Event != nil, l.Unknown != nil, l.InDoubt, l.Applied != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errNotOne
	}
	switch {
	case l.Event != nil:
		e, err := l.Event.event()
		if err != nil {
			return err
		}
		to.Record(e)
	case l.Unknown != nil:
		to.Unknown(l.Unknown.Timestamp, l.Unknown.Writes)
	case l.Applied != nil:
		to.Applied(l.Applied.Time, l.Applied.Stable)
	default:
		to.InDoubt()
	}
	return nil
}
