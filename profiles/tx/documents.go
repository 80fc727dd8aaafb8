package tx

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Ids of the documents of mode=saga and mode=baseline.
const (
	formatAB             = "ab"
	formatRedisBenchmark = "redis-benchmark"
	formatCeiling        = "ceiling"
)

// Formats returns the profile's documents.
func Formats() []rundir.Format {
	return []rundir.Format{
		{ID: formatPadogrid, Title: "PadoGrid transaction text, one file a map (mode=pbm)", Profile: Name, Doc: padogridDoc, Encode: encodePBM},
		{ID: formatAB, Title: "summary in the style of ab (mode=saga)", Profile: Name, Doc: abDoc, Encode: encodeAB, Join: joinAB},
		{ID: formatRedisBenchmark, Title: "-q and --csv layouts of redis-benchmark (mode=baseline)", Profile: Name, Doc: benchmarkDoc, Encode: encodeBenchmark},
		{ID: formatCeiling, Title: "how fast the transaction could be, and what binds (mode=baseline)", Profile: Name, Doc: ceilingDoc, Encode: encodeCeiling},
	}
}

const benchmarkDoc = `# redis-benchmark: the baseline rows as that tool prints them

mode=baseline. ` + "`redis-benchmark.txt`" + ` has a line a row in the layout of -q,

    <title>: <calls a second> requests per second, p50=<ms> msec

and ` + "`redis-benchmark.csv`" + ` the layout of --csv: the header
"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
and a line a row. Rates have two decimals, latencies are ms with three. The title is
the call with its arguments joined by blanks, and how many were sent together as in
"(-P 50)": the tool itself gives the rows set and set-p50 one title. A quote in it is
doubled in the CSV, which the tool does not do. Latency is service time; all calls sent together have
that of the whole. A row with errors has 0.00 requests per second, since error
replies are no calls: what they were is in run.json.
`

// latencies is the histogram of an operation; empty when there is none.
func latencies(f *rundir.Folder, track, op, what string) *hdrhistogram.Histogram {
	if h := f.Histograms[rundir.Tag(track, op, what)]; h != nil {
		return h
	}
	return hdrhistogram.New(1, 1000, 1)
}

func ms(ns float64) float64 { return ns / 1e6 }

func encodeBenchmark(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := factsAs[BaselineFacts](&f.Run, modeBaseline)
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
		fmt.Fprintf(&quiet, "%s: %.2f requests per second, p50=%.3f msec\n", title, rate, ms(float64(h.ValueAtQuantile(50))))
		fmt.Fprintf(&csv, "\"%s\",\"%.2f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\",\"%.3f\"\n", strings.ReplaceAll(title, `"`, `""`), rate,
			ms(h.Mean()), ms(float64(h.Min())), ms(float64(h.ValueAtQuantile(50))), ms(float64(h.ValueAtQuantile(95))), ms(float64(h.ValueAtQuantile(99))), ms(float64(h.Max())))
	}
	return []rundir.File{{Name: "redis-benchmark.txt", Data: quiet.Bytes()}, {Name: "redis-benchmark.csv", Data: csv.Bytes()}}, nil
}

const abDoc = `# ab: the saga run as ab would sum it up

mode=saga. ` + "`ab.txt`" + ` has the lines of ab 2.3 with -q, in its order and with its banner,
so that what reads those reads this; perfbench made it all the same. A request is a saga; the document is the
reply to a saga that is done. Complete requests are all that ended, Failed requests
those that were not acknowledged as done: Length counts those that were undone or
left undecided, Receive those whose outcome is unknown. Non-2xx responses are those
undone or undecided. There is no connect, so that Connect is 0 and Processing,
Waiting and Total are the same: response times in whole ms. Nothing goes over HTTP;
Total transferred counts the replies as they would be.

Several runs given to report, one of each client host, are added up over the window in
which all of them were measured, by the whole seconds of each that lie within it;
` + "`ab-runs.txt`" + ` names runs and window. The hosts' clocks have to agree. Which sagas of a
second were undone a series does not say: the run's own share of them is taken.
`

// abBanner is what stands over every report of ab: readers of the layout skip it by
// its lines, so that it is part of the format.
const abBanner = `This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/
`

// successReply is what a coordinator answers when a saga is done.
const successReply = `{"dtm_result":"SUCCESS"}`

// abSummary is what the report of ab says.
type abSummary struct {
	host, port string
	store      rundir.Store
	threads    float64
	seconds    float64
	// complete are all requests, unknown those of which no outcome is known, other
	// those that were undone or left undecided.
	complete, unknown, other int64
	invalid                  bool
	latency                  *hdrhistogram.Histogram
}

