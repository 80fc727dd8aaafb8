package sweep

import (
	"fmt"
	"slices"
	"strconv"
)

// Auto in place of the values of the rate leaves them to the sweep: a search finds the
// knee first, and the rates lie around that.
const Auto = "auto"

// AutoKnob is the knob whose values may be Auto.
const AutoKnob = "rate"

// shares are the rates that Auto stands for, in per cent of the knee.
var shares = []int{20, 40, 60, 70, 80, 90, 95, 100, 110, 125}

// Knee is what a search found before the runs of a sweep that chooses its rates.
type Knee struct {
	// At is the value of the other axis; empty without one.
	At string `json:"at,omitempty"`
	// Run is the id of the run that searched, Rate the highest rate that held, in units
	// per second, and Threads how many there were by then.
	Run     string  `json:"run"`
	Rate    float64 `json:"rate_per_s"`
	Threads int     `json:"threads"`
	// Under are the conditions under which it held.
	Under []string `json:"under,omitempty"`
}

// Auto reports whether the values are yet to be chosen.
func (a Axis) Auto() bool { return a.Name == AutoKnob && slices.Equal(a.Values, []string{Auto}) }

// List returns the values or, while they are yet to be chosen, what they will be.
func (a Axis) List() []string {
	if !a.Auto() {
		return a.Values
	}
	var out []string
	for _, p := range shares {
		out = append(out, fmt.Sprintf("%d %% of the knee", p))
	}
	return out
}

// AutoAxis returns the axis whose values are yet to be chosen; -1 if there is none.
func AutoAxis(axes []Axis) int { return slices.IndexFunc(axes, Axis.Auto) }

// Around returns the rates that Auto stands for: the lowest is that share of the lowest
// knee, the highest that of the highest, and those between are spaced alike.
func Around(knees []Knee) []string {
	least, most := knees[0].Rate, knees[0].Rate
	for _, k := range knees {
		least, most = min(least, k.Rate), max(most, k.Rate)
	}
	first, last := float64(shares[0]), float64(shares[len(shares)-1])
	var out []string
	for _, p := range shares {
		along := (float64(p) - first) / (last - first)
		v := float64(p) / 100 * (least + along*(most-least))
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // it has just been a number
		out = append(out, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return out
}
