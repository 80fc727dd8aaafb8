package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// PrepareSearch parses a search request, given the run's plan; elapsed is how much of the
// run's duration has passed. Errors have the code of bad input, all of them joined.
func PrepareSearch(a find.Asked, p *session.Prepared, elapsed time.Duration) (find.Options, error) {
	var problems workload.Problems
	o, err := find.Read(a, p.Plan)
	problems.Add(err)
	if len(p.Timetable) > 0 {
		problems.Add(fault.Input(errors.New("at: a search turns the knobs itself and has no timetable"), "leave --at out"))
	}
	if p.Plan.Replays {
		problems.Add(fault.Input(errors.New("file: a search needs calls that do not end, and a recording has an end"), "replay it at several speeds: perfbench sweep --over speed=1,2,4; or make a workload of it"))
	}
	if p.Inputs.Arrivals.Factor > 0 {
		problems.Add(fault.Field("arrivals", fault.Input(fmt.Errorf("arrivals: a search needs a steady rate, and %s is none", p.Inputs.Arrivals), "use even or poisson")))
	}
	if o.Recovery != nil {
		problems.Add(o.Recovery.Until(p.Inputs.Client.Deadline))
	}
	left, err := a.TimeLimit()
	problems.Add(err)
	if rest := p.Inputs.Duration - max(elapsed, 0); p.Inputs.Duration > 0 && (a.Within == "" || rest < left) {
		o.Duration, left = p.Inputs.Duration, rest
	} else if a.Within != "" {
		o.Duration = left
	}
	o.Time = o.Budget(left)
	if v := p.Inputs.Values["threads"]; v.Origin < workload.OriginPlan {
		o.Threads = find.RoomThreads
	}
	return o, problems.Err()
}

// Searching returns the request for the run of a search: of the usual length if none was given, and
// with room for the threads that the search may add.
func (d *Driver) Searching(r session.Request, a find.Asked) session.Request {
	r.Values = maps.Clone(r.Values)
	_, given := r.Values["duration"]
	if _, set := request.Environment(d.env().Environ, []string{"duration"})["duration"]; !given && !set {
		if r.Values == nil {
			r.Values = workload.Values{}
		}
		r.Values.Set(workload.Value{Name: "duration", Text: find.Within, Origin: workload.OriginFlag, Where: "--duration, its default"})
	}
	r.MaxThreads, r.Of = find.Room(a), rundir.OfSearch
	return r
}

// Ignored refuses what a search would have to ignore: it chooses the rate and the end itself.
// Errors have the code of bad input.
func Ignored(vs workload.Values, over string) error {
	var problems workload.Problems
	for _, name := range slices.Sorted(maps.Keys(vs)) {
		v := vs[name]
		if _, base := rundir.TrackOf(name); v.Origin < workload.OriginPlan || strings.TrimSpace(v.Text) == "" || v.Text == "0" || base != find.OverRate && name != "count" && name != "until" {
			continue
		}
		if name == find.OverRate && over == find.OverThreads {
			continue // refused with the search itself
		}
		what, hint := "a search ends when it knows the answer", "leave "+name+" out; --duration limits how long it takes"
		if name != "count" && name != "until" {
			what, hint = "a search sets the rate itself", "leave "+name+" out; --from and --to say where it begins and ends"
		}
		problems.Add(fault.Input(fmt.Errorf("%s: %s (%s)", name, what, v.From()), hint))
	}
	return problems.Err()
}

// Search searches on a run until the answer is known, its time is up, or the run or ctx
// ends. It marks each step on the run's time line and passes it to told, with a few
// words on how its level has come out so far, as tables have them. The run goes on; the result says why the search ended.
func Search(ctx context.Context, l *session.Driven, o find.Options, told func(s find.Step, words string)) *find.Result {
	defer l.Hold("a search turns the knobs of this run: wait until it has its answer")()
	f := find.New(l, l.Opened.Bound(), o, l.Observed, l.Opened.Info.NoFigure != "")
	l.OnSecond(f.Second)
	sought := &find.Result{Over: o.Over.Name}
	for _, e := range o.Under {
		sought.Under = append(sought.Under, e.Text)
	}
	r, _ := f.Find(ctx, func(s find.Step) { // the result has the error
		words := tried(sought, s)
		l.Mark(words)
		told(s, words)
	})
	r.Run = l.Opened.ID()
	return &r
}

// tried adds a try, and says how its level has come out so far.
func tried(sought *find.Result, s find.Step) string {
	sought.Steps = append(sought.Steps, s)
	words, _, _ := sought.Told(s.Level)
	return fmt.Sprintf("%s %s: %s", sought.Over, units.Number(s.Level), words)
}

// quiet says what measures the store where perfbench was the limit.
func quiet(r *find.Result) string {
	hint := "use a machine that is not busy otherwise"
	if next := r.Advised(); next != nil {
		hint += ", or search under " + strings.Join(next.Under, " and ")
	}
	return hint
}

// alone says what holds in the store alone, as far as that is known.
func alone(r *find.Result) string {
	if text := report.StoreAlone(r); text != "" {
		return "; " + text
	}
	return ""
}

// KeepFound writes what was found into the folder of its run, next to the run's documents.
// An error with the code of a missed threshold means that not even the lowest level
// held, or that none was tried to its end.
func KeepFound(dir string, r *find.Result) error {
	files, err := report.Found(r)
	if err == nil {
		err = rundir.WriteFiles(dir, files)
	}
	switch {
	case !r.Tried():
		err = errors.Join(err, fault.Hint(fault.Code(fmt.Errorf("the search tried no %s to its end, because %s", r.Over, r.Why), fault.CodeThreshold),
			"give the run more time with --duration"))
	case r.Found == 0 && r.Limit.By == find.ByPerfbench:
		err = errors.Join(err, fault.Hint(fault.Code(fmt.Errorf("what holds under %s is not known: %s was the limit even at a %s of %s%s", strings.Join(r.Under, " and "), r.Limit.Measured(), r.Over, units.Number(r.TooMuch), alone(r)), fault.CodeThreshold),
			quiet(r)))
	case r.Found == 0:
		err = errors.Join(err, fault.Code(fmt.Errorf("not even a %s of %s holds under %s", r.Over, units.Number(r.TooMuch), strings.Join(r.Under, " and ")), fault.CodeThreshold))
	}
	return err
}
