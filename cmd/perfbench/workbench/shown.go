package workbench

import (
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// shown is what screens see of a run: before it has begun, what its plan says.
type shown struct{ r *benchRun }

func (s shown) Info() screen.RunInfo {
	info := s.r.info
	if l := s.r.running(); l != nil {
		info.Planned = l.Planned()
	}
	return info
}

func (s shown) Progress() screen.Progress {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.stopped && s.r.progress.Stage == screen.Measuring {
		return screen.Progress{Stage: screen.Finishing}
	}
	return s.r.progress
}

func (s shown) Snapshot() *measure.Snapshot {
	if l := s.r.running(); l != nil {
		return l.Snapshot()
	}
	return &measure.Snapshot{Began: -s.r.p.Inputs.Warmup}
}

func (s shown) Plan() *workload.Plan {
	if l := s.r.running(); l != nil {
		return l.Opened.Bound()
	}
	return s.r.p.Plan
}

func (s shown) Settings(track int) workload.Settings {
	if l := s.r.running(); l != nil {
		return l.Settings(track)
	}
	tracks := s.r.p.Plan.Tracks()
	if track != workload.AllTracks {
		return tracks[track].Start
	}
	return workload.Totals(s.r.p.Plan.Knobs, tracks, workload.Starts(tracks))
}

func (s shown) Verdict() rundir.Verdict {
	if l := s.r.running(); l != nil {
		return l.Verdict()
	}
	return rundir.Verdict{State: verdict.Valid}
}

func (s shown) Samples() []rundir.Sample {
	if l := s.r.running(); l != nil {
		return l.Samples()
	}
	return nil
}

func (s shown) Done() <-chan struct{} { return s.r.Done() }

func (s shown) Outcome() screen.Outcome { return s.r.Outcome() }

// control turns the knobs of a run; before that has begun it does nothing.
type control struct{ r *benchRun }

func (c control) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	if l := c.r.running(); l != nil {
		l.Change(by, track, f)
	}
}

func (c control) Room(after []workload.Settings) error {
	if l := c.r.running(); l != nil {
		return l.Room(after)
	}
	return nil
}

var errNotBegun = errors.New("the run has not begun")

func (c control) Faults() (ready, breakable []string, err error) {
	if l := c.r.running(); l != nil {
		return l.Faults()
	}
	return nil, nil, errNotBegun
}

func (c control) CanBreak(text string, long time.Duration) error {
	if l := c.r.running(); l != nil {
		return l.CanBreak(text, long)
	}
	return errNotBegun
}

func (c control) Break(by, text string, long time.Duration) error {
	if l := c.r.running(); l != nil {
		return l.Break(by, text, long)
	}
	return errNotBegun
}

func (c control) Mark(at time.Duration, note string) {
	if l := c.r.running(); l != nil {
		l.MarkAt(at, note)
	}
}
