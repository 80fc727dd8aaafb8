package stat

import (
	"math"
	"slices"
)

const (
	// leastStretch is how many values there are at least between two shifts.
	leastStretch = 3
	// nearby is how many values on either side of a shift say how large it is and whether it
	// is chance: a slow drift moves those little.
	nearby = 12
	// perhaps is the certainty with which a split is kept while others are sought.
	perhaps = 0.95
	// astray is how many deviations from its neighbours make a value an outlier.
	astray = 3.5
)

// Shift is a point in a series from which on the values have another mean.
type Shift struct {
	// At is the index of the first value after it.
	At int
	// By is the difference of the means of the values nearby, after less before, and
	// Certainty the confidence with which it is not chance.
	By, Certainty float64
}

// Shifts finds the points at which the mean of a series changes by at least a difference,
// with a certainty such as 0.999 for each: E-divisive means (Matteson and James 2014), with
// Student's test in place of permutations and weak points joined again, as Hunter does it
// (Fleming and others 2023). Outliers count as the median of their neighbours. The values
// must be known.
func Shifts(vals []float64, least, certainty float64) []Shift {
	vals = tamed(vals, least)
	at := split(vals, 0, len(vals), nil)
	slices.Sort(at)
	for {
		var out []Shift
		weakest, worst := -1, math.Inf(1)
		for i, k := range at {
			from, to := 0, len(vals)
			if i > 0 {
				from = at[i-1]
			}
			if i < len(at)-1 {
				to = at[i+1]
			}
			s := shiftAt(vals, max(from, k-nearby), k, min(to, k+nearby))
			strength := s.Certainty
			if math.Abs(s.By) < least {
				strength = -1 / max(math.Abs(s.By), 1e-12)
			}
			if out = append(out, s); (strength < certainty) && strength < worst {
				weakest, worst = i, strength
			}
		}
		if weakest < 0 {
			return out
		}
		at = slices.Delete(at, weakest, weakest+1)
	}
}

// shiftAt judges the difference of the values before and from index k.
func shiftAt(vals []float64, from, k, to int) Shift {
	d := Between(vals[from:k], vals[k:to])
	s := Shift{At: k, By: d.Value, Certainty: d.Certainty()}
	if d.SE == 0 && d.Value != 0 {
		s.Certainty = 1
	}
	return s
}

// split adds the points that divide vals[from:to] best, and then its parts.
func split(vals []float64, from, to int, at []int) []int {
	k := divides(vals[from:to])
	if k < 0 || !(shiftAt(vals, from, from+k, to).Certainty >= perhaps) {
		return at
	}
	k += from
	return split(vals, k, to, split(vals, from, k, append(at, k)))
}

// divides returns the index that divides values into the two parts that are farthest from
// each other by energy statistics; -1 if there are too few.
func divides(vals []float64) int {
	n := len(vals)
	best, at := 0.0, -1
	// Sums of the distances within the values before the index, across it, and after it.
	within, across, after := 0.0, 0.0, 0.0
	for i := range vals {
		for j := range i {
			after += math.Abs(vals[i] - vals[j])
		}
	}
	for k := 1; k < n; k++ { // vals[k-1] moves from after to before
		before, rest := 0.0, 0.0
		for j, v := range vals {
			if d := math.Abs(v - vals[k-1]); j < k-1 {
				before += d
			} else {
				rest += d
			}
		}
		within, after, across = within+before, after-rest, across-before+rest
		if k < leastStretch || n-k < leastStretch {
			continue
		}
		a, b := float64(k), float64(n-k)
		q := a * b / (a + b) * (2*across/(a*b) - 2*within/(a*(a-1)) - 2*after/(b*(b-1)))
		if q > best {
			best, at = q, k
		}
	}
	return at
}

// tamed returns values with each outlier, farther off than least, replaced by the median of
// its neighbours.
func tamed(vals []float64, least float64) []float64 {
	out := slices.Clone(vals)
	far := least
	var steps []float64
	for i := 1; i < len(vals); i++ {
		steps = append(steps, math.Abs(vals[i]-vals[i-1]))
	}
	if len(steps) > 0 { // the median of neighbours' distances is 0.954 deviations
		slices.Sort(steps)
		far = max(far, astray*steps[len(steps)/2]/0.954)
	}
	for i, v := range vals {
		near := slices.Sorted(slices.Values(vals[max(i-leastStretch, 0):min(i+leastStretch+1, len(vals))]))
		middle := min(max(v, near[(len(near)-1)/2]), near[len(near)/2])
		if math.Abs(v-middle) > far {
			out[i] = middle
		}
	}
	return out
}
