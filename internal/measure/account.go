package measure

import "time"

// Account compares two accounts of the time of a track's workers in a segment: that of the
// engine, and that of the figures. By Little's law for a closed loop, as many workers are at work
// as there are calls per second, times how long a call takes and the pause before it. In open
// loop, what they wait for their next call is such a pause.
type Account struct {
	Track string
	// Worked is how long the workers were at work, up to the last call of each, added up.
	Worked time.Duration
	// Calls is how much of that the calls took that were timed, as the figures have it: their
	// number times their mean service time. Those at the same time, and those within others,
	// all count. Pauses is what was between them and is not timed, less what counts twice.
	Calls, Pauses time.Duration
}

// accounts add up, per segment, what a track's workers spent without being timed. They belong to
// the collector's goroutine.
type accounts struct{ pauses []int64 }

// add takes a call, and whether its times are in the histograms.
func (a *accounts) add(s *Call, timed bool) {
	for len(a.pauses) <= int(s.Segment) {
		a.pauses = append(a.pauses, 0)
	}
	rest := s.Spent
	if timed {
		rest -= s.End - s.Start
	}
	a.pauses[s.Segment] += rest
}

// account returns that of a track in a segment with these figures; false if there is none.
func (a *whole) account(track, segment int, ops []Totals) (Account, bool) {
	pauses, worked := a.accounts[track].pauses, a.control.Worked
	if track >= len(worked) || segment >= len(worked[track]) || segment >= len(pauses) || worked[track][segment] <= 0 {
		return Account{}, false
	}
	out := Account{Track: a.cfg.Tracks[track], Worked: time.Duration(worked[track][segment]), Pauses: time.Duration(pauses[segment])}
	for op, of := range a.cfg.OpTrack {
		if of == track {
			out.Calls += time.Duration(float64(ops[op].Calls) * ops[op].Service.Mean)
		}
	}
	return out, true
}
