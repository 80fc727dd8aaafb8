package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Finder searches on one run.
type Finder struct {
	bench     *bench
	options   Options
	plan      *workload.Plan
	inProcess bool
	// inVain means that more threads did not help.
	inVain bool
}

// New returns a Finder for a run of a plan. observed returns what has been observed of
// this process and machine, and may be nil. inProcess means that the store is part of
// the perfbench process.
func New(run Run, plan *workload.Plan, o Options, observed func() *verdict.Observed, inProcess bool) *Finder {
	return &Finder{bench: newBench(run, plan, o, observed), options: o, plan: plan, inProcess: inProcess}
}

// Second takes each finished second of the run, in order, on the measuring goroutine;
// see session.Driven.OnSecond.
func (f *Finder) Second(s *measure.Second) { f.bench.second(s) }

// Find searches until the answer is known, its time is up, or the run or ctx ends, and
// passes each step to told as it ends. It always returns what has been found so far;
// the error is that of a context that ended.
func (f *Finder) Find(ctx context.Context, told func(Step)) (Result, error) {
	r := Result{Schema: Schema, Over: f.options.Over.Name, Unit: f.plan.Unit, From: f.options.From, Steps: []Step{}}
	if f.options.Over.Name != OverThreads || f.options.To != MostThreads {
		r.To = f.options.To
	}
	for _, e := range f.options.Under {
		r.Under = append(r.Under, e.Text)
	}
	began := f.bench.run.Elapsed()
	var suspects []Limit // for each step that did not hold
	var alone []string   // for each step, what the store alone breaks
	seek := Seek{Conditions: f.options.conditions(), Choice: f.options.choice(), Time: f.options.Time, Trying: f.options.Trying}
	seek.Sounded = func(s Tried) float64 {
		b := &f.bench.step
		parts, most := f.bench.mix(s.Done)
		r.Unlimited = &Unlimited{Done: s.Done, Errors: b.errors, Threads: b.threads, Response: timesOf(measure.Summarize(b.response)), Parts: parts}
		return most
	}
	seek.Ours = func(s Tried) bool {
		return f.options.Recovery == nil && f.suspect(f.step(s), &f.bench.step).By == ByPerfbench
	}
	ours, counted := 0, 0.0 // of the last levels: so many did not hold since perfbench was held up with little to do; the last of them
	seek.Choice.Up = func() bool { return ours >= oursInARow }
	if f.options.Over.Name == OverThreads {
		seek.Choice.Answer = func(low float64) float64 {
			so := r
			so.Found = low
			so.settle()
			return cmp.Or(so.Best, low)
		}
	}
	waited, row, last := 0, 0, 0.0 // the last levels, so many of which say nothing of the store; the last of them
	seek.Waits = func(s Tried) string {
		step := f.step(s)
		if waited >= mostWaits || r.anyHeld() || row < oursInARow && (row < oursInARow-1 || step.Level == last) {
			return ""
		}
		waited++
		step.Ours = f.suspect(step, &f.bench.step).Causes
		return step.Measured()
	}
	if c := &seek.Choice; c.Low == 0 { // below that, no step is long enough to be judged
		c.Low = max(rounded(Least(seek.Conditions)*f.bench.lump()/float64(len(f.bench.tracks))), 1)
		if c.Start > 0 {
			c.Low = min(c.Low, c.Start)
		}
	}
	back := &recovery{bench: f.bench}
	search := func(found func(Tried)) (Range, error) { return seek.Find(ctx, f.bench, found) }
	if o := f.options.Recovery; o != nil {
		r.Under, r.Recovery = []string{Recovers}, &RecoverySought{PulseS: o.Pulse.Seconds(), WithinS: o.Within.Seconds(), DeadlineS: o.Deadline.Seconds()}
		back.Recovery = *o
		search = func(found func(Tried)) (Range, error) { return back.find(ctx, &f.options, found) }
	}
	ends, err := search(func(s Tried) {
		step := f.step(s)
		if f.options.Recovery != nil {
			step.Recovered = new(back.last)
		}
		f.bench.note(s.Held)
		f.inVain = f.inVain || s.Vain
		l := f.suspect(step, &f.bench.step)
		if !step.Held && f.options.Recovery == nil {
			step.Ours = l.Causes
		}
		switch {
		case len(step.Ours) == 0:
			row = 0
		case step.Level != last:
			row, last = row+1, step.Level
		}
		r.Steps = append(r.Steps, step)
		suspects, alone = append(suspects, l), append(alone, f.alone(&f.bench.step))
		switch first := len(r.Of(step.Level).Steps) == 1; {
		case r.anyHeld() || l.By != ByPerfbench || !f.idle(step):
			ours, counted = 0, 0
		case first && step.Doubtful && seek.Choice.Confirm: // it is tried again
		case step.Level != counted: // another try of a level is none more
			ours, counted = ours+1, step.Level
		}
		told(step)
	})
	r.Found, r.TooMuch, r.Complete = ends.Low, ends.High, ends.Known
	r.Seconds = (f.bench.run.Elapsed() - max(began, 0)).Seconds()
	if r.Threads = f.bench.step.threads; r.Threads == 0 && len(r.Steps) > 0 { // the next level had no second yet
		r.Threads = r.Steps[len(r.Steps)-1].Threads
	}
	switch {
	case errors.Is(err, errOver) && ctx.Err() != nil: // an interrupt ends both
		r.Why, err = Interrupted, context.Cause(ctx)
	case errors.Is(err, errOver):
		r.Why, err = "the run ended first", nil
	case errors.Is(err, errStuck):
		r.Why, err = errStuck.Error(), nil
	case err != nil && !errors.Is(err, errUp):
		r.Why = Interrupted
	case ends.Spent:
		r.Why = "it may try no more levels than " + fmt.Sprint(seek.Choice.Most)
	case !ends.Known && ours >= oursInARow:
		r.Why = HeldUp
	case !ends.Known:
		err = nil
		r.Why = fmt.Sprintf("its time was up (a longer duration, such as %s, gives the search more time)", moreTime(f.options.Duration))
	}
	if t := r.Of(r.Found); r.Found > 0 {
		shown := r.Outcome(t).Shown
		r.Done, r.Behind = shown.Done, shown.Behind
	}
	level := r.sure()
	if i := r.decides(level, suspects); i >= 0 {
		r.Limit = suspects[i]
		if (r.Limit.By == ByStore || r.Limit.By == ByMachine) && alone[i] == "" && r.Unsure(level) {
			r.Limit = Limit{By: ByNone, Text: fmt.Sprintf("unknown: whether %s holds is unclear", units.Number(level))}
		}
		if level != r.TooMuch { // no reader is to take another one for it
			r.Limit.Text = strings.Replace(r.Limit.Text, " there is ", " at "+units.Number(level)+" is ", 1)
		}
		if quicker := r.quicker(r.Steps[i]); r.Limit.By == ByStore && alone[i] == "" && quicker != nil {
			r.Limit = Limit{By: ByNone, Text: wording{&r}.notTheRate(&r.Steps[i], quicker)}
		}
		if r.Found == 0 && alone[i] != "" {
			r.Limit = Limit{By: ByStore, Text: "the store: over half of the calls take longer there than " + alone[i] + " allows"}
			if r.Why == HeldUp {
				r.Why = TooSlow
			}
			for i := range r.Steps { // no row has another cause
				if alone[i] != "" {
					r.Steps[i].Ours = nil
				}
			}
		}
	}
	r.settle()
	if r.Recovery != nil {
		r.Limit = back.limit(r.Steps, r.TooMuch)
	}
	if r.TooMuch == 0 && r.Found > 0 {
		r.Limit = Limit{By: ByNone, Text: "nothing: the highest level to be tried held"}
		if !r.Complete {
			r.Limit.Text = "unknown: every level that was tried held"
			for _, s := range r.Steps {
				if !s.Held && s.Level <= r.Found { // in one of its tries
					r.Limit.Text = "unknown: no level that was tried was too much for certain"
				}
				if s.Level > r.Found && !s.Held {
					r.Limit.Text = fmt.Sprintf("unknown: whether %s holds is unclear", units.Number(s.Level))
				}
			}
		}
	}
	r.leaveOpen()
	return r, err
}

