package find

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Recovers is the condition that a store comes back by itself after an overload. It may go on
// with how long that may take, and with how long the overload lasts: recovers<30s after 2s.
const Recovers = "recovers"

// Recovery is a search for the highest base load from which a store comes back by itself.
type Recovery struct {
	// Pulse is how long the overload lasts, 0 until the deadline is known; Within is how long the store may take to recover.
	Pulse, Within time.Duration
	// Deadline is until when answers are of use, counted from when their calls were due.
	Deadline time.Duration
}

// Recovered is how a store did at a base load, before and after a pulse of overload.
type Recovered struct {
	// Pulse is the rate of the overload, in units per second.
	Pulse float64 `json:"pulse_per_s"`
	// Before is the share of answers that came in time before the pulse, After the share since.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Unsteady means that the base load was too much by itself: there was no pulse.
	Unsteady bool `json:"unsteady,omitempty"`
	// Good is how many answers per second came in time after the pulse.
	Good float64 `json:"good_per_s"`
	// Took is after how many seconds answers were in time again as before, for good; nil: they
	// were not.
	Took *float64 `json:"took_s,omitempty"`
	// Attempts is how many times a call was made after the pulse, on average.
	Attempts float64 `json:"attempts"`
}

// How a store is seen to have recovered.
const (
	steadySeconds = 3    // at the base load, before the pulse and once it has recovered
	steadyShare   = 0.95 // of answers in time, without which a base load is too much by itself
	lateShare     = 0.5  // of answers in time, below which a rate is an overload
	sameShare     = 0.95 // of the share before the pulse
	overload      = 2    // times a rate at which answers are late
	calm          = 20   // part of that rate at which a store is let to rest
	patience      = 4    // times as long as it may take to recover, to rest
	recoverLevels = 40
	recoverNear   = 1.05
	recoverRaise  = 1.3
	recoverStart  = 16 // part of the unlimited rate at which the rate begins to double
	leastStart    = 10 // per second: fewer say little in a few seconds

	// An overload lasts so many deadlines unless the user says otherwise, and leastPulse at least:
	// in less, no queue gets long enough for answers to be late.
	pulseDeadlines, leastDeadlines = 5, 2
	leastPulse                     = time.Second
)

// Patience returns how long a search lets nothing work: one for recovery as long as it waits for
// the store to come to rest; any other does not say, which is 0.
func (o *Options) Patience() time.Duration {
	if o.Recovery == nil {
		return 0
	}
	return patience*o.Recovery.Within + steadySeconds*time.Second
}

// Recovering returns conditions with that of a store that comes back, which may be among them
// in words of its own.
func Recovering(under []string) []string {
	if slices.ContainsFunc(under, func(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), Recovers) }) {
		return under
	}
	return append(slices.Clone(under), Recovers)
}

// readRecovery reads the condition; false if the text is another one.
func readRecovery(text string) (r Recovery, ok bool, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), Recovers)
	if !ok {
		return r, false, nil
	}
	r = Recovery{Within: 30 * time.Second}
	bad := func(what, value string) error {
		return fault.Input(fmt.Errorf("under %q: %q is not %s", text, strings.TrimSpace(value), what), "write it like recovers<30s, or recovers<30s after 2s")
	}
	within, pulse, has := strings.Cut(rest, "after")
	if has {
		if r.Pulse, err = time.ParseDuration(strings.TrimSpace(pulse)); err != nil || r.Pulse < 100*time.Millisecond || r.Pulse > time.Hour {
			return r, true, bad("how long an overload lasts, from 100ms to 1h", pulse)
		}
	}
	if within = strings.TrimSpace(within); within != "" {
		value, found := strings.CutPrefix(within, "<")
		if r.Within, err = time.ParseDuration(strings.TrimSpace(value)); err != nil || !found || r.Within < 5*time.Second || r.Within > time.Hour {
			return r, true, bad("the time that it may take to recover, from 5s to 1h", within)
		}
	}
	return r, true, nil
}