func encodeAB(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := factsAs[SagaFacts](&f.Run, modeSaga)
	if err != nil || facts == nil {
		return nil, err
	}
	a := abSummary{
		store: f.Run.Store, threads: f.Run.Settings["threads"], seconds: f.Run.MeasuredS, invalid: f.Run.Failed(),
		complete: facts.Done + facts.Undone + facts.Undecided + facts.Unknown, unknown: facts.Unknown, other: facts.Undone + facts.Undecided,
		latency: latencies(f, "saga", "saga", "response"),
	}
	a.host, a.port = serverOf(&f.Run)
	return []rundir.File{{Name: "ab.txt", Data: a.text()}}, nil
}

// serverOf is the host and the port of a run's target, of a cluster the first that
// was named.
func serverOf(r *rundir.Run) (host, port string) {
	u, err := url.Parse(r.Target)
	if err != nil || u.Host == "" {
		return r.Target, ""
	}
	u.Host, _, _ = strings.Cut(u.Host, ",")
	return u.Hostname(), u.Port()
}

func (a *abSummary) text() []byte {
	var b bytes.Buffer
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-24s%s\n", label, fmt.Sprintf(format, args...))
	}
	bad := a.unknown + a.other
	b.WriteString(abBanner)
	fmt.Fprintf(&b, "\nBenchmarking %s (be patient).....done\n\n\n", a.host)
	line("Server Software:", "%s %s", a.store.Name, a.store.Version)
	line("Server Hostname:", "%s", a.host)
	line("Server Port:", "%s", a.port)
	b.WriteString("\n")
	line("Document Path:", "/tx/saga")
	line("Document Length:", "%d bytes", len(successReply))
	b.WriteString("\n")
	line("Concurrency Level:", "%.0f", a.threads)
	line("Time taken for tests:", "%.3f seconds", a.seconds)
	line("Complete requests:", "%d", a.complete)
	line("Failed requests:", "%d", bad)
	if bad > 0 {
		fmt.Fprintf(&b, "   (Connect: 0, Receive: %d, Length: %d, Exceptions: 0)\n", a.unknown, a.other)
		if a.other > 0 {
			line("Non-2xx responses:", "%d", a.other)
		}
	}
	bytesAll := a.complete * int64(len(successReply))
	line("Total transferred:", "%d bytes", bytesAll)
	line("HTML transferred:", "%d bytes", bytesAll)
	rate := float64(a.complete) / a.seconds
	if a.invalid {
		rate = math.NaN()
	}
	line("Requests per second:", "%.2f [#/sec] (mean)", rate)
	line("Time per request:", "%.3f [ms] (mean)", a.threads*1000/rate)
	line("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", 1000/rate)
	line("Transfer rate:", "%.2f [Kbytes/sec] received", rate*float64(len(successReply))/1024)
	abTimes(&b, a.latency)
	return b.Bytes()
}

func abTimes(b *bytes.Buffer, h *hdrhistogram.Histogram) {
	whole := func(ns int64) int64 { return (ns + 500_000) / 1_000_000 }
	b.WriteString("\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n")
	row := func(label string, lo int64, mean, sd float64, median, hi int64) {
		fmt.Fprintf(b, "%-12s%5d %4.0f %5.1f %6d %7d\n", label, lo, mean, sd, median, hi)
	}
	row("Connect:", 0, 0, 0, 0, 0)
	for _, label := range []string{"Processing:", "Waiting:", "Total:"} {
		row(label, whole(h.Min()), ms(h.Mean()), ms(h.StdDev()), whole(h.ValueAtQuantile(50)), whole(h.Max()))
	}
	apart := math.Abs(math.Round(ms(h.Mean())) - float64(whole(h.ValueAtQuantile(50))))
	for _, what := range []string{"processing", "waiting", "total"} {
		switch sd := ms(h.StdDev()); {
		case apart > 2*sd:
			fmt.Fprintf(b, "ERROR: The median and mean for the %s time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", what)
		case apart > sd:
			fmt.Fprintf(b, "WARNING: The median and mean for the %s time are not within a normal deviation\n        These results are probably not that reliable.\n", what)
		}
	}
	b.WriteString("\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range []int{50, 66, 75, 80, 90, 95, 98, 99} {
		fmt.Fprintf(b, "  %d%%  %5d\n", p, whole(h.ValueAtQuantile(float64(p))))
	}
	fmt.Fprintf(b, " 100%%  %5d (longest request)\n", whole(h.Max()))
}

const ceilingDoc = `# ceiling: how fast the transaction could be

mode=baseline. ` + "`ceiling.md`" + ` is Markdown that reads as text too: the rows with their
rates, spread and CPU, the limits that follow from them, and in words which of them
binds and what fraction of it was reached. The fraction is left out when a row that
it rests on had errors, varied by more than 10 %, or was too short. The same figures
are in the facts of run.json; docs/tx.md tells how they are worked out.
`

func encodeCeiling(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := factsAs[BaselineFacts](&f.Run, modeBaseline)
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
	b.WriteString("The published rows eval-args and eval-loop10 say ARGS for ARGV, and the second has a\nsemicolon after do: neither script runs, so that what was timed were errors. Here they\nare written as they were meant. A row is a figure of the store only where the store,\nand not the client, had no core to spare.\n")
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
