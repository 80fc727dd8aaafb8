package measure

import (
	"regexp"
	"strconv"
)

var percentile = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,4})?)$`)

// ParsePercentile parses the name of a percentile, such as p50, p95.5 or p99.99:
// above p0, below p100, with at most four decimals.
func ParsePercentile(name string) (float64, bool) {
	m := percentile.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v, err == nil && v > 0
}

// beyond is how many samples must lie beyond a percentile before it is shown.
// With k samples beyond it, the rank of a percentile is uncertain by about 1/√k
// of the share beyond: with ten, what is called p99.9 lies between p99.87 and
// p99.93 two times out of three. With one it is just the maximum under another
// name.
const beyond = 10

// Enough reports whether n samples are enough to show a percentile: p50 takes 20,
// p90 100, p95 200, p99 1,000, p99.9 10,000 and p99.99 100,000.
func Enough(percentile float64, n int64) bool {
	const rounding = 1e-6 // 100-99.9 is slightly less than a tenth
	return float64(n)*(100-percentile)/100 >= beyond-rounding
}

// Needs returns how many samples are needed to show a percentile.
func Needs(percentile float64) int64 {
	return int64(100*beyond/(100-percentile) + 0.5)
}

// MostlyOurs is the share of perfbench's own lateness in a percentile from which on that says little about
// the store, and is not judged.
const MostlyOurs = 0.5

// Hidden stands for a percentile that is not shown because too few samples
// support it.
const Hidden = -1

// Shown returns s with Hidden in place of every percentile that too few samples
// support.
func (s Summary) Shown() Summary {
	for i, v := range s.percentiles() {
		if !Enough(percentiles[i], s.Count) {
			*v = Hidden
		}
	}
	return s
}

// Worst returns the highest of each figure of several summaries, and the lowest minimum, as
// shown. A percentile is hidden if one that has too few samples for it may be above what
// the others have: its own lower ones are. So is each above a hidden one: nobody expects p99.9
// where there is no p99.
func Worst(list []Summary) Summary {
	var out Summary
	var hidden [6]bool
	for n, s := range list {
		s = s.Shown()
		for i, v := range s.percentiles() {
			hidden[i] = hidden[i] || *v == Hidden
		}
		if n == 0 {
			out = s
			continue
		}
		out.Count, out.Mean, out.Min, out.Max = out.Count+s.Count, max(out.Mean, s.Mean), min(out.Min, s.Min), max(out.Max, s.Max)
		for i, v := range s.percentiles() {
			to := out.percentiles()[i]
			*to = max(*to, *v)
		}
	}
	least, hides := int64(0), false
	for i, v := range out.percentiles() {
		if least = max(least, *v); hides || hidden[i] && *v < least {
			*v, hides = Hidden, true
		}
	}
	return out
}

// Moment is the summary of the calls of a moment, of which only these times are known; the other percentiles
// are Hidden.
func Moment(calls, p50, p99, most int64) Summary {
	return Summary{Count: calls, P50: p50, P90: Hidden, P95: Hidden, P99: p99, P999: Hidden, P9999: Hidden, Max: most}
}

// percentiles returns them in rising order.
func (s *Summary) percentiles() []*int64 {
	return []*int64{&s.P50, &s.P90, &s.P95, &s.P99, &s.P999, &s.P9999}
}
