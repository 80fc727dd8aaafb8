package ab

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// window is the period in which all of some runs were being measured.
type window struct{ from, until time.Time }

func (w window) seconds() float64 { return w.until.Sub(w.from).Seconds() }

// measured returns the period in which a run was measured.
func measured(f *rundir.Folder) window {
	from := f.Run.Measured
	if from.IsZero() {
		from = f.Run.Started
	}
	return window{from, from.Add(time.Duration(f.Run.MeasuredS * float64(time.Second)))}
}

// and returns the period that two windows have in common.
func (w window) and(v window) window {
	if v.from.After(w.from) {
		w.from = v.from
	}
	if v.until.Before(w.until) {
		w.until = v.until
	}
	return w
}

// together are runs that were measured at the same time for at least a second, such as
// those of several client hosts; or a single run.
type together struct {
	window
	runs []*rundir.Folder
}

// gather groups runs that share a window, such that none of them loses much at either
// end. The groups are ordered by when they began.
func gather(fs []*rundir.Folder) []together {
	var out []together
	for _, f := range fs {
		w := measured(f)
		if last := len(out) - 1; last >= 0 {
			if both := out[last].and(w); both.seconds() >= 1 {
				out[last] = together{both, append(out[last].runs, f)}
				continue
			}
		}
		out = append(out, together{w, []*rundir.Folder{f}})
	}
	return out
}

// join makes one document from several runs of sagas. Runs in the same window are added
// up, by what ended in each second within it according to their series. Several windows
// are shown in one table.
func join(fs []*rundir.Folder) ([]rundir.File, error) {
	var sagas []*rundir.Folder
	for _, f := range fs {
		facts, err := rundir.FactsOf[saga.Facts](&f.Run, saga.Mode)
		if err != nil {
			return nil, err
		}
		if facts != nil {
			sagas = append(sagas, f)
		}
	}
	if len(sagas) == 0 {
		return nil, nil
	}
	var sums []*abSummary
	var notice strings.Builder
	groups := gather(sagas)
	for i, g := range groups {
		sum, err := g.sum()
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
		if len(g.runs) > 1 {
			what := "ab.txt"
			if len(groups) > 1 {
				what = fmt.Sprintf("column %d of ab-table.md", i+1)
			}
			fmt.Fprintf(&notice, "%s adds up %d runs over the %.1f s from %s in which all of them were measured: %s.\n", what, len(g.runs), g.seconds(),
				g.from.UTC().Format(time.RFC3339), strings.Join(g.names(), ", "))
		}
	}
	file := rundir.File{Name: "ab.txt", Data: sums[0].text()}
	if len(sums) > 1 {
		file = rundir.File{Name: "ab-table.md", Data: abTable(sums)}
	}
	if notice.Len() == 0 {
		return []rundir.File{file}, nil
	}
	return []rundir.File{file, {Name: "ab-runs.txt", Data: []byte(notice.String())}}, nil
}

func (g *together) names() []string {
	var out []string
	for _, f := range g.runs {
		out = append(out, f.Run.ID)
	}
	return out
}

// sum adds up the runs; a single one counts as a whole.
func (g *together) sum() (*abSummary, error) {
	if len(g.runs) == 1 {
		return abOfRun(g.runs[0])
	}
	var sum *abSummary
	for _, f := range g.runs {
		facts, err := rundir.FactsOf[saga.Facts](&f.Run, saga.Mode)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = newAB(f, facts)
			sum.seconds = g.seconds()
		}
		if err := sum.add(f, facts, g.window); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// add adds the whole seconds of a run that lie within the window, as a rate, so that
// hosts whose seconds are not synchronized add up.
func (a *abSummary) add(f *rundir.Folder, facts *saga.Facts, w window) error {
	start := measured(f).from
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
	end := until
	if until == float64(f.Run.Last()+1) { // the last second has what was left over after it
		end, until = max(f.Run.MeasuredS, until), math.Inf(1)
	}
	scale := w.seconds() / (end - from)
	part := func(n int64, of, whole float64) int64 {
		if whole == 0 {
			return 0
		}
		return int64(math.Round(of * float64(n) / whole * scale))
	}
	good, bad := float64(ended), float64(failed)
	all := part(1, good+bad, 1)
	a.complete += all
	if b := facts.Bench; b != nil {
		lost := float64(facts.Undecided + facts.Unknown)
		a.noConnection += part(b.NoConnection, bad, lost)
		a.unknown += part(b.NoReply, bad, lost)
		a.other += part(b.Failed(), bad, lost)
		a.non2xx += part(b.Non2xx, bad, lost)
		total := float64(facts.Done) + lost
		a.bytes += part(b.Bytes, good+bad, total)
		a.html += part(b.Body, good+bad, total)
		a.kept += part(max(int64(total)-b.NoConnection-b.Connections, 0), good+bad, total)
	} else {
		other := part(facts.Undone, good, float64(facts.Done+facts.Undone))
		a.unknown += part(1, bad, 1)
		a.other += other
		a.non2xx += other
		a.bytes += all * int64(len(SuccessReply))
		a.html += all * int64(len(SuccessReply))
	}
	a.threads += f.Run.Settings["threads"]
	a.invalid = a.invalid || f.Run.Failed()
	hs, err := f.Between(from, until)
	if err != nil {
		return err
	}
	a.merge(hs)
	return nil
}
