package tuitest

import (
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// NewSuite returns a plan of four runs: two plain ones, a search and a sweep.
func NewSuite() *request.File {
	run := func(name string, values ...string) request.Run {
		r := request.Run{Name: name, Request: request.Request{Profile: "ingestion", Target: "redis://me:secret@127.0.0.1:6379", Values: workload.Values{}, From: map[string]string{"target": "plan night.yaml:2"}}}
		for i := 0; i < len(values); i += 2 {
			r.Request.Values.Set(workload.Value{Name: values[i], Text: values[i+1], Origin: workload.OriginPlan, Where: "night.yaml:5"})
		}
		return r
	}
	out := &request.File{Suite: true, Runs: []request.Run{
		run("few threads", "threads", "4", "duration", "30s"), run("many threads", "threads", "64", "duration", "30s", "seed", "7"),
		run("limit"), run("knee", "duration", "5s"),
	}}
	out.Runs[2].Find = &find.Asked{Under: []string{"p99<10ms"}}
	out.Runs[3].Sweep = &request.Sweep{Over: []string{"threads=1,2,4"}}
	return out
}

// SuiteRun are runs of a plan in progress that advance with Set.
type SuiteRun struct {
	now     screen.SuiteNow
	Stopped bool
	done    chan struct{}
}

// NewSuiteRun returns runs in the given state.
func NewSuiteRun(now screen.SuiteNow) *SuiteRun {
	return &SuiteRun{now: now, done: make(chan struct{})}
}

// Set sets their state.
func (s *SuiteRun) Set(now screen.SuiteNow) { s.now = now }

// Now returns their state.
func (s *SuiteRun) Now() screen.SuiteNow { return s.now }

// Stop ends them at once.
func (s *SuiteRun) Stop() {
	if !s.Stopped {
		s.Stopped = true
		close(s.done)
	}
}

// Kill ends them too.
func (s *SuiteRun) Kill() { s.Stop() }

// Done is closed by Stop.
func (s *SuiteRun) Done() <-chan struct{} { return s.done }

// Outcome returns an outcome with a summary.
func (s *SuiteRun) Outcome() screen.Outcome { return screen.Outcome{Summary: "the plan\n"} }

// PlanFiles returns FoundPlans.
func (b *Bench) PlanFiles() []screen.PlanFile { return b.FoundPlans }

// Suite returns the next runs, or SuiteErr.
func (b *Bench) Suite(of screen.Suite) (screen.SuiteRun, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.SuiteErr != nil {
		return nil, b.SuiteErr
	}
	for _, r := range of.File.Runs {
		b.Started = append(b.Started, r.Request)
	}
	return b.NextSuite, nil
}
