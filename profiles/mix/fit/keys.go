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
	// alike is by how much exponents may differ of operations that are said to have one distribution.
	alike = 0.05
	// newest is of how many keys that were put there last it is counted how often they are named, and
	// followed which part of the calls must be about them for these to follow the newest.
	newest   = 100
	followed = 0.1
	// mostExponent is the largest that is looked for.
	mostExponent = 4
)

// distributions fits the distribution of each action's calls over the keys, and says how well each
// fits. An action with too few calls has that of all which do not follow the newest keys.
func (s *of) distributions() (map[action]model.Keys, []string) {
	all, out := make([]int64, len(s.keys)), map[action]model.Keys{}
	var notes []string
	var rest []action
	for _, a := range mostFirst(s.calls, func(a action) (calls int64, name string) { return s.calls[a].calls, string(a.do) }) {
		n := s.calls[a]
		if keys, note, is := n.latest(s.title(a)); is {
			out[a] = keys
			notes = append(notes, note)
			continue
		}
		rest = append(rest, a)
		for i, k := range n.by {
			all[i] += int64(k)
		}
	}
	if len(rest) == 0 {
		return out, notes
	}
	together, note := distribution(s.name, all)
	notes = append(notes, note)
	for _, a := range rest {
		out[a] = together
		var counts []int64
		for _, k := range s.calls[a].by {
			counts = append(counts, int64(k))
		}
		if len(rest) < 2 || len(hottest(counts)) < fewest {
			continue
		}
		if keys, note := distribution(s.title(a), counts); keys.Kind != together.Kind || math.Abs(keys.Exponent-together.Exponent) > alike {
			out[a] = keys
			notes = append(notes, note)
		}
	}
	return out, notes
}

// title names the calls of an action.
func (s *of) title(a action) string {
	if a.batch {
		return fmt.Sprintf("%s, %s of several", s.name, a.do)
	}
	return fmt.Sprintf("%s, %s", s.name, a.do)
}

// latest fits how calls are spread over the newest keys, counted back from the one that was put there
// last; is: they follow these. Given that a call is about one of them, it is about the i-th newest
// with a probability in proportion to i^-s.
func (n *counts) latest(name string) (keys model.Keys, note string, is bool) {
	total := int64(0)
	for _, k := range n.recent {
		total += k
	}
	if total < enough*newest || float64(total) < followed*float64(n.aged) {
		return model.Keys{}, "", false
	}
	exponent := math.Round(zipf(n.recent[:])*100) / 100
	if exponent < even {
		return model.Keys{}, "", false
	}
	return model.Keys{Kind: model.Latest, Exponent: exponent}, fmt.Sprintf("%s: latest %.2f, from the %d keys that were put there last, which %.0f %% of its calls are about; the largest gap to it in their shares is %.1f %%.",
		name, exponent, newest, 100*float64(total)/float64(n.aged), 100*gap(n.recent[:], exponent)), true
}

// hottest are the counts of those keys, the most frequent first, whose rank is known. It sorts.
func hottest(counts []int64) []int64 {
	slices.SortFunc(counts, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	k := 0
	for k < len(counts) && counts[k] >= enough {
		k++
	}
	return counts[:k]
}

// distribution fits the distribution of calls over the keys, and says how well it fits. Only
// keys of so many calls that their rank is known decide: given that a call is about one of
// the K hottest, it is about rank i with a probability in proportion to i^-s, whatever the others
// do.
func distribution(name string, counts []int64) (model.Keys, string) {
	hot := hottest(counts)
	if len(hot) < fewest {
		return model.Keys{Kind: model.Uniform}, fmt.Sprintf("%s: too few keys have %d calls to tell how calls are spread over them; taken as equally likely.", name, enough)
	}
	exponent := zipf(hot)
	if exponent < even {
		return model.Keys{Kind: model.Uniform}, fmt.Sprintf("%s: calls are spread evenly over the keys; the largest gap to that in the shares of the %d hottest is %.1f %%.", name, len(hot), 100*gap(hot, 0))
	}
	exponent = math.Round(exponent*100) / 100
	return model.Keys{Kind: model.Zipf, Exponent: exponent}, fmt.Sprintf("%s: zipf %.2f, from the %d hottest keys; the largest gap to it in their shares is %.1f %%.", name, exponent, len(hot), 100*gap(hot, exponent))
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
