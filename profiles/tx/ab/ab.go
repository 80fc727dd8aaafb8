// Package ab reports sagas in the style of ab, as dtm's published figures do, and runs
// them on dtm's own benchmark server.
package ab

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// Format is the document of mode=saga: a summary in the style of ab.
func Format() rundir.Format {
	return rundir.Format{ID: saga.Document, Title: "summary in the style of ab (mode=saga)", Doc: abDoc, Encode: encode, Join: join, Names: []string{"ab.txt", "ab-table.md", "ab-runs.txt"}}
}

const abDoc = `# ab: the saga run as ab would sum it up

mode=saga. ` + "`ab.txt`" + ` has the lines of ab 2.3 with -q, in ab's order and with ab's banner,
so that programs that read ab's report can read this one, although perfbench made it. A
request is a saga; the document is the reply to a saga that is done. Complete requests
are all that ended. Failed requests are those that were not acknowledged as done: Length
counts those that were undone or left undecided, Receive those whose outcome is unknown.
Non-2xx responses are those that were undone or left undecided. There are no connects,
so Connect is 0, and Processing, Waiting and Total are the same: response times in whole
ms. Nothing goes over HTTP; Total transferred counts the replies as they would be.

On dtm's own benchmark server (dtm+bench://), requests are HTTP requests, and every line
means what it means in ab's report: Connect, Processing and Waiting are measured
separately, and bytes are those that were received. Connect and Receive count requests
that got no connection or no whole reply, and Length counts replies that report no
success, whatever their length. Total is response time there too.

If you give several runs to report, one per client host, they are added up over the
window in which all of them were measured, by the whole seconds of each that lie within
it; ` + "`ab-runs.txt`" + ` names the runs and the window. The hosts' clocks must agree. A series
does not say which sagas of a second were undone, so the run's overall share is used.

Runs that were not measured at the same time are not added up but compared:
` + "`ab-table.md`" + ` has a column for each run, or for the runs of each window, in the order in
which they began, and a row for each line of ab. Times have three decimals there, and
the last row is the rate as a multiple of the first column's.
`

// abBanner is printed at the top of every ab report. Programs that read the layout skip
// it by counting lines, so it is part of the format.
const abBanner = `This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/
`

// SuccessReply is a coordinator's answer when a saga is done.
const SuccessReply = `{"dtm_result":"SUCCESS"}`

// abSummary has the contents of an ab report.
type abSummary struct {
	host, port, path string
	software, target string
	documentLength   int
	threads          float64
	seconds          float64
	// complete counts all requests. Of these, noConnection had no connection, unknown
	// have no known outcome, and other were undone, left undecided or answered badly;
	// non2xx had a status other than 200.
	complete, noConnection, unknown, other, non2xx int64
	// kept counts requests over an existing connection; keepAlive means that there may
	// be such requests.
	keepAlive     bool
	kept          int64
	bytes, html   int64
	invalid       bool
	connect       *hdrhistogram.Histogram // nil: no connections are made
	process, wait *hdrhistogram.Histogram
	total         *hdrhistogram.Histogram
}

// abOfRun sums up one run; nil if it is not a run of sagas.
func abOfRun(f *rundir.Folder) (*abSummary, error) {
	facts, err := rundir.FactsOf[saga.Facts](&f.Run, saga.Mode)
	if err != nil || facts == nil {
		return nil, err
	}
	a := newAB(f, facts)
	a.threads, a.seconds, a.invalid = f.Run.Settings["threads"], f.Run.MeasuredS, f.Run.Failed()
	a.count(facts)
	a.merge(f.Histograms)
	return a, nil
}

// newAB returns a summary without figures.
func newAB(f *rundir.Folder, facts *saga.Facts) *abSummary {
	a := &abSummary{
		software: strings.TrimSpace(f.Run.Store.Name + " " + f.Run.Store.Version), target: f.Run.Target,
		path: "/tx/saga", documentLength: len(SuccessReply), total: emptyHistogram(),
	}
	if facts.Kind != "" {
		a.path = "/tx/" + facts.Kind
	}
	a.host, a.port = serverOf(&f.Run)
	if b := facts.Bench; b != nil {
		a.path, a.documentLength, a.keepAlive = b.Path, b.Length, b.KeepAlive
		a.connect, a.process, a.wait = emptyHistogram(), emptyHistogram(), emptyHistogram()
	}
	return a
}

func emptyHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 3_600_000_000_000, 3) }

// count adds the counts of a whole run.
func (a *abSummary) count(facts *saga.Facts) {
	a.complete = facts.Done + facts.Undone + facts.Undecided + facts.Unknown
	a.unknown, a.other = facts.Unknown, facts.Undone+facts.Undecided
	a.non2xx = a.other
	a.bytes = a.complete * int64(len(SuccessReply))
	a.html = a.bytes
	if b := facts.Bench; b != nil {
		a.noConnection, a.unknown, a.other, a.non2xx = b.NoConnection, b.NoReply, b.Failed(), b.Non2xx
		a.bytes, a.html = b.Bytes, b.Body
		a.kept = max(a.complete-a.noConnection-b.Connections, 0)
	}
}

