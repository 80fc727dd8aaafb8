package dashboard

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// hung is how old the oldest operation must be before silence means that the store does
// not answer.
const hung = 2 * time.Second

// watch notices when the store stops answering, and when it answers again. It looks at
// finished seconds only; the zero value is ready for use.
type watch struct {
	begun bool
	// looked is the last second examined, silent how many consecutive ones had no
	// success although something was tried.
	looked, silent int
	unreachable    int64
	// gone means that the store does not answer; since is when it last did, and back when it
	// answered again, valid if returned is set: to some hundredths of a second, like all outages,
	// or, where only parts of operations were answered, the end of the second.
	gone, returned bool
	since, back    time.Duration
	// paused is for how much of that perfbench itself did not run, as far as is known.
	paused time.Duration
	// outages are when the store stopped answering, the last one included.
	outages []outage
	// answered is the end of the last second with a success; 0 before the first.
	answered time.Duration
	// lost is how many calls were answered without a record that had been acknowledged, and lostAt the
	// end of the last second in which there was one.
	lost   int64
	lostAt time.Duration
}

// outage is a time in which the store seemed not to answer; own means that it was perfbench that did not run.
type outage struct {
	from time.Duration
	own  bool
}

// next examines the seconds that have finished since.
func (w watch) next(s *measure.Snapshot) watch {
	last := math.MinInt
	for _, rows := range s.Recent {
		if n := len(rows); n > 0 {
			last = max(last, rows[n-1].T)
		}
	}
	if last == math.MinInt || w.begun && last <= w.looked {
		return w
	}
	unreachable := int64(0)
	w.lost = 0
	for _, e := range s.Errors {
		switch e.Class {
		case store.Unreachable.String():
			unreachable += e.Count
		case store.Lost.String():
			w.lost += e.Count
		}
	}
	lost := unreachable > w.unreachable
	from := w.looked + 1
	if !w.begun || from < last-120 {
		from = last
	}
	for t := from; t <= last; t++ {
		w.second(s, t, lost && t == last)
	}
	if q := s.Silence; (q.From - w.since).Abs() < time.Second { // parts of operations may be answered in one
		if w.gone || w.returned {
			w.since, w.paused = q.From, s.Paused
		}
		if d := q.To - w.back; w.returned && d > 0 && d < time.Second {
			w.back = q.To
		}
	}
	if n := len(w.outages); n > 0 && (w.since-w.outages[n-1].from).Abs() < time.Second {
		w.outages = append(slices.Clone(w.outages[:n-1]), outage{w.since, w.own(s.At)})
	}
	w.begun, w.looked, w.unreachable = true, last, unreachable
	return w
}

func (w *watch) second(s *measure.Snapshot, t int, lost bool) {
	answered, errs := int64(0), int64(0)
	stuck, running := false, false
	for op := range s.Recent {
		r, ok := rowAt(s, op, t)
		if !ok {
			continue
		}
		if r.Lost > 0 {
			w.lostAt = time.Duration(t+1) * time.Second
		}
		answered += r.Count + r.Lost // an empty store answers
		errs += r.Errors
		stuck = stuck || r.Oldest >= hung
		running = running || r.Running && !r.Paused
	}
	switch {
	case answered > 0:
		if w.gone {
			w.returned, w.back = true, time.Duration(t)*time.Second
		}
		w.gone, w.silent, w.answered = false, 0, time.Duration(t+1)*time.Second
	case errs > 0 || stuck && running:
		w.silent++
		if w.silent == 1 && !w.gone {
			if w.since, w.paused = time.Duration(t)*time.Second, 0; w.answered > 0 {
				w.since = min(w.since, w.answered)
			}
		}
		if !w.gone && (w.silent >= 2 || lost || stuck && running) {
			w.gone, w.outages = true, append(slices.Clip(w.outages), outage{from: w.since})
		}
	}
}

// own reports whether, at a moment of the run, it was rather perfbench that did not run than the store that did not
// answer.
func (w watch) own(at time.Duration) bool {
	if w.returned && !w.gone {
		at = w.back
	}
	return measure.Own(w.paused, at-w.since)
}

// text describes what has happened to the store in at most width cells; empty if
// nothing has.
func (w watch) text(s *measure.Snapshot, stage screen.Stage, width int) string {
	back := w.returned && s.At-w.back < 15*time.Second
	switch {
	case w.gone && w.own(s.At):
		return fmt.Sprintf("Nothing done since %s (%s): perfbench itself did not run for %s of that", plot.At(w.since.Seconds()), tenths(s.At-w.since), report.Length(w.paused.Seconds()))
	case w.gone:
		text := fmt.Sprintf("The store has not answered since %s (%s)", plot.At(w.since.Seconds()), tenths(s.At-w.since))
		next := "the run goes on"
		switch stage {
		case screen.Finishing, screen.Verifying:
			next = "the run has ended, and " + stage.String() + " waits for the store"
		case screen.Reporting, screen.Ended:
			next = "the run has ended"
		}
		for _, more := range []string{next, errorsInWords(s)} {
			if more != "" && ansi.StringWidth(text+more)+3 <= width {
				text += " · " + more
			}
		}
		return text
	case w.emptied(s):
		text := "The store answers"
		if w.returned {
			text += fmt.Sprintf(" again since %s, after %s", plot.At(w.back.Seconds()), report.Length((w.back - w.since).Seconds()))
		}
		text += ", but it has lost records"
		if more := fmt.Sprintf(": %s found none", widget.Plural(w.lost, "call")); ansi.StringWidth(text+more) <= width {
			text += more
		}
		return text
	case back && w.own(s.At):
		return fmt.Sprintf("Nothing was done for %s until %s: perfbench itself did not run", report.Length((w.back - w.since).Seconds()), plot.At(w.back.Seconds()))
	case back:
		text := fmt.Sprintf("The store answers again since %s, after %s", plot.At(w.back.Seconds()), report.Length((w.back - w.since).Seconds()))
		if more := fmt.Sprintf(" (perfbench itself did not run for %s)", report.Length(w.paused.Seconds())); w.paused > 0 && ansi.StringWidth(text+more) <= width {
			text += more
		}
		return text
	}
	return ""
}

// emptied reports whether the store answers, but not with what it had acknowledged.
func (w watch) emptied(s *measure.Snapshot) bool {
	return !w.gone && w.lostAt > 0 && s.At-w.lostAt < 15*time.Second
}

// whole formats a length in whole seconds, one at least.
func whole(d time.Duration) string { return report.Length(float64(max(widget.Seconds(d), 1))) }

// tenths formats the length of what goes on to a tenth of a second, as it is drawn more often.
func tenths(d time.Duration) string {
	if d >= time.Minute {
		return whole(d)
	}
	return fmt.Sprintf("%.1f s", max(d, 0).Seconds())
}

// onlyKnobs explains the same where the knobs of the run can be turned.
const onlyKnobs = "stopping, searching and faults are left to where the run was started"

// onlyWatched explains why a key does nothing to a run that is only watched.
func (r *reading) onlyWatched() string {
	if r.of != "" {
		return "the " + r.of + " decides the settings of its runs, so nothing changes them here: esc goes back to it, and there x stops it"
	}
	return "this workbench only watches: knobs turn on the coordinator's machine"
}

// savedElsewhere explains why a watched run is not saved as a preset.
const savedElsewhere = "a preset is saved where the run was started, which knows all that was asked for"

// ownOnly says of a watched run what undo takes back.
const ownOnly = "nothing to undo: from here u takes back only what was changed from here"
