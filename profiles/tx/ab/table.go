package ab

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/measure"
)

// abTable sets summaries side by side: one column each, with a row for each line of ab.
func abTable(sums []*abSummary) []byte {
	var b bytes.Buffer
	b.WriteString("# Sagas side by side\n\nEach column is a run, or several of one window; rows are the lines of ab, with their\nunits. The same engine and clock measured them all.\n\n")
	var rows [][]string
	row := func(label string, f func(a *abSummary) string) {
		cells := []string{label}
		for _, a := range sums {
			cells = append(cells, strings.ReplaceAll(f(a), "|", `\|`))
		}
		rows = append(rows, cells)
	}
	row("", func(a *abSummary) string { return a.target })
	text := func(label, format string, f func(a *abSummary) any) {
		row(label, func(a *abSummary) string {
			v := f(a)
			if n, ok := v.(float64); ok && math.IsNaN(n) {
				return "NaN"
			}
			return fmt.Sprintf(format, v)
		})
	}
	text("Server Software", "%s", func(a *abSummary) any { return a.software })
	text("Document Path", "%s", func(a *abSummary) any { return a.path })
	text("Document Length", "%d bytes", func(a *abSummary) any { return a.documentLength })
	text("Concurrency Level", "%.0f", func(a *abSummary) any { return a.threads })
	text("Time taken for tests", "%.3f seconds", func(a *abSummary) any { return a.seconds })
	text("Complete requests", "%d", func(a *abSummary) any { return a.complete })
	text("Failed requests", "%d", func(a *abSummary) any { return a.Failed() })
	text("Non-2xx responses", "%d", func(a *abSummary) any { return a.non2xx })
	row("Keep-Alive requests", func(a *abSummary) string {
		if !a.keepAlive {
			return "–"
		}
		return fmt.Sprint(a.kept)
	})
	text("Total transferred", "%d bytes", func(a *abSummary) any { return a.bytes })
	text("HTML transferred", "%d bytes", func(a *abSummary) any { return a.html })
	text("Requests per second", "%.2f [#/sec] (mean)", func(a *abSummary) any { return a.rate() })
	text("Time per request", "%.3f [ms] (mean)", func(a *abSummary) any { return a.threads * 1000 / a.rate() })
	text("Time per request, across all concurrent requests", "%.3f [ms] (mean)", func(a *abSummary) any { return 1000 / a.rate() })
	text("Transfer rate", "%.2f [Kbytes/sec] received", func(a *abSummary) any { return a.transferred() })
	for i, r := range sums[0].table() {
		row(strings.TrimSuffix(r.label, ":")+", mean and median", func(a *abSummary) string {
			if a.connect == nil && i == 0 {
				return "–"
			}
			h := a.table()[i].h
			return fmt.Sprintf("%.3f, %.3f ms", msOf(h.Mean()), msOf(float64(measure.Percentile(h, 50))))
		})
	}
	for _, p := range abPercents {
		text(fmt.Sprintf("%d%%", p), "%.3f ms", func(a *abSummary) any { return msOf(float64(measure.Percentile(a.total, float64(p)))) })
	}
	text("100% (longest request)", "%.3f ms", func(a *abSummary) any { return msOf(float64(a.total.Max())) })
	text("Rate, as a multiple of the first", "%.2f", func(a *abSummary) any { return a.rate() / sums[0].rate() })
	writeTable(&b, rows)
	return b.Bytes()
}

// writeTable writes rows as a Markdown table that is readable as text too; the first
// row has the names of the columns, the first column those of the rows.
func writeTable(b *bytes.Buffer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for at, r := range rows {
		for i, c := range r {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString("| " + c + pad)
			} else {
				b.WriteString(" | " + pad + c)
			}
		}
		b.WriteString(" |\n")
		if at == 0 {
			b.WriteString("| " + strings.Repeat("-", widths[0]))
			for _, w := range widths[1:] {
				b.WriteString(" | " + strings.Repeat("-", w-1) + ":")
			}
			b.WriteString(" |\n")
		}
	}
}
