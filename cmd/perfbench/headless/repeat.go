package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep/rounds"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	// usualRepeats is how many runs a side are compared unless --repeat says.
	usualRepeats = 5
	mostRepeats  = 1000
)

// repeat is what was asked for beside one run.
type repeat struct {
	request.Repeat

	n     int
	share float64
	// unsure is what to do where it cannot be told; empty unless it was asked for.
	unsure compare.Policy
}

// asked says whether more than one run was asked for.
func (r *repeat) asked() bool { return r.n > 0 }

// paired says whether runs are to be compared with others.
func (r *repeat) paired() bool { return r.Against != "" || len(r.Sets) > 0 }

// repeatOf is what was asked for of one run: what flags and environment leave out is as its plan
// says. Errors are of input.
func repeatOf(flags, plan request.Repeat) (*repeat, error) {
	r := &repeat{Repeat: flags.Over(plan)}
	var problems workload.Problems
	if r.Times == "" && r.paired() {
		r.n = usualRepeats
	}
	if r.Times != "" {
		n, err := strconv.Atoi(r.Times)
		if err != nil || n < 1 || n > mostRepeats {
			problems.Add(fault.Field("repeat", fault.Input(fmt.Errorf("repeat: %q is not in 1..%d", r.Times, mostRepeats), "write it like --repeat 5")))
		}
		r.n = n
	}
	if r.Tolerance != "" {
		var err error
		r.share, err = compare.ParseTolerance(r.Tolerance)
		problems.Add(err)
		if !r.paired() {
			problems.Add(fault.Input(errors.New("tolerance: there is nothing to compare with"), "name it with --against or --against-set"))
		}
	}
	if r.Unsure != "" {
		var err error
		r.unsure, err = compare.ParsePolicy(r.Unsure)
		problems.Add(err)
		if !r.paired() {
			problems.Add(fault.Input(errors.New("unsure: there is nothing to compare with"), "name it with --against or --against-set"))
		}
	}
	for _, s := range r.Sets {
		if name, _, ok := strings.Cut(s, "="); !ok || strings.TrimSpace(name) == "" {
			problems.Add(fault.Input(fmt.Errorf("against-set: %q is not NAME=VALUE", s), "write it like --against-set threads=32"))
		}
	}
	return r, problems.Err()
}

// side is one of those that take turns.
type side struct {
	name     string
	request  session.Request
	prepared *session.Prepared
	// dirs are the folders of its runs that came to their end.
	dirs []string
}

// sides are the run as given, and the other when there is one.
func (r *repeat) sides(req session.Request) []*side {
	out := []*side{{name: "as given", request: req}}
	if !r.paired() {
		return out
	}
	other := req
	other.Values = maps.Clone(req.Values)
	other.Target = cmp.Or(r.Against, req.Target)
	for _, s := range r.Sets {
		name, text, _ := strings.Cut(s, "=")
		other.Values.Set(workload.Value{Name: strings.TrimSpace(name), Text: text, Origin: workload.OriginFlag, Where: "--against-set"})
	}
	return append(out, &side{name: strings.Join(r.Sets, ", "), request: other})
}

// sides finds out whether all sides can start, and names them; with them comes the seed of
// their order.
func (t *single) sides(ctx context.Context) ([]*side, int64, error) {
	all, seed := t.repeat.sides(t.run.Request), int64(1)
	for i, s := range all {
		p, err := session.Prepare(ctx, t.Session(), s.request)
		if err == nil {
			p, err = t.crew.Of(p)
		}
		if err != nil {
			return nil, 0, err
		}
		s.prepared, seed = p, p.Inputs.Seed
		if i > 0 && t.repeat.Against != "" { // without what is secret in it
			s.name = strings.TrimSuffix("on "+p.Target.Redacted()+", "+s.name, ", ")
		}
	}
	return all, seed, nil
}

// runRepeats does the runs in turn, and compares at the end. Whatever ends it early
// leaves the runs that are complete, and what they come to, in the folder that is returned.
func (t *single) runRepeats(ctx context.Context) (string, error) {
	all, seed, err := t.sides(ctx) // nothing starts before all can
	if err != nil {
		return "", err
	}
	failed := t.takeTurns(ctx, all, rounds.Order(t.repeat.n, len(all), seed))
	dir, err := t.conclude(t.flags, t.repeat, all)
	return dir, errors.Join(failed, err)
}

