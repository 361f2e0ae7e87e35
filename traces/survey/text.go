package survey

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/tidemark/tidemark/traces"
)

// meanings say in plain words what the operations of a kind do.
var meanings = map[string]string{
	"Attr READ": "ask for a file's attributes", "Attr WRITE": "set a file's attributes",
	"Block READ": "read data of a file", "Block WRITE": "write data of a file",
	"Dir READ": "read a directory", "Dir WRITE": "change a directory",
	"Open": "open a file", "Close": "close a file", "Delete": "delete a file",
	"Lookup": "find a file by its name", "Create": "make a file", "Mkdir": "make a directory", "Rmdir": "remove a directory",
	"Rename": "give a file another name", "Link": "give a file one more name", "Symlink": "make a symbolic link",
	"Truncate": "set a file's size", "Commit": "ask that written data be on disk",
}

// WriteTo writes the description as text for people who have not seen one
// before.
func (i *Info) WriteTo(w io.Writer) (int64, error) {
	var p page
	i.summary(&p)
	if i.Operations > 0 {
		i.kinds(&p)
		i.inference(&p)
		i.hosts(&p)
		i.files(&p)
		i.gaps(&p)
	}
	i.odd(&p)
	n, err := io.WriteString(w, p.String())
	return int64(n), err
}

func (i *Info) summary(p *page) {
	p.fact("trace", i.Name)
	if i.Format != "" {
		p.fact("format", i.Format)
	}
	p.fact("operations", count(i.Operations))
	if i.Operations == 0 {
		return
	}
	p.fact("hosts", least(i.HostsAtLeast)+count(int64(i.Hosts)))
	p.fact("files", fmt.Sprintf("%s%s, of which %s were used by more than one host", least(i.FilesAtLeast), count(i.Files), count(i.Sharing.Shared())))
	p.fact("time", instant(i.First)+" to "+instant(i.Last))
	span := seconds(i.Span())
	if i.Span() >= 60_000_000 {
		span += fmt.Sprintf(" (%v)", (time.Duration(i.Span()) * time.Microsecond).Round(time.Second))
	}
	p.fact("span", span)
	for _, d := range []struct {
		label      string
		bytes, ops int64
		share      float64
	}{{"data read", i.BytesRead, i.BlocksRead, i.ReadShare()}, {"data written", i.BytesWritten, i.BlocksWritten, i.WriteShare()}} {
		p.fact(d.label, fmt.Sprintf("%s bytes (%s) by %s operations: %.1f%% of the data moved",
			count(d.bytes), humanize.Bytes(uint64(d.bytes)), count(d.ops), 100*d.share))
	}
}

func (i *Info) kinds(p *page) {
	p.heading("Operations by type")
	for _, k := range i.ByKind {
		name := k.Type + " " + k.Action
		meaning, ok := meanings[name]
		if !ok {
			meaning = meanings[k.Type]
		}
		p.row(name, count(k.Count), percent(k.Count, i.Operations), meaning)
	}
}

func (i *Info) inference(p *page) {
	p.heading("Transactions that a replay would make of them")
	t := i.Transactions
	if t == nil {
		p.line("not known: " + i.Uninferred)
		return
	}
	all := t.ReadOnly + t.ReadWrite
	p.row("read-only", count(t.ReadOnly), percent(t.ReadOnly, all), "")
	p.row("read/write", count(t.ReadWrite), percent(t.ReadWrite, all), "")
	p.heading("... and how they come about")
	p.row("single operations", count(t.Singles), percent(t.Singles, all), "each a transaction of its own")
	p.row("open and close", count(t.ExplicitOpens), percent(t.ExplicitOpens, all), "what a host does to a file between the two")
	p.row("inferred opens", count(t.ImplicitOpens), percent(t.ImplicitOpens, all), "data moved without an Open in the trace")
}

func (i *Info) hosts(p *page) {
	title := "Hosts by operations"
	if len(i.Busiest) < i.Hosts {
		title = fmt.Sprintf("The %d busiest hosts", len(i.Busiest))
	}
	p.heading(title)
	p.row("host", "operations", "share", "bytes read", "bytes written")
	for _, h := range i.Busiest {
		p.row(fmt.Sprint(h.Host), count(h.Operations), percent(h.Operations, i.Operations), count(h.BytesRead), count(h.BytesWritten))
	}
}

