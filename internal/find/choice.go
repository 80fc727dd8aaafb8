package find

import (
	"context"
	"maps"
	"math"
	"slices"
)

// Tried is one level that was tried.
type Tried struct {
	// Rate is the level, in units per second or in threads.
	Rate float64
	// From and To are by the run's clock, in nanoseconds.
	From, To int64
	// Done is how many units per second were done; Slope is how fast the backlog grew,
	// in units per second.
	Done, Slope float64
	// Behind is Slope where that is more than chance and than 1 % of what was due, else 0.
	Behind float64
	// Held means that the level is sustainable; Why says why or why not.
	Held bool
	Why  string
	// Doubtful means that the result may be due to chance: the evidence was balanced.
	Doubtful bool
	// Ours means that it did not hold where perfbench or its machine was measured, and not the store.
	Ours bool
	// Vain means that the level had failed alike with fewer calls in progress.
	Vain bool
	// Width is how many calls might be in progress; 0: it is not known.
	Width int
	// Readings are the results of the step for each condition: the fraction that
	// violated it, or the mean, with its uncertainty.
	Readings []Estimate
	// clear means that a try before it, after which the search waited, failed without doubt.
	clear bool
}

// Estimate is a figure and its standard error.
type Estimate struct{ Value, SE float64 }

// Choice chooses levels. They rise by a factor until one does not hold, or fall by half
// until one does. Then the middle between the two is tried, until they are close. A
// doubtful step is repeated. At the end both levels are tried once more, so that the answer
// stands on two steps at least, and a level
// that failed early by doubtful steps alone gets a last try that may outvote them.
// Once a lower level holds with more calls in progress, one that did not hold is as if it
// had not been tried, and has its turn again. Steps that say nothing of the store do not
// count against a level up to one that held without doubt; they are repeated, up to
// mostOurs. A higher level that failed in one alone is tried again once a lower one
// holds, and at the end.
type Choice struct {
	// Start is the first level.
	Start float64
	// Raise is the factor by which levels rise, Near how close the two must be at the
	// end; 0 means 1.6 and 1.05.
	Raise, Near float64
	// Most is how many steps there may be; 0 means 20.
	Most int
	// Low and High are the lowest and highest level to try; 0: no limit.
	Low, High float64
	// Whole means that levels have no fractions, as with threads.
	Whole bool
	// Confirm means that both ends are tried once more at the end.
	Confirm bool
	// Ahead takes, before each try, the levels that come after it if it holds and if it does not; 0 is none, or not known.
	// It may be nil.
	Ahead func(ifHolds, ifNot float64)
	// Up reports whether there is no time left for another step, or no use in one; nil: there
	// always is.
	Up func() bool
	// Last reports whether there is time for no more than one careful step after the next; nil: there always is.
	Last func() bool
	// Answer returns the level that is the answer, which is tried twice, as low is the highest that holds; nil: low itself.
	Answer func(low float64) float64
}

// Range is the result of a search: Low is the highest level that holds and High the
// lowest that does not; 0: none was found. Known means that the search came to its end.
type Range struct {
	Low, High float64
	Known     bool
	// Spent means that as many levels have been tried as may be.
	Spent bool
}

// hunt is a search in progress.
type hunt struct {
	Choice
	try   func(ctx context.Context, level float64, careful bool) (Tried, error)
	found func(Tried)
	steps int
	// votes are the numbers of steps for and against each level.
	votes map[float64][2]int
	// ours is how many of those against it were in steps that say nothing of the store, and proof are levels with a
	// step that held without doubt.
	ours  map[float64]int
	proof map[float64]bool
	// last is the level of the last step, if it held without doubt.
	last float64
	sure map[float64]bool // tried carefully
	// clear are levels with a step that was not doubtful. heard are those that have had
	// their last try or were first tried near the end, and saying is the one that is
	// having it now.
	clear, heard map[float64]bool
	saying       float64
	// widest is the greatest width with which each level was tried, and open are levels that did not hold with less
	// than one below them did.
	widest map[float64]int
	open   map[float64]bool
}

