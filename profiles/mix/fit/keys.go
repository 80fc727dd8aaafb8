package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfbench/perfbench/profiles/mix/model"
)

const (
	// enough is how many calls a key must have for its rank to be known, but for its neighbours'.
	enough = 20
	// fewest is how many such keys a fit needs.
	fewest = 10
	// even is the exponent below which keys are taken to be equally likely.
	even = 0.12
	// mostExponent is the largest that is looked for.
	mostExponent = 4
)

// distribution fits the distribution of the calls over the keys, and says how well it fits. Only
// keys of so many calls that their rank is known decide: given that a call is about one of
// the K hottest, it is about rank i with a probability in proportion to i^-s, whatever the others
// do.
func (s *of) distribution() (model.Keys, []string) {
	counts := make([]int64, 0, len(s.keys))
	for _, n := range s.keys {
		counts = append(counts, n)
	}
	slices.SortFunc(counts, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	k := 0
	for k < len(counts) && counts[k] >= enough {
		k++
	}
	if k < fewest {
		return model.Keys{Kind: model.Uniform}, []string{fmt.Sprintf("%s: too few keys have %d calls to tell how calls are spread over them; taken as equally likely.", s.name, enough)}
	}
	exponent := zipf(counts[:k])
	if exponent < even {
		return model.Keys{Kind: model.Uniform}, []string{fmt.Sprintf("%s: calls are spread evenly over the keys.", s.name)}
	}
	exponent = math.Round(exponent*100) / 100
	return model.Keys{Kind: model.Zipf, Exponent: exponent}, []string{fmt.Sprintf("%s: zipf %.2f, from the %d hottest keys; the largest gap to it in their shares is %.1f %%.", s.name, exponent, k, 100*gap(counts[:k], exponent))}
}

// zipf returns the exponent under which these counts, by rank, are most likely.
func zipf(counts []int64) float64 {
	total, logs := 0.0, 0.0
	for i, n := range counts {
		total += float64(n)
		logs += float64(n) * math.Log(float64(i+1))
	}
	// The likelihood has one peak, where the mean logarithm of the rank is the expected one.
	lo, hi := 0.0, float64(mostExponent)
	for range 50 {
		s := (lo + hi) / 2
		weight, expected := 0.0, 0.0
		for i := range counts {
			w := math.Pow(float64(i+1), -s)
			weight += w
			expected += w * math.Log(float64(i+1))
		}
		if expected/weight > logs/total {
			lo = s
		} else {
			hi = s
		}
	}
	return (lo + hi) / 2
}

// gap is the largest difference between the shares of the hottest keys and those of Zipf's law
// (Kolmogorov and Smirnov).
func gap(counts []int64, exponent float64) float64 {
	total, weight := 0.0, 0.0
	for i, n := range counts {
		total += float64(n)
		weight += math.Pow(float64(i+1), -exponent)
	}
	is, should, worst := 0.0, 0.0, 0.0
	for i, n := range counts {
		is += float64(n) / total
		should += math.Pow(float64(i+1), -exponent) / weight
		worst = max(worst, math.Abs(is-should))
	}
	return worst
}
