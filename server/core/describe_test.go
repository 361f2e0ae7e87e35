package core

import (
	"fmt"
	"sort"
	"strings"

	"github.com/samber/lo"

	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// print writes an effect as one line of a script's output.
func (s *scripted) print(e Effect) {
	p := func(format string, args ...any) { fmt.Fprintf(s.out, "  "+format+"\n", args...) }
	switch e := e.(type) {
	case Send:
		p("c%d <- %s", e.Conn, describe(e.Message))
	case Hangup:
		p("c%d hangup: %s", e.Conn, e.Reason)
	case Append:
		p("append %s", strings.Join(lo.Map(e.Records, func(r record.Record, _ int) string { return describeRecord(r) }), ", "))
	case Put:
		p("put %s %q", version(e.Block, e.From), e.Data)
	case Drop:
		p("drop %s", version(e.Block, e.From))
	case Load:
		p("load %s", strings.Join(lo.Map(e.Refs, func(r Ref, _ int) string { return version(r.Block, r.From) }), " "))
	}
}

func describeRecord(r record.Record) string {
	switch r := r.(type) {
	case *record.Commit:
		return fmt.Sprintf("commit %d (s%d number %d)", r.At, r.Session[0], r.Seq)
	case *record.Session:
		return fmt.Sprintf("session s%d", r.ID[0])
	case *record.Lease:
		return fmt.Sprintf("lease %d+%d", r.First, r.Count)
	case *record.Horizon:
		return fmt.Sprintf("horizon %d", r.At)
	case *record.Pin:
		return fmt.Sprintf("pin %s at %d", r.Name, r.At)
	case *record.Unpin:
		return "unpin " + r.Name
	case *record.Epoch:
		return fmt.Sprintf("epoch %d", r.Epoch)
	}
	return fmt.Sprintf("%T", r)
}

func describe(m wire.Message) string {
	text := ""
	switch m := m.(type) {
	case *wire.Welcome:
		text = fmt.Sprintf("welcome %d: session s%d epoch %d", m.Req, m.Session[0], m.Epoch)
	case *wire.Pong:
		text = fmt.Sprintf("pong %d", m.Req)
	case *wire.ReadReply:
		text = fmt.Sprintf("read %d:", m.Req)
		for _, r := range m.Results {
			switch r.Status {
			case wire.StatusCurrent:
				text += fmt.Sprintf(" %d open %q", r.From, r.Data)
			case wire.StatusStill:
				text += fmt.Sprintf(" %d still", r.From)
			case wire.StatusClosed:
				text += fmt.Sprintf(" [%d,%d) %q", r.From, r.To, r.Data)
			case wire.StatusGone:
				text += fmt.Sprintf(" gone, horizon %d", r.Horizon)
			}
		}
	case *wire.Items:
		text = "items:"
		for _, it := range m.Items {
			switch it.Kind {
			case wire.ItemCommitted:
				text += fmt.Sprintf(" request %d committed at %d;", it.Req, it.At)
			case wire.ItemDeprecated:
				text += fmt.Sprintf(" %s ended at %d;", version(it.Block, it.From), it.At)
			case wire.ItemDropped:
				text += fmt.Sprintf(" %s dropped at %d;", version(it.Block, it.From), it.At)
			}
		}
	case *wire.Conflict:
		text = fmt.Sprintf("conflict %d:", m.Req)
		for _, r := range m.Blocks {
			text += " " + version(r.Block, r.From)
		}
	case *wire.Validated:
		text = fmt.Sprintf("validated %d", m.Req)
	case *wire.Outcome:
		text = fmt.Sprintf("outcome %d: %s", m.Req, []string{"committed", "conflict", "unknown"}[m.Status])
		if m.Status == wire.OutcomeCommitted {
			text += fmt.Sprintf(" at %d", m.At)
		}
	case *wire.LeaseReply:
		text = fmt.Sprintf("lease %d: %d+%d", m.Req, m.First, m.Count)
	case *wire.PinReply:
		text = fmt.Sprintf("pin %d: at %d", m.Req, m.At)
	case *wire.PinsReply:
		text = fmt.Sprintf("pins %d:", m.Req)
		for _, p := range m.Pins {
			text += fmt.Sprintf(" %s@%d left %v,", p.Name, p.At, p.Left)
		}
		text += fmt.Sprintf(" last %v, horizon %d", m.Last, m.Horizon)
	case *wire.ChangesReply:
		text = fmt.Sprintf("changes %d:", m.Req)
		for _, r := range m.Blocks {
			text += " " + version(r.Block, r.From)
		}
		if !m.Last {
			text += fmt.Sprintf(" more from %c", rune(m.Next))
		}
	case *wire.StatusReply:
		text = fmt.Sprintf("status %d:", m.Req)
		values := lo.Filter(m.Values, func(c wire.Counter, _ int) bool { return c.Value > 0 })
		sort.Slice(values, func(i, j int) bool { return values[i].Name < values[j].Name })
		for _, v := range values {
			text += fmt.Sprintf(" %s=%d", v.Name, v.Value)
		}
	case *wire.Error:
		text = fmt.Sprintf("error %d: code %d limit %d value %d (%s)", m.Req, m.Code, m.Limit, m.Value, m.Text)
	}
	return fmt.Sprintf("%s | stable %d", text, stableOf(m))
}
