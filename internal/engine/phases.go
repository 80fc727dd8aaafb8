package engine

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// startReady starts every phase whose predecessors have ended. The caller holds
// r.mu.
func (r *Run) startReady() {
	if r.stopped {
		return
	}
	for p := range r.graph.ready(r.opts.Held) {
		now := r.opts.Late.begins(p.spec.Name, r.now())
		r.note(Note{At: time.Duration(now), Phase: p.spec.Name})
		if len(p.spec.After) > 0 {
			r.pool.send(workload.Word{Phase: p.spec.Name})
		}
		r.begin(p, now)
		if at, ok := p.ends(); ok {
			r.appointments.at(at, func() { r.endPhase(p) })
		}
	}
}

// begin starts the tracks of a phase. The caller holds r.mu.
func (r *Run) begin(p *phaseState, now int64) {
	p.state, p.began = running, now
	for _, t := range p.tracks {
		t.state, t.ends = running, math.MaxInt64
		if at, ok := p.ends(); ok {
			t.ends = at
		}
		t.span.From, t.span.Begun = max(now, 0), r.measuring
		t.publish(anew)
		fault.Go(func() { r.pool.carryOut(t) })
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
	r.appointments.at(r.now()+int64(r.opts.Grace), func() {
		if p.state == running { // an operation hangs: cancelling it ends the run
			r.giveUp()
		}
	})
}

// trackOver is called by a track when no worker is left.
func (r *Run) trackOver(t *track) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.state = over
	t.each.close()
	t.one.close()
	t.span.To = max(r.now(), 0)
	ended := r.pool.seen(t.index).Ended
	if int64(ended) > t.span.From { // else that clock is behind ours by more than the phase took
		t.span.To = min(t.span.To, int64(ended))
	}
	// The clock of the process that worked on it may be ahead of ours, and if the phase began
	// under another engine it is only nearly known how long it had to go.
	if due, timed := r.graph.of(t).ends(); timed {
		r.byTime = r.byTime || int64(ended) >= due || r.past != nil && t.span.To >= due-int64(Together)
	}
	if r.opts.Ended != nil {
		r.opts.Ended(t.index, time.Duration(t.span.To))
	}
	r.graph.settle()
	r.startReady()
	if !r.graph.left(r.stopped) {
		r.stop(nil)
		fault.Go(r.finish)
	}
}

// finish closes the books once the last track is over.
func (r *Run) finish() {
	r.pool.wait(workload.AllTracks, r.hard.Done())
	result := r.col.Close()
	r.mu.Lock()
	r.result = result
	r.appointments.cancel()
	r.mu.Unlock()
	r.kill()
	close(r.done)
}

// beginMeasuring ends the warm-up, with fresh schedules and sequence numbers.
func (r *Run) beginMeasuring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measuring = true
	r.timeline.begin(r.settings.byName())
	for _, t := range r.tracks {
		if t.state == running && !r.stopped {
			t.span.From, t.span.Begun = max(r.now(), 0), true
			t.publish(anew)
			t.nudge()
		}
	}
}
