package headless

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/session/timetable"
	"github.com/perfbench/perfbench/internal/units"
)

// show prints what is new since it was last called: live changes, first errors of
// a kind, and the line of each finished second.
func (s *status) show(l *session.Live) {
	snap := l.Snapshot()
	for ; s.marks < len(snap.Marks); s.marks++ {
		m := snap.Marks[s.marks]
		s.say("%s  %s", clock(m.At), m.Note)
	}
	for ; s.changes < len(snap.Changes); s.changes++ {
		c := snap.Changes[s.changes]
		if end, ok := timetable.End(l.Timetable, c.Ramp); ok {
			if s.ramp != c.Ramp {
				s.ramp = c.Ramp
				s.say("%s  %s %s → %s, on a ramp to %s at %s (%s)", clock(c.At), c.Name, l.FormatSetting(c.Name, c.From), l.FormatSetting(c.Name, c.To),
					l.FormatSetting(c.Name, end.Value), clock(end.After), c.By)
			}
			continue
		}
		s.say("%s  %s %s → %s (%s)", clock(c.At), c.Name, l.FormatSetting(c.Name, c.From), l.FormatSetting(c.Name, c.To), c.By)
	}
	for ; s.errors < len(snap.Messages); s.errors++ {
		m := snap.Messages[s.errors]
		s.say("%s  first of its kind: %s.%s %s: %s", clock(m.At), m.Track, m.Op, m.Class, l.Mask(m.Text))
	}
	waiting, ok := l.Waiting()
	if ok && !s.waiting {
		s.waiting = true
		s.say("the time is up: %s", waiting)
	}
	for _, sec := range l.Seconds() {
		if !s.begun || sec.Length >= measure.ShortestRate {
			s.begun = true
			s.say("%s", line(&sec, snap, l))
		}
	}
}

// line is the line of one second.
func line(sec *session.Second, snap *measure.Snapshot, l *session.Live) string {
	at := time.Duration((float64(sec.T) + sec.Length) * float64(time.Second))
	parts := []string{clock(at)}
	if sec.Warmup {
		parts[0] = "warm-up " + clock(sec.Since)
	}
	if w, ok := l.Waiting(); ok {
		part := "waiting"
		if still := w.Still.Round(100 * time.Millisecond); still > 0 {
			part += " " + units.Duration(still)
		}
		parts = append(parts, part)
	} else if share, ok := progress(at, snap, l); ok && !sec.Warmup && !beyond(at, l) {
		parts = append(parts, fmt.Sprintf("%3.0f %%", 100*share))
	}
	parts = append(parts, fmt.Sprintf("%6s %s/s", units.Number(measure.Rate(sec.Count, sec.Active)), l.Plan.Unit))
	p50, p99 := "–", "–"
	if sec.P99 > 0 {
		p50, p99 = units.Duration(sec.P50), units.Duration(sec.P99)
	}
	parts = append(parts, fmt.Sprintf("p50 %7s", p50), fmt.Sprintf("p99 %7s", p99))
	var errs int64
	for _, o := range snap.Ops {
		errs += o.Errors
	}
	parts = append(parts, fmt.Sprintf("errors %d", errs))
	return strings.Join(append(parts, state(snap)...), " · ")
}

// lastRow is the last second of which a track has a row; -1 where it has none.
func lastRow(snap *measure.Snapshot, track int) int {
	last := -1
	for op, rows := range snap.Recent {
		if n := len(rows); n > 0 && snap.Ops[op].Track == snap.Tracks[track] {
			last = max(last, rows[n-1].T)
		}
	}
	return last
}

// threads are those of the tracks that run, or when none does of those that ran last.
func threads(snap *measure.Snapshot) int {
	running, ran, last := 0, 0, -1
	for i, g := range snap.Gauges {
		if g.Running {
			running += g.Threads
		}
		switch t := lastRow(snap, i); {
		case t > last:
			last, ran = t, g.Threads
		case t == last:
			ran += g.Threads
		}
	}
	return cmp.Or(running, ran)
}

// state tells of threads, backlog and pause.
func state(snap *measure.Snapshot) []string {
	backlog, open, paused := int64(0), false, false
	for _, g := range snap.Gauges {
		backlog += g.Backlog
		open = open || g.Rate > 0
		paused = paused || g.Paused
	}
	var parts []string
	if open || backlog > 0 {
		parts = append(parts, "backlog "+units.Number(float64(backlog)))
	}
	parts = append(parts, units.Plural(threads(snap), "thread"))
	if paused {
		parts = append(parts, "paused")
	}
	return parts
}

// progress is the share of the run that is done: by time or by work, whichever is
// further.
func progress(at time.Duration, snap *measure.Snapshot, l *session.Live) (float64, bool) {
	share, known := 0.0, false
	if d := l.Plan.Length(); d > 0 {
		share, known = at.Seconds()/d.Seconds(), true
	}
	if snap.Total > 0 {
		share, known = max(share, float64(snap.Done)/float64(snap.Total)), true
	}
	return min(share, 1), known
}

// beyond says that the time given is up by more than a line and the run goes on,
// with work that no time was set for: what share of it is done is not known.
func beyond(at time.Duration, l *session.Live) bool {
	d := l.Plan.Length()
	return d > 0 && at >= d+time.Second
}

// clock writes a time of a run: 0:07, 1:02:03, -0:02 in warm-up, 0:01.4 within a
// second.
func clock(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	tenths := int(d.Round(100*time.Millisecond) / (100 * time.Millisecond))
	s := tenths / 10
	text := fmt.Sprintf("%s%d:%02d", sign, s/60, s%60)
	if s >= 3600 {
		text = fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s/60%60, s%60)
	}
	if tenths%10 != 0 {
		text += fmt.Sprintf(".%d", tenths%10)
	}
	return text
}
