package effect

import (
	"cmp"
	"fmt"
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

// Whatever the seconds before it did, a change is vast if the median second differs by more than this factor, and
// each second after it by more than vastGap from each before it.
const vastly, vastGap = 10, 2

// Of neighbouring windows under the same settings: how many times as much as these differ from
// each other a change must make a difference to be no chance.
const beyondDrift = 2

// Of a crowded machine: by how much, as a logarithm, what other processes take or leave may move
// a figure. More than that is the change's own.
var crowding = math.Log(2)

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

	name, of string
	brief    string // of, as far as it tells that operation from the others
	// needs is how many seconds on either side would make sure what is unsure; 0: that cannot
	// be told. others means that other processes on the machine may have done it, against that the payload
	// that was turned would not, ours which share of a percentile was perfbench's own lateness, where that
	// is why. few means that too few calls support the percentile.
	needs   int
	others  bool
	against bool
	ours    float64
	few     bool
	// all is the percentile of all calls after the change, slow seconds and all; 0 if unknown.
	all float64
	// once says what it was when it was sure, if more seconds made it unsure again.
	once string
	show func(v float64) (number, unit string)
}

// OfThroughput is the name of that figure.
const OfThroughput = "throughput"

// Name is what the figure is: OfThroughput, p99 or p50.
func (f *Figure) Name() string { return f.name }

// Label names the figure in a table: throughput by its unit, a percentile as that of the median second, with its
// operation.
func (f *Figure) Label(unit string) string {
	if f.name == OfThroughput {
		return unit + "/s"
	}
	label := f.name + " of the median second"
	if f.of != "" {
		label += ", " + f.of
	}
	return label
}

// Of is the operation of a percentile, where more than one was called; "" of throughput.
func (f *Figure) Of() string { return f.of }

// Moved reports whether the figure has changed.
func (f *Figure) Moved() bool { return f.Is == Better || f.Is == Worse || f.Is == Asked }

// Judged is what was found out about it, in words: of one that was sure before it is "unsure now".
func (f *Figure) Judged() string {
	if f.once != "" {
		return string(f.Is) + " now"
	}
	return string(f.Is)
}

// since notes what it was when it was told before, if that was sure and this is not.
func (f *Figure) since(was *Figure, seconds int) {
	switch {
	case f.Is != Unsure || f.of != was.of:
	case was.Is == Unsure:
		f.once = was.once
	case was.Is != "":
		f.once = fmt.Sprintf("%s was sure after %d s (%s)", f.name, seconds, was.Numbers())
	}
}

// Since notes which of its figures were sure when the same effect was told before, of fewer seconds, and are
// not any more: what more seconds contradict, or other processes on the machine make doubtful, is not kept, but
// whoever saw it is told.
func (e *Effect) Since(was *Effect) {
	if len(e.With) != len(was.With) || was.early() {
		return
	}
	e.rate.since(&was.rate, was.after.seconds)
	e.half.since(&was.half, was.after.seconds)
	e.tail.since(&was.tail, was.after.seconds)
}

// drift is how much neighbouring windows differ under the same settings: of the logarithms of rate, p50 and
// p99; 0 if there are none.
type drift struct{ rate, half, tail float64 }

