package picker

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// times are the durations that ←→ step through.
var times = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// auto is the length of a warm-up that ends by itself.
const auto = "auto"

// nextTime returns the duration after or before one. Below the first the default
// applies; auto comes in between if it is allowed as a length.
func nextTime(text string, by int, mayAuto bool) string {
	now, err := units.ParseDuration(text)
	if text == auto {
		now, err = 0, nil
		mayAuto = false
	}
	if err != nil {
		if by > 0 {
			return units.Typed(10 * time.Second)
		}
		return ""
	}
	if by > 0 {
		for _, t := range times {
			if t > now {
				return units.Typed(t)
			}
		}
		return units.Typed(now)
	}
	for _, t := range slices.Backward(times) {
		if t < now {
			return units.Typed(t)
		}
	}
	if mayAuto {
		return auto
	}
	return ""
}
