package engine

import "time"

// Late is how a run stood among others who carry out the same one, when this process joined
// in: it begins in the middle.
type Late struct {
	// Began is when measurement began, or is to.
	Began time.Time
	// Phases are those that have begun, and when, since measurement began. Here, too, they
	// come in their order.
	Phases map[string]time.Duration
	// Segment is the number of the segment in force.
	Segment int
}

// begins is when a phase that is ready now begins: by those who are ahead.
func (r *Run) begins(phase string) int64 {
	if r.opts.Late != nil {
		if at, ok := r.opts.Late.Phases[phase]; ok {
			return int64(at)
		}
	}
	return r.now()
}

// catchOn takes for known what has happened before this process joined in. The caller holds
// r.mu.
func (r *Run) catchOn() {
	if r.opts.Late == nil {
		return
	}
	for name := range r.opts.Late.Phases {
		if p := r.phases[name]; p != nil {
			p.let = true
		}
	}
	for len(r.segments) <= min(r.opts.Late.Segment, MaxSegments-1) {
		r.segments = append(r.segments, segmentInfo{from: r.now(), settings: r.segments[0].settings})
	}
}
