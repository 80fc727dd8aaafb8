package baseline

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Ids of the documents of mode=baseline.
const (
	formatRedisBenchmark = "redis-benchmark"
	formatCeiling        = "ceiling"
)

// Formats returns the documents of mode=baseline.
func Formats() []rundir.Format {
	return []rundir.Format{
		{ID: formatRedisBenchmark, Title: "-q and --csv layouts of redis-benchmark (mode=baseline)", Doc: benchmarkDoc, Encode: encodeBenchmark, Names: []string{"redis-benchmark.txt", "redis-benchmark.csv"}},
		{ID: formatCeiling, Title: "how fast the transaction could be, and what binds (mode=baseline)", Doc: ceilingDoc, Encode: encodeCeiling, Names: []string{"ceiling.md"}},
	}
}

const benchmarkDoc = `# redis-benchmark: the baseline rows as that tool prints them

mode=baseline. ` + "`redis-benchmark.txt`" + ` has a line per row in the layout of -q,

    <title>: <calls a second> requests per second, p50=<ms> msec

and ` + "`redis-benchmark.csv`" + ` has the layout of --csv: the header
"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
and a line per row. Rates have two decimals; latencies are in ms with three. The title
is the call with its arguments joined by blanks, followed by the number of calls sent
together, as in "(-P 50)"; the tool itself gives the rows set and set-p50 the same
title. A quote in a title is doubled in the CSV; the tool does not do that. Latency is
service time; calls that are sent together all have the latency of the whole. A row
with errors has 0.00 requests per second, because error replies are not calls; run.json
says what the errors were.
`

// latencies returns the histogram of an operation; empty if there is none.
func latencies(f *rundir.Folder, track, op, what string) *hdrhistogram.Histogram {
	if h := f.Histograms[hlog.Tag(track, op, what)]; h != nil {
		return h
	}
	return hdrhistogram.New(1, 1000, 1)
}

func ms(ns float64) float64 { return ns / 1e6 }

func encodeBenchmark(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := rundir.FactsOf[Facts](&f.Run, Mode)
	if err != nil || facts == nil {
		return nil, err
	}
	var quiet, csv bytes.Buffer
	csv.WriteString(`"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n")
	for _, r := range facts.Rows {
		op := "call"
		title := r.Title
		switch r.Row {
		case rowSaga, rowUnloaded:
			op, title = "saga", "TX "+r.Row
		case rowSave, rowBranch, rowFinish:
			title = "TX " + r.Row
		}
		h := latencies(f, r.Row, op, "service")
		rate := r.PerSecond
		if r.Errors > 0 || f.Run.Failed() {
			rate = 0
		}
		fmt.Fprintf(&quiet, "%s: %.2f requests per second, p50=%.3f msec\n", title, rate, ms(float64(measure.Percentile(h, 50))))
		fmt.Fprintf(&csv, "\"%s\",\"%.2f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\"\n", strings.ReplaceAll(title, `"`, `""`), rate,
			ms(h.Mean()), ms(float64(h.Min())), ms(float64(measure.Percentile(h, 50))), ms(float64(measure.Percentile(h, 95))), ms(float64(measure.Percentile(h, 99))), ms(float64(h.Max())))
	}
	return []rundir.File{{Name: "redis-benchmark.txt", Data: quiet.Bytes()}, {Name: "redis-benchmark.csv", Data: csv.Bytes()}}, nil
}

const ceilingDoc = `# ceiling: how fast the transaction could be

mode=baseline. ` + "`ceiling.md`" + ` is Markdown that also reads well as plain text. It has the
rows with their rates, spread and CPU, the limits that follow from them, and says which
limit binds and what fraction of it was reached. The fraction is left out if a row that
it depends on had errors, varied by more than 10 %, or was too short. The facts of
run.json have the same figures; docs/tx-baseline.md explains how they are worked out.
`

func encodeCeiling(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := rundir.FactsOf[Facts](&f.Run, Mode)
	if err != nil || facts == nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Baseline and ceiling of %s\n\nRun %s on %s %s, %d cores.\n\n", f.Run.Store.Name, f.Run.ID, f.Run.Store.Product, f.Run.Store.Version, facts.Cores)
	b.WriteString("| row | calls a second | spread | errors | clients | client µs a call | store µs a call | client cores | store cores |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	told := func(format string, v float64) string {
		if v < 0 || math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf(format, v)
	}
	for _, r := range facts.Rows {
		rate := fmt.Sprintf("%.0f", r.PerSecond)
		if r.Errors > 0 {
			rate = "invalid"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s | %s | %s |\n", r.Row, rate, told("%.1f %%", 100*r.CV), r.Errors, r.Clients,
			told("%.2f", r.ClientUS), told("%.2f", r.ServerUS), told("%.2f", r.ClientBusy), told("%.2f", r.ServerBusy))
	}
	b.WriteString("\n")
	for _, r := range facts.Rows {
		if r.Note != "" {
			fmt.Fprintf(&b, "%s: %s.\n\n", r.Row, r.Note)
		}
	}
	b.WriteString(clientCost(facts.Rows))
	b.WriteString("The published rows eval-args and eval-loop10 say ARGS for ARGV, and the second has a\nsemicolon after do: neither script runs, so what was timed was errors. Here they\nare written as they were meant to be. A row is a figure of the store only where the store,\nand not the client, had no core to spare.\n")
	if c := facts.Ceiling; c != nil {
		b.WriteString("\n## Ceiling\n\n| limit | transactions a second | from |\n| --- | ---: | --- |\n")
		for _, bound := range c.Bounds {
			name := bound.Name
			if bound.Reference {
				name += " (for comparison)"
			}
			fmt.Fprintf(&b, "| %s | %.0f | %s |\n", name, bound.PerSecond, bound.From)
		}
		b.WriteString("\n" + strings.Join(c.Words, "\n") + "\n")
	}
	return []rundir.File{{Name: "ceiling.md", Data: b.Bytes()}}, nil
}
