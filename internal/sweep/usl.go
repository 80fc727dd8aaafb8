package sweep

import (
	"math"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Sample is a throughput, in units per second, measured with N threads.
type Sample struct{ N, X float64 }

// FitKnown is a figure with its 95 % confidence interval.
type FitKnown struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	// High is nil if there is no upper bound.
	High *float64 `json:"high"`
}

// Fit is the law fitted to the measurements, by relative deviation.
type Fit struct {
	// Lambda is the throughput of one thread, Sigma the coefficient of contention, and
	// Kappa that of coherence, the cost of each pair of threads. The latter two are at
	// least 0.
	Lambda FitKnown `json:"lambda"`
	Sigma  FitKnown `json:"sigma"`
	Kappa  FitKnown `json:"kappa"`
	// Peak is the number of threads above which throughput falls by the law; nil if it
	// never does.
	Peak *FitKnown `json:"peak"`
	// Off is how far points typically lie from the law: 0.05 is 5 %.
	Off float64 `json:"off"`
}

// At returns the throughput predicted by the law for n threads.
func (f *Fit) At(n float64) float64 {
	return f.Lambda.Value * n / (1 + f.Sigma.Value*(n-1) + f.Kappa.Value*n*(n-1))
}

// LeastLevels is how many different numbers of threads a fit needs.
const LeastLevels = 4

const confidence = 0.95

// FitLaw fits the law. It returns nil if the points have fewer than LeastLevels different
// numbers of threads. Points without throughput are left out. The errors of points are
// assumed to be independent, and proportional to their values.
func FitLaw(points []Sample) *Fit {
	points = slices.DeleteFunc(slices.Clone(points), func(p Sample) bool { return !(p.X > 0) || !(p.N > 0) || math.IsInf(p.X, 0) })
	levels := map[float64]bool{}
	for _, p := range points {
		levels[p.N] = true
	}
	if len(levels) < LeastLevels {
		return nil
	}
	free := solve(points, []int{0, 1, 2})
	if free == nil {
		return nil
	}
	best := free
	if free.theta[1] < 0 || free.theta[2] < 0 {
		best = bounded(points)
	}
	if best == nil {
		return nil
	}
	t := stat.T(confidence, free.df)
	f := &Fit{Off: rounded(math.Sqrt(best.rss / best.df))}
	se := func(i int) float64 { return math.Sqrt(max(free.cov[i][i], 0)) }
	f.Lambda = around(math.Exp(best.theta[0]), math.Exp(free.theta[0]-t*se(0)), math.Exp(free.theta[0]+t*se(0)))
	f.Sigma = around(best.theta[1], max(free.theta[1]-t*se(1), 0), free.theta[1]+t*se(1))
	f.Kappa = around(best.theta[2], max(free.theta[2]-t*se(2), 0), free.theta[2]+t*se(2))
	f.Peak = best.peak(f.Kappa.Low > 0)
	return f
}

// around returns a value with its interval, extended to contain the value.
func around(v, low, high float64) FitKnown {
	v = rounded(v)
	high = rounded(max(high, v))
	return FitKnown{Value: v, Low: rounded(min(low, v)), High: &high}
}

// rounded returns v with six digits: no figure here is more precise, and processors
// differ in the last digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil { // beyond the range of numbers
		return v
	}
	return r
}

// solution is the law with some of its parameters fixed at 0: log λ, σ, κ.
type solution struct {
	theta   [3]float64
	cov     [3][3]float64 // of theta
	rss, df float64
}

