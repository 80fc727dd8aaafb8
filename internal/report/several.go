package report

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// IfIndependent explains how the times of requests of several calls are computed, for every
// document and screen.
const IfIndependent = "A request that makes several calls at once is as slow as the slowest of them. " +
	"If the calls are independent, its percentile p is the percentile p^(1/N) of one call."

// several shows what a page that makes several calls would wait, and what one call of
// several units did.
func several(f *rundir.Folder) Section {
	r := &f.Run
	t := Table{Left: 4, Columns: []string{"track", "operation", "request", "", "p50", "p99"}}
	hidden, batches := false, false
	for _, o := range r.Operations {
		if o.Calls == 0 {
			continue
		}
		if n := perCall(r, o); n > 1 {
			l := o.Response.Shown(o.Calls)
			t.Add(o.Track, o.Op, fmt.Sprintf("one call of %d %s", n, r.UnitOf(o)), "measured", Nanos(l.P50), Nanos(l.P99))
			batches = true
		}
		for _, s := range measure.SlowestOf(f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)]) {
			if s.Calls == 0 {
				continue
			}
			hidden = hidden || s.P99 == measure.Hidden
			t.Add(o.Track, o.Op, fmt.Sprintf("%d calls at once", s.Calls), "if independent", Nanos(s.P50), Nanos(s.P99))
		}
	}
	s := Section{Heading: "Requests of several calls", Table: t}
	if len(t.Rows) == 0 {
		return Section{}
	}
	s.Text = append(s.Text, IfIndependent)
	if batches {
		s.Text = append(s.Text, "A call of several "+r.Unit+" is such a request, too, and was measured.")
	}
	if hidden {
		s.Text = append(s.Text, fmt.Sprintf("A dash stands where fewer than ten calls are beyond that percentile: p99 of 100 calls at once needs %s calls.",
			Whole(measure.NeedsOfSlowest(99, 100))))
	}
	return s
}

// Batches says of the operations with calls of several units each how many: "1 call = 10 entries (put)"; "" without any.
func Batches(r *rundir.Run) string {
	var parts []string
	for _, o := range r.Operations {
		if n := perCall(r, o); n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", n, r.UnitOf(o), o.Track+"."+o.Op))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "1 call = " + strings.Join(parts, ", ")
}

// perCall returns how many units a call of an operation has, on average of those that succeeded.
func perCall(r *rundir.Run, o rundir.Operation) int64 {
	if done := r.Succeeded(o); done > 0 {
		return (o.Count + done/2) / done
	}
	return 1
}
