package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// What the runs of a sweep get if no length was given.
const (
	UsualDuration = "10s"
	UsualWarmup   = "2s"
)

// Sweep is a sweep that has been checked and can be carried out: a run at each point, round
// by round. It belongs to one goroutine.
type Sweep struct {
	driver *Driver
	// common is what the runs have in common, axes is what they differ in, with all
	// secrets.
	common session.Request
	axes   []sweep.Axis
	points []point
	// knees are the searches to make first, where the rates are left to the sweep.
	knees  []search
	result sweep.Result
	// asked is what asks for the sweep again.
	asked request.Run
	// servers are those of the lab that some axes are settings of; nil: no axis is. anew means that
	// they have been started anew.
	servers session.Servers
	anew    bool
	// dir is empty until the first run is done.
	dir string
}

// point is a point at which runs are to be made.
type point struct {
	values   []string // of the axes
	request  session.Request
	prepared *session.Prepared
}

// search is a search for the knee, with one of the values of the other axis.
type search struct {
	point

	at    string
	asked find.Asked
	// widens means that the search may add threads.
	widens bool
}

// Result returns the results so far. It is modified while Do runs.
func (s *Sweep) Result() *sweep.Result { return &s.result }

// Dir returns the folder of the sweep; empty until one of its runs is done.
func (s *Sweep) Dir() string { return s.dir }

// Asked returns what a plan asks for to have the sweep again: the run of a point, without what the
// points differ in, and the axes. Like everything of [Sweep] it may have secrets; [request.Write] leaves
// them out.
func (s *Sweep) Asked() request.Run { return s.asked }

// First returns the run of the first point.
func (s *Sweep) First() *session.Prepared { return s.points[0].prepared }

