package tuitest

import (
	"context"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// CanFind returns FindErr.
func (b *Bench) CanFind(context.Context, request.Request, find.Asked) error { return b.FindErr }

// CanSearch returns Refused.
func (r *Run) CanSearch(find.Asked) error { return r.Refused }

// Search begins a search that advances with Tried.
func (r *Run) Search(a find.Asked) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Sought = append(r.Sought, a)
	r.seek = &screen.Search{Going: true, Result: find.Result{Schema: find.Schema, Over: a.Over, Unit: r.Known.Unit, Under: a.Under}}
	return r.Refused
}

// EndSearch ends it.
func (r *Run) EndSearch() { r.SearchOver(find.Interrupted) }

// SearchOver ends the search; why is empty if it has come to its end.
func (r *Run) SearchOver(why string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	ended := *r.seek
	ended.Going, ended.Why = false, why
	r.seek = &ended
}

// Found returns the state of the search.
func (r *Run) Found() *screen.Search {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.seek
}

// Tried finishes a step of the search for each level, and begins another of the last one: up to 12 000 a second holds,
// and beyond that calls wait.
func (r *Run) Tried(levels ...float64) {
	for _, level := range levels {
		r.Mu.Lock()
		next := *r.seek
		next.Steps = append(append([]find.Step{}, next.Steps...), TriedStep(level))
		next.Trying = &find.Trying{Level: level, Again: true, Seconds: 3, Most: 12, Open: "2.11 % took longer, seconds vary", IfHolds: 1.1 * level, IfNot: 0.9 * level}
		r.seek = &next
		r.Mu.Unlock()
		r.Change("search", screen.All, func(s workload.Settings) workload.Settings {
			s.Rate = level
			return s
		})
	}
}

// TriedStep returns the result of a step at a level on a store that does 12 000 a
// second.
func TriedStep(level float64) find.Step {
	p50, p99 := int64(400e3+level*20), int64(1.2e6+level*90)
	s := find.Step{Level: level, Held: level <= 12e3, Why: "every condition held", Done: min(level, 12.2e3), Calls: int64(level) * 4, Threads: 16}
	if !s.Held {
		s.Why, p50, p99 = "p99<10ms did not hold", 9e6, 48e6
	}
	s.Response, s.Service = find.Times{P50: p50, P99: p99}, find.Times{P50: p50}
	return s
}
