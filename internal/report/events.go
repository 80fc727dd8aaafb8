package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// event is something that happened in a run, from at to until in seconds of
// measurement.
type event struct {
	at, until float64
	what      string
	// shade is the class of its shading in charts; "": none.
	shade string
}

const (
	// stallShare is the fraction of the usual rate of its segment below which a second
	// counts as a stall; usualSeconds is how many seconds are needed to determine the
	// usual rate.
	stallShare   = 0.1
	usualSeconds = 5
	// burstErrors is the least number of errors per second in a burst; burstTimes is
	// how many times as many as in the average second it must have.
	burstErrors = 10
	burstTimes  = 5
	// mostEvents is how many events are listed.
	mostEvents = 30
)

// eventsOf lists what happened, the earliest first: live changes, users' notes, faults
// of the plan, outages, stalls and bursts of errors.
func eventsOf(f *rundir.Folder, c rundir.Timeline, done []effect.Effect) []event {
	var out []event
	for i := range done {
		if e := &done[i]; !isFault(e.Name) {
			out = append(out, event{at: e.At.Seconds(), until: e.Until.Seconds(), what: change(e)})
		}
	}
	for _, m := range f.Run.Marks {
		out = append(out, event{at: m.At, until: m.At, what: Plain(m.Note)})
	}
	out = append(out, faultEvents(f)...)
	dead := outages(f)
	out = append(out, dead...)
	out = append(out, stalls(f, c, dead)...)
	out = append(out, bursts(f, c)...)
	slices.SortStableFunc(out, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return out
}

// change describes a live change.
func change(e *effect.Effect) string {
	segment := "segment "
	if e.Last > e.Segment {
		segment = "segments "
	}
	return e.Text() + ", by " + e.By + ": " + segment + e.Segments()
}

// outages are the times in which nothing was done.
func outages(f *rundir.Folder) (out []event) {
	for _, o := range f.Run.Outages {
		e := event{at: o.From, until: o.To, what: "outage: nothing was done", shade: plot.Outage}
		if f.Run.Silent(o) == 0 {
			e.what, e.shade = "nothing was done: perfbench itself did not run", plot.Stall
		}
		out = append(out, e)
	}
	for _, o := range f.Run.Emptied {
		out = append(out, event{at: o.From, until: o.To, what: "the store answered, but without records that it had acknowledged", shade: plot.Errors})
	}
	return out
}

// stalls finds seconds in which hardly anything was done compared with the rest of
// their segment, unless that is a ramp. Seconds in which nothing that counts was meant to be done do not count
// as stalls, nor do those of which dead has a part.
func stalls(f *rundir.Folder, c rundir.Timeline, dead []event) []event {
	segments := map[int]int{} // by second
	for _, r := range f.Series {
		segments[r.T] = max(segments[r.T], r.Segment)
	}
	of := map[int][]float64{}
	for i, v := range c.Rates {
		if t := c.First + i; t >= 0 && plot.Some(c.Rates[i:i+1]) {
			of[segments[t]] = append(of[segments[t]], v)
		}
	}
	usual := map[int]float64{}
	for s, rates := range of {
		if len(rates) >= usualSeconds && !f.Run.OnRamp(s) {
			slices.Sort(rates)
			usual[s] = rates[len(rates)/2]
		}
	}
	return runs(c, plot.Stall, func(i int) bool {
		t := c.First + i
		return float64(t+1) <= f.Run.MeasuredS && c.Rates[i] < stallShare*usual[segments[t]] &&
			!slices.ContainsFunc(dead, func(e event) bool { return e.at < float64(t+1) && e.until > float64(t) })
	}, func(i int) string {
		return fmt.Sprintf("stall: less than a tenth of the usual %s %s/s", units.Number(usual[segments[c.First+i]]), f.Run.Unit)
	})
}

// bursts finds seconds with far more errors than others, and those beside them that have more than the average.
func bursts(f *rundir.Folder, c rundir.Timeline) []event {
	failed := failuresBySecond(f, axis{first: c.First, n: len(c.Rates)})
	sum, n := 0.0, 0
	for i, v := range failed {
		if c.First+i >= 0 {
			sum, n = sum+v, n+1
		}
	}
	usual := sum / float64(max(n, 1))
	least := max(burstErrors, burstTimes*usual)
	out := runs(c, plot.Errors, func(i int) bool { return failed[i] >= max(burstErrors, usual) }, func(int) string { return "" })
	for i := range out {
		e := &out[i]
		most := slices.Max(failed[int(e.at)-c.First : int(e.until)-c.First])
		if most >= least {
			e.what = fmt.Sprintf("burst of errors: up to %s in a second", units.Number(most))
		}
	}
	return slices.DeleteFunc(out, func(e event) bool { return e.what == "" })
}

// runs finds the periods of measured seconds for which is holds; what describes a
// period, given its first second.
func runs(c rundir.Timeline, shade string, is func(i int) bool, what func(i int) string) (out []event) {
	for i := max(-c.First, 0); i < len(c.Rates); i++ {
		if !is(i) {
			continue
		}
		from := i
		for i+1 < len(c.Rates) && is(i+1) {
			i++
		}
		out = append(out, event{at: float64(c.First + from), until: float64(c.First + i + 1), what: what(from), shade: shade})
	}
	return out
}

// happened lists the events.
func happened(r *rundir.Run, events []event) Section {
	t := Table{Left: 3, Columns: []string{"at", "for", "what happened"}}
	s := Section{Heading: "Events"}
	for i, e := range events {
		if i == mostEvents {
			s.Text = append(s.Text, fmt.Sprintf("The first %d of %d are listed.", mostEvents, len(events)))
			break
		}
		long := ""
		if e.until > e.at {
			long = Length(e.until - e.at)
		}
		at := plot.Clock(e.at)
		if r.MeasuredS < measure.ShortestRate {
			at = Length(e.at)
		}
		t.Add(at, long, e.what)
	}
	s.Table = t
	return s
}
