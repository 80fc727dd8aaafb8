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

// begins is when a phase that is ready now begins: by those who are ahead. nil: nobody is.
func (l *Late) begins(phase string, now int64) int64 {
	if l != nil {
		if at, ok := l.Phases[phase]; ok {
			return int64(at)
		}
	}
	return now
}

// catchOn has a run take for known what has happened before this process joined in.
func (l *Late) catchOn(g *graph, t *timeline, now int64) {
	for name := range l.Phases {
		g.let(name)
	}
	t.reach(min(l.Segment, MaxSegments-1), now, t.segments[0].settings)
}
