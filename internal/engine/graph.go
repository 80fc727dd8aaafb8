package engine

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// phaseState follows one phase of the plan.
type phaseState struct {
	spec   *workload.Phase
	tracks []*track
	state  int
	let    bool  // let in, if phases are held
	began  int64 // or was to begin, during warm-up
}

func (p *phaseState) over() bool {
	return !slices.ContainsFunc(p.tracks, func(t *track) bool { return t.state != over })
}

// ends returns when the phase is to end by its duration; false: it has none.
func (p *phaseState) ends() (int64, bool) {
	return max(p.began, 0) + int64(p.spec.Duration), p.spec.Duration > 0
}

// ran returns when the phase was measured; false: not yet. The caller holds the
// run's lock.
func (p *phaseState) ran(now int64) (measure.Phase, bool) {
	out := measure.Phase{Name: p.spec.Name, From: math.MaxInt64}
	for _, t := range p.tracks {
		out.Tracks = append(out.Tracks, t.name)
		if !t.span.Begun {
			continue
		}
		to := t.span.To
		if t.state == running {
			to = now
		}
		out.From, out.To = min(out.From, time.Duration(t.span.From)), max(out.To, time.Duration(to))
	}
	return out, out.From < out.To
}

// graph owns which phase waits for which, and how far each is; guarded by Run.mu.
type graph struct {
	phases []*phaseState // in the order of the plan
	named  map[string]*phaseState
}

// add adds the next phase of the plan.
func (g *graph) add(spec *workload.Phase) (*phaseState, error) {
	if _, ok := g.named[spec.Name]; ok {
		return nil, fmt.Errorf("phase %q is in the plan twice", spec.Name)
	}
	p := &phaseState{spec: spec}
	if g.named == nil {
		g.named = map[string]*phaseState{}
	}
	g.phases, g.named[spec.Name] = append(g.phases, p), p
	return p, nil
}

// check rejects phases that wait for unknown phases or for each other.
func (g *graph) check() error {
	const visiting, visited = 1, 2
	seen := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		p, ok := g.named[name]
		if !ok {
			return fmt.Errorf("a phase waits for %q, which is not in the plan", name)
		}
		switch seen[name] {
		case visiting:
			return fmt.Errorf("phase %q waits for itself", name)
		case visited:
			return nil
		}
		seen[name] = visiting
		for _, before := range p.spec.After {
			if err := visit(before); err != nil {
				return err
			}
		}
		seen[name] = visited
		return nil
	}
	for _, p := range g.phases {
		if err := visit(p.spec.Name); err != nil {
			return err
		}
	}
	return nil
}

// ready are the phases that may begin, each of whose predecessors has ended; what waits for
// others may be held, until it is let in. One that begins meanwhile counts.
func (g *graph) ready(held bool) iter.Seq[*phaseState] {
	return func(yield func(*phaseState) bool) {
		for _, p := range g.phases {
			ended := func(name string) bool { return g.named[name].state == over }
			waits := slices.ContainsFunc(p.spec.After, func(name string) bool { return !ended(name) })
			if p.state != waiting || waits || held && len(p.spec.After) > 0 && !p.let {
				continue
			}
			if !yield(p) {
				return
			}
		}
	}
}

// let lets in a phase that is held.
func (g *graph) let(name string) {
	if p := g.named[name]; p != nil {
		p.let = true
	}
}

// leads says whether others wait for a phase.
func (g *graph) leads(name string) bool {
	return slices.ContainsFunc(g.phases, func(p *phaseState) bool { return slices.Contains(p.spec.After, name) })
}

// settle ends the phases all of whose tracks are over.
func (g *graph) settle() {
	for _, p := range g.phases {
		if p.state == running && p.over() {
			p.state = over
		}
	}
}

// left says whether a phase is running, or, unless the run was stopped, waiting.
func (g *graph) left(stopped bool) bool {
	return slices.ContainsFunc(g.phases, func(p *phaseState) bool { return p.state == running || p.state == waiting && !stopped })
}

// of is the phase that a track belongs to.
func (g *graph) of(t *track) *phaseState {
	i := slices.IndexFunc(g.phases, func(p *phaseState) bool { return slices.Contains(p.tracks, t) })
	return g.phases[i]
}
