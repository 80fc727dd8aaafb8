package telemetry_test

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/telemetry"
)

// BenchmarkCost is our throughput while figures are served, and scraped each second, and
// pushed, beside that without, by turns: the median of the rounds. What scrapes and what is
// pushed to are in the same process, and their part is in it.
func BenchmarkCost(b *testing.B) {
	const rounds, slice = 7, "3s"
	receiver := httptest.NewServer(&receiver{})
	defer receiver.Close()
	with := telemetry.Options{Addr: "127.0.0.1:0", URL: receiver.URL}
	done := func(o telemetry.Options) float64 {
		out, err := telemetry.Open(b.Context(), o)
		require.NoError(b, err)
		defer out.Close()
		l := start(b, out, "null:", "duration", slice)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-l.Done():
				end := l.Conclude(b.Context())
				require.NoError(b, end.Err)
				sum := 0.0
				for _, op := range end.Run.Operations {
					sum += *op.Throughput
				}
				return sum
			case <-tick.C:
				if at := served(out); at != "" {
					get(b, at)
				}
			}
		}
	}
	var ratios []float64
	for i := range rounds {
		var bare, told float64
		if i%2 == 0 {
			bare, told = done(telemetry.Options{}), done(with)
		} else {
			told, bare = done(with), done(telemetry.Options{})
		}
		ratios = append(ratios, told/bare)
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op") // has no meaning here
	b.ReportMetric(ratios[rounds/2], "ratio")
}

// BenchmarkSecond is what one second costs the goroutine that measures: of two operations
// in open loop, with times all over the place.
func BenchmarkSecond(b *testing.B) {
	feed, second := full(b, nil)
	for b.Loop() {
		feed.Second(second)
	}
}

// BenchmarkScrape is what one answer costs, on a goroutine of its own.
func BenchmarkScrape(b *testing.B) {
	out := open(b, telemetry.Options{Addr: "127.0.0.1:0"})
	feed, second := full(b, out)
	feed.Second(second)
	at := served(out)
	for b.Loop() {
		get(b, at)
	}
}

// full is the feed of a run with a second that has all sorts of times.
func full(b *testing.B, out *telemetry.Outlet) (*telemetry.Feed, *measure.Second) {
	b.Helper()
	if out == nil {
		out = open(b, telemetry.Options{Addr: "127.0.0.1:0"})
	}
	ops := []measure.Operation{{Track: "a", Op: "get"}, {Track: "a", Op: "put"}}
	var h [4]*hdrhistogram.Histogram
	for i := range h {
		h[i] = measure.NewHistogram()
		for v := range int64(5000) {
			require.NoError(b, h[i].RecordValue(v*v*40+10_000))
		}
	}
	s := &measure.Second{Length: 1, Result: &measure.Result{Ops: make([]measure.Totals, len(ops))}}
	for _, op := range ops {
		s.Intervals = append(s.Intervals, measure.Interval{Op: op, Response: h[0], Service: h[1], Wait: h[2], Lateness: h[3]})
	}
	return out.Begin(telemetry.Source{Operations: ops, Counts: []bool{true, true}, Verdict: func() (v rundir.Verdict) { return v }}), s
}