// takeTurns does one run after the other. Missed thresholds do not end it; their errors
// are returned at the end.
func (t *single) takeTurns(ctx context.Context, all []*side, order []int) error {
	var errs []error
	t.crew.Expect(len(order))
	series := time.Now().UTC().Format(time.RFC3339Nano) // no other begins in the same moment
	for i, who := range order {
		if ctx.Err() != nil {
			break
		}
		s, what := all[who], fmt.Sprintf("run %d of %d", i+1, len(order))
		if len(all) > 1 {
			what += fmt.Sprintf(" (%s: %s)", string(rune('A'+who)), s.name)
		}
		req := s.request
		req.Series, req.Round = series, i/len(all)+1
		o, err := Turn(ctx, t.Call, t.flags, t.crew, req, what)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if t.flags.Quiet && !t.flags.JSON {
			fmt.Fprintln(t.Stdout, o.Dir)
		}
		if o.Err != nil {
			errs = append(errs, fmt.Errorf("run %s: %w", o.Run.ID, o.Err))
		}
		if c := o.Code(); c != fault.CodeOK && c != fault.CodeThreshold {
			break
		}
		s.dirs = append(s.dirs, o.Dir)
	}
	return errors.Join(errs...)
}

// conclude says what the complete runs come to, and keeps that beside their folders.
func (a command) conclude(f *runflags.Flags, r *repeat, all []*side) (string, error) {
	var sets []compare.Set
	for _, s := range all {
		if len(s.dirs) == 0 {
			if len(all) > 1 {
				return "", nil // what went wrong has been told
			}
			continue
		}
		set, err := compare.ReadRuns(s.name, s.dirs)
		if err != nil {
			return "", err
		}
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return "", nil
	}
	var files []rundir.File
	for i, set := range sets {
		data, err := compare.Baseline(set.Runs)
		if err != nil {
			return "", err
		}
		files = append(files, rundir.File{Name: string(rune('a'+i)) + ".json", Data: data})
	}
	if len(sets) == 1 {
		files[0].Name = "baseline.json"
		return a.printResult(f, all, report.Repeats(sets[0]), files)
	}
	c := compare.Sets(sets[0], sets[1], compare.Options{Tolerance: r.share, Unsure: r.unsure, Earlier: compare.Earlier(cmp.Or(all[0].request.Out, session.DefaultOut), sets[0], sets[1])})
	for _, id := range report.ComparisonFormats() {
		file, err := report.Comparison(c, id)
		if err != nil {
			return "", err
		}
		files = append(files, file)
	}
	text, err := report.Comparison(c, "text")
	dir, told := a.printResult(f, all, string(text.Data), files)
	err = errors.Join(err, told)
	for _, w := range c.Warnings() {
		fmt.Fprintln(a.Stderr, "warning: "+cli.Printable(w))
	}
	if r.Tolerance != "" || r.unsure == compare.Fail {
		err = errors.Join(err, c.Err())
	}
	return dir, err
}

// printResult prints what the runs came to and keeps it in a folder beside theirs, which has the
// name of the first of them and what it is.
func (a command) printResult(f *runflags.Flags, all []*side, text string, files []rundir.File) (string, error) {
	first := all[0].dirs[0]
	dir := filepath.Join(cmp.Or(all[0].request.Out, session.DefaultOut), filepath.Base(first)+"-repeats")
	if len(all) > 1 {
		dir = strings.TrimSuffix(dir, "-repeats") + "-compared"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keep the comparison: %w", err)
	}
	if err := rundir.WriteFiles(dir, files); err != nil {
		return "", err
	}
	if f.JSON {
		return dir, nil // of the runs there is a line each
	}
	if !f.Quiet {
		fmt.Fprint(a.Stdout, "\n"+cli.Plain(text, f.Plain || f.ASCII)+"\nkept in ")
	}
	fmt.Fprintln(a.Stdout, dir)
	return dir, nil
}