// drifts finds the drift between windows of some seconds, one at least, the last of which ends with the list.
func drifts(long int, list []Second, over func([]Second) stretch) drift {
	var rates, halves, tails []float64
	long = max(long, 1)
	for end := len(list); end >= long; end -= long {
		w := over(list[end-long : end])
		rates, halves, tails = append(rates, mean(w.rates)), append(halves, mean(w.p50.logs)), append(tails, mean(w.p99.logs))
	}
	return drift{steps(rates), steps(halves), steps(tails)}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// steps is how much neighbours differ: the root of the mean square or, of five differences or more, what the
// median one comes to in a normal distribution if that is less: a single second that stands out is no drift.
func steps(list []float64) float64 {
	var all []float64
	sum := 0.0
	for i := 1; i < len(list); i++ {
		if d := math.Abs(list[i] - list[i-1]); !math.IsNaN(d) {
			all, sum = append(all, d), sum+d*d
		}
	}
	if len(all) == 0 {
		return 0
	}
	typical := math.Sqrt(sum / float64(len(all)))
	if len(all) >= 5 {
		typical = min(typical, 1.4826*middle(all))
	}
	return typical
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
	if sure || leapt(before, after) && diff > beyondDrift*was || vast(before, after) {
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
	gap := apart(before, after)
	if min(len(before), len(after)) < enough && gap < math.Log(farApart) {
		return false
	}
	step := small
	for i := 1; i < len(before); i++ {
		step = max(step, math.Abs(before[i]-before[i-1]))
	}
	return gap > step
}

// apart returns by how much the values after lie apart from all those before; less than 0: they do not.
func apart(before, after []float64) float64 {
	return max(slices.Min(after)-slices.Max(before), slices.Min(before)-slices.Max(after))
}

// vast reports whether a change is so large that nobody doubts it.
func vast(before, after []float64) bool {
	return min(len(before), len(after)) >= fewest && apart(before, after) > math.Log(vastGap) && math.Abs(middle(after)-middle(before)) > math.Log(vastly)
}

func middle(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// judgedAtAll is judged where there were enough seconds on either side. If nothing was done in some of them, only
// what is vast is sure.
func (e *Effect) judgedAtAll(before, after []float64, was, now float64) Figure {
	switch {
	case e.told():
		return e.judged(before, after, was, now)
	case e.stood() && vast(before, after):
		return Figure{Is: Better}
	}
	return Figure{Is: Unsure}
}

// throughput returns how the throughput has changed. If it was given another rate and follows it, or does
// all that is asked for, that is no chance; nor is it that a rate which nobody turned is held.
func (e *Effect) throughput(was, now float64) Figure {
	f := e.judgedAtAll(e.before.rates, e.after.rates, was, now)
	if f.Is == Better && e.after.rate < e.before.rate {
		f.Is = Worse
	}
	if from, to, ok := e.rates(); !e.grows && (ok && e.told() && e.given && from != to &&
		math.Abs(math.Log(e.after.rate/e.before.rate)-math.Log(to/from)) < follows || e.turned("rate") && e.done()) {
		f = Figure{Is: Asked}
	}
	if f.Is == Unsure && e.told() && e.given && !e.turned("rate") && math.Abs(math.Log(e.after.rate/e.before.rate)) < small {
		f = Figure{Is: Same}
	}
	f.name, f.Before, f.After, f.Was, f.Now = OfThroughput, e.before.rate, e.after.rate, [2]float64{e.before.low, e.before.high}, [2]float64{e.after.low, e.after.high}
	f.show = func(v float64) (string, string) { return units.Number(v), "" }
	return f
}

// done reports whether what the rate asks for after it was done, whatever was before it: no less, nor more in
// the median second, as the first may still have some of what there was before.
func (e *Effect) done() bool {
	return e.asked > 0 && e.after.seconds >= fewest && !e.after.stood &&
		math.Log(e.after.rate/e.asked) > -small && middle(e.after.rates)-math.Log(e.asked) < small
}

// grows reports whether the backlog becomes larger over some seconds at a rate, by more than small of a
// second's calls. One that is there only at the end of the last of them may be a short stop.
func grows(list []Second, rate float64) bool {
	n := len(list)
	return rate > 0 && n >= fewest && float64(min(list[n-1].Backlog, list[n-2].Backlog)-list[0].Backlog) > small*rate
}

// Short says that less was done than the rate that was set asks for, while the backlog grew: "asked 620k, got
// 302k"; empty if that is not so.
func (e *Effect) Short() string {
	if !e.grows || !e.turned("rate") || e.after.rate >= e.asked {
		return ""
	}
	return "asked " + units.Number(e.asked) + ", got " + units.Number(e.after.rate)
}

// turned reports whether one of the acts told together turned a knob.
func (e *Effect) turned(knob string) bool {
	return slices.ContainsFunc(append([]measure.Act{e.Act}, e.With...), func(a measure.Act) bool {
		return slices.ContainsFunc(a.Parts(), func(c measure.Change) bool { return c.Knob() == knob })
	})
}

// rates adds up what the rate was turned from and to in all tracks, by the one act among those told
// together that turned it: whatever else was turned, throughput is what the rate asks for. False if none or
// several turned it, or if it was or is without a limit in a track, which has no sum.
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

// told reports whether there were enough seconds on either side, in each of which something was done.
func (e *Effect) told() bool { return e.poor() == "" }

// percentile returns how a percentile has changed, given its drift before and after the change; it has
// nothing to say if there was none, and is unsure of what is mostly perfbench's own lateness in a segment
// beside the change, unless it changed by more than twice of that.
func (e *Effect) percentile(p *percentile, before, after typical, drift [2]float64, names map[int]string, near []Segment) Figure {
	if min(len(before.logs), len(after.logs)) < fewest {
		return Figure{}
	}
	f := e.judgedAtAll(before.logs, after.logs, drift[0], drift[1])
	ours, latest := 0.0, 0.0
	for i := range near {
		share, late := p.ours(&near[i])
		ours, latest = max(ours, share), max(latest, late)
	}
	switch {
	case ours >= measure.MostlyOurs && latest >= measure.MostlyOurs*math.Abs(after.median-before.median):
		f = Figure{Is: Unsure, ours: ours}
	case f.Is == Better && after.median > before.median:
		f.Is = Worse
	}
	f.name, f.of, f.brief, f.Before, f.After, f.Was, f.Now = p.name, names[p.op], brief(names, p.op), before.median, after.median, ends(before.logs), ends(after.logs)
	f.show = func(v float64) (string, string) {
		n, u, _ := strings.Cut(units.Duration(time.Duration(v)), " ")
		return n, u
	}
	if n := len(near); n > 0 && near[n-1].From >= e.Until && !p.service {
		if t := near[n-1].times[p.op]; measure.Enough(p.of, t.Count) {
			f.all = float64(p.whole(t))
		}
	}
	return f
}

// manyTimes is by which factor the percentile of all calls is so far from that of the median second that it is told why.
const manyTimes = 2

// Slow says why the percentile of all calls since the change, which other panels have, is much larger than that of the
// median second; "" if it is not.
func (e *Effect) Slow() string {
	f := e.Latency()
	if f.Is == "" || !(f.all > manyTimes*f.After) {
		return ""
	}
	return fmt.Sprintf("%s of all its calls since is %s: some seconds were slow", f.name, join(f.show(f.all)))
}

// doubt makes unsure what a payload does not do: more is done of larger entries, or less of smaller ones. It is
// rather what else happened at that time, as is a percentile that goes the same way.
func (e *Effect) doubt() {
	size := 0.0
	for _, a := range append([]measure.Act{e.Act}, e.With...) {
		for _, c := range a.Parts() {
			step := float64(cmp.Compare(c.To, c.From))
			if c.Knob() != "payload" || size*step < 0 {
				return
			}
			size = cmp.Or(step, size)
		}
	}
	odd := Better
	if size < 0 {
		odd = Worse
	}
	if e.rate.Is != odd {
		return
	}
	for _, f := range []*Figure{&e.rate, &e.half, &e.tail} {
		if f.Is == odd {
			f.Is, f.against = Unsure, true
		}
	}
}

// brief is the name of an operation without what the others do not differ in: its track, or what it does.
func brief(names map[int]string, op int) string {
	track, does, ok := strings.Cut(names[op], ".")
	if !ok {
		return names[op]
	}
	ofTrack, alike := 0, 0
	for _, name := range names {
		if t, d, _ := strings.Cut(name, "."); t == track {
			ofTrack++
		} else if d == does {
			alike++
		}
	}
	switch {
	case ofTrack == 1:
		return track
	case alike == 0:
		return does
	}
	return names[op]
}

// ends returns the lowest and the highest of values given by their logarithms.
func ends(logs []float64) [2]float64 {
	if len(logs) == 0 {
		return [2]float64{math.NaN(), math.NaN()}
	}
	return [2]float64{math.Exp(slices.Min(logs)), math.Exp(slices.Max(logs))}
}
