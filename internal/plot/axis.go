package plot

import (
	"fmt"
	"math"
)

// even are natural steps for times in seconds.
var even = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400}

// Seconds returns the labelled moments of an axis of from..to: in natural steps of at
// least that many seconds, and so that there are at most so many parts.
func Seconds(from, to, least, parts float64) []float64 {
	step := even[len(even)-1]
	for _, s := range even {
		if s >= least && (to-from)/s <= parts*(1+1e-9) {
			step = s
			break
		}
	}
	for parts > 0 && (to-from)/step > parts {
		step *= 2
	}
	var out []float64
	for i := math.Ceil(from / step); i*step <= to+1e-9; i++ {
		out = append(out, i*step)
	}
	return out
}

// At tells a moment of a run in a sentence, where nothing else says that it is no time of day: 00:47 of the run.
func At(seconds float64) string { return Clock(seconds) + " of the run" }

// Between tells a part of a run in a sentence: 00:10 to 00:14 of the run.
func Between(from, to float64) string { return Clock(from) + " to " + At(to) }

// Clock writes a moment or a length of a run, on axes and in tables: 00:47, 1:02:03, −00:05 in warm-up,
// and 00:47.3 if it is no whole second. A sentence has At or Between.
func Clock(seconds float64) string {
	n := int(math.Round(seconds * 10))
	sign := ""
	if n < 0 {
		sign, n = "−", -n
	}
	s := n / 10
	text := fmt.Sprintf("%02d:%02d", s/60, s%60)
	if s >= 3600 {
		text = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	if n%10 != 0 {
		text += fmt.Sprintf(".%d", n%10)
	}
	return sign + text
}
