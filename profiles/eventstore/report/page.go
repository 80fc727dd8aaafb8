package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// page is the text of a report as far as it is written, and the charts that it can show.
type page struct {
	text   strings.Builder
	charts []picture
}

func (w *page) printf(format string, args ...any) { fmt.Fprintf(&w.text, format, args...) }

// show includes those charts with these names that exist.
func (w *page) show(names ...string) {
	for _, n := range names {
		if i := slices.IndexFunc(w.charts, func(c picture) bool { return c.file == "th2-"+n }); i >= 0 {
			w.printf("![%s](%s.svg)\n\n", w.charts[i].Title, w.charts[i].file)
		}
	}
}

// bullets writes a list, with a name and a text in each line.
func (w *page) bullets(indent string, pairs ...[2]string) {
	for _, p := range pairs {
		w.printf("%s+ **%s**: %s\n", indent, p[0], cmp.Or(p[1], unknown))
	}
}

// table writes a Markdown table.
func (w *page) table(head []string, rows ...[]string) {
	line := func(cells []string) {
		for _, c := range cells {
			w.text.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(c) + " ")
		}
		w.text.WriteString("|\n")
	}
	line(head)
	w.text.WriteString(strings.Repeat("| --- ", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	w.text.WriteString("\n")
}

// stepTable writes a table with a row for each step; without any it says so.
func (w *page) stepTable(head []string, rows [][]string) {
	if len(rows) == 0 {
		rows = [][]string{slices.Repeat([]string{unknown}, len(head))}
	}
	w.table(head, rows...)
}
