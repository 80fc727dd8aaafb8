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

// Clock is a way to write a moment of a run in minutes and seconds.
type Clock struct {
	// Minus goes before a moment of warm-up.
	Minus string
	// Padded writes minutes with two digits, Tenths parts of a second where there are
	// any.
	Padded, Tenths bool
}

// The ways in use: on screens and pages "00:47", in lines of progress "0:47.3", and in
// sentences "0:47". From an hour on all of them are like 1:02:03.
var (
	OnScreen = Clock{Minus: "−", Padded: true}
	InLines  = Clock{Minus: "-", Tenths: true}
	InWords  = Clock{Minus: "-"}
)

// text writes a moment given in tenths of a second; hours says that there may be hours
// although this moment has none.
func (c Clock) text(n int, hours bool) string {
	sign := ""
	if n < 0 {
		sign, n = c.Minus, -n
	}
	s := n / 10
	var text string
	switch {
	case hours || s >= 3600:
		text = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	case c.Padded:
		text = fmt.Sprintf("%02d:%02d", s/60, s%60)
	default:
		text = fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	if c.Tenths && n%10 != 0 {
		text += fmt.Sprintf(".%d", n%10)
	}
	return sign + text
}

// At writes a moment in seconds: rounded to tenths if those are shown, otherwise cut to
// whole seconds.
func (c Clock) At(second float64) string {
	if c.Tenths {
		return c.text(int(math.Round(second*10)), false)
	}
	return c.text(10*int(second), false)
}

// Moment writes a second of a run on an axis, given the last one there: "12 s" or, for
// longer runs, as on screens, with hours if the last one has them.
func Moment(s, last float64) string {
	if last > 120 {
		return OnScreen.text(10*int(s), last >= 3600)
	}
	sign := ""
	if s < 0 {
		sign, s = OnScreen.Minus, -s
	}
	if s != math.Trunc(s) {
		return fmt.Sprintf("%s%.1f s", sign, s)
	}
	return fmt.Sprintf("%s%d s", sign, int(s))
}
