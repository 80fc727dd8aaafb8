package workload

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Milliseconds is the unit of knobs for durations, which users type as such: 500ms, 2s.
const Milliseconds = "ms"

// Parse parses a value of the knob as users type it, "4KiB" or "32", and checks it against
// the range. Errors have the code of bad input.
func (k Knob) Parse(text string) (float64, error) {
	bad := func(want string, advice ...string) error {
		return fault.Input(fmt.Errorf("%s: %q is not %s", k.Name, text, want), strings.Join(advice, " "))
	}
	if k.Unit == "bytes" {
		n, err := units.ParseSize(text)
		if err != nil {
			return 0, bad("a size such as 512, 1KiB or 10KB")
		}
		if v := float64(n); v < k.Min || v > k.Max {
			return 0, bad(fmt.Sprintf("in %s..%s", units.Size(int64(k.Min)), units.Size(int64(k.Max))))
		}
		return float64(n), nil
	}
	if k.Unit == Milliseconds {
		d, err := units.ParseDuration(text)
		if err != nil {
			return 0, bad("a duration such as 500ms or 2s")
		}
		if v := float64(d) / 1e6; v < k.Min || v > k.Max {
			return 0, bad(fmt.Sprintf("in %s..%s", k.Format(k.Min), k.Format(k.Max)))
		}
		return float64(d) / 1e6, nil
	}
	if (k.Name == "rate" || k.Zero == units.Unlimited) && strings.EqualFold(text, units.Unlimited) {
		return 0, nil
	}
	parse := units.ParseNumber
	if k.Name == "rate" {
		parse = units.ParseRate
	}
	v, err := parse(text)
	if err != nil {
		return 0, bad("a number", units.LikeNumbers)
	}
	if v < k.Min || v > k.Max {
		return 0, bad(fmt.Sprintf("in %s..%s", plain(k.Min), plain(k.Max)))
	}
	if k.Step == 1 && v != math.Trunc(v) {
		return 0, bad("a whole number")
	}
	return v, nil
}

// Words is Format for people: 0 is what the knob calls it.
func (k Knob) Words(v float64) string {
	if v == 0 && k.Zero != "" {
		return k.Zero
	}
	return k.Format(v)
}

// Format formats a value of the knob as users would type it.
func (k Knob) Format(v float64) string {
	if k.Unit == "bytes" {
		return units.Size(int64(v))
	}
	if k.Unit == Milliseconds {
		return units.Typed(time.Duration(v * 1e6))
	}
	return plain(v)
}