// Find tries levels until the highest one that holds is known well enough. try applies
// and judges a level, carefully if much depends on it; each step is passed to found.
// Find ends early with an error of try, in which case nothing is known about that step.
func (c Choice) Find(ctx context.Context, try func(ctx context.Context, level float64, careful bool) (Tried, error), found func(Tried)) (Range, error) {
	if c.Raise == 0 {
		c.Raise = 1.6
	}
	if c.Near == 0 {
		c.Near = 1.05
	}
	if c.Most == 0 {
		c.Most = 20
	}
	h := hunt{
		Choice: c, try: try, found: found,
		votes: map[float64][2]int{}, sure: map[float64]bool{}, clear: map[float64]bool{}, heard: map[float64]bool{},
		widest: map[float64]int{}, open: map[float64]bool{}, ours: map[float64]int{}, proof: map[float64]bool{},
	}
	level := c.Start
	for {
		for level > 0 {
			if h.out() {
				r := h.certain()
				r.Spent = h.steps >= h.Most
				return r, nil
			}
			if r := h.known(); h.Last != nil && h.Last() && r.High > 0 && h.once(h.answer(r.Low)) {
				level = h.answer(r.Low)
			}
			if err := h.step(ctx, level); err != nil {
				return h.certain(), err
			}
			r := h.known()
			level = h.next(r.Low, r.High)
		}
		r := h.known()
		if level = h.unsure(r); level == 0 {
			level = h.again(r)
		}
		if level == 0 {
			r.Known = true
			return r, nil
		}
	}
}

// mostOurs is how many steps of a level may say nothing of the store before a level that held without doubt is left at that.
const mostOurs = 3

func (h *hunt) out() bool { return h.steps >= h.Most || h.Up != nil && h.Up() }

// step tries a level, and again while the result is doubtful and has not been outvoted.
func (h *hunt) step(ctx context.Context, level float64) error {
	careful := h.votes[level] != [2]int{} || h.known() != Range{} && h.near(level)
	h.heard[level] = h.heard[level] || careful
	delete(h.open, level)
	for {
		if h.Ahead != nil {
			h.Ahead(h.after(level, true), h.after(level, false))
		}
		s, err := h.try(ctx, level, careful)
		if err != nil {
			return err
		}
		h.steps++
		h.found(s)
		v := h.votes[level]
		switch last := h.saying == level; {
		case s.Held && last && s.Doubtful:
			v[0] = v[1] // one more vote decides
		case s.Held && last:
			v[0] = v[1] + 1
		case s.Held:
			v[0]++
		default:
			v[1]++
		}
		h.votes[level], h.saying = v, 0
		h.proof[level] = h.proof[level] || s.Held && !s.Doubtful
		if s.Ours {
			h.ours[level]++
		}
		if h.last = 0; s.Held && !s.Doubtful {
			h.last = level
		}
		v = h.counted(level)
		void := s.Ours && level <= h.proven()
		h.widest[level] = max(h.widest[level], s.Width)
		if s.Held && (!s.Doubtful || v[0] > 1) {
			h.reopen(level, s.Width)
		}
		h.clear[level] = h.clear[level] || !s.Doubtful || s.clear
		h.sure[level] = h.sure[level] || careful && !s.Doubtful && !void || v[0]+v[1] > 1 || void && h.ours[level] >= mostOurs
		switch {
		case !h.Confirm, h.out(), void && h.ours[level] >= mostOurs:
			return nil
		case void:
		case v[0] != v[1] && (!s.Doubtful || v[0]+v[1] > 1):
			return nil
		}
		careful = true
	}
}

// reopen forgets that higher levels than one that held with a width did not hold with less.
func (h *hunt) reopen(held float64, width int) {
	for l := range h.votes {
		if v := h.counted(l); l > held && h.widest[l] < width && v[0] <= v[1] {
			h.open[l] = true
			delete(h.votes, l)
			delete(h.ours, l)
			delete(h.proof, l)
			delete(h.sure, l)
			delete(h.clear, l)
			delete(h.heard, l)
		}
	}
}

// after returns the level that comes after one more vote on a level, if that is clear; 0 if there is none, or if it is not
// known because the votes are even.
func (h *hunt) after(level float64, held bool) float64 {
	then := *h
	then.votes = maps.Clone(h.votes)
	v := then.votes[level]
	if then.last = 0; held {
		v[0]++
		then.last = level
	} else {
		v[1]++
	}
	then.votes[level] = v
	if v = then.counted(level); v[0] == v[1] {
		return 0
	}
	r := then.known()
	return then.next(r.Low, r.High)
}

// near reports whether the search is near its end: the level is close to what is known.
func (h *hunt) near(level float64) bool {
	r := h.known()
	return r.Low > 0 && r.High > 0 && r.High/r.Low < h.Near*h.Near*h.Near && level > 0
}

// known returns what has been found. If votes contradict each other, because a level
// held although a lower one did not, the lower one counts: what holds must also hold
// below.
func (h *hunt) known() Range { return h.from(func(float64) bool { return true }) }

