package sweeping

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/console"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/planfile"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/turns"
)

// sweeping is a sweep that was found to be possible.
type sweeping struct {
	*command
	points []point
	result sweep.Result
	// dir is empty until the first run is done.
	dir string
}

// describe fills in what the sweep is of, without what is secret in it.
func (s *sweeping) describe() {
	first, r := s.points[0].prepared, &s.result
	r.Profile, r.Unit = first.Profile.Name, first.Plan.Unit
	over := -1
	for i, x := range r.Axes {
		if x.Name == sweep.Target {
			over = i
		}
	}
	if over < 0 {
		r.Target = first.Target.Redacted()
	} else {
		inner := len(s.points) / len(r.Axes[over].Values)
		if over == len(r.Axes)-1 {
			inner = 1
		}
		r.Axes[over].Values = shownTargets(s.points, inner, len(r.Axes[over].Values))
	}
	plans := &planfile.File{Suite: true}
	for _, p := range s.points {
		plans.Runs = append(plans.Runs, planfile.Run{Request: p.prepared.Asked()})
	}
	sum := sha256.Sum256(planfile.Write("rounds: "+strconv.Itoa(r.Rounds), plans))
	r.Asked = hex.EncodeToString(sum[:])
}

// shownTargets are the targets of n points, one each so many points. Those that differ
// only in what is not shown are numbered.
func shownTargets(points []point, every, n int) []string {
	var out []string
	seen := map[string]int{}
	for i := range n {
		t := points[i*every].prepared.Target.Redacted()
		if seen[t]++; seen[t] > 1 {
			t += " #" + strconv.Itoa(seen[t])
		}
		out = append(out, t)
	}
	return out
}

// do does the runs that are not done yet, and says what all come to.
func (s *sweeping) do(ctx context.Context) error {
	out := s.points[0].prepared.Out
	if dir, old := sweep.Unfinished(out, s.result.Asked); old != nil {
		s.dir, s.result = dir, *old
		if !s.flags.Quiet {
			fmt.Fprintf(s.Stderr, "%s goes on: %d of %d runs are done\n", dir, len(old.Runs), old.All())
		}
	}
	var errs []error
	for i, who := range turns.Order(s.result.Rounds, len(s.points), s.points[0].prepared.Inputs.Seed) {
		if s.result.Has(i/len(s.points), who) {
			continue
		}
		if ctx.Err() != nil {
			errs = append(errs, fault.Code(errors.New("interrupted between two runs"), fault.CodeInterrupted))
			break
		}
		what := fmt.Sprintf("run %d of %d (%s)", len(s.result.Runs)+1, s.result.All(), s.result.Place(who))
		o, err := headless.Turn(ctx, s.Call, &s.flags, s.points[who].request, what)
		if err == nil {
			err = o.Err
			if !failed(o) {
				if kept := s.keep(out, i/len(s.points), who, &o.Run); kept != nil {
					errs = append(errs, kept)
					break
				}
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
		if o == nil || failed(o) {
			break
		}
	}
	return worst(append(errs, s.conclude()...))
}

// keep writes down a run that is done.
func (s *sweeping) keep(out string, round, point int, run *rundir.Run) error {
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
		dir, err := newFolder(filepath.Join(out, time.Now().Format("060102-150405")+"-"+s.result.Profile+"-sweep"))
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

// newFolder makes a folder of the name, or of that with a number.
func newFolder(name string) (string, error) {
	for i := 1; ; i++ {
		dir := name
		if i > 1 {
			dir += "-" + strconv.Itoa(i)
		}
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
}

// conclude writes the documents and says what the runs come to.
func (s *sweeping) conclude() []error {
	if s.dir == "" {
		return nil
	}
	if err := s.result.Settle(); err != nil {
		return []error{err}
	}
	files, err := report.Sweep(&s.result)
	if err == nil {
		err = rundir.WriteFiles(s.dir, files)
	}
	if !s.flags.Quiet {
		fmt.Fprint(s.Stdout, "\n"+console.Plain(report.SweepText(&s.result), s.flags.Plain || s.flags.ASCII)+"\nkept in ")
	}
	fmt.Fprintln(s.Stdout, s.dir)
	if err != nil {
		return []error{err}
	}
	return nil
}
