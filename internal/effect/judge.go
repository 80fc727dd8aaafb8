package effect

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// confidence is how certain a difference must be to count as real. A difference below
// small, as a fraction, counts as none.
const confidence, small = 0.95, 0.05

// enough is how many seconds on either side tell a leap from chance if none of those before
// reaches any of those after.
const enough = 4

// farApart is by which factor those of fewest seconds must lie apart for that.
const farApart = 3

// Of neighbouring windows under the same settings: how many times as much as these differ from
// each other a change must make a difference to be no chance.
const beyondDrift = 2

// Of a crowded machine: by how much, as a logarithm, what other processes take or leave may move
// a figure. More than that is the change's own.
var crowding = math.Log(2)

// mostlyOurs is the share from which on a p99 says little about the store.
const mostlyOurs = 0.5

// follows is how far the logarithm of a change of throughput may be from that of the rate.
const follows = 0.1

// Judgement is what was found out about a figure; empty: nothing, as there is none.
type Judgement string

// The judgements of a figure.
const (
	Better Judgement = "better"
	Worse  Judgement = "worse"
	Asked  Judgement = "as asked" // throughput that follows its rate
	Same   Judgement = "same"
	Unsure Judgement = "unsure"
)

// Figure is a figure before and after a change, and what was found out about it.
type Figure struct {
	Is            Judgement
	Before, After float64
	// Was and Now are the lowest and the highest second.
	Was, Now [2]float64

	// needs is how many seconds on either side would make sure what is unsure; 0: that cannot
	// be told. others means that other processes on the machine may have done it.
	needs  int
	others bool
	show   func(v float64) (number, unit string)
}

// Moved reports whether the figure has changed.
func (f *Figure) Moved() bool { return f.Is == Better || f.Is == Worse || f.Is == Asked }

// drift is how much neighbouring windows differ under the same settings: the root of the mean
// square, of the logarithms of rate and p99; 0 if there are none.
type drift struct{ rate, tail float64 }

// drifts finds the drift between windows of some seconds, the last of which ends with the list.
func drifts(long int, list []Second) drift {
	var rates, tails []float64
	for end := len(list); end >= long; end -= long {
		w := over(list[end-long : end])
		rates, tails = append(rates, mean(w.rates)), append(tails, mean(w.tails))
	}
	return drift{steps(rates), steps(tails)}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// steps is the root of the mean square of the differences of neighbours; 0 without any.
func steps(list []float64) float64 {
	sum, n := 0.0, 0.0
	for i := 1; i < len(list); i++ {
		if d := list[i] - list[i-1]; !math.IsNaN(d) {
			sum, n = sum+d*d, n+1
		}
	}
	return math.Sqrt(sum / max(n, 1))
}

// judged compares the logarithms of values before and after: Better stands for any change. was is
// the drift before it, now that after it.
func (e *Effect) judged(before, after []float64, was, now float64) (f Figure) {
	d := stat.Difference(stat.Successive(before), stat.Successive(after))
	lo, hi := d.Interval(confidence)
	if max(math.Abs(lo), math.Abs(hi)) < small {
		return Figure{Is: Same}
	}
	diff, half := math.Abs(d.Value), (hi-lo)/2
	drift := max(was, now)
	sure := (lo > 0 || hi < 0) && diff > beyondDrift*drift
	if sure || leapt(before, after) && diff > beyondDrift*was {
		if !e.crowded || diff > crowding {
			return Figure{Is: Better}
		}
		return Figure{Is: Unsure, others: true}
	}
	f.Is = Unsure
	reach := max(diff, small-diff)
	if short := max(half/reach, beyondDrift*drift/reach); !math.IsInf(short, 0) && !math.IsNaN(short) {
		f.needs = int(min(math.Ceil(float64(len(after))*short*short), 1e6))
	}
	return f
}

// leapt reports whether the values after lie apart from all those before, by more than the
// ones before moved from one to the next. It sees what has not settled yet, such as the p99
// of a store that falls behind more every second, which has no mean.
func leapt(before, after []float64) bool {
	if min(len(before), len(after)) < fewest {
		return false
	}
	gap := max(slices.Min(after)-slices.Max(before), slices.Min(before)-slices.Max(after))
	if min(len(before), len(after)) < enough && gap < math.Log(farApart) {
		return false
	}
	step := small
	for i := 1; i < len(before); i++ {
		step = max(step, math.Abs(before[i]-before[i-1]))
	}
	return gap > step
}

// throughput returns how the throughput has changed. If it was given another rate and follows it,
// that is no chance.
func (e *Effect) throughput(was, now drift) Figure {
	f := e.judged(e.before.rates, e.after.rates, was.rate, now.rate)
	if f.Is == Better && e.after.rate < e.before.rate {
		f.Is = Worse
	}
	if from, to, ok := e.rates(); ok && e.given && from != to &&
		math.Abs(math.Log(e.after.rate/e.before.rate)-math.Log(to/from)) < follows {
		f = Figure{Is: Asked}
	}
	f.Before, f.After, f.Was, f.Now = e.before.rate, e.after.rate, ends(e.before.rates), ends(e.after.rates)
	f.show = func(v float64) (string, string) { return units.Number(v), "" }
	return f
}

// rates adds up what the rate was turned from and to in all tracks, by the one act among those told
// together that turned it: whatever else was turned, throughput is what the rate asks for. False if
// none or several turned it, or if it was without a limit in a track, which has no sum.
func (e *Effect) rates() (from, to float64, ok bool) {
	for _, a := range append([]measure.Act{e.Act}, e.With...) {
		if a.Knob() != "rate" {
			continue
		}
		if ok {
			return 0, 0, false
		}
		ok = true
		for _, c := range a.Parts() {
			if c.From <= 0 || c.To <= 0 || c.Knob() != "rate" {
				return 0, 0, false
			}
			from, to = from+c.From, to+c.To
		}
	}
	return from, to, ok
}

// p99 returns how p99 has changed; it has nothing to say if there was none, and is unsure of what is
// mostly perfbench's own lateness.
func (e *Effect) p99(was, now drift) Figure {
	if len(e.before.tails) < fewest || len(e.after.tails) < fewest {
		return Figure{}
	}
	f := e.judged(e.before.tails, e.after.tails, was.tail, now.tail)
	switch {
	case e.ours >= mostlyOurs:
		f = Figure{Is: Unsure}
	case f.Is == Better && e.after.p99 > e.before.p99:
		f.Is = Worse
	}
	f.Before, f.After, f.Was, f.Now = e.before.p99, e.after.p99, ends(e.before.tails), ends(e.after.tails)
	f.show = func(v float64) (string, string) {
		n, u, _ := strings.Cut(units.Duration(time.Duration(v)), " ")
		return n, u
	}
	return f
}

// ends returns the lowest and the highest of values given by their logarithms.
func ends(logs []float64) [2]float64 {
	if len(logs) == 0 {
		return [2]float64{math.NaN(), math.NaN()}
	}
	return [2]float64{math.Exp(slices.Min(logs)), math.Exp(slices.Max(logs))}
}