// merge adds latencies by their tags: for the whole request the response time, which in
// an open loop includes the wait, and for its parts their duration.
func (a *abSummary) merge(hs map[string]*hdrhistogram.Histogram) {
	add := func(to *hdrhistogram.Histogram, op workload.Op, what string) {
		if h := hs[hlog.Tag("saga", benchOps[op], what)]; h != nil && to != nil {
			to.Merge(h)
		}
	}
	add(a.total, OpRequest, "response")
	add(a.connect, OpConnect, "service")
	add(a.process, opProcessing, "service")
	add(a.wait, OpWaiting, "service")
	if a.connect != nil { // an existing connection took no time to connect
		if n := a.process.TotalCount() - a.connect.TotalCount(); n > 0 {
			_ = a.connect.RecordValues(0, n) // 0 is within every histogram's range
		}
	}
}

func encode(f *rundir.Folder) ([]rundir.File, error) {
	a, err := abOfRun(f)
	if err != nil || a == nil {
		return nil, err
	}
	return []rundir.File{{Name: "ab.txt", Data: a.text()}}, nil
}

// serverOf returns the host and the port of a run's target, for a cluster the first one
// named.
func serverOf(r *rundir.Run) (host, port string) {
	u, err := url.Parse(r.Target)
	if err != nil || u.Host == "" {
		return r.Target, ""
	}
	u.Host, _, _ = strings.Cut(u.Host, ",")
	return u.Hostname(), u.Port()
}

// Failed returns how many requests count as failed.
func (a *abSummary) Failed() int64 { return a.noConnection + a.unknown + a.other }

// rate returns the requests per second.
func (a *abSummary) rate() float64 {
	if a.invalid {
		return math.NaN()
	}
	return float64(a.complete) / a.seconds
}

// transferred returns the kilobytes per second.
func (a *abSummary) transferred() float64 {
	if a.invalid {
		return math.NaN()
	}
	return float64(a.bytes) / a.seconds / 1024
}

func (a *abSummary) text() []byte {
	var b bytes.Buffer
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-24s%s\n", label, fmt.Sprintf(format, args...))
	}
	b.WriteString(abBanner)
	fmt.Fprintf(&b, "\nBenchmarking %s (be patient).....done\n\n\n", a.host)
	line("Server Software:", "%s", a.software)
	line("Server Hostname:", "%s", a.host)
	line("Server Port:", "%s", a.port)
	b.WriteString("\n")
	line("Document Path:", "%s", a.path)
	line("Document Length:", "%d bytes", a.documentLength)
	b.WriteString("\n")
	line("Concurrency Level:", "%.0f", a.threads)
	line("Time taken for tests:", "%.3f seconds", a.seconds)
	line("Complete requests:", "%d", a.complete)
	line("Failed requests:", "%d", a.Failed())
	if a.Failed() > 0 {
		fmt.Fprintf(&b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: 0)\n", a.noConnection, a.unknown, a.other)
	}
	if a.non2xx > 0 {
		line("Non-2xx responses:", "%d", a.non2xx)
	}
	if a.keepAlive {
		line("Keep-Alive requests:", "%d", a.kept)
	}
	line("Total transferred:", "%d bytes", a.bytes)
	line("HTML transferred:", "%d bytes", a.html)
	rate := a.rate()
	line("Requests per second:", "%.2f [#/sec] (mean)", rate)
	line("Time per request:", "%.3f [ms] (mean)", a.threads*1000/rate)
	line("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", 1000/rate)
	line("Transfer rate:", "%.2f [Kbytes/sec] received", a.transferred())
	a.times(&b)
	return b.Bytes()
}

// abTimes is a line of the table of times: the label, its name in a warning, and the
// latencies.
type abTimes struct {
	label, what string
	h           *hdrhistogram.Histogram
}

// table returns the table of times. If no connections are made, connecting takes no
// time and the rest is everything.
func (a *abSummary) table() []abTimes {
	rows := []abTimes{{"Connect:", "initial connection", a.connect}, {"Processing:", "processing", a.process}, {"Waiting:", "waiting", a.wait}, {"Total:", "total", a.total}}
	if a.connect == nil {
		rows[0].h, rows[1].h, rows[2].h = emptyHistogram(), a.total, a.total
	}
	return rows
}

// wholeMS converts to ms, rounded as ab does.
func wholeMS(ns int64) int64 { return (ns + 500_000) / 1_000_000 }

func (a *abSummary) times(b *bytes.Buffer) {
	b.WriteString("\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n")
	for _, r := range a.table() {
		h := r.h
		fmt.Fprintf(b, "%-12s%5d %4.0f %5.1f %6d %7d\n", r.label, wholeMS(h.Min()), msOf(h.Mean()), msOf(h.StdDev()), wholeMS(measure.Percentile(h, 50)), wholeMS(h.Max()))
	}
	for _, r := range a.table() {
		if r.h.TotalCount() == 0 {
			continue
		}
		apart := math.Abs(math.Round(msOf(r.h.Mean())) - float64(wholeMS(measure.Percentile(r.h, 50))))
		switch sd := msOf(r.h.StdDev()); {
		case apart > 2*sd:
			fmt.Fprintf(b, "ERROR: The median and mean for the %s time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", r.what)
		case apart > sd:
			fmt.Fprintf(b, "WARNING: The median and mean for the %s time are not within a normal deviation\n        These results are probably not that reliable.\n", r.what)
		}
	}
	b.WriteString("\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range abPercents {
		fmt.Fprintf(b, "  %d%%  %5d\n", p, wholeMS(measure.Percentile(a.total, float64(p))))
	}
	fmt.Fprintf(b, " 100%%  %5d (longest request)\n", wholeMS(a.total.Max()))
}

// abPercents are ab's percentages, except the last.
var abPercents = []int{50, 66, 75, 80, 90, 95, 98, 99}

// msOf converts nanoseconds to milliseconds.
func msOf(ns float64) float64 { return ns / 1e6 }
