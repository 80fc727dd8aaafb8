package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Widest is the greatest width of a table in columns, in cells: more cannot be read.
const Widest = 100

const (
	narrowest = 60
	between   = "  "
	// names is how many columns are never cut, shortest what is left of others.
	names, shortest = 2, 8
)

// Columns writes rows in columns and lets long cells run over several lines, so that
// no line is wider than width, or 100 when it is 0. Where words are too long for that they
// are cut, but for those of the first two columns, which are names.
func Columns(w io.Writer, width int, rows [][]string) {
	if width <= 0 {
		width = Widest
	}
	widths := fit(rows, min(max(width, narrowest), Widest))
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 1
		for i, c := range row {
			cells[i] = lines(Printable(c), widths[i])
			height = max(height, len(cells[i]))
		}
		for line := range height {
			var b strings.Builder
			for i, c := range cells {
				text := ""
				if line < len(c) {
					text = c[line]
				}
				b.WriteString(text + strings.Repeat(" ", max(widths[i]-ansi.StringWidth(text), 0)) + between)
			}
			fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		}
	}
}

// fit says how wide each column is: as wide as its Widest cell, and where that is
// too much for all of them together, the Widest columns give way, down to their
// longest word.
func fit(rows [][]string, width int) []int {
	var widths, least []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths, least = append(widths, 0), append(least, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(Printable(c)))
			for _, p := range pieces(Printable(c)) {
				least[i] = max(least[i], ansi.StringWidth(strings.TrimRight(p, " ")))
			}
		}
	}
	for room := width - len(between)*(len(widths)-1); ; {
		total, from := 0, -1
		for i, n := range widths {
			total += n
			if n > least[i] && (from < 0 || n > widths[from]) {
				from = i
			}
		}
		if total > room && from < 0 {
			from = cut(widths)
		}
		if total <= room || from < 0 {
			return widths
		}
		widths[from]--
	}
}

// cut is the column whose words are cut next, -1 when none can be.
func cut(widths []int) int {
	at := -1
	for i, n := range widths {
		if i >= names && n > shortest && (at < 0 || n > widths[at]) {
			at = i
		}
	}
	return at
}

// lines breaks text where words do; names with hyphens stay whole.
func lines(text string, width int) []string {
	var all []string
	line := ""
	for _, p := range pieces(text) {
		for ansi.StringWidth(strings.TrimRight(p, " ")) > width {
			if line != "" {
				all, line = append(all, strings.TrimRight(line, " ")), ""
			}
			head := ansi.Truncate(p, width, "")
			all, p = append(all, head), strings.TrimPrefix(p, head)
		}
		if line != "" && ansi.StringWidth(line+strings.TrimRight(p, " ")) > width {
			all, line = append(all, strings.TrimRight(line, " ")), ""
		}
		line += p
	}
	return append(all, strings.TrimRight(line, " "))
}

// thousands matches the commas of a number such as 1,000,000, with the digits beside them.
var thousands = regexp.MustCompile(`\d(,\d{3})+\b`)

// pieces cuts text after blanks, and in lists without them after | and commas, and
// in ranges. Numbers stay whole.
func pieces(text string) []string {
	var all []string
	from := 0
	whole := thousands.FindAllStringIndex(text, -1)
	for i := range len(text) - 1 {
		if slices.ContainsFunc(whole, func(n []int) bool { return n[0] <= i && i < n[1]-1 }) {
			continue
		}
		if (strings.IndexByte(" |,", text[i]) >= 0 || strings.HasSuffix(text[:i+1], "..")) && text[i+1] != ' ' {
			all, from = append(all, text[from:i+1]), i+1
		}
	}
	return append(all, text[from:])
}