// Sweep checks whether all runs of a sweep are possible; r is what they have in common.
// Errors have the code of bad input, all of them joined.
func (d *Driver) Sweep(ctx context.Context, r session.Request, asked sweep.Asked) (*Sweep, error) {
	rounds, err := sweep.Rounds(asked.Repeat)
	if err != nil {
		return nil, err
	}
	axes, err := sweep.Parse(asked.Over)
	if err != nil {
		return nil, err
	}
	if _, err := sweep.Points(axes, rounds); err != nil {
		return nil, err
	}
	for i, x := range axes {
		if err := once(r, x.Name); err != nil {
			return nil, err
		}
		axes[i].Server = lab.IsSetting(x.Name)
	}
	if err := together(axes); err != nil {
		return nil, err
	}
	if strings.TrimSpace(r.Values["duration"].Text) == workload.Forever {
		return nil, fault.Field("duration", fault.Input(errors.New("duration: a run that goes on forever leaves no time for the other points"), "say how long each run measures: --duration 10s"))
	}
	r = usual(d.env().Environ, r, axes)
	s := &Sweep{driver: d, common: r, axes: axes, result: sweep.Result{Schema: sweep.Schema, Axes: slices.Clone(axes), Rounds: rounds, Workers: d.N(), Runs: []sweep.Run{}}}
	tried := axes
	if auto := sweep.AutoAxis(axes); auto >= 0 { // any rate shows whether the runs are possible
		tried = slices.Clone(axes)
		tried[auto].Values = []string{anyRate}
	}
	all, err := sweep.Points(tried, rounds)
	if err != nil {
		return nil, err
	}
	var problems workload.Problems
	told := map[string]bool{}
	add := func(err error) {
		for _, e := range fault.Parts(err) {
			if !told[e.Error()] {
				problems.Add(e)
			}
			told[e.Error()] = true
		}
	}
	for _, values := range all {
		p := point{values: values, request: at(r, axes, values)}
		if sweep.AutoAxis(axes) >= 0 {
			p.request.Values.Set(workload.Value{Name: sweep.AutoKnob, Text: anyRate, Origin: workload.OriginFlag, Where: "--over, in place of " + sweep.Auto})
		}
		p.prepared, err = d.Prepare(ctx, p.request)
		if err == nil && s.asked.Sweep == nil {
			s.asked = asks(p.prepared, axes, asked)
		}
		if err == nil && asked.Fault != "" {
			err = d.breakAtMiddle(ctx, &p, asked.Fault)
		}
		add(err)
		s.points = append(s.points, p)
		if auto := sweep.AutoAxis(axes); auto >= 0 && err == nil {
			k, err := d.kneeSearch(ctx, &p, strings.Join(slices.Delete(slices.Clone(values), auto, auto+1), ""))
			add(err)
			s.knees = append(s.knees, k)
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.leaveOut()
	if err := s.changes(); err != nil {
		return nil, err
	}
	if err := s.findServers(); err != nil {
		return nil, err
	}
	s.describe()
	return s, nil
}

// leaveOut drops numbers of threads that another value has the same runs for: every track has one thread at least.
func (s *Sweep) leaveOut() {
	at := slices.IndexFunc(s.axes, func(x sweep.Axis) bool { return x.Name == find.OverThreads })
	if at < 0 {
		return
	}
	ran := map[string]map[float64]bool{} // by value
	for _, p := range s.points {
		v := p.values[at]
		if ran[v] == nil {
			ran[v] = map[float64]bool{}
		}
		ran[v][session.Settings(p.prepared.Plan)[find.OverThreads]] = true
	}
	axis, out := s.axes[at], map[string]bool{}
	for i, n := range axis.Numbers() {
		v := axis.Values[i]
		if len(ran[v]) != 1 || ran[v][n] || len(axis.Values)-len(out) <= 2 { // one value alone is no sweep
			continue
		}
		for _, w := range axis.Values {
			if w != v && !out[w] && maps.Equal(ran[v], ran[w]) {
				out[v] = true
				s.result.LeftOut = append(s.result.LeftOut, fmt.Sprintf("%s is left out: every track has one thread at least, so it would run as %s", axis.Side(v), axis.Side(w)))
				break
			}
		}
	}
	if len(out) == 0 {
		return
	}
	gone := func(v string) bool { return out[v] }
	s.axes[at].Values = slices.DeleteFunc(slices.Clone(axis.Values), gone)
	s.result.Axes[at].Values = s.axes[at].Values
	s.points = slices.DeleteFunc(s.points, func(p point) bool { return out[p.values[at]] })
	s.knees = slices.DeleteFunc(s.knees, func(k search) bool { return out[k.values[at]] })
}

// asks returns what asks for a sweep again, whose run is p at one of its points.
func asks(p *session.Prepared, axes []sweep.Axis, asked sweep.Asked) request.Run {
	r := request.Run{Request: p.Asked(), Sweep: &request.Sweep{Over: asked.Over, Repeat: asked.Repeat, Fault: asked.Fault}}
	for _, x := range axes {
		delete(r.Request.Values, x.Name)
		if x.Name == sweep.Target {
			r.Request.Target = ""
		}
	}
	return r
}

// usual gives runs a default length if they have none, not even by an axis.
func usual(environ []string, r session.Request, axes []sweep.Axis) session.Request {
	r.Values = maps.Clone(r.Values)
	if r.Values == nil {
		r.Values = workload.Values{}
	}
	has := func(name string) bool {
		_, flag := r.Values[name]
		_, set := request.Environment(environ, []string{name})[name]
		return flag || set || slices.ContainsFunc(axes, func(x sweep.Axis) bool { return x.Name == name })
	}
	set := func(name, text string) {
		r.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--" + name + ", its default"})
	}
	if !has("duration") && !has("count") {
		set("duration", UsualDuration)
	}
	if !has("warmup") {
		set("warmup", UsualWarmup)
	}
	return r
}

// once rejects a knob that is given a value and is also swept over.
func once(r session.Request, name string) error {
	_, twice := r.Values[name]
	if name == sweep.Target {
		twice = r.Target != ""
	}
	if !twice {
		return nil
	}
	return fault.Field("over", fault.Input(fmt.Errorf("over %s: is given a value of its own beside its list", name), "leave out one of the two"))
}

// changes notes what changes during each run, and refuses a change of a knob that is swept over: from
// then on all points would be the same.
func (s *Sweep) changes() error {
	first := s.First()
	for _, x := range s.axes {
		track, knob := rundir.TrackOf(x.Name)
		for _, at := range first.Timetable {
			of := ""
			if at.Track >= 0 {
				of = first.Plan.Tracks()[at.Track].Name
			}
			if at.Knob.Name != knob || track != "" && of != "" && track != of {
				continue
			}
			return fault.Field("at", fault.Input(fmt.Errorf("at: %s changes %s after the start of each run, and the sweep goes over it: leave that change out", x.Name, units.Typed(at.After)),
				"or sweep over something else"))
		}
	}
	s.result.Timetable = session.TimetableInWords(first.Timetable, first.Plan)
	return nil
}

// at returns the request for one point.
func at(r session.Request, axes []sweep.Axis, values []string) session.Request {
	r.Values = maps.Clone(r.Values)
	for i, x := range axes {
		if x.Name == sweep.Target {
			r.Target = values[i]
			continue
		}
		if x.Server {
			continue
		}
		r.Values[x.Name] = workload.Value{Name: x.Name, Text: values[i], Origin: workload.OriginFlag, Where: "--over"}
	}
	return r
}

// describe fills in what the sweep is about, without secrets.
func (s *Sweep) describe() {
	first, r := s.points[0].prepared, &s.result
	r.Profile, r.Unit, r.Crash = first.Profile.Name, first.Plan.Unit, crashOf(first)
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
	plans := &request.File{Suite: true}
	for _, p := range s.points {
		plans.Runs = append(plans.Runs, request.Run{Request: p.prepared.Asked()})
	}
	head := "rounds: " + strconv.Itoa(r.Rounds)
	if r.Workers > 0 {
		head += ", workers: " + strconv.Itoa(r.Workers)
	}
	if sweep.AutoAxis(s.axes) >= 0 { // the same words, whatever the rates turn out to be
		head += ", " + sweep.AutoKnob + ": " + sweep.Auto
	}
	for _, x := range s.axes {
		if x.Server {
			head += fmt.Sprintf(", server: %s=%q", x.Name, x.Values)
		}
	}
	sum := sha256.Sum256(request.Write(head, plans))
	r.Asked = hex.EncodeToString(sum[:])
}

// shownTargets returns the targets of n points, of which every consecutive ones share a
// target. Targets that differ only in what is not shown are numbered.
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