// Until has answers be of use until a deadline. The error, of bad input, says why there can be no
// such search.
func (r *Recovery) Until(deadline time.Duration) error {
	r.Deadline = deadline
	switch {
	case deadline == 0:
		return fault.Field("client", fault.Input(fmt.Errorf("client: a search for what a store %s from has to know when an answer is too late", Recovers), "give callers a deadline and retries, such as --client deadline=50ms,retries=2"))
	case r.Pulse == 0:
		r.Pulse = max(leastPulse, pulseDeadlines*deadline)
	case r.Pulse < leastDeadlines*deadline:
		return fault.Field("under", fault.Input(fmt.Errorf("under: an overload of %s is too short for answers to be later than %s", r.Pulse, deadline), fmt.Sprintf("write it like recovers after %s", pulseDeadlines*deadline)))
	}
	return nil
}

// errStuck means that a store does not come back even when it is let rest.
var errStuck = errors.New("the store did not come back, even with hardly any load")

// recovery looks for the highest base load from which the store comes back.
type recovery struct {
	*bench
	Recovery
	over float64 // a rate at which answers are late
	last Recovered
}

// find searches; each base load that was tried is passed to found.
func (k *recovery) find(ctx context.Context, o *Options, found func(Tried)) (Range, error) {
	k.run.Change(measure.BySearch, workload.AllTracks, func(s workload.Settings) workload.Settings {
		s.Threads = max(s.Threads, o.Threads)
		return s
	})
	from := k.run.Elapsed()
	if err := k.raise(ctx, o.From, o.To); err != nil {
		return Range{}, err
	}
	c := Choice{
		Start: max(k.over/4, 1), Raise: recoverRaise, Near: recoverNear, Most: recoverLevels, High: k.over,
		Up: func() bool { return k.run.Elapsed()-from >= o.Time },
	}
	if o.From > 0 {
		c.Start = min(o.From, k.over)
	}
	return c.Find(ctx, func(ctx context.Context, level float64, _ bool) (Tried, error) { return k.try(ctx, level) }, found)
}

// share is the share of answers that came in time.
func share(good, ended float64) float64 {
	if ended == 0 {
		return 0
	}
	return good / ended
}

// enough reports whether a share of the answers came in time, up to what is chance: two standard
// deviations.
func enough(good, ended, share float64) bool {
	late := (1 - share) * ended
	return ended > 0 && ended-good <= late+2*math.Sqrt(late)
}

// raise doubles the rate until answers are late, or to the highest that may be tried.
func (k *recovery) raise(ctx context.Context, level, most float64) error {
	if level == 0 {
		k.Set(0)
		s, err := k.Next(ctx)
		if err != nil {
			return err
		}
		level = max(rounded(s.Done/recoverStart), leastStart)
	}
	for ; most == 0 || level < most; level *= 2 {
		if err := k.settle(ctx, level/calm); err != nil {
			return err
		}
		good, ended, err := k.gather(ctx, level)
		if err != nil {
			return err
		}
		if ended > 0 && share(good, ended) < lateShare {
			break
		}
	}
	k.over = level
	if most > 0 {
		k.over = min(level, most)
	}
	return nil
}

// gather sets a rate, and counts its answers until it is steady.
func (k *recovery) gather(ctx context.Context, level float64) (good, ended float64, err error) {
	k.Set(level)
	for range steadySeconds {
		s, err := k.Next(ctx)
		if err != nil {
			return 0, 0, err
		}
		good, ended = good+s.Good, ended+s.Ended
	}
	return good, ended, nil
}

// settle waits, with hardly any load, until answers are in time.
func (k *recovery) settle(ctx context.Context, level float64) error {
	k.Set(max(level, leastStart/2))
	until, fine := k.run.Elapsed()+patience*k.Within, 0
	for fine < steadySeconds {
		s, err := k.Next(ctx)
		switch {
		case err != nil:
			return err
		case enough(s.Good, s.Ended, steadyShare):
			fine++
		case k.run.Elapsed() >= until:
			return errStuck
		default:
			fine = 0
		}
	}
	return nil
}

