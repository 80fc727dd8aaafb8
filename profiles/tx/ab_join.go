package tx

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// window is the time in which all of some runs were measured.
type window struct{ from, until time.Time }

func (w window) seconds() float64 { return w.until.Sub(w.from).Seconds() }

// shared finds the window that runs share, in whole seconds of the clock, so that
// each of them loses less than a second at either end.
func shared(fs []*rundir.Folder) (window, error) {
	var w window
	for i, f := range fs {
		from := f.Run.Measured
		if from.IsZero() {
			from = f.Run.Started
		}
		until := from.Add(time.Duration(f.Run.MeasuredS * float64(time.Second)))
		if i == 0 || from.After(w.from) {
			w.from = from
		}
		if i == 0 || until.Before(w.until) {
			w.until = until
		}
	}
	if w.seconds() < 1 {
		return w, fault.Input(errors.New("ab: these runs were not measured at the same time for as long as a second, so that there is nothing to add up"),
			"give runs of several client hosts that were under way together, with clocks that agree")
	}
	return w, nil
}

// joinAB adds up runs of several client hosts over the window that they share: what
// ended in each second that lies within it, as their series say.
func joinAB(fs []*rundir.Folder) ([]rundir.File, error) {
	var sagas []*rundir.Folder
	for _, f := range fs {
		facts, err := factsAs[SagaFacts](&f.Run, modeSaga)
		if err != nil {
			return nil, err
		}
		if facts != nil {
			sagas = append(sagas, f)
		}
	}
	switch len(sagas) {
	case 0:
		return nil, nil
	case 1:
		return encodeAB(sagas[0])
	}
	w, err := shared(sagas)
	if err != nil {
		return nil, err
	}
	sum := abSummary{latency: hdrhistogram.New(1, int64(time.Hour), 3), seconds: w.seconds()}
	var names []string
	for _, f := range sagas {
		if err := sum.add(f, w); err != nil {
			return nil, err
		}
		names = append(names, f.Run.ID)
	}
	sum.host, sum.port = serverOf(&sagas[0].Run)
	sum.store = sagas[0].Run.Store
	notice := fmt.Sprintf("ab.txt adds up %d runs over the %.1f s from %s in which all of them were measured: %s.\n", len(sagas), w.seconds(),
		w.from.UTC().Format(time.RFC3339), strings.Join(names, ", "))
	return []rundir.File{{Name: "ab.txt", Data: sum.text()}, {Name: "ab-runs.txt", Data: []byte(notice)}}, nil
}

// add takes in the whole seconds of a run that lie within the window, as a rate, so
// that seconds of hosts that do not tick together add up.
func (a *abSummary) add(f *rundir.Folder, w window) error {
	start := f.Run.Measured
	if start.IsZero() {
		start = f.Run.Started
	}
	from, until := math.Ceil(w.from.Sub(start).Seconds()-1e-6), math.Floor(w.until.Sub(start).Seconds()+1e-6)
	if until <= from {
		return fault.Input(fmt.Errorf("ab: run %s has no whole second in the window that the runs share", f.Run.ID), "let the runs overlap for longer")
	}
	var ended, failed int64
	for _, r := range f.Series {
		if r.Track == "saga" && r.Op == "saga" && !r.Warmup && float64(r.T) >= from && float64(r.T) < until {
			ended += r.Count
			failed += r.Errors
		}
	}
	facts, err := factsAs[SagaFacts](&f.Run, modeSaga)
	if err != nil {
		return err
	}
	scale := w.seconds() / (until - from)
	other := 0.0
	if known := facts.Done + facts.Undone; known > 0 {
		other = float64(ended) * float64(facts.Undone) / float64(known)
	}
	a.complete += int64(math.Round(float64(ended+failed) * scale))
	a.unknown += int64(math.Round(float64(failed) * scale))
	a.other += int64(math.Round(other * scale))
	a.threads += f.Run.Settings["threads"]
	a.invalid = a.invalid || f.Run.Failed()
	hs, err := f.Between(from, until)
	if err != nil {
		return err
	}
	if h := hs[rundir.Tag("saga", "saga", "response")]; h != nil {
		a.latency.Merge(h)
	}
	return nil
}