// peak returns where the law has its highest throughput. The error of its logarithm
// follows from those of the parameters; if κ is not clearly above 0, there is no upper
// bound.
func (s *solution) peak(bounded bool) *FitKnown {
	sigma, kappa := s.theta[1], s.theta[2]
	if kappa <= 0 {
		return nil
	}
	if sigma >= 1 || kappa >= 1-sigma {
		one := 1.0
		return &FitKnown{Value: 1, Low: 1, High: &one}
	}
	at := math.Sqrt((1 - sigma) / kappa)
	g := [3]float64{0, -1 / (2 * (1 - sigma)), -1 / (2 * kappa)}
	variance := 0.0
	for i := range g {
		for j := range g {
			variance += g[i] * s.cov[i][j] * g[j]
		}
	}
	by := math.Exp(stat.T(confidence, s.df) * math.Sqrt(max(variance, 0)))
	k := around(at, max(at/by, 1), at*by)
	if !bounded {
		k.High = nil
	}
	return &k
}

// bounded returns the best fit among the laws in which σ, κ or both are 0, and neither
// is negative.
func bounded(points []Sample) *solution {
	var best *solution
	for _, columns := range [][]int{{0, 2}, {0, 1}, {0}} {
		s := solve(points, columns)
		if s != nil && s.theta[1] >= 0 && s.theta[2] >= 0 && (best == nil || s.rss < best.rss) {
			best = s
		}
	}
	return best
}

// mostSteps is the largest number of steps of a solution; usually a handful suffice.
const mostSteps = 50

// solve minimizes the squared residuals of log X over the parameters of the given
// columns, by the Gauss–Newton method with steps that are halved until they improve the
// result. It starts from a store that scales ideally. It returns nil if the points do
// not determine the parameters.
func solve(points []Sample, columns []int) *solution {
	s := &solution{df: float64(len(points) - len(columns))}
	for _, p := range points {
		s.theta[0] += math.Log(p.X/p.N) / float64(len(points))
	}
	rss, _ := s.residuals(points)
	for range mostSteps {
		_, r := s.residuals(points)
		step, _, ok := leastSquares(s.slopes(points, columns), r)
		if !ok {
			return nil
		}
		before, was := s.theta, rss
		for share := 1.0; share > 1e-6; share /= 2 {
			s.theta = before
			for i, c := range columns {
				s.theta[c] += share * step[i] / s.scale(points, c)
			}
			if rss, _ = s.residuals(points); rss <= was {
				break
			}
			s.theta, rss = before, was
		}
		if was-rss <= 1e-12*was {
			break
		}
	}
	s.rss = rss
	return s.withError(points, columns)
}

// residuals returns how far log X is above the law; +Inf in all if the law is undefined
// there.
func (s *solution) residuals(points []Sample) (sum float64, out []float64) {
	for _, p := range points {
		d := s.divisor(p.N)
		if !(d > 0) {
			return math.Inf(1), out
		}
		r := math.Log(p.X/p.N) - s.theta[0] + math.Log(d)
		out = append(out, r)
		sum += r * r
	}
	return sum, out
}

func (s *solution) divisor(n float64) float64 { return 1 + s.theta[1]*(n-1) + s.theta[2]*n*(n-1) }

// scale returns the divisor of a column of slopes that makes the columns similar in
// size.
func (*solution) scale(points []Sample, column int) float64 {
	most := 1.0
	for _, p := range points {
		most = max(most, p.N)
	}
	return math.Pow(most, float64(column))
}

// slopes returns the scaled derivatives of the law with respect to its parameters at
// each point, parameter by parameter.
func (s *solution) slopes(points []Sample, columns []int) [][]float64 {
	out := make([][]float64, len(columns))
	for k, c := range columns {
		for _, p := range points {
			d := s.divisor(p.N)
			all := [3]float64{1, -(p.N - 1) / d, -p.N * (p.N - 1) / d}
			out[k] = append(out[k], all[c]/s.scale(points, c))
		}
	}
	return out
}

// withError adds the standard errors of the parameters.
func (s *solution) withError(points []Sample, columns []int) *solution {
	_, r := s.residuals(points)
	_, inverse, ok := leastSquares(s.slopes(points, columns), r)
	if !ok {
		return nil
	}
	for i, a := range columns {
		for k, b := range columns {
			s.cov[a][b] = s.rss / s.df * inverse[i][k] / s.scale(points, a) / s.scale(points, b)
		}
	}
	return s
}
