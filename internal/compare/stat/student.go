package stat

import "math"

// tail returns the probability that a value of Student's distribution with df degrees of
// freedom is farther than t from 0.
func tail(t, df float64) float64 {
	far := t * t / df
	return incompleteBeta(1/(1+far), 1/(1+1/far), df/2, 0.5, gammas(df/2)/math.Sqrt(math.Pi))
}

// quantile returns how far from 0 a value of Student's distribution lies with the given
// confidence at most; df is at least 1.
func quantile(confidence, df float64) float64 {
	// A normal value is nearer, and from there on tail is convex: each of Newton's steps
	// leads closer, and none too far.
	t := normalQuantile(confidence)
	for range 200 {
		density := gammas(df/2) / math.Sqrt(df*math.Pi) * math.Exp(-(df+1)/2*math.Log1p(t*t/df))
		step := (tail(t, df) - (1 - confidence)) / (2 * density)
		if !(step > 1e-15*t) || math.IsInf(t, 1) {
			break
		}
		t += step
	}
	return t
}

// normalQuantile is quantile for the normal distribution.
func normalQuantile(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// variances returns the quantile p of the ratio of two variances that are estimated with
// df degrees of freedom each: of the F distribution, which for equal degrees of freedom
// follows from Student's (Cacoullos 1965).
func variances(p, df float64) float64 {
	u := T(2*p-1, df) / math.Sqrt(df)
	root := u + math.Sqrt(1+u*u)
	return root * root
}

// gammas returns Γ(b+½)/Γ(b).
func gammas(b float64) float64 {
	if b < 100 {
		return math.Gamma(b+0.5) / math.Gamma(b)
	}
	i := 1 / (8 * b)
	return math.Sqrt(b) * (1 - i*(1-i/2*(1+i*(5-i*21./4))))
}

// away returns v, or least if it is nearer to 0.
func away(v, least float64) float64 {
	if math.Abs(v) < least {
		return least
	}
	return v
}

// incompleteBeta returns the regularized incomplete beta function I of x, for y = 1−x and
// scale = 1/B(a, b), by its continued fraction (DLMF 8.17.22) as Lentz evaluates it.
func incompleteBeta(x, y, a, b, scale float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	case x > (a+1)/(a+b+2): // the fraction converges fast below
		return 1 - incompleteBeta(y, x, b, a, scale)
	}
	const tiny, most, close = 1e-300, 100_000, 3e-16
	fraction, c, d := 1.0, 1.0, 0.0
	for i := 1; i < most; i++ {
		m := float64(i / 2)
		term := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		if i%2 == 1 {
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		c, d = away(1+term/c, tiny), 1/away(1+term*d, tiny)
		fraction *= c * d
		if math.Abs(c*d-1) < close {
			break
		}
	}
	logX, logY := math.Log(x), math.Log1p(-x)
	if x > 0.5 { // the smaller of the two has all its digits
		logX, logY = math.Log1p(-y), math.Log(y)
	}
	return scale / a * math.Exp(a*logX+b*logY) / fraction
}
