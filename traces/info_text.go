package traces

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// String returns the description as text for people, several lines long.
func (i *Info) String() string {
	var b strings.Builder
	_, _ = i.WriteTo(&b)
	return b.String()
}

// WriteTo writes what String returns.
func (i *Info) WriteTo(w io.Writer) (int64, error) {
	out := &counted{w: w}
	row := func(label, format string, args ...any) {
		fmt.Fprintf(out, "%-14s %s\n", label, fmt.Sprintf(format, args...))
	}
	row("trace", "%s", i.Name)
	row("operations", "%d by %d hosts on %d files (%d used by more than one host)",
		i.Operations, i.Hosts, i.Files, i.SharedFiles)
	for _, k := range i.ByKind {
		row("  "+k.Type+" "+k.Action, "%d (%.1f%%)", k.Count, 100*share(k.Count, i.Operations))
	}
	row("time", "%s to %s", instant(i.First), instant(i.Last))
	row("span", "%s", seconds(i.Span()))
	if i.LargestGap > 0 {
		row("largest gap", "%s, ended by line %d", seconds(i.LargestGap), i.LargestGapLine)
	}
	row("read", "%d bytes in %d blocks (%.1f%% of the bytes)", i.BytesRead, i.BlocksRead, 100*i.ReadShare())
	row("written", "%d bytes in %d blocks (%.1f%% of the bytes)", i.BytesWritten, i.BlocksWritten, 100*i.WriteShare())
	row("out of order", "%d lines, %d of them by more than %s and given a later time",
		i.OutOfOrder, i.Clamped, seconds(ReorderWindow))
	row("skipped", "%d lines", i.Skipped)
	if i.FirstSkipped != "" {
		row("  the first", "%s", i.FirstSkipped)
	}
	return out.n, out.err
}

func instant(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.000000 UTC")
}

func seconds(us int64) string { return fmt.Sprintf("%d.%06d s", us/1_000_000, us%1_000_000) }

// counted counts bytes and stops at the first error.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
