package rounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Turn does one run of a sweep; what describes it in a few words. An error without an
// outcome ends the sweep, as does an outcome that failed for any reason but a
// threshold.
type Turn func(ctx context.Context, r session.Request, what string) (*session.Concluded, error)

// Resume looks for a sweep that was requested in the same words and is not complete,
// which Do will then continue. It returns its folder, "" if there is none.
func (s *Sweep) Resume() string {
	if dir, old := sweep.Unfinished(s.First().Out, s.result.Asked); old != nil {
		s.dir, s.result = dir, *old
	}
	return s.dir
}

// Do does the runs that are not done yet, one after the other, and writes the documents
// on all that are. After each run, told is called with the results so far. The end of
// ctx ends the sweep between two runs. The error is that of the worst failure.
func (s *Sweep) Do(ctx context.Context, turn Turn, told func(sweep.Result)) error {
	var errs []error
	s.crew.Expect(s.result.All() - len(s.result.Runs))
	for i, who := range Order(s.result.Rounds, len(s.points), s.First().Inputs.Seed) {
		if s.result.Has(i/len(s.points), who) {
			continue
		}
		if ctx.Err() != nil {
			errs = append(errs, fault.Code(errors.New("interrupted between two runs"), fault.CodeInterrupted))
			break
		}
		what := fmt.Sprintf("run %d of %d (%s)", len(s.result.Runs)+1, s.result.All(), s.result.Place(who))
		o, err := turn(ctx, s.points[who].request, what)
		if err == nil {
			err = o.Err
			if !failed(o) {
				if kept := s.keep(i/len(s.points), who, &o.Run); kept != nil {
					errs = append(errs, kept)
					break
				}
				told(s.result)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
		if o == nil || failed(o) {
			break
		}
	}
	return worst(append(errs, s.conclude()))
}

// keep records a completed run.
func (s *Sweep) keep(round, point int, run *rundir.Run) error {
	h := run.Headline()
	d := sweep.Run{Round: round, Point: point, ID: run.ID, P50: h.Response.P50, P99: h.Response.P99, Verdict: run.Verdict.State}
	if !math.IsNaN(h.Rate) {
		d.Done = &h.Rate
	}
	for _, x := range s.result.Axes {
		if x.Concurrency() {
			d.Threads = run.Settings[x.Name]
		}
	}
	for _, o := range run.Operations {
		d.Errors += o.Errors
	}
	s.result.Open = s.result.Open || run.Settings["rate"] > 0
	s.result.Runs = append(s.result.Runs, d)
	if err := s.result.Settle(); err != nil {
		return err
	}
	if s.dir == "" {
		dir, err := newFolder(filepath.Join(s.First().Out, time.Now().Format(sweep.FolderTime)+"-"+s.result.Profile+sweep.FolderEnd))
		if err != nil {
			return fmt.Errorf("keep the sweep: %w", err)
		}
		s.dir = dir
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

// failed reports whether the outcome of a run ends the sweep.
func failed(o *session.Concluded) bool {
	c := o.Code()
	return c != fault.CodeOK && c != fault.CodeThreshold
}

// worst joins the errors of runs, so that the code is that of an error that ended the
// sweep, or otherwise that of a missed threshold.
func worst(errs []error) error {
	errs = slices.DeleteFunc(errs, func(e error) bool { return e == nil })
	slices.SortStableFunc(errs, func(a, b error) int {
		last := map[bool]int{true: 1}
		return last[fault.CodeOf(a) == fault.CodeThreshold] - last[fault.CodeOf(b) == fault.CodeThreshold]
	})
	for i, err := range errs {
		errs[i] = fault.Code(err, fault.CodeOther)
	}
	return errors.Join(errs...)
}
