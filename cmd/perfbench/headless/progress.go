package headless

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
)

// show prints what is new since it was last called: live changes, first errors of
// a kind, and the line of each finished second.
func (s *status) show(l *session.Driven) {
	snap, p := l.Snapshot(), l.Opened.Prepared
	for ; s.marks < len(snap.Marks); s.marks++ {
		m := snap.Marks[s.marks]
		s.say("%s  %s", Clock(m.At), m.Note)
	}
	for ; s.changes < len(snap.Changes); s.changes++ {
		c := snap.Changes[s.changes]
		if end, ok := session.RampEnd(p.Timetable, c.Ramp); ok {
			if s.ramp != c.Ramp {
				s.ramp = c.Ramp
				s.say("%s  %s %s → %s, on a ramp to %s at %s (%s)", Clock(c.At), c.Name, p.FormatSetting(c.Name, c.From), p.FormatSetting(c.Name, c.To),
					p.FormatSetting(c.Name, end.Value), Clock(end.After), c.By)
			}
			continue
		}
		s.say("%s  %s %s → %s (%s)", Clock(c.At), c.Name, p.FormatSetting(c.Name, c.From), p.FormatSetting(c.Name, c.To), c.By)
	}
	for ; s.errors < len(snap.Messages); s.errors++ {
		m := snap.Messages[s.errors]
		s.say("%s  first of its kind: %s.%s %s: %s", Clock(m.At), m.Track, m.Op, m.Class, p.Mask(m.Text))
	}
	for _, t := range l.Verdict().Thresholds {
		if t.OK == s.missed[t.Expr] { // the other way than before, or missed for the first time
			if s.missed == nil {
				s.missed = map[string]bool{}
			}
			s.missed[t.Expr] = !t.OK
			s.say("%s  %s %s", Clock(snap.At), t.Sign(), t.SoFar())
		}
	}
	waiting, ok := l.Waiting()
	if ok && !s.waiting {
		s.waiting = true
		s.say("the time is up: %s", waiting)
	}
	for _, sec := range l.Seconds() {
		if !s.begun || sec.Length >= measure.ShortestRate {
			s.begun = true
			s.say("%s", second(&sec, snap, l, s.open))
		}
	}
}

// second is the line of one second. Of a run that ends when something beside it does, open, nobody knows
// which share is done.
func second(sec *session.Second, snap *measure.Snapshot, l *session.Driven, open bool) string {
	at := time.Duration((float64(sec.T) + sec.Length) * float64(time.Second))
	parts, plan := []string{Clock(at)}, l.Opened.Prepared.Plan
	if sec.Warmup {
		parts[0] = "warm-up " + Clock(sec.Since)
	}
	if w, ok := l.Waiting(); ok {
		part := "waiting"
		if still := w.Still.Round(100 * time.Millisecond); still > 0 {
			part += " " + units.Duration(still)
		}
		parts = append(parts, part)
	} else if share, ok := Share(at, plan.Length(), snap); ok && !open && !sec.Warmup && !Beyond(at, plan.Length()) {
		parts = append(parts, fmt.Sprintf("%3.0f %%", 100*share))
	}
	parts = append(parts, fmt.Sprintf("%6s %s/s", units.Number(measure.Rate(sec.Count, sec.Active)), plan.Unit))
	p50, p99 := "–", "–"
	if sec.P99 > 0 {
		p50, p99 = units.Duration(sec.P50), units.Duration(sec.P99)
	}
	parts = append(parts, fmt.Sprintf("p50 %7s", p50), fmt.Sprintf("p99 %7s", p99))
	parts = append(parts, "errors "+units.Whole(snap.Failures()))
	for _, f := range plan.InForce(snap.Changes, l.Planned(), snap.At) {
		parts = append(parts, f.String())
	}
	return strings.Join(append(parts, State(snap)...), " · ")
}
