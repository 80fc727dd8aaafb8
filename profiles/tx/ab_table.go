package tx

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// abTable sets summaries side by side: a column each, a row for each line of ab.
func abTable(sums []*abSummary) []byte {
	var b bytes.Buffer
	b.WriteString("# Sagas side by side\n\nEach column is a run, or several of one window; rows are the lines of ab, with their\nunits. The same engine and clock measured them all.\n\n")
	row := func(label string, f func(a *abSummary) string) {
		cells := make([]string, len(sums))
		for i, a := range sums {
			cells[i] = strings.ReplaceAll(f(a), "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", label, strings.Join(cells, " | "))
	}
	row("", func(a *abSummary) string { return a.target })
	b.WriteString("| --- |" + strings.Repeat(" ---: |", len(sums)) + "\n")
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
	text("Failed requests", "%d", func(a *abSummary) any { return a.failed() })
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
	text("Time per request", "%.3f [ms] (mean, across all concurrent requests)", func(a *abSummary) any { return 1000 / a.rate() })
	text("Transfer rate", "%.2f [Kbytes/sec] received", func(a *abSummary) any { return a.transferred() })
	for i, r := range sums[0].table() {
		row(strings.TrimSuffix(r.label, ":")+", mean and median", func(a *abSummary) string {
			if a.connect == nil && i == 0 {
				return "–"
			}
			h := a.table()[i].h
			return fmt.Sprintf("%.3f, %.3f ms", ms(h.Mean()), ms(float64(h.ValueAtQuantile(50))))
		})
	}
	for _, p := range abPercents {
		text(fmt.Sprintf("%d%%", p), "%.3f ms", func(a *abSummary) any { return ms(float64(a.total.ValueAtQuantile(float64(p)))) })
	}
	text("100% (longest request)", "%.3f ms", func(a *abSummary) any { return ms(float64(a.total.Max())) })
	text("Rate, as a multiple of the first", "%.2f", func(a *abSummary) any { return a.rate() / sums[0].rate() })
	return b.Bytes()
}
