package workbench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// memory is what was chosen before, in the files of the user.
type memory struct{ *surroundings }

// lastFile has what was set last for each profile in each folder of runs, in the folder of
// perfbench's state.
const lastFile = "last.json"

func (m memory) Last() (map[string]request.Request, error) {
	out, err := filepath.Abs(m.path(m.out))
	if m.state == "" || err != nil {
		return nil, nil //nolint:nilerr // a folder that is nowhere is a new one
	}
	return request.Last(filepath.Join(m.state, lastFile), out)
}

func (m memory) Newest() string {
	out, err := filepath.Abs(m.path(m.out))
	if m.state == "" || err != nil {
		return ""
	}
	return request.Newest(filepath.Join(m.state, lastFile), out)
}

// remember keeps the target of a run that has begun, and what the form was set to that it came from.
func (s *surroundings) remember(t store.Target, form *request.Request) {
	if s.state == "" {
		return
	}
	if err := request.Remember(s.state, t); err != nil {
		s.env.Log.Debug("The target was not remembered", "error", err)
	}
	if form == nil {
		return
	}
	out, err := filepath.Abs(s.path(cmp.Or(form.Out, s.out)))
	if err == nil {
		err = request.Keep(filepath.Join(s.state, lastFile), out, *form)
	}
	if err != nil {
		s.env.Log.Warn("What was set could not be kept for the next time", "error", err)
	}
}

func (m memory) Recent() []string {
	out := request.Recent(m.state)
	running, _ := m.labs()
	for _, t := range running {
		url, err := m.env.Resolve(t)
		if err != nil || slices.Contains(out, t) {
			continue
		}
		if _, _, err := m.env.Drivers.Parse(url); err == nil { // a broker is no store
			out = append(out, t)
		}
	}
	return out
}

func (m memory) Labs() []string {
	_, all := m.labs()
	return all
}

// requests complete what the screens ask for.
type requests struct {
	*surroundings
	// secrets are the passwords of the targets that were used, by target: what is run again
	// from a screen has none.
	secrets sync.Map
}

// Settle keeps the password that the form has for a target, for what other screens run on it. An empty
// one is that it has none.
func (q *requests) Settle(target, password string) {
	if password == "" {
		q.secrets.Delete(target)
		return
	}
	q.secrets.Store(target, password)
}

// request fills in what the screens leave to the flags, and the password of a target that had one.
func (q *requests) request(r request.Request) request.Request {
	r = q.filled(r)
	if clean, password := widget.SplitSecret(r.Target); password == "" {
		r.Target = clean // as it is in the record of a run, with its password masked
	}
	if r.Password != "" {
		q.secrets.Store(r.Target, r.Password)
	} else if known, ok := q.secrets.Load(r.Target); ok {
		r.Password, _ = known.(string)
	}
	return r
}

// filled fills in what the screens leave to the flags.
func (q *requests) filled(r request.Request) request.Request {
	if r.Out == "" {
		r.Out = q.out
	}
	r.Out = q.path(r.Out)
	r.Files = slices.Clone(r.Files)
	for i, path := range r.Files {
		r.Files[i] = q.path(path)
	}
	return r
}

// keepSecret keeps the password that was typed into a target, for the runs on it, and
// returns the target without.
func (q *requests) keepSecret(target string) string {
	clean, password := widget.SplitSecret(target)
	if password != "" {
		q.secrets.Store(clean, password)
	}
	return clean
}

// endless is a request for a run that somebody watches: unless it says how long it is, it
// goes on until it is stopped.
func (q *requests) endless(r request.Request) request.Request {
	r = q.request(r)
	r.Endless = true
	return r
}

// Plan returns the plan file of a path.
func (q *requests) Plan(path string) (plan *request.File, is bool, err error) {
	path = q.path(path)
	if !request.IsName(path) {
		return nil, false, nil
	}
	data, err := infile.Read(infile.Plan, path)
	if err != nil || !request.Is(data) {
		return nil, false, nil //nolint:nilerr // whoever reads it as another file says why not
	}
	var problems workload.Problems
	plan, err = request.Read(path, data, q.env.Environ)
	if problems.Add(err); plan != nil {
		problems.Add(wrong(experiment.NewDriver(func() session.Env { return q.env }, q.crew.Series()), plan, q.request))
		for i := range plan.Runs {
			if r := &plan.Runs[i].Request; q.out != session.DefaultOut && r.Out == "" {
				r.Out = q.out
			}
		}
	}
	return plan, true, request.ByLine(problems.Err())
}

// mostPlans is how many files of a folder are looked at for plans, and mostExported how many plans are listed
// that were written into the folders of runs.
const (
	mostPlans    = 200
	mostExported = 10
)

// PlanFiles lists the plan files whose runs were done lately or that were exported to a folder of the user's,
// then those of the working directory, and then those in the folders of runs, the newest first.
func (q *requests) PlanFiles() (out []screen.PlanFile) {
	here, err := os.Getwd()
	if err != nil {
		q.env.Log.Debug("The working directory is not known", "error", err)
	}
	paths := request.RecentPlans(q.state)
	for i, path := range paths {
		if filepath.Dir(path) == here {
			paths[i] = filepath.Base(path)
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		q.env.Log.Debug("The working directory could not be read", "error", err)
	}
	for _, f := range files[:min(len(files), mostPlans)] {
		if !slices.Contains(paths, f.Name()) {
			paths = append(paths, f.Name())
		}
	}
	for _, path := range q.exported() {
		if abs, err := filepath.Abs(path); err == nil && !slices.Contains(paths, abs) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if file, is, err := q.Plan(path); is {
			out = append(out, screen.PlanFile{Path: path, Changed: info.ModTime(), File: file, Err: err})
		}
	}
	return out
}

// exported returns the plan files in the folders of runs, those that were written last, the newest first.
func (q *requests) exported() []string {
	paths, err := filepath.Glob(filepath.Join(q.path(q.out), "*", report.PlanName))
	if err != nil {
		q.env.Log.Debug("The folders of runs could not be searched for plans", "error", err)
	}
	written := map[string]time.Time{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			written[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(written[b].Compare(written[a]), strings.Compare(b, a)) })
	return paths[:min(len(paths), mostExported)]
}

func (q *requests) Preview(r request.Request) (*request.Preview, error) {
	if len(r.Files) == 1 {
		switch _, is, err := q.Plan(r.Files[0]); {
		case err != nil:
			return nil, fault.Within("file", err)
		case is:
			return nil, fault.Field("file", fault.Input(fmt.Errorf("%s is a plan", r.Files[0]), "enter opens it: it says itself what to run"))
		}
	}
	r.Endless = true
	return q.Foresee(r)
}

// Foresee computes what a request of a plan would do, without what the form adds.
func (q *requests) Foresee(r request.Request) (*request.Preview, error) {
	r = q.filled(r)
	p, err := q.prepare(context.Background(), r)
	if err != nil {
		return nil, err
	}
	v := p.Preview()
	return &v, nil
}

// prepare gets a single run ready, with the workers that were asked for.
func (q *requests) prepare(ctx context.Context, r session.Request) (*session.Prepared, error) {
	p, err := session.Prepare(ctx, q.env, r)
	if err != nil {
		return nil, err
	}
	return q.crew.Of(p)
}
