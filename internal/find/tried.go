package find

import (
	"cmp"
	"slices"
)

// Curve returns the try of each level that stands for it (see Outcome), ordered by level.
func (r *Result) Curve() []Step {
	var out []Step
	for _, level := range r.Newest() {
		out = append(out, r.Outcome(r.Of(level)).Shown)
	}
	slices.SortFunc(out, func(a, b Step) int { return cmp.Compare(a.Level, b.Level) })
	return out
}

// Tries are the steps of one level, in the order in which they were made.
type Tries struct {
	Level float64
	Steps []Step
}

// sameLevel is how far apart two levels are at most that count as one: on a chart they are one place.
const sameLevel = 0.02

// Levels returns the tries of each level, ordered by level. Levels closer than 2 % are one, at their mean.
func (r *Result) Levels() []Tries {
	steps := slices.Clone(r.Steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Level, b.Level) })
	var out []Tries
	for _, s := range steps {
		if n := len(out); n == 0 || s.Level > out[n-1].Steps[0].Level*(1+sameLevel) {
			out = append(out, Tries{})
		}
		at := &out[len(out)-1]
		at.Steps = append(at.Steps, s)
		at.Level += (s.Level - at.Level) / float64(len(at.Steps))
	}
	return out
}

// Of returns the tries of exactly one level.
func (r *Result) Of(level float64) Tries {
	t := Tries{Level: level}
	for _, s := range r.Steps {
		if s.Level == level {
			t.Steps = append(t.Steps, s)
		}
	}
	return t
}

// Newest returns the levels that were tried, the one that was tried last first.
func (r *Result) Newest() (levels []float64) {
	for _, s := range slices.Backward(r.Steps) {
		if !slices.Contains(levels, s.Level) {
			levels = append(levels, s.Level)
		}
	}
	return levels
}

// Try returns the number of a try, counted from 1 over all levels; 0: it is none of the result.
func (r *Result) Try(of Step) int {
	return 1 + slices.IndexFunc(r.Steps, func(s Step) bool { return s.Level == of.Level && s.FromS == of.FromS })
}

// has reports whether a level is among those of the tries.
func (t Tries) has(level float64) bool {
	return slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Level == level })
}

// median returns the try that is the median one by a time, the higher one of two; the last one if too few calls support
// the time in each of them.
func median(tries []Step, of func(Step) int64) Step {
	known := slices.DeleteFunc(slices.Clone(tries), func(s Step) bool { return of(s) <= 0 })
	if len(known) == 0 {
		return tries[len(tries)-1]
	}
	slices.SortStableFunc(known, func(a, b Step) int { return cmp.Compare(of(a), of(b)) })
	return known[len(known)/2]
}

// Outcome is how a level came out that was tried once or several times.
type Outcome struct {
	// Held means that the level held, by the majority of its tries.
	Held bool
	// Shown is the try that stands for the level: of those that came out as the level did, with one number of
	// threads, the median one by the figure that is sought; where the level is not doubtful, of those that are not. If the level did not hold, the number of threads is
	// that with which the answer held, if it was tried with as many, else the lowest.
	Shown Step
	// Tries is how many tries had as many threads as Shown; Good is how many of them held.
	Tries, Good int
	// Doubtful means that chance may have decided it: of these tries some held and others did not, or none did and each
	// was in doubt, or a single one was. Those that do not count (see Result.Counts) leave a doubt at the highest level that
	// held without any, if the last one is of them.
	Doubtful bool
	// Void means that no try counts: it did not hold in tries in which perfbench or its machine was measured and not the
	// store, and a higher level held without doubt.
	Void bool
	// Others are the tries with other numbers of threads.
	Others []Step
}

// Outcome returns how a level came out; nothing without a try.
func (r *Result) Outcome(t Tries) (o Outcome) {
	if len(t.Steps) == 0 {
		return o
	}
	proven := r.proven()
	good, bad := votes(t.Steps, proven)
	o.Void = good+bad == 0
	switch {
	case r.TooMuch > 0 && t.has(r.TooMuch) && !t.has(r.Found):
	case good > 0 && (t.has(r.Found) || t.Level <= r.Found):
		o.Held = true
	default:
		o.Held = good > bad
	}
	alike := slices.DeleteFunc(slices.Clone(t.Steps), func(s Step) bool { return s.Held != o.Held })
	if len(alike) == 0 { // in a file that somebody changed
		alike = t.Steps
	}
	threads := alike[len(alike)-1].Threads
	if !o.Held {
		threads = slices.MinFunc(alike, func(a, b Step) int { return a.Threads - b.Threads }).Threads
		if r.Found > 0 && !t.has(r.Found) {
			as := r.Outcome(r.Of(r.Found)).Shown.Threads
			if slices.ContainsFunc(alike, func(s Step) bool { return s.Threads == as }) {
				threads = as
			}
		}
	}
	other := func(s Step) bool { return r.Over == OverRate && s.Threads != threads }
	var same []Step
	for _, s := range t.Steps {
		if other(s) {
			o.Others = append(o.Others, s)
		} else {
			same = append(same, s)
		}
	}
	o.count(same)
	counting := slices.DeleteFunc(slices.Clone(same), func(s Step) bool { return s.void(proven) })
	if t.Level < proven || t.Level == proven && !same[len(same)-1].void(proven) {
		only := Outcome{}
		only.count(counting)
		o.Doubtful = only.Doubtful
	}
	o.Shown = r.stands(o, same)
	return o
}

// Unsure reports whether chance may have decided how a level came out.
func (r *Result) Unsure(level float64) bool { return r.Outcome(r.Of(level)).Doubtful }

