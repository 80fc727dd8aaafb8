// Package stat computes how far chance may have moved a figure, both for values that
// resemble their neighbours, such as the seconds of a run, and for independent values,
// such as runs. All its functions are pure.
package stat

import "math"

// Estimate is a figure with its uncertainty.
type Estimate struct {
	Value float64
	// SE is the standard error of the value, NaN if unknown, and DF the degrees of
	// freedom of that error.
	SE, DF float64
}

// Unknown returns the estimate of something that was not measured.
func Unknown() Estimate { return Estimate{Value: math.NaN(), SE: math.NaN()} }

// Interval returns where the true figure lies with the given confidence, 0.95 for 95 %:
// anywhere if the error is unknown.
func (e Estimate) Interval(confidence float64) (lo, hi float64) {
	if math.IsNaN(e.SE) {
		return math.Inf(-1), math.Inf(1)
	}
	by := e.SE * T(confidence, e.DF)
	return e.Value - by, e.Value + by
}

// Events returns where a rate lies that was estimated from random events, which may come in bursts, with the given
// confidence: as far from it as chance moves the number of as many independent events as have its error, and one
// at least, as it happened. The limits are those of Byar (Breslow and Day 1987, section 2.3), close to the exact
// ones of Poisson, and never reach 0.
func Events(e Estimate, confidence float64) (lo, hi float64) {
	if math.IsNaN(e.SE) || e.Value <= 0 || e.SE <= 0 {
		return e.Interval(confidence)
	}
	n, z := max(math.Pow(e.Value/e.SE, 2), 1), normalQuantile(confidence)
	limit := func(n, z float64) float64 { return n * math.Pow(1-1/(9*n)+z/(3*math.Sqrt(n)), 3) }
	return e.Value * limit(n, -z) / n, e.Value * limit(n+1, z) / n
}

// Certainty returns the confidence with which the true figure is not 0: that of the
// interval that just reaches 0. It is NaN if the error is unknown.
func (e Estimate) Certainty() float64 {
	switch {
	case math.IsNaN(e.SE):
		return math.NaN()
	case !(e.DF >= 1) || e.Value == 0:
		return 0
	case e.DF > muchDF:
		return math.Erf(math.Abs(e.Value) / e.SE / math.Sqrt2)
	}
	return 1 - tail(math.Abs(e.Value)/e.SE, e.DF)
}

// muchDF is the number of degrees of freedom from which Student's distribution is
// treated as normal.
const muchDF = 1e6

// T returns how many standard errors an interval of the given confidence extends to
// either side, by Student's distribution with df degrees of freedom; +Inf if df is less
// than one.
func T(confidence, df float64) float64 {
	switch {
	case !(df >= 1):
		return math.Inf(1)
	case df > muchDF:
		return normalQuantile(confidence)
	}
	return quantile(confidence, df)
}

// Independent estimates the mean of independent values. NaN values are left out.
func Independent(vals []float64) Estimate {
	vals = known(vals)
	n := float64(len(vals))
	switch len(vals) {
	case 0:
		return Unknown()
	case 1:
		return Estimate{Value: vals[0], SE: math.NaN()}
	}
	mean := average(vals)
	dev := math.Sqrt(squares(vals, mean) / (n - 1))
	return Estimate{Value: mean, SE: dev / math.Sqrt(n), DF: n - 1}
}

// Mean names what OfSeveral computes, OfRuns says it.
const (
	Mean   = "geometric mean"
	OfRuns = "Figures of several runs are their " + Mean
)

// OfSeveral estimates a figure of several runs, which differ by shares of it: their geometric mean, and
// where that lies with the given confidence; anywhere for a single run. Where one is 0 it is their plain
// mean. NaN values are left out.
func OfSeveral(runs []float64, confidence float64) (value, lo, hi float64) {
	runs = known(runs)
	var logs []float64
	for _, v := range runs {
		logs = append(logs, math.Log(v))
	}
	plain, e := Independent(runs), Independent(logs)
	if len(runs) == 1 || math.IsInf(e.Value, -1) || math.IsNaN(e.Value) {
		lo, hi = plain.Interval(confidence)
		return plain.Value, max(lo, 0), hi
	}
	lo, hi = e.Interval(confidence)
	return math.Exp(e.Value), math.Exp(lo), math.Exp(hi)
}

// mostAlike is the highest autocorrelation of values for which the error of their mean
// can still be determined.
const mostAlike = 0.95

// Successive estimates the mean of values that follow each other in time and may
// resemble their neighbours. Such values contain less information than independent
// ones: the error is corrected for the correlation of each with the one before it (a
// first-order autoregression, estimated conservatively), and the degrees of freedom are
// those of the equivalent number of independent values. NaN values are left out.
func Successive(vals []float64) Estimate {
	e := Independent(vals)
	vals = known(vals)
	n := float64(len(vals))
	if n < 3 || e.SE == 0 {
		return e
	}
	r := alike(vals, e.Value)
	// A short series underestimates the correlation, and the estimate is also subject
	// to chance, for which half a standard error is added to be on the safe side.
	r += (1+4*r)/n + math.Sqrt((1-r*r)/n)/2
	r = min(max(r, 0), mostAlike)
	// The variance of the mean is that of one value, times f, over n.
	f, power := 1.0, 1.0
	for k := 1.0; k < n; k++ {
		power *= r
		f += 2 * (1 - k/n) * power
	}
	f = min(f, n-1)
	own := e.SE * e.SE * n * (n - 1) / (n - f) // deviations from the series' own mean are too small
	return Estimate{Value: e.Value, SE: math.Sqrt(own * f / n), DF: max(n/f-1, 1)}
}

