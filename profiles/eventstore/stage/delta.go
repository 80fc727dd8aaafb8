package stage

import (
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// Delta is what the meter of one process has counted, for another process: the steps
// that have changed since the last report, and all of the rest.
type Delta struct {
	Entered bool
	// Steps are by number; Drain, once it has begun, is separate.
	Steps  map[int]StepTold
	Drain  *StepTold
	Losses facts.Losses
	Errors map[string]int64
}

// StepTold is the complete state of one step.
type StepTold struct {
	Step         facts.Step
	Stages       map[string]*measure.Distribution
	Failed, Dead int64
}

// Tell tells what has been counted.
func (m *Meter) Tell() Delta {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := Delta{Entered: m.Entered.Load(), Steps: map[int]StepTold{}, Losses: m.losses, Errors: maps.Clone(m.errors)}
	for i, s := range m.steps {
		if s.news {
			t.Steps[i] = s.tell()
		}
	}
	if m.drain != nil {
		t.Drain = new(m.drain.tell())
	}
	return t
}

func (s *step) tell() StepTold {
	s.news = false
	stages := map[string]*measure.Distribution{}
	for name, d := range s.stages {
		stages[name] = d.Copy()
	}
	return StepTold{s.Step, stages, s.failed, s.deadBatches}
}

// theirs is what other processes have reported, by process number.
type theirs struct {
	told map[int]*Delta
	// sums holds the totals of their steps; stale ones are computed again.
	sums  []*step
	stale map[int]bool
}

// sound reports whether t can be what a meter has counted.
func (t *Delta) sound() bool {
	if len(t.Errors) > maxErrors+1 || len(t.Steps) > maxSteps || t.Drain != nil && !t.Drain.sound() {
		return false
	}
	for i, s := range t.Steps {
		if i >= maxSteps || !s.sound() {
			return false
		}
	}
	return true
}

func (s *StepTold) sound() bool {
	for name, d := range s.Stages {
		if d == nil || !slices.Contains(stages, name) {
			return false
		}
	}
	return len(s.Step.Latency) == 0
}

// Take takes in what the meter of another process told.
func (m *Meter) Take(from workload.Process, t Delta) bool {
	if !t.sound() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.others == nil {
		m.others = &theirs{told: map[int]*Delta{}, stale: map[int]bool{}}
	}
	o := m.others.told[from.Number]
	if o == nil {
		o = &Delta{Steps: map[int]StepTold{}}
		m.others.told[from.Number] = o
	}
	for i, s := range t.Steps {
		o.Steps[i], m.others.stale[i] = s, true
	}
	o.Drain, o.Losses, o.Errors = t.Drain, t.Losses, t.Errors
	if t.Entered {
		m.Entered.Store(true)
	}
	return true
}

// all returns the steps of all processes as if one had made them, the drain (nil before
// it has begun), the losses, and the errors. The caller holds m.mu.
func (m *Meter) all() (steps []*step, drain *step, losses facts.Losses, errors map[string]int64) {
	if m.others == nil {
		return m.steps, m.drain, m.losses, m.errors
	}
	t := m.others
	for i := range t.stale {
		for len(t.sums) <= i {
			t.sums = append(t.sums, newStep())
		}
		t.sums[i] = newStep()
		for _, o := range t.told {
			if s, ok := o.Steps[i]; ok {
				t.sums[i].add(&s)
			}
		}
		t.sums[i].rest()
	}
	clear(t.stale)
	losses, errors = m.losses, maps.Clone(m.errors)
	for _, o := range t.told {
		if o.Drain != nil {
			if drain == nil {
				drain = newStep()
			}
			drain.add(o.Drain)
		}
		losses.Join(&o.Losses)
		for text, n := range o.Errors {
			errors[text] += n
		}
	}
	return t.sums, drain, losses, errors
}

// add adds the same step of another process.
func (s *step) add(t *StepTold) {
	s.Join(&t.Step)
	s.failed, s.deadBatches = s.failed+t.Failed, s.deadBatches+t.Dead
	for name, d := range t.Stages {
		if s.stages[name] == nil {
			s.stages[name] = &measure.Distribution{}
		}
		s.stages[name].Merge(d)
	}
}
