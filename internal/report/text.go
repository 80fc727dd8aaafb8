package report

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
)

// Limits of the text report in characters: the width of its lines, and the longest cell
// of a table.
const (
	textWidth = 100
	cellWidth = 72
)

// Text renders a page without control characters, so that it is suitable for terminals,
// files and mail.
func (p Page) Text() string {
	var b strings.Builder
	b.WriteString(Plain(p.Title) + "\n")
	b.WriteString(strings.Repeat("=", ansi.StringWidth(Plain(p.Title))) + "\n\n")
	if len(p.Figures) > 0 {
		b.WriteString(p.figures().Text() + "\n")
	}
	for _, s := range p.Lead {
		b.WriteString(wrap(s, "") + "\n")
	}
	opening, rest := p.parted()
	for _, s := range opening {
		s.textOf(&b, "-")
	}
	for _, s := range p.Notices {
		b.WriteString("\n" + wrap(s, "! ") + "\n")
	}
	for _, s := range rest {
		s.textOf(&b, "-")
	}
	return b.String()
}

// Paragraph renders a section without its heading as text.
func (s Section) Paragraph() string {
	var b strings.Builder
	for _, t := range s.Text {
		b.WriteString(wrap(t, "") + "\n")
	}
	return b.String() + s.Table.Text()
}

// textOf writes a section with its heading underlined.
func (s Section) textOf(b *strings.Builder, line string) {
	heading := Plain(s.Heading)
	b.WriteString("\n" + heading + "\n" + strings.Repeat(line, ansi.StringWidth(heading)) + "\n")
	for _, t := range s.Text {
		b.WriteString(wrap(t, "") + "\n")
	}
	if text := usedWords(s.Uses); text != "" {
		b.WriteString(wrap(text, "") + "\n")
	}
	if s.Code != "" {
		b.WriteString(Plain(s.Code) + "\n")
	}
	drawn := 0
	for _, g := range s.Charts {
		picture := ""
		switch {
		case !g.Over:
			picture = g.Text(ChartWidth, ChartHeight)
		case g.Drawn:
			if picture = loadText(g.Chart); drawn > 0 || len(s.Text) == 0 {
				picture = strings.TrimPrefix(picture, "\n")
			}
		}
		if picture == "" {
			continue
		}
		if drawn++; drawn > 1 && !(g.Low && strings.Count(picture, "\n") == 1) {
			b.WriteString("\n")
		}
		b.WriteString(picture)
	}
	if drawn > 0 && len(s.Table.Rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(s.Table.Text())
	for _, part := range s.Parts {
		part.textOf(b, ".")
	}
}

func wrap(s, prefix string) string {
	return prefix + strings.Join(units.Wrap(Plain(s), textWidth-len(prefix)), "\n"+strings.Repeat(" ", len(prefix)))
}

// leastHung is how wide a column of words is at least, wherever it begins.
const leastHung = 30

// hung wraps words that begin in a column.
func hung(s string, at int) string {
	return strings.Join(units.Wrap(s, max(textWidth-at, leastHung)), "\n"+strings.Repeat(" ", at))
}

// Text renders a table in columns; "" if it has no rows.
func (t Table) Text() string {
	if len(t.Rows) == 0 {
		return ""
	}
	widths := make([]int, len(t.Columns))
	rows := make([][]string, 0, len(t.Rows)+1)
	words := t.word(len(t.Columns) - 1) // in the last column, which are wrapped and not cut
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = Plain(c); i < len(row)-1 || !words {
				cells[i] = ansi.Truncate(cells[i], cellWidth, "…")
			}
			widths[i] = max(widths[i], ansi.StringWidth(cells[i]))
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			if words && i > 0 && i == len(row)-1 {
				line.WriteString("  " + hung(c, ansi.StringWidth(line.String())+2))
				continue
			}
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if t.word(i) {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
