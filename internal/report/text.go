package report

import (
	_ "embed" // for the documentation
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed text.md
var textDoc string

var textFormat = rundir.Format{
	ID: "text", Title: "a page for people, with charts", Doc: textDoc,
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one("report.txt", []byte(build(f).text())), nil
	},
}

// Sizes of the text report in characters: of its lines, and the longest cell of a
// table.
const (
	textWidth = 100
	cellWidth = 72
)

// Summary is the part of the text report that a run prints at its end: what ran,
// the notices, each rate with its latency, and the errors.
func Summary(f *rundir.Folder) string {
	p := build(f)
	p.sections = slices.DeleteFunc(p.sections, func(s section) bool {
		return s.heading != headOperations && s.heading != headErrors
	})
	return p.text()
}

// text renders a page without control characters: fit for terminals, files and
// mails.
func (p page) text() string {
	var b strings.Builder
	b.WriteString(plain(p.title) + "\n")
	b.WriteString(strings.Repeat("=", ansi.StringWidth(plain(p.title))) + "\n\n")
	for _, s := range p.lead {
		b.WriteString(wrap(s, "") + "\n")
	}
	for _, s := range p.notices {
		b.WriteString("\n" + wrap(s, "! ") + "\n")
	}
	for _, s := range p.sections {
		b.WriteString("\n" + s.heading + "\n" + strings.Repeat("-", len(s.heading)) + "\n")
		for _, t := range s.text {
			b.WriteString(wrap(t, "") + "\n")
		}
		for i, g := range s.charts {
			if i > 0 {
				b.WriteString("\n")
			}
			if !g.over {
				b.WriteString(g.text(chartWidth, chartHeight))
			}
		}
		b.WriteString(s.table.text())
	}
	return b.String()
}

// plain replaces what could steer a terminal or break a line.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

func wrap(s, prefix string) string {
	lines := strings.Split(ansi.Wordwrap(plain(s), textWidth-len(prefix), ""), "\n")
	return prefix + strings.Join(lines, "\n"+strings.Repeat(" ", len(prefix)))
}

func (t table) text() string {
	if len(t.rows) == 0 {
		return ""
	}
	widths := make([]int, len(t.columns))
	rows := make([][]string, 0, len(t.rows)+1)
	for _, row := range append([][]string{t.columns}, t.rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = ansi.Truncate(plain(c), cellWidth, "…")
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
			if i < t.left {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
