package measure

import (
	"regexp"
	"strconv"
)

var percentile = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,4})?)$`)

// ParsePercentile reads the name of a percentile, such as p50, p95.5 or p99.99: more than
// p0, less than p100, four decimals at most.
func ParsePercentile(name string) (float64, bool) {
	m := percentile.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v, err == nil && v > 0
}