// certain is known for a search that ends early: a level that failed in nothing but a
// single doubtful step, or held as often as it failed, would have been tried again and is as
// if it had not been tried.
func (h *hunt) certain() Range {
	return h.from(func(l float64) bool {
		v := h.counted(l)
		return v[0] > v[1] || v[0] < v[1] && (h.clear[l] || v[0]+v[1] > 1)
	})
}

// from returns what has been found by the levels that count.
func (h *hunt) from(counts func(level float64) bool) Range {
	r := Range{}
	for _, l := range h.levels() {
		switch v := h.counted(l); {
		case v == [2]int{} || !counts(l):
		case v[0] > v[1]:
			r.Low = l
		default:
			r.High = l
			return r
		}
	}
	return r
}

// levels returns those that have been tried, from the lowest up.
func (h *hunt) levels() []float64 { return slices.Sorted(maps.Keys(h.votes)) }

// counted returns the votes on a level that count: those in steps that say nothing of the store do not, up to what is
// proven.
func (h *hunt) counted(level float64) [2]int {
	v := h.votes[level]
	if h.ours[level] > 0 && level <= h.proven() {
		v[1] -= h.ours[level]
	}
	return v
}

// proven returns the highest level with a step that held without doubt, unless the store itself outvoted it, or a lower one
// as often as not; 0 if there is none.
func (h *hunt) proven() (level float64) {
	for _, l := range h.levels() {
		good, bad := h.votes[l][0], h.votes[l][1]-h.ours[l]
		if good >= bad && h.proof[l] {
			level = l
		}
		if good+bad > 0 && good <= bad {
			return level
		}
	}
	return level
}

// next returns what to try after low has held and high has not; 0 if they are close
// enough, or at a limit. Either may be 0: not known yet. If low has just held, and high is
// known from one step that says nothing of the store, whatever that was may be over.
func (h *hunt) next(low, high float64) float64 {
	if h.Confirm && low > 0 && low == h.last && h.ours[high] == 1 && h.votes[high] == [2]int{0, 1} {
		return high
	}
	level := 0.0
	switch {
	case high == 0:
		if level = low * h.Raise; h.High > 0 {
			level = min(level, h.High)
		}
		for l := range h.open {
			if l > low {
				level = min(level, l)
			}
		}
	case low == 0:
		least := max(h.Low, 1)
		if high <= least {
			return 0
		}
		level = max(high/2, least)
	case high/low <= h.Near || h.Whole && high-low <= 1:
		return 0
	default:
		level = math.Sqrt(low * high)
	}
	if even := rounded(level); even > low && (high == 0 || even < high) {
		level = even
	}
	if h.Whole {
		level = math.Round(level)
		if level <= low {
			level = low + 1
		}
	}
	if level == low || level == high || h.High > 0 && level > h.High {
		return 0
	}
	return level
}

// rounded rounds a level to three digits, which are easier to talk about.
func rounded(level float64) float64 {
	if level <= 0 {
		return level
	}
	digits := math.Floor(math.Log10(level)) - 2
	if digits < 0 { // a power of ten below 1 is not exact, and its inverse is
		parts := math.Pow(10, -digits)
		return math.Round(level*parts) / parts
	}
	unit := math.Pow(10, digits)
	return math.Round(level/unit) * unit
}

// unsure returns an end of the range that has not been tried carefully, or the answer if it has been tried only once, 0 if
// there is none. It returns the failed end first, since a single hiccup is enough for a failure; also
// while it is known from few steps, none of which says anything of the store.
func (h *hunt) unsure(r Range) float64 {
	switch {
	case !h.Confirm:
	case r.High > 0 && (!h.sure[r.High] || h.ours[r.High] == h.votes[r.High][1] && h.ours[r.High] < mostOurs):
		return r.High
	case r.Low > 0 && !h.sure[r.Low]:
		return r.Low
	case h.once(h.answer(r.Low)):
		return h.answer(r.Low)
	}
	return 0
}

// answer returns the level that is the answer where this one is the highest that holds.
func (h *hunt) answer(low float64) float64 {
	if h.Answer == nil || low == 0 {
		return low
	}
	return h.Answer(low)
}

// once reports whether an answer stands on a single step, and is to be tried again.
func (h *hunt) once(level float64) bool {
	v := h.counted(level)
	return h.Confirm && level > 0 && v[0]+v[1] == 1 && h.ours[level] < mostOurs
}

// again returns the failed level if it is known only from doubtful steps made when the
// end was not near, provided that it has not been returned before and there is room for
// a step; otherwise 0.
func (h *hunt) again(r Range) float64 {
	if !h.Confirm || r.High == 0 || h.clear[r.High] || h.heard[r.High] || h.out() {
		return 0
	}
	h.heard[r.High], h.saying = true, r.High
	return r.High
}
