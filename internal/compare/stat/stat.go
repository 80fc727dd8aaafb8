// Package stat says how far chance may have moved a figure: of values that resemble
// their neighbours, as the seconds of a run do, and of values that are independent,
// as runs are. Everything in it is a pure function.
package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a figure and how far chance may have moved it.
type Estimate struct {
	Value float64
	// SE is the standard error of the value, NaN where nothing tells it, and DF the
	// degrees of freedom behind that error.
	SE, DF float64
}

// Unknown is the estimate of what was not measured.
func Unknown() Estimate { return Estimate{Value: math.NaN(), SE: math.NaN()} }

// Interval is where the true figure lies with the given confidence, 0.95 for 95 %:
// the whole line where the error is unknown.
func (e Estimate) Interval(confidence float64) (lo, hi float64) {
	if math.IsNaN(e.SE) {
		return math.Inf(-1), math.Inf(1)
	}
	by := e.SE * T(confidence, e.DF)
	return e.Value - by, e.Value + by
}

// Certainty is with how much of it the true figure is not 0: the confidence of the
// interval that just reaches it. It is NaN where the error is unknown.
func (e Estimate) Certainty() float64 {
	switch {
	case math.IsNaN(e.SE):
		return math.NaN()
	case !(e.DF >= 1) || e.Value == 0:
		return 0
	case e.DF > muchDF:
		return 1 - 2*distuv.UnitNormal.Survival(math.Abs(e.Value)/e.SE)
	}
	return 1 - 2*distuv.StudentsT{Sigma: 1, Nu: e.DF}.Survival(math.Abs(e.Value)/e.SE)
}

// muchDF are degrees of freedom with which Student's distribution is the normal one.
const muchDF = 1e6

// T is how many standard errors an interval of the given confidence reaches to either
// side, by Student's distribution with df degrees of freedom; +Inf for less than one.
func T(confidence, df float64) float64 {
	switch {
	case !(df >= 1):
		return math.Inf(1)
	case df > muchDF:
		return distuv.UnitNormal.Quantile((1 + confidence) / 2)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1 + confidence) / 2)
}

// Independent is the mean of values of which none tells about another. NaN among them
// is left out.
func Independent(vals []float64) Estimate {
	vals = known(vals)
	n := float64(len(vals))
	switch len(vals) {
	case 0:
		return Unknown()
	case 1:
		return Estimate{Value: vals[0], SE: math.NaN()}
	}
	mean, dev := stat.MeanStdDev(vals, nil)
	return Estimate{Value: mean, SE: dev / math.Sqrt(n), DF: n - 1}
}

// mostAlike is how much a value may resemble the one before it for their mean to have
// an error that can be told.
const mostAlike = 0.95

// Successive is the mean of values that follow each other in time and may resemble
// their neighbours. Such values tell less than independent ones would: the error is
// corrected for the resemblance of each to the one before it (an autoregression of
// the first order, estimated on the safe side), and the degrees
// of freedom are those of as many independent values as would tell as much. NaN among
// them is left out.
func Successive(vals []float64) Estimate {
	e := Independent(vals)
	vals = known(vals)
	n := float64(len(vals))
	if n < 3 || e.SE == 0 {
		return e
	}
	r := alike(vals, e.Value)
	// A short series shows less resemblance than there is; and what is seen of it is off by
	// chance, of which the half on the safe side is added.
	r += (1+4*r)/n + math.Sqrt((1-r*r)/n)/2
	r = min(max(r, 0), mostAlike)
	// The variance of the mean is that of one value, times f, over n.
	f, power := 1.0, 1.0
	for k := 1.0; k < n; k++ {
		power *= r
		f += 2 * (1 - k/n) * power
	}
	f = min(f, n-1)
	own := e.SE * e.SE * n * (n - 1) / (n - f) // the deviation from their own mean is too small
	return Estimate{Value: e.Value, SE: math.Sqrt(own * f / n), DF: max(n/f-1, 1)}
}

// alike is the correlation of each value with the next.
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

// Difference is b − a of two estimates that do not depend on each other.
func Difference(a, b Estimate) Estimate {
	va, vb := a.SE*a.SE, b.SE*b.SE
	d := Estimate{Value: b.Value - a.Value, SE: math.Sqrt(va + vb)}
	switch {
	case va+vb == 0:
		d.DF = a.DF + b.DF
	default: // after Welch and Satterthwaite
		d.DF = (va + vb) * (va + vb) / (va*va/a.DF + vb*vb/b.DF)
	}
	return d
}

// Between is the difference of the means of two sets of independent values, b − a,
// with the error that the scatter of the values tells. A set of one value is taken to
// scatter as the other does; two sets of one tell no error.
func Between(a, b []float64) Estimate {
	a, b = known(a), known(b)
	if len(a) == 0 || len(b) == 0 {
		return Unknown()
	}
	if len(a) > 1 && len(b) > 1 && len(a) != len(b) {
		return Difference(Independent(a), Independent(b))
	}
	na, nb := float64(len(a)), float64(len(b))
	d := Estimate{Value: stat.Mean(b, nil) - stat.Mean(a, nil), SE: math.NaN(), DF: na + nb - 2}
	if d.DF >= 1 {
		d.SE = math.Sqrt((squares(a) + squares(b)) / d.DF * (1/na + 1/nb))
	}
	return d
}

// drifting is how seldom chance makes pairs differ as much as it takes for Paired to say
// that they do.
const drifting = 0.1

// Paired is the difference of the means of values that were measured in pairs, b − a, with
// the error that the scatter of the differences tells. It also says whether the pairs
// differ among themselves by more than chance. Where they do not, values of a pair are no
// closer than others, and Between tells more. As many of b as of a; NaN makes it unknown.
func Paired(a, b []float64) (Estimate, bool) {
	n := float64(len(a))
	if len(a) < 2 || len(known(a)) < len(a) || len(known(b)) < len(a) {
		return Unknown(), false
	}
	differences, means := make([]float64, len(a)), make([]float64, len(a))
	for i := range a {
		differences[i], means[i] = b[i]-a[i], (a[i]+b[i])/2
	}
	mean, dev := stat.MeanStdDev(differences, nil)
	ratio := 4 * stat.Variance(means, nil) / (dev * dev)
	most := distuv.F{D1: n - 1, D2: n - 1}.Quantile(1 - drifting)
	return Estimate{Value: mean, SE: dev / math.Sqrt(n), DF: n - 1}, ratio > most
}

// squares is the sum of the squared deviations from the mean.
func squares(vals []float64) float64 {
	mean, sum := stat.Mean(vals, nil), 0.0
	for _, v := range vals {
		sum += (v - mean) * (v - mean)
	}
	return sum
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
