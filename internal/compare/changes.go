package compare

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

const (
	// LeastSeries is how many runs it takes to tell a change from chance: three on each side.
	LeastSeries = 6
	// leastChange is the smallest change of a history that is told of, and sureOfChange the
	// certainty that each must have: there are many places where one could be.
	leastChange  = 0.025
	sureOfChange = 0.999
)

// Series are the kept runs of one plan on one kind of machine, the oldest first.
type Series struct {
	Runs []*Conditions
	// Figures are the figures that the runs have, each with a value for every run, NaN where
	// it is not known, and the changes found in it.
	Figures []SeriesFigure
}

// SeriesFigure is one figure over the runs of a series.
type SeriesFigure struct {
	Figure  Figure
	Values  []float64
	Changes []Shift
}

// Shift is a change of a figure that lasts.
type Shift struct {
	// At is the index of the first run after it in its series.
	At int
	// Change is as in Finding, between the means of some runs after it and before it.
	Change  float64
	Verdict Verdict
	// Differs is in what the first run after it differs from the one before.
	Differs []Difference
}

// Sentence describes the change in one line.
func (s SeriesFigure) Sentence(c Shift, unit string) string {
	f := Finding{Figure: s.Figure, Change: c.Change, Verdict: c.Verdict}
	return f.Label(unit) + ": " + string(c.Verdict) + ", " + f.ChangeText()
}

// FromTo describes the change by the figure before and after it, "p50 1.2 → 1.9 ms: worse": the means
// of the runs since the change before, and as much more or less.
func (s SeriesFigure) FromTo(c Shift, unit string) string {
	first, sum, n := 0, 0.0, 0
	for _, d := range s.Changes {
		if d.At < c.At {
			first = max(first, d.At)
		}
	}
	for _, v := range s.Values[first:c.At] {
		if v > 0 {
			sum += math.Log(v)
			n++
		}
	}
	f := Finding{Figure: s.Figure}
	before := math.Exp(sum / float64(max(n, 1)))
	return f.Label(unit) + " " + f.span(before, "→", before*(1+c.Change)) + ": " + string(c.Verdict)
}

// Changed finds in kept runs the points at which their figures changed: series by series, the
// one with the newest run first. Runs that are under way, lost data, are INVALID or were
// changed while they ran say nothing, nor do series of fewer than LeastSeries runs.
func Changed(list []*rundir.Run) []Series {
	groups := map[string][]*rundir.Run{}
	for _, r := range slices.SortedStableFunc(slices.Values(list), func(a, b *rundir.Run) int { return a.Started.Compare(b.Started) }) {
		if r.EndedBy == rundir.StillRunning || r.EndedBy == rundir.CutShort || r.Failed() || r.Verdict.State == verdict.Invalid || len(r.Changes) > 0 {
			continue
		}
		groups[kindOf(r)] = append(groups[kindOf(r)], r)
	}
	var out []Series
	for _, runs := range groups {
		for _, of := range inTurn(runs) {
			if len(of) >= LeastSeries {
				out = append(out, seriesOf(of))
			}
		}
	}
	slices.SortFunc(out, func(a, b Series) int {
		return b.Runs[len(b.Runs)-1].Started.Compare(a.Runs[len(a.Runs)-1].Started)
	})
	return out
}

// kindOf identifies what runs of a series must have in common: the work, the kind of store
// and of machine. The size of the data and how calls arrive are settings like others here: they
// may be what changed.
func kindOf(r *rundir.Run) string {
	c := ConditionsOf(r)
	var machine []string
	for _, k := range []string{"os", "arch", "cpus", "gomaxprocs"} {
		machine = append(machine, c.Machine[k])
	}
	return keyOf(c.Profile, c.Mode, c.Unit, c.Store.Name, machine)
}

// planOf identifies the plan of a run: all that was asked for but the seed.
func planOf(r *rundir.Run) string {
	params := timesAsTyped(r.Parameters)
	delete(params, "seed")
	return keyOf(r.Settings, params, r.Target)
}

// keyOf makes texts, numbers and maps of them one text.
func keyOf(parts ...any) string {
	data, _ := json.Marshal(parts) // they can all be encoded
	return string(data)
}

// inTurn divides runs by their plans. Plans of which one came after the other, as when a plan
// was edited, are one series: what differs is then named with the change.
func inTurn(runs []*rundir.Run) [][]*rundir.Run {
	by, order, contiguous := map[string][]*rundir.Run{}, []string{}, true
	last := ""
	for _, r := range runs {
		key := planOf(r)
		if _, ok := by[key]; !ok {
			order = append(order, key)
		} else if key != last {
			contiguous = false
		}
		by[key], last = append(by[key], r), key
	}
	few := slices.ContainsFunc(order, func(key string) bool { return len(by[key]) < LeastSeries/2 })
	if contiguous && !few {
		return [][]*rundir.Run{runs}
	}
	var out [][]*rundir.Run
	for _, key := range order {
		out = append(out, by[key])
	}
	return out
}

// seriesOf reads the figures of runs and finds their changes.
func seriesOf(runs []*rundir.Run) Series {
	s := Series{}
	heads := make([]rundir.Headline, len(runs))
	for i, r := range runs {
		s.Runs, heads[i] = append(s.Runs, ConditionsOf(r)), r.Headline()
	}
	latency := func(of func(rundir.Latency) int64) func(rundir.Headline) float64 {
		return func(h rundir.Headline) float64 {
			if v := of(h.Response); len(h.Timed) > 0 && v != measure.Hidden {
				return float64(v)
			}
			return math.NaN()
		}
	}
	for _, f := range []struct {
		figure Figure
		of     func(rundir.Headline) float64
	}{
		{Throughput, func(h rundir.Headline) float64 { return h.Rate }},
		{P50, latency(func(l rundir.Latency) int64 { return l.P50 })},
		{P99, latency(func(l rundir.Latency) int64 { return l.P99 })},
	} {
		one := SeriesFigure{Figure: f.figure}
		for _, h := range heads {
			one.Values = append(one.Values, f.of(h))
		}
		one.find(s.Runs)
		s.Figures = append(s.Figures, one)
	}
	return s
}

// find finds the changes of a figure.
func (s *SeriesFigure) find(runs []*Conditions) {
	var logs []float64
	var index []int
	for i, v := range s.Values {
		if v > 0 {
			logs, index = append(logs, math.Log(v)), append(index, i)
		}
	}
	for _, shift := range stat.Shifts(logs, math.Log1p(leastChange), sureOfChange) {
		c := Shift{At: index[shift.At], Change: math.Expm1(shift.By), Verdict: Worse}
		if (c.Change > 0) == (s.Figure == Throughput) {
			c.Verdict = Better
		}
		c.Differs = slices.DeleteFunc(Differences(runs[index[shift.At-1]], runs[c.At]), func(d Difference) bool { return d.Name == "seed" })
		s.Changes = append(s.Changes, c)
	}
}

// WorseSince returns an error with the exit code of a missed threshold and a sentence for each
// figure whose last change was for the worse; nil if there is none.
func WorseSince(list []Series) error {
	var errs []error
	for _, s := range list {
		for _, f := range s.Figures {
			if n := len(f.Changes); n > 0 && f.Changes[n-1].Verdict == Worse {
				first := s.Runs[f.Changes[n-1].At]
				errs = append(errs, fault.Code(errors.New(f.Sentence(f.Changes[n-1], first.Unit)+" from run "+first.ID+" on"), fault.CodeThreshold))
			}
		}
	}
	return errors.Join(errs...)
}