func (i *Info) files(p *page) {
	p.heading("Files by the number of hosts that used them")
	s := &i.Sharing
	row := func(label string, n int64) { p.row(label, count(n), percent(n, i.Files), "") }
	row("1 host", s.OneHost)
	row("2 hosts", s.TwoHosts)
	row("3 to 10 hosts", s.ThreeToTen)
	row("more than 10 hosts", s.MoreThanTen)
	p.heading("Files that hosts share")
	row("read by several", s.ReadBySeveral)
	row("written by several", s.WrittenBySeveral)
	row("written by one, read by others", s.PassedOn)
	p.heading("Files by size, as far as data were read or written")
	for n, c := range i.Sizes {
		label := "larger"
		switch {
		case n == 0:
			label = "no data moved"
		case c.UpTo > 0:
			label = "up to " + humanize.IBytes(uint64(c.UpTo))
		}
		row(label, c.Files)
	}
}

func (i *Info) gaps(p *page) {
	if len(i.Gaps) == 0 {
		return
	}
	p.heading("Longest times without an operation")
	for _, g := range i.Gaps {
		p.line(fmt.Sprintf("%s, ended at %s by %s %s", seconds(g.Length), instant(g.End), i.counted(), count(g.Line)))
	}
}

// counted is what the trace has of each number: lines but for captures.
func (i *Info) counted() string {
	if strings.HasPrefix(i.Format, "pcap") {
		return "operation"
	}
	return "line"
}

// odd tells what was met besides operations, what a sound trace lacks last.
func (i *Info) odd(p *page) {
	group := ""
	for _, f := range i.Findings {
		if f.Odd {
			continue
		}
		if f.Group != group {
			group = f.Group
			p.heading(group)
		}
		p.row(f.Name, count(f.Count), "", "")
	}
	p.heading("Odd: what a sound trace would not have")
	blank := p.Len()
	if i.OutOfOrder > 0 {
		p.row("operations out of order", count(i.OutOfOrder), percent(i.OutOfOrder, i.Operations), "older than one before them; put back in order")
	}
	if i.Clamped > 0 {
		p.row("of these, too late", count(i.Clamped), percent(i.Clamped, i.Operations),
			fmt.Sprintf("by more than %s; given a later time", seconds(traces.ReorderWindow)))
	}
	if i.Skipped > 0 {
		p.row("lines skipped", count(i.Skipped), "", "the first: "+i.FirstSkipped)
	}
	for _, f := range i.Findings {
		if f.Odd {
			p.row(f.Group+": "+f.Name, count(f.Count), "", "")
		}
	}
	if p.flush(); p.Len() == blank {
		p.line("nothing")
	}
}

func least(more bool) string {
	if more {
		return "at least "
	}
	return ""
}

func count(n int64) string { return humanize.Comma(n) }

func percent(part, whole int64) string { return fmt.Sprintf("%.1f%%", 100*share(part, whole)) }

func instant(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.000000 UTC")
}

func seconds(us int64) string { return fmt.Sprintf("%s.%06d s", count(us/1_000_000), us%1_000_000) }

// page is text under headings. Rows between two headings are a table.
type page struct {
	strings.Builder
	rows [][]string
}

func (p *page) fact(label, text string) { fmt.Fprintf(p, "%-14s%s\n", label, text) }

func (p *page) heading(text string) {
	p.flush()
	fmt.Fprintf(p, "\n%s\n", text)
}

func (p *page) line(text string) { fmt.Fprintf(p, "  %s\n", text) }

func (p *page) row(cells ...string) { p.rows = append(p.rows, cells) }

// flush writes the table at hand: the first column to the left, numbers to the
// right and words, which are the last of four, to the left.
func (p *page) flush() {
	var widths [5]int
	for _, r := range p.rows {
		for c, cell := range r {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range p.rows {
		line := fmt.Sprintf("  %-*s", widths[0], r[0])
		for c, cell := range r[1:] {
			if c == 2 && len(r) == 4 {
				line += "  " + cell
			} else if widths[c+1] > 0 {
				line += fmt.Sprintf("  %*s", widths[c+1], cell)
			}
		}
		p.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	p.rows = nil
}
