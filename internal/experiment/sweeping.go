package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Resume looks for a sweep that was requested in the same words and is not complete,
// which Do will then continue. It returns its folder, "" if there is none.
func (s *Sweep) Resume() string {
	if dir, old := sweep.Unfinished(s.First().Out, s.result.Asked); old != nil {
		s.dir, s.result = dir, *old
		if len(s.knees) > 0 {
			s.choose()
		}
	}
	return s.dir
}

// Do does the runs that are not done yet, one after the other, and writes the documents
// on all that are. Where the rates are left to it, it searches for the knee first. After each
// run, and when the rates are chosen, told is called with the results so far. The end of
// ctx ends the sweep between two runs. The error is that of the worst failure.
func (s *Sweep) Do(ctx context.Context, perform Perform, told func(sweep.Result)) error {
	var errs []error
	if sweep.AutoAxis(s.result.Axes) >= 0 {
		s.driver.Each(ctx, 2, func(stage int) bool {
			if stage == 0 {
				errs = s.locate(ctx, perform)
				told(s.result)
				return len(s.result.Knees) > 0
			}
			errs = append(errs, s.runs(ctx, perform, told)...)
			return true
		})
		if len(s.result.Runs) == 0 && ctx.Err() != nil && worst(errs) == nil {
			errs = append(errs, interrupted())
		}
	} else {
		errs = s.runs(ctx, perform, told)
	}
	return worst(append(errs, s.conclude(), s.restore(ctx)))
}

// runs does those that are not done yet.
func (s *Sweep) runs(ctx context.Context, perform Perform, told func(sweep.Result)) []error {
	return s.driver.turns(ctx, s.left(), func(ctx context.Context, t Turn) (*session.Concluded, error) {
		if err := s.arrange(ctx, t.Member); err != nil {
			return nil, fmt.Errorf("%s: %w", t.What, err)
		}
		o, err := perform(ctx, t)
		if err == nil {
			if s.result.Crash != "" {
				o = crashed(o)
			}
			if cut := o.Run.Cut(); cut != "" && o.Err == nil { // by somebody who watched it
				o.Err = fault.Code(errors.New(cut+": it does not count, and the same sweep does it again"), fault.CodeInterrupted)
			}
			if !failed(o) {
				if err := s.keep(t, &o.Run); err != nil {
					return nil, err
				}
				told(s.result)
			}
			err = o.Err
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", t.What, err)
		}
		return o, err
	})
}

// left are the turns of the runs that are not done.
func (s *Sweep) left() (out []Turn) {
	for _, t := range Rounds(s.result.Rounds, len(s.points), s.First().Inputs.Seed) {
		if s.result.Has(t.Round, t.Member) {
			continue
		}
		t.Request = s.points[t.Member].request
		t.Request.Of = rundir.OfSweep
		t.What = fmt.Sprintf("run %d of %d (%s)", len(s.result.Runs)+len(out)+1, s.result.All(), s.result.Place(t.Member))
		out = append(out, t)
	}
	return out
}

// keep records a completed run.
func (s *Sweep) keep(t Turn, run *rundir.Run) error {
	h := run.Headline()
	if s.result.Crash != "" {
		h = run.BeforeFault()
	}
	d := sweep.Run{Round: t.Round, Point: t.Member, ID: run.ID, P50: h.Response.P50, P99: h.Response.P99, UnitBytes: run.UnitBytes(), Verdict: run.Verdict.State}
	if s.result.Crash != "" {
		d.Lost, d.Unread, d.Causes = run.Verification.Lost, run.Verification.Unread, run.Verdict.Causes
	}
	if !math.IsNaN(h.Rate) {
		d.Done = &h.Rate
		if h.Count > 0 && run.Settings["rate"] > 0 {
			d.Due = new(h.Rate * (1 + float64(h.Unstarted)/float64(h.Count)))
		}
	}
	for _, x := range s.result.Axes {
		if x.Concurrency() {
			d.Threads = run.Settings[x.Name]
		}
	}
	d.Errors = run.Failures()
	s.result.Open = s.result.Open || run.Settings["rate"] > 0
	if rate := run.Settings["rate"]; len(s.result.Runs) == 0 {
		s.result.Rate = rate
	} else if s.result.Rate != rate {
		s.result.Rate = 0
	}
	s.result.Runs = append(s.result.Runs, d)
	if err := s.result.Settle(); err != nil {
		return err
	}
	if s.dir == "" {
		dir, err := newFolder(filepath.Join(s.First().Out, run.Started.Local().Format(sweep.FolderTime)+"-"+s.result.Profile+sweep.FolderEnd))
		if err != nil {
			return fmt.Errorf("keep the sweep: %w", err)
		}
		s.dir = dir
		again := s.asked
		again.Request.Out = "" // wherever the folder lies by then
		plan := request.Write("perfbench sweep FILE does this sweep again.", &request.File{Runs: []request.Run{again}})
		if err := rundir.WriteFiles(dir, []rundir.File{{Name: sweep.PlanFile, Data: plan}}); err != nil {
			return fmt.Errorf("keep the sweep: %w", err)
		}
	}
	data, err := s.result.Encode()
	if err != nil {
		return fmt.Errorf("keep the sweep: %w", err)
	}
	return rundir.WriteFiles(s.dir, []rundir.File{{Name: sweep.File, Data: data}})
}

// newFolder creates a folder with that name or, if it exists, with a number added.
func newFolder(name string) (string, error) {
	for i := 1; ; i++ {
		dir := name
		if i > 1 {
			dir += fmt.Sprintf("-%d", i)
		}
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
}

// conclude writes the documents on the results so far.
func (s *Sweep) conclude() error {
	if s.dir == "" {
		return nil
	}
	if err := s.result.Settle(); err != nil {
		return err
	}
	files, err := report.Sweep(&s.result)
	if err != nil {
		return err
	}
	return rundir.WriteFiles(s.dir, files)
}
