package session

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
)

// thresholds are those of a run, with the histograms of the whole run that they are judged
// by. While the run goes on, only the sink uses them.
type thresholds struct {
	list []condition.Threshold
	dir  string
	sums map[string]*measure.Sum
	// series is kept only if a threshold is about recovery.
	series []rundir.SeriesRow
	// aborted is the one that ended the run; nil if none did.
	aborted *aborted
}

// aborted is a threshold that ended the run, and the value that it had reached.
type aborted struct {
	expr    condition.Threshold
	outcome condition.Outcome
}

func newThresholds(list []condition.Threshold, dir string) *thresholds {
	return &thresholds{list: list, dir: dir, sums: map[string]*measure.Sum{}}
}

// add merges the histograms of a second.
func (t *thresholds) add(s *measure.Second) {
	if len(t.list) == 0 {
		return
	}
	if slices.ContainsFunc(t.list, condition.Threshold.Recovery) {
		t.series = append(t.series, rundir.Rows(s)...)
	}
	for _, in := range s.Intervals {
		t.merge(in.Op, "response", in.Response)
		t.merge(in.Op, "service", in.Service)
		t.merge(in.Op, "wait", in.Wait)
		t.merge(in.Op, "lateness", in.Lateness)
	}
}

func (t *thresholds) merge(op measure.Operation, what string, h *hdrhistogram.Histogram) {
	if h == nil {
		return
	}
	tag := hlog.Tag(op.Track, op.Op, what)
	if t.sums[tag] == nil {
		t.sums[tag] = &measure.Sum{}
	}
	t.sums[tag].Add(h)
}

// end reports whether a run that has measured for so long ends because it has missed a
// threshold that is marked to abort; it does so once.
func (t *thresholds) end(run *rundir.Run, measured time.Duration) bool {
	if t.aborted != nil || !slices.ContainsFunc(t.list, func(e condition.Threshold) bool { return e.Abort }) {
		return false
	}
	seen := t.seen(run)
	for _, e := range t.list {
		if !e.Abort {
			continue
		}
		if got := e.Judge(seen); e.Ends(got, measured) {
			got.Got += " after " + units.Duration(measured) + ", which ended the run"
			t.aborted = &aborted{e, got}
			return true
		}
	}
	return false
}

// judge returns the outcome of each threshold, and a sentence for each that was missed.
func (t *thresholds) judge(run *rundir.Run) (all []rundir.Threshold, missed []string) {
	seen := t.seen(run)
	for _, e := range t.list {
		got := e.Judge(seen)
		if t.aborted != nil && t.aborted.expr == e { // what happened afterwards does not undo it
			got = t.aborted.outcome
		}
		all = append(all, rundir.Threshold{Expr: e.Text, OK: got.OK, Got: got.Got})
		if !got.OK {
			missed = append(missed, e.Reason(got))
		}
	}
	return all, missed
}

// soFar returns the outcome of each threshold that can be judged while the run goes on: not of
// those that only its end answers, and none that has too few calls yet.
func (t *thresholds) soFar(run *rundir.Run) (out []rundir.Threshold) {
	if len(t.list) == 0 {
		return nil
	}
	seen := t.seen(run)
	for _, e := range t.list {
		if e.AtEnd() {
			continue
		}
		if got := e.Judge(seen); got.Measured {
			out = append(out, rundir.Threshold{Expr: e.Text, OK: got.OK, Got: got.Got})
		}
	}
	return out
}

// seen returns the run as thresholds see it.
func (t *thresholds) seen(run *rundir.Run) *rundir.Folder {
	view := *run
	if run.Failed() {
		view.Operations = append([]rundir.Operation(nil), run.Operations...)
		for i := range view.Operations {
			view.Operations[i].Throughput = nil
		}
	}
	merged := map[string]*hdrhistogram.Histogram{}
	for tag, sum := range t.sums {
		merged[tag] = sum.Histogram()
	}
	return &rundir.Folder{Dir: t.dir, Run: view, Series: t.series, Histograms: merged}
}
