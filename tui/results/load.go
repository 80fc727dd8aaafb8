package results

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report/runpage"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// loadedRun is a run directory with what the screens derive from it; never modified
// once made, so that any goroutine may read it.
type loadedRun struct {
	folder  *rundir.Folder
	summary string
	course  curves
	// found is the result of the run's search; nil without one.
	found *find.Result
	// why is what limited the run.
	why *rundir.Why
	// all is the distribution of every call, ops those by operation.
	all widget.Distribution
	ops []widget.Distribution
}

// loadedMsg delivers a run that was requested.
type loadedMsg struct {
	id  string
	run *loadedRun
	err error
}

// loadRun reads a run and computes its charts, in the background.
func loadRun(b Bench, id string) (*loadedRun, error) {
	f, err := b.Load(id)
	if err != nil {
		return nil, err
	}
	l := &loadedRun{folder: f, summary: runpage.Summary(f), course: curvesOf(f), why: runpage.Why(f)}
	if l.found, err = find.Load(f.Dir); err != nil {
		return nil, err
	}
	var whole []widget.Distribution
	for _, o := range f.Run.Operations {
		d := widget.NewDistribution(f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)])
		l.ops = append(l.ops, d)
		if f.Run.Counts(o) {
			whole = append(whole, d)
		}
	}
	l.all = widget.Merged(whole)
	return l, nil
}

// Start reads the run.
func (r *Results) Start(screen.Env) tea.Cmd {
	if r.id == "" {
		return nil
	}
	bench, id := r.bench, r.id
	return func() tea.Msg {
		run, err := loadRun(bench, id)
		return loadedMsg{id, run, err}
	}
}