// try applies a base load, a pulse above what the store holds, and the base load again.
func (k *recovery) try(ctx context.Context, level float64) (Tried, error) {
	k.last = Recovered{Pulse: k.peak()}
	if err := k.settle(ctx, k.over/calm); err != nil {
		return Tried{}, err
	}
	from := k.run.Elapsed()
	good, ended, err := k.gather(ctx, level)
	if err != nil {
		return Tried{}, err
	}
	s := Tried{Rate: level, From: int64(from)}
	if k.last.Before = share(good, ended); !enough(good, ended, steadyShare) {
		k.last.Unsteady = true
		s.To, s.Done = int64(k.run.Elapsed()), k.done()
		s.Why = fmt.Sprintf("without any overload, %.3g %% of the answers were in time", 100*k.last.Before)
		return s, nil
	}
	if err := k.pulse(ctx); err != nil {
		return Tried{}, err
	}
	k.Set(level)
	return k.watch(ctx, s)
}

// peak is the rate of the overload.
func (k *recovery) peak() float64 { return overload * k.over }

// pulse overloads the store for a while.
func (k *recovery) pulse(ctx context.Context) error {
	k.Set(k.last.Pulse)
	timer := time.NewTimer(k.Pulse)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil
		case <-k.in:
		case <-k.run.Done():
			return errOver
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watch waits for answers to be in time again.
func (k *recovery) watch(ctx context.Context, s Tried) (Tried, error) {
	began, fine, since := k.run.Elapsed(), 0, time.Duration(0)
	good, ended := 0.0, 0.0
	for fine < steadySeconds && k.run.Elapsed()-began < k.Within+steadySeconds*time.Second {
		second, err := k.Next(ctx)
		if err != nil {
			return s, err
		}
		good, ended = good+second.Good, ended+second.Ended
		if !enough(second.Good, second.Ended, sameShare*k.last.Before) {
			fine = 0
			continue
		}
		if fine++; fine == 1 {
			since = time.Duration(second.From) - began
		}
	}
	s.To, s.Done = int64(k.run.Elapsed()), k.done()
	k.last.After, k.last.Good = share(good, ended), good/max(float64(k.step.seconds), 1)
	if calls := float64(k.step.response.TotalCount()); calls > 0 {
		k.last.Attempts = (calls + float64(k.step.retries)) / calls
	}
	if s.Held = fine >= steadySeconds && since < k.Within; !s.Held {
		s.Why = fmt.Sprintf("%s after the overload it had not recovered: %.3g %% of the answers were in time", units.Duration(k.Within), 100*k.last.After)
		return s, nil
	}
	k.last.Took = new(max(since, 0).Seconds())
	s.Why = fmt.Sprintf("it recovered in %.0f s", *k.last.Took)
	return s, nil
}

// done is how many units were done per second since the level was set.
func (k *recovery) done() float64 { return float64(k.step.count) / max(float64(k.step.seconds), 1) }

// limit says what keeps the store from coming back at a base load.
func (k *recovery) limit(steps []Step, tooMuch float64) Limit {
	for _, s := range steps {
		switch {
		case s.Level != tooMuch || s.Held:
		case s.Recovered.Unsteady:
			return Limit{By: ByStore, Text: "the store: at more, answers are late without any overload"}
		case s.Recovered.Attempts > 1:
			return Limit{By: ByStore, Text: fmt.Sprintf("the store with these callers: after the overload each call was made %.3g times, which kept the store too busy to answer in time", s.Recovered.Attempts)}
		default:
			return Limit{By: ByStore, Text: "the store: it does not work off what an overload leaves in time"}
		}
	}
	return Limit{By: ByNone, Text: "nothing: the highest level to be tried held"}
}
