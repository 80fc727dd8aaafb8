package widget

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// RangeText formats the values of a knob from the lowest to the highest.
func RangeText(k workload.Knob, lo, hi float64) string {
	if lo == hi {
		return KnobText(k, lo)
	}
	if unlimited(k, lo) { // the lowest number is the highest rate
		return KnobText(k, hi) + "–" + KnobText(k, lo)
	}
	return KnobText(k, lo) + "–" + KnobText(k, hi)
}

// unlimited reports whether a value of a knob means unlimited.
func unlimited(k workload.Knob, v float64) bool { return k.Name == "rate" && v <= 0 }

// KnobText formats a value of a knob for display.
func KnobText(k workload.Knob, v float64) string {
	switch {
	case unlimited(k, v):
		return units.Unlimited
	case v == 0 && k.Zero != "":
		return k.Zero
	case k.Unit == "bytes":
		return units.Size(int64(v))
	case v == math.Trunc(v) && math.Abs(v) < 1e6:
		return Whole(int64(v))
	default:
		return units.Number(v)
	}
}

// mostParts is how many tracks are named with their parts of a total.
const mostParts = 4

// Parts says how the total of a knob is divided over the tracks that it adds up over, of which of returns the
// settings; empty if there are not several of these.
func Parts(k workload.Knob, tracks []*workload.Track, of func(track int) workload.Settings) string {
	var parts []string
	var values []float64
	for i, t := range tracks {
		if t.Adds(k) {
			values = append(values, k.Get(of(i)))
			parts = append(parts, t.Name+" "+KnobText(k, values[len(values)-1]))
		}
	}
	switch n := len(values); {
	case n < 2:
		return ""
	case slices.Min(values) == slices.Max(values):
		return fmt.Sprintf("divided evenly over %d tracks", n)
	case n > mostParts:
		return fmt.Sprintf("a share for each of %d tracks", n)
	default:
		return "of which " + strings.Join(parts, ", ")
	}
}

// FieldText formats a value of a knob as Typed reads it.
func FieldText(k workload.Knob, v float64) string {
	if unlimited(k, v) {
		return KnobText(k, v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// KnobIn formats the value that a knob has among settings: the total or, if tracks differ in one that
// does not add up, from the lowest to the highest; "" if none has it.
func KnobIn(k workload.Knob, set map[string]float64) string {
	if v, ok := set[k.Name]; ok {
		return KnobText(k, v)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for name, v := range set {
		if strings.HasSuffix(name, "."+k.Name) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return ""
	}
	return RangeText(k, lo, hi)
}

// SortedSettings iterates over settings by name.
func SortedSettings(m map[string]float64) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