// votes counts the tries of a level that held and that did not, as Choice does, without those that do not count as something is
// proven.
func votes(tries []Step, proven float64) (good, bad int) {
	clear := false
	for i, s := range tries {
		if i+1 < len(tries) && tries[i+1].Level == s.Level && tries[i+1].Threads > s.Threads {
			continue // it was tried again with more
		}
		switch {
		case s.Held && good == 0 && bad > 1 && !clear: // one more try outvotes those in doubt
			if good = bad; !s.Doubtful {
				good++
			}
		case s.Held:
			good++
		case !s.void(proven):
			bad++
		}
		clear = clear || !s.Doubtful
	}
	return good, bad
}

// void reports whether a try does not count, as it says nothing of the store and is up to what is proven.
func (s Step) void(proven float64) bool { return !s.Held && len(s.Ours) > 0 && s.Level <= proven }

// Counts reports whether a try counts: one that says nothing of the store, since perfbench or its machine was measured, does
// not count against a level up to one that held without doubt.
func (r *Result) Counts(s Step) bool { return !s.void(r.proven()) }

// proven returns up to which level tries that say nothing of the store do not count: the highest that held without doubt,
// as Choice has it, and none above the answer.
func (r *Result) proven() (level float64) {
	if !slices.ContainsFunc(r.Steps, func(s Step) bool { return len(s.Ours) > 0 }) {
		return 0
	}
	levels := r.Newest()
	slices.Sort(levels)
	for _, l := range levels {
		if r.Tried() && l > r.Found {
			return level
		}
		tries := r.Of(l).Steps
		good, bad := votes(tries, l)
		if good >= bad && slices.ContainsFunc(tries, func(s Step) bool { return s.Held && !s.Doubtful }) {
			level = l
		}
		if good+bad > 0 && good <= bad {
			return level
		}
	}
	return level
}

// stands returns the try that stands for a level that came out so, of its tries with one number of threads.
func (r *Result) stands(o Outcome, tries []Step) Step {
	for _, fits := range []func(Step) bool{
		func(s Step) bool { return s.Held == o.Held },
		func(s Step) bool { return o.Doubtful || !s.Doubtful },
	} {
		if some := slices.DeleteFunc(slices.Clone(tries), func(s Step) bool { return !fits(s) }); len(some) > 0 {
			tries = some
		}
	}
	_, of := r.Sought()
	return median(tries, of)
}

// count sets what is counted of tries with one number of threads.
func (o *Outcome) count(tries []Step) {
	unsure := 0
	for _, s := range tries {
		if s.Held {
			o.Good++
		}
		if s.Doubtful {
			unsure++
		}
	}
	o.Tries = len(tries)
	switch o.Good {
	case 0:
		o.Doubtful = unsure == o.Tries
	case o.Tries:
		o.Doubtful = unsure == 1 && o.Tries == 1
	default:
		o.Doubtful = true
	}
}

// Tried reports whether a level was tried to its end.
func (r *Result) Tried() bool { return r.Found > 0 || r.TooMuch > 0 }

// anyHeld reports whether any step held.
func (r *Result) anyHeld() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Held })
}

// InVain returns two tries of a level that did not hold, the second of which had more threads and fared no
// better; nil if there are none.
func (r *Result) InVain() (before, after *Step) {
	for i := range r.Steps {
		s := &r.Steps[i]
		for k := i - 1; s.Vain && k >= 0; k-- {
			if b := &r.Steps[k]; b.Level == s.Level && b.Threads < s.Threads {
				return b, s
			}
		}
	}
	return nil, nil
}

// Narrow returns the try that stands for the lowest level above the answer, and below what is too much, that did not hold
// with fewer threads than the answer does, and was not tried with as many. It is nil if there is none.
func (r *Result) Narrow() *Step {
	if r.Found == 0 {
		return nil
	}
	held := r.Outcome(r.Of(r.Found)).Shown.Threads
	for _, s := range r.Curve() {
		if s.Level <= r.Found || s.Held {
			continue
		}
		if r.TooMuch > 0 && s.Level >= r.TooMuch || !r.narrower(s.Level, held) {
			return nil
		}
		return &s
	}
	return nil
}

// narrower reports whether a level of a search for the rate was tried with fewer threads only.
func (r *Result) narrower(level float64, threads int) bool {
	return r.Over == OverRate && r.Recovery == nil && !slices.ContainsFunc(r.Of(level).Steps, func(s Step) bool { return s.Threads >= threads })
}

// Bracket returns what a search in progress knows so far: the highest level that held, below
// the lowest that did not; 0 if there is none. A single doubtful step makes no level too much, nor do tries with fewer threads
// than a lower level held with, nor those that say nothing of the store below what held without doubt.
func (r *Result) Bracket() (held, tooMuch float64) {
	threads := 0 // with which it held
	for _, s := range r.Curve() {
		switch alone := len(r.Of(s.Level).Steps) == 1; {
		case s.Held:
			held, threads = s.Level, s.Threads
		case s.Doubtful && alone, r.narrower(s.Level, threads), r.Outcome(r.Of(s.Level)).Void:
		default:
			return held, s.Level
		}
	}
	return held, 0
}

// Known is Bracket by the word that tables have for each level: the highest that holds below the lowest that is too much,
// and the lowest and the highest between the two of which that is unclear; 0 if there is none.
func (r *Result) Known() (holds, from, to, tooMuch float64) {
	threads := 0 // with which it holds
	for _, s := range r.Curve() {
		switch r.Outcome(r.Of(s.Level)).State() {
		case stateTooMuch:
			if !r.narrower(s.Level, threads) {
				return holds, from, to, s.Level
			}
		case stateHolds:
			holds, from, to, threads = s.Level, 0, 0, s.Threads
		default:
			to = s.Level
			if from == 0 {
				from = to
			}
		}
	}
	return holds, from, to, 0
}
