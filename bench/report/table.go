package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints a comparison for the terminal.
func Table(w io.Writer, c *Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", c.Load.Name, c.size())
	for _, n := range c.Load.Notes {
		fmt.Fprintf(&b, "  Note: %s\n", n)
	}
	grid, headings := c.grid()
	align(&b, grid, headings)
	if len(c.Conditions) > 0 {
		fmt.Fprintf(&b, "\n%s\n", wrap("Conditions: "+strings.Join(c.Conditions, ", ")+".", 100))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// size says how large the load is.
func (c *Comparison) size() string {
	p := c.Load.Plan
	return fmt.Sprintf("%s operations of %d hosts over %.1f s", count(p.Operations), len(p.Hosts), float64(p.Last-p.First)/1e6)
}

// grid returns the cells of the table: a line of titles, then one for each row
// that is not empty; and the headings by the index of the line that follows.
func (c *Comparison) grid() (grid [][]string, headings map[int]string) {
	grid = [][]string{{""}}
	for _, col := range c.Columns {
		grid[0] = append(grid[0], col.Setting.Title())
	}
	headings = make(map[int]string)
	for _, s := range sections() {
		first := len(grid)
		for _, r := range s.rows {
			line := []string{r.title}
			empty := true
			for _, col := range c.Columns {
				cell := r.cell(col, c.Columns[0])
				empty = empty && cell == ""
				line = append(line, cell)
			}
			if !empty {
				grid = append(grid, line)
			}
		}
		if len(grid) > first {
			headings[first] = s.title
		}
	}
	return grid, headings
}

// align writes the grid with its first column to the left and the others to
// the right, and a heading above some rows.
func align(b *strings.Builder, grid [][]string, headings map[int]string) {
	width := make([]int, len(grid[0]))
	for _, line := range grid {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, line := range grid {
		if h, ok := headings[n]; ok {
			fmt.Fprintf(b, "\n%s\n", h)
		}
		for i, cell := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				b.WriteString("  " + cell + pad)
			default:
				b.WriteString("   " + pad + cell)
			}
		}
		b.WriteByte('\n')
	}
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteString("\n  ")
			col = 2
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}

const referenceTitle = "For comparison, the report (Ports, Clements and Zhang, MIT 6.830, December 2007) on the first\n" +
	"100,000 operations of the Berkeley Auspex trace, about one hour, 134 clients, 65,883 read-only and\n" +
	"3,882 read/write transactions, about 100 aborts; its machines, its code:\n\n"

// reference is a grid of the report's figures.
var reference = [][]string{
	{"", "conventional OCC", "ε = 2 s", "ε = 0.1 s", "ε = 0"},
	{"network traffic", "34.8 MB", "27.19 MB", "28.14 MB", "28.14 MB"},
	{"average client CPU", "0.66 s", "0.22 s", "0.25 s", "0.43 s"},
	{"server CPU", "32.67 s", "9.55 s", "13.07 s", "25.63 s"},
}

// Reference prints the figures of the 2007 report, to stand beside ours.
func Reference(w io.Writer) error {
	var b strings.Builder
	b.WriteString(referenceTitle)
	align(&b, reference, nil)
	_, err := io.WriteString(w, b.String())
	return err
}