// FromOneToTheNext estimates how much a value differs from the next one, given values in
// the order of time: the standard deviation that follows from the differences between
// neighbours, in which a lasting change counts once. It returns that deviation as the error
// of their mean were it one value; unknown for fewer than two. NaN values are left out.
func FromOneToTheNext(vals []float64) Estimate {
	vals = known(vals)
	n := float64(len(vals))
	if n < 2 {
		return Unknown()
	}
	sum := 0.0
	for i := 1; i < len(vals); i++ {
		d := vals[i] - vals[i-1]
		sum += d * d
	}
	// Neighbouring differences share a value, and so are worth less than as many others.
	return Estimate{Value: average(vals), SE: math.Sqrt(sum / (2 * (n - 1))), DF: max(2*(n-1)*(n-1)/(3*n-4), 1)}
}

// alike returns the correlation of each value with the next.
func alike(vals []float64, mean float64) float64 {
	var with, own float64
	for i, v := range vals {
		own += (v - mean) * (v - mean)
		if i > 0 {
			with += (v - mean) * (vals[i-1] - mean)
		}
	}
	return with / own
}

// Difference returns b − a for two independent estimates.
func Difference(a, b Estimate) Estimate {
	va, vb := a.SE*a.SE, b.SE*b.SE
	d := Estimate{Value: b.Value - a.Value, SE: math.Sqrt(va + vb)}
	switch {
	case va+vb == 0:
		d.DF = a.DF + b.DF
	default: // Welch–Satterthwaite
		d.DF = (va + vb) * (va + vb) / (va*va/a.DF + vb*vb/b.DF)
	}
	return d
}

// Between estimates the difference of the means of two sets of independent values, b −
// a, with the error derived from the scatter of the values. A set of one value is
// assumed to scatter as the other does; with two sets of one value, the error is
// unknown.
func Between(a, b []float64) Estimate {
	a, b = known(a), known(b)
	if len(a) == 0 || len(b) == 0 {
		return Unknown()
	}
	if len(a) > 1 && len(b) > 1 && len(a) != len(b) {
		return Difference(Independent(a), Independent(b))
	}
	na, nb := float64(len(a)), float64(len(b))
	ma, mb := average(a), average(b)
	d := Estimate{Value: mb - ma, SE: math.NaN(), DF: na + nb - 2}
	if d.DF >= 1 {
		d.SE = math.Sqrt((squares(a, ma) + squares(b, mb)) / d.DF * (1/na + 1/nb))
	}
	return d
}

const (
	// drifting is the probability below which Paired considers the pairs to differ by more
	// than chance.
	drifting = 0.1
	// manyPairs is how many pairs tell hardly less than as many values that are not paired.
	manyPairs = 8
)

// Paired estimates the difference of the means of values measured in pairs, b − a, with
// the error derived from the scatter of the differences. It also reports whether that is the
// estimate to use: always if there are many pairs; of few only if they differ among themselves by
// more than chance, as otherwise Between tells more. That choice favours differences that agree by
// chance, see Chosen. a and b must have the same length; any NaN makes the result unknown.
func Paired(a, b []float64) (Estimate, bool) {
	n := float64(len(a))
	if len(a) < 2 || len(known(a)) < len(a) || len(known(b)) < len(a) {
		return Unknown(), false
	}
	differences, means := make([]float64, len(a)), make([]float64, len(a))
	for i := range a {
		differences[i], means[i] = b[i]-a[i], (a[i]+b[i])/2
	}
	d := Independent(differences)
	if len(a) >= manyPairs {
		return d, true
	}
	between := Independent(means)
	return d, 4*between.SE*between.SE/(d.SE*d.SE) > variances(1-drifting, n-1)
}

// chosenBy is by how much the error of few pairs grows for having been chosen.
const chosenBy = 1.25

// Chosen adds to an estimate of Paired what its choice takes, if nothing else is known of its error:
// with few pairs, a quarter of the error and a degree of freedom. Without that, there are 8 false
// alarms in 100 where 5 are allowed.
func Chosen(d Estimate) Estimate {
	if d.DF < manyPairs-1 {
		d.SE, d.DF = d.SE*chosenBy, max(d.DF-1, 1)
	}
	return d
}

// average returns the mean of values, of which there is at least one.
func average(vals []float64) float64 {
	sum := 0.0
	for _, v := range vals {
		sum += v
	}
	return sum / float64(len(vals))
}

// squares returns the sum of the squared deviations from the mean. What rounding took from
// the mean is given back.
func squares(vals []float64, mean float64) float64 {
	sum, rest := 0.0, 0.0
	for _, v := range vals {
		sum += (v - mean) * (v - mean)
		rest += v - mean
	}
	return sum - rest*rest/float64(len(vals))
}

func known(vals []float64) []float64 {
	out := make([]float64, 0, len(vals))
	for _, v := range vals {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}
