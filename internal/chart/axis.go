package chart

import (
	"fmt"
	"math"
)

// pageTicks is the greatest number of parts into which an axis is divided.
const pageTicks = 8

// even are natural steps for times in seconds.
var even = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400}

// Seconds returns the labelled positions of an axis that shows from..to, in natural
// steps.
func Seconds(from, to float64) []float64 {
	step := even[len(even)-1]
	for _, s := range even {
		if (to-from)/s <= pageTicks {
			step = s
			break
		}
	}
	for (to-from)/step > pageTicks {
		step *= 2
	}
	var out []float64
	for i := math.Ceil(from / step); i*step <= to+1e-9; i++ {
		out = append(out, i*step)
	}
	return out
}

// Clock formats a second of a run, given its last one: "12 s" or, for longer runs,
// "02:05" and "1:02:05".
func Clock(s, last float64) string {
	sign := ""
	if s < 0 {
		sign = "−"
		s = -s
	}
	whole := int(s)
	switch {
	case last <= 120 && s != math.Trunc(s):
		return fmt.Sprintf("%s%.1f s", sign, s)
	case last <= 120:
		return fmt.Sprintf("%s%d s", sign, whole)
	case last < 3600:
		return fmt.Sprintf("%s%02d:%02d", sign, whole/60, whole%60)
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, whole/3600, whole/60%60, whole%60)
}
