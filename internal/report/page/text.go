package page

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Sizes of the text report in characters: of its lines, and the longest cell of a
// table.
const (
	textWidth = 100
	cellWidth = 72
)

// Text renders a page without control characters: fit for terminals, files and
// mails.
func (p Page) Text() string {
	var b strings.Builder
	b.WriteString(Plain(p.Title) + "\n")
	b.WriteString(strings.Repeat("=", ansi.StringWidth(Plain(p.Title))) + "\n\n")
	for _, s := range p.Lead {
		b.WriteString(wrap(s, "") + "\n")
	}
	for _, s := range p.Notices {
		b.WriteString("\n" + wrap(s, "! ") + "\n")
	}
	for _, s := range p.Sections {
		b.WriteString("\n" + s.Heading + "\n" + strings.Repeat("-", len(s.Heading)) + "\n")
		for _, t := range s.Text {
			b.WriteString(wrap(t, "") + "\n")
		}
		for i, g := range s.Charts {
			if i > 0 {
				b.WriteString("\n")
			}
			if !g.Over {
				b.WriteString(g.Text(ChartWidth, ChartHeight))
			}
		}
		b.WriteString(s.Table.Text())
	}
	return b.String()
}

func wrap(s, prefix string) string {
	lines := strings.Split(ansi.Wordwrap(Plain(s), textWidth-len(prefix), ""), "\n")
	return prefix + strings.Join(lines, "\n"+strings.Repeat(" ", len(prefix)))
}

// Text renders a table in columns; "" without rows.
func (t Table) Text() string {
	if len(t.Rows) == 0 {
		return ""
	}
	widths := make([]int, len(t.Columns))
	rows := make([][]string, 0, len(t.Rows)+1)
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = ansi.Truncate(Plain(c), cellWidth, "…")
			widths[i] = max(widths[i], ansi.StringWidth(cells[i]))
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < t.Left {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