// sure returns the lowest level that is too much without doubt, or else the lowest that did not hold; 0 without one.
func (r *Result) sure() float64 {
	if r.TooMuch > 0 && r.Unsure(r.TooMuch) {
		if _, _, _, tooMuch := r.Known(); tooMuch > 0 {
			return tooMuch
		}
	}
	return r.TooMuch
}

// decides returns the index of the step that says what limits: the one that stands for a level that was too
// much, unless more threads were tried after it, and it blames their number; then the last that did not hold. It is
// negative without one.
func (r *Result) decides(level float64, suspects []Limit) int {
	if level == 0 {
		return -1
	}
	o := r.Outcome(r.Of(level))
	if i := r.Try(o.Shown) - 1; i < 0 || suspects[i].By != ByThreads || len(o.Others) == 0 {
		return i
	}
	last := -1
	for i, s := range r.Steps {
		if s.Level == level && !s.Held {
			last = i
		}
	}
	return last
}

// quicker returns the try at a higher level than that of a step in which the store alone was much quicker, although more
// was done; nil if there is none.
func (r *Result) quicker(than Step) *Step {
	for i, s := range r.Steps {
		if s.Level > than.Level && s.Done > than.Done && s.Service.P50 > 0 && busier*float64(s.Service.P50) < float64(than.Service.P50) {
			return &r.Steps[i]
		}
	}
	return nil
}

// moreTime is a duration, as one types it, that gives a search for which one was too short a good
// chance; 0 stands for the usual one.
func moreTime(than time.Duration) string {
	usual, _ := time.ParseDuration(Within) // it is one
	if 0 < than && than < usual {
		return Within
	}
	return fmt.Sprintf("%.0fm", math.Ceil(2*max(than, usual).Minutes()))
}

// step describes a step of the search.
func (f *Finder) step(s Tried) Step {
	b := &f.bench.step
	out := Step{
		Level: s.Rate, FromS: time.Duration(s.From).Seconds(), ToS: time.Duration(s.To).Seconds(), Held: s.Held, Doubtful: s.Doubtful, Why: s.Why, Vain: s.Vain,
		Done: s.Done, Behind: s.Behind, Calls: b.response.TotalCount(), Errors: b.errors, Threads: b.threads,
		Response: timesOf(measure.Summarize(b.response)), Service: timesOf(measure.Summarize(b.service)), LateP99: measure.Summarize(b.lateness).P99,
	}
	for i, e := range f.options.Under {
		figure := int64(measure.Hidden)
		if i < len(b.judged) && b.judged[i] != nil {
			switch p, ok := measure.ParsePercentile(e.Stat); {
			case e.Stat == "mean":
				figure = int64(b.judged[i].Mean())
			case ok && measure.Enough(p, b.judged[i].TotalCount()):
				figure = measure.Percentile(b.judged[i], p)
			}
		}
		out.Judged = append(out.Judged, figure)
	}
	if o := between(b.before, b.after); o != nil {
		out.CPU, out.Machine = &o.CPU, &o.Machine
	}
	return out
}

func timesOf(s measure.Summary) Times {
	s = s.Shown()
	return Times{P50: s.P50, P90: s.P90, P99: s.P99, P999: s.P999, Max: s.Max}
}
