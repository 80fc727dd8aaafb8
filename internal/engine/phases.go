package engine

import (
	"context"
	"fmt"
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

// checkGraph rejects phases that wait for unknown phases or for each other.
func (r *Run) checkGraph() error {
	const visiting, visited = 1, 2
	seen := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		p, ok := r.phases[name]
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
	for name := range r.phases {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// startReady starts every phase whose predecessors have ended. The caller holds
// r.mu.
func (r *Run) startReady() {
	for _, spec := range r.opts.Plan.Phases {
		p := r.phases[spec.Name]
		if p.state != waiting || r.stopped {
			continue
		}
		ready := !slices.ContainsFunc(spec.After, func(name string) bool { return r.phases[name].state != over })
		if !ready || r.opts.Held && len(spec.After) > 0 && !p.let {
			continue
		}
		now := r.begins(spec.Name)
		r.note(Note{At: time.Duration(now), Phase: spec.Name})
		if r.opts.Away != nil && len(spec.After) > 0 {
			r.opts.Away.Control(workload.Word{Phase: spec.Name})
		}
		r.begin(p, now)
		if spec.Duration > 0 {
			r.when(max(now, 0)+int64(spec.Duration), func() { r.endPhase(p) })
		}
	}
}

// begin starts the tracks of a phase. The caller holds r.mu.
func (r *Run) begin(p *phaseState, now int64) {
	p.state, p.began = running, now
	for _, t := range p.tracks {
		t.state, t.ends = running, math.MaxInt64
		if p.spec.Duration > 0 {
			t.ends = max(now, 0) + int64(p.spec.Duration)
		}
		t.span.From, t.span.Begun = max(now, 0), r.measuring
		t.publish(true)
		if r.opts.Away != nil {
			go t.await(p.spec.Name)
			continue
		}
		go t.supervise()
	}
	if len(p.tracks) == 0 {
		p.state = over
	}
}

// endPhase ends a phase that has reached its duration. The caller holds r.mu.
func (r *Run) endPhase(p *phaseState) {
	if p.state != running || r.stopped {
		return
	}
	r.byTime = true
	for _, t := range p.tracks {
		t.end()
	}
	r.when(r.now()+int64(r.opts.Grace), func() {
		if p.state == running { // an operation hangs: cancelling it ends the run
			r.giveUp()
		}
	})
}

// trackOver is called by a track's supervisor when no worker is left.
func (r *Run) trackOver(t *track) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.state = over
	t.each.close()
	t.one.close()
	t.span.To = max(r.now(), 0)
	if _, ended := t.seen(); ended > 0 {
		t.span.To = min(t.span.To, int64(ended))
	}
	r.byTime = r.byTime || r.timed(t)
	if r.opts.Ended != nil {
		r.opts.Ended(t.index, time.Duration(t.span.To))
	}
	for _, p := range r.phases {
		if p.state == running && p.over() {
			p.state = over
		}
	}
	r.startReady()
	for _, p := range r.phases {
		if p.state == running || (p.state == waiting && !r.stopped) {
			return
		}
	}
	if !r.stopped {
		r.stopped = true
		close(r.ending)
	}
	go r.finish()
}

// finish closes the books once the last track is over.
func (r *Run) finish() {
	if r.opts.Away != nil {
		r.awaitOthers(workload.AllTracks)
	}
	result := r.col.Close()
	r.mu.Lock()
	r.result, r.closed = result, true
	for _, timer := range r.timers {
		timer.Stop()
	}
	r.mu.Unlock()
	r.kill()
	close(r.done)
}

// conduct begins measurement when the warm-up is over, and follows the timetable
// and the context. It ends when the run admits no more iterations.
func (r *Run) conduct(ctx context.Context) {
	table := r.opts.Timetable // in the order of time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	wait := func(until time.Duration) bool {
		for {
			timer.Reset(until - r.Elapsed())
			select {
			case <-timer.C:
				if r.Elapsed() < until { // it was suspended
					continue
				}
				return true
			case <-r.skipped:
				continue
			case <-ctx.Done():
				r.Stop(context.Cause(ctx))
			case <-r.ending:
			}
			return false
		}
	}
	if r.opts.Past != nil && !r.catchUp(ctx) {
		return
	}
	r.mu.Lock()
	warm := !r.measuring
	table = table[min(r.taken, len(table)):]
	r.mu.Unlock()
	if warm {
		if !wait(0) {
			return
		}
		r.beginMeasuring()
	}
	for _, at := range table {
		if !wait(at.After) {
			return
		}
		r.apply(at)
	}
	select {
	case <-ctx.Done():
		r.Stop(context.Cause(ctx))
	case <-r.ending:
	}
}

// apply puts the next entry of the timetable into force. It does so even for
// tracks that the entry does not change, because they have waited for it.
func (r *Run) apply(at At) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken++
	r.onRamp, r.lastStep = at.Ramp > 0 && !at.First, at.Last
	r.change("timetable", at.Track, at.apply, int64(at.After), at.Ramp)
	r.onRamp, r.lastStep = false, false
	for _, t := range r.tracks {
		if a := t.active.Load(); t.state == running && !a.ended && a.until != r.horizon(t) {
			t.publish(false)
			t.nudge()
		}
	}
}

// slack is how much too early rounding may make a due time.
const slack = int64(time.Microsecond)

// horizon returns when the settings of a track will stop being valid, as far as
// that is known: at the next change of the timetable, or at the end of its phase.
// The caller holds r.mu.
func (r *Run) horizon(t *track) int64 {
	until := t.ends
	if r.taken < len(r.opts.Timetable) {
		until = min(until, int64(r.opts.Timetable[r.taken].After))
	}
	return until - slack
}

// beginMeasuring ends the warm-up, with fresh schedules and sequence numbers.
func (r *Run) beginMeasuring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measuring = true
	r.segments[0].settings = r.settingsByName()
	r.everMoved = false
	for _, t := range r.tracks {
		if t.state == running && !r.stopped {
			t.span.From, t.span.Begun = max(r.now(), 0), true
			t.publish(true)
			t.nudge()
		}
	}
}
