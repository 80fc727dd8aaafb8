package measure

import "time"

// Visits are how many sessions of users there have been.
type Visits struct {
	// Begun is how many were under way at any time since measurement began, Open how many are
	// now. Steps are the iterations of those that have ended.
	Begun, Open, Steps int64
}

// Plus returns the sum.
func (v Visits) Plus(w Visits) Visits {
	return Visits{v.Begun + w.Begun, v.Open + w.Open, v.Steps + w.Steps}
}

// Sessions are those of a track's users since measurement began.
type Sessions struct {
	Track string
	// Begun is how many were under way at any time, Ended how many came to their end.
	Begun, Ended int64
	// Steps is how many iterations those that ended had on average, Lasted how long they took on
	// average since their users came, and InProgress how many were in progress at a time.
	Steps, InProgress float64
	Lasted            time.Duration
}

// Seen is what the other processes that do the work of a run know of a track.
type Seen struct {
	// Backlog is how many units are due but not begun.
	Backlog int64
	// Ended is when the last process ended it, in time since measurement began; 0 if not known.
	Ended time.Duration
	// Sessions are those of its users.
	Sessions Visits
}

// sessions returns those of the tracks that have any.
func (a *whole) sessions(gauges []Gauge, ops []Totals) (out []Sessions) {
	for track, op := range a.cfg.Sessions {
		if op < 0 || gauges[track].Sessions.Begun == 0 {
			continue
		}
		g, seen := &gauges[track].Sessions, &a.tally.tracks[track]
		s := Sessions{Track: a.cfg.Tracks[track], Begun: g.Begun, Ended: ops[op].Count, Lasted: time.Duration(ops[op].Response.Mean)}
		if s.Ended > 0 {
			s.Steps = float64(g.Steps) / float64(s.Ended)
		}
		if seen.seconds > 0 {
			s.InProgress = float64(seen.open) / float64(seen.seconds)
		}
		out = append(out, s)
	}
	return out
}
