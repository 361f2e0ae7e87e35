package report

import (
	"io"
	"strings"
)

// Markdown prints a comparison as GitHub Flavored Markdown: the rows of Table,
// under a heading of the second level.
func Markdown(w io.Writer, c *Comparison) error {
	var b strings.Builder
	b.WriteString("## " + escape(c.Load.Name) + "\n\n" + escape(c.size()) + "\n")
	if len(c.Load.Notes) > 0 {
		b.WriteString("\nNote: " + escape(strings.Join(c.Load.Notes, " ")) + "\n")
	}
	b.WriteByte('\n')
	grid, headings := c.grid()
	pipes(&b, grid, headings)
	if len(c.Conditions) > 0 {
		b.WriteString("\nConditions: " + escape(strings.Join(c.Conditions, ", ")) + ".\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ReferenceMarkdown prints what Reference prints, as Markdown.
func ReferenceMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(escape(referenceTitle))
	pipes(&b, reference, nil)
	_, err := io.WriteString(w, b.String())
	return err
}

// pipes writes a grid as a table with its first column to the left and the
// others to the right. Markdown knows no headings inside a table: they become
// rows of their own, in bold.
func pipes(b *strings.Builder, grid [][]string, headings map[int]string) {
	for n, line := range grid {
		if h, ok := headings[n]; ok {
			b.WriteString("| **" + escape(h) + "** |" + strings.Repeat(" |", len(line)-1) + "\n")
		}
		for i, cell := range line {
			text, indented := strings.CutPrefix(cell, "  ")
			text = escape(text)
			if indented && i == 0 {
				text = "&emsp;" + text
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			b.WriteString("| :--- |" + strings.Repeat(" ---: |", len(line)-1) + "\n")
		}
	}
}

// special are the characters that mean something to Markdown inside a line.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "#", `\#`, "&", `\&`, "~", `\~`,
)

func escape(text string) string { return special.Replace(text) }
