// Package plot is what every picture of a run needs, whether a terminal or SVG draws it:
// scales and their round values, the times that an axis labels, how a moment is written,
// and many values made fewer. It also draws those in SVG: a Chart over the time of a run and
// a Heat, for a page with its own style sheet or as a separate file. All of it is pure.
package plot

import (
	"fmt"
	"math"
)

// Scale maps values to fractions of a height: linearly, or logarithmically.
type Scale struct {
	Low, High float64
	Log       bool
}

// finite reports whether v can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Part returns the fraction of the height at which a value lies. On a logarithmic scale
// what lies beyond an end is drawn there, and there is no place, NaN, for what cannot be
// drawn.
func (s Scale) Part(v float64) float64 {
	switch {
	case !s.Log:
		return (v - s.Low) / (s.High - s.Low)
	case !finite(v) || !finite(s.Low) || !finite(s.High) || s.Low <= 0 || s.High <= s.Low:
		return math.NaN()
	case v <= s.Low:
		return 0
	}
	return min(math.Log(v/s.Low)/math.Log(s.High/s.Low), 1)
}

// At returns the value that lies at a fraction of the height: the inverse of Part.
func (s Scale) At(part float64) float64 {
	if s.Log {
		return s.Low * math.Pow(s.High/s.Low, part)
	}
	return s.Low + part*(s.High-s.Low)
}

// steps are the round values of a decade.
var steps = []float64{1, 2, 5}

// Nice returns the smallest of 1, 2 or 5 × 10ⁿ that is not below v, or 1 if v cannot be
// drawn.
func Nice(v float64) float64 {
	if !finite(v) || v <= 0 {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	if base == 0 || math.IsInf(base, 0) {
		return v
	}
	for _, f := range append(steps, 10) {
		if f*base >= v*(1-1e-12) && finite(f*base) {
			return f * base
		}
	}
	return v
}

// tops are the ends of a scale from 0, in a decade: whatever the highest value is, it takes three
// quarters of the height or more. binaryTops are those of bytes, in a doubling.
var (
	tops       = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10}
	binaryTops = []float64{1, 1.25, 1.5, 1.75, 2}
)

// Top returns the end of a scale from 0 that has room for v and little more; of bytes, one that is
// round in powers of 2. It is 1 if v cannot be drawn.
func Top(v float64, bytes bool) float64 {
	if !finite(v) || v <= 0 {
		return 1
	}
	list, base := tops, math.Pow(10, math.Floor(math.Log10(v)))
	if bytes {
		list, base = binaryTops, math.Pow(2, math.Floor(math.Log2(v)))
	}
	if base == 0 || math.IsInf(base, 0) {
		return v
	}
	for _, f := range list {
		if f*base >= v*(1-1e-9) && finite(f*base) {
			return f * base
		}
	}
	return v
}

// plain are the distances between the labels of a linear scale, in a decade, finer those that are taken where the
// others leave much of the height empty.
var plain, finer = steps, []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8}

// least returns the smallest of some values of a decade, in any decade, that is not below v, which is above 0.
func least(v float64, in []float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range in {
		if f*base >= v*(1-1e-12) {
			return f * base
		}
	}
	return 10 * base
}

// TopIn returns the end of a linear scale from 0 in a picture of so many rows, which has room for v and for
// little more: of the ends at which round labels stand exactly in rows, all equally far apart, the lowest. Labels
// are 1, 2 or 5 times a power of ten unless that leaves more than a fifth of the height empty. Where two labels above 0
// would leave more than a third of it empty, one is enough. A few rows have the end that Top has.
func TopIn(v float64, rows int) float64 {
	const few, fifth = 5, 1.25
	if rows < few || !finite(v) || v <= 0 {
		return Top(v, false)
	}
	end := endIn(v, rows, plain)
	if end > fifth*v {
		end = min(end, endIn(v, rows, finer))
	}
	return end
}

// endIn is TopIn with labels so far apart.
func endIn(v float64, rows int, in []float64) float64 {
	const third = 1.5
	parts, end := float64(rows-1), math.Inf(1)
	for by := max(2, math.Ceil(parts/mostParts)); by <= parts && (2*by <= parts || end > third*v); by++ {
		end = min(end, least(v*by/parts, in)*parts/by)
	}
	return end
}

// below returns the largest of 1, 2 or 5 × 10ⁿ that is not above v, which is above 0.
func below(v float64) float64 {
	out := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range steps {
		if base := math.Pow(10, math.Floor(math.Log10(v))); f*base <= v {
			out = f * base
		}
	}
	return out
}

// decades returns a logarithmic scale from the power of ten at or below lo to that at or
// above hi, at least one decade.
func decades(lo, hi float64) Scale {
	low, high := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi)-1e-9)
	return Scale{math.Pow(10, low), math.Pow(10, max(high, low+1)), true}
}

// LogIn returns a logarithmic scale of a decade or more in a picture of so many rows that has lo and hi, and ends near
// them. Powers of ten stand exactly in its rows, as far apart as there is room for, by an even number where they are far
// apart. Where that leaves a decade empty above hi, only every second or third of them is in a row. It begins within the
// decade of lo. It is from 1 to 10 if there is nothing to draw.
func LogIn(lo, hi float64, rows int) Scale {
	if !finite(lo) || !finite(hi) || lo <= 0 || hi < lo {
		return Scale{1, 10, true}
	}
	const most, halved, near = 3, 5, 1e-9
	whole, parts := decades(lo, hi), float64(rows-1)
	out, above := whole, math.Inf(1)                      // decades of the scale that are above hi
	for each := 1.0; each <= most && above >= 1; each++ { // decades between two that are in rows
		for n := each * parts; n >= 1; n-- { // rows between those
			by, long := n/each, parts*each/n
			if long < 1-near || each == 1 && by > halved && math.Mod(by, 2) != 0 { // half a decade is in a row, too
				continue
			}
			from, ok := whole.begin(lo, hi, by, long, each)
			if !ok {
				continue
			}
			if left := from + long - math.Log10(hi); left < above-near {
				out, above = Scale{math.Pow(10, from), math.Pow(10, from+long), true}, left
			}
			break
		}
	}
	return out
}

// begin returns the power of ten at which a scale of so many decades begins that has lo and hi, with so many rows in each,
// if one of the powers that are in rows is the lower end of s or the next; false if there is none. It ends above the
// upper end of s only if it must.
func (s Scale) begin(lo, hi, by, long, each float64) (from float64, ok bool) {
	const near = 1e-9
	first, last, low, high := math.Round(math.Log10(s.Low)), math.Round(math.Log10(s.High)), math.Log10(lo), math.Log10(hi)
	for power := first; power <= first+1; power++ {
		rows := math.Ceil((power-low)*by - near) // from the beginning to that power
		if each > 1 {
			rows = max(rows, 0)
		}
		for from = power - rows/by; from+long > last+near && from-1/by >= first-near && from-1/by+long >= high-near; from -= 1 / by {
			rows++
		}
		if from >= first-near && from+long >= high-near && (each == 1 || rows < by+near && power+each <= from+long+near) {
			return from, true
		}
	}
	return 0, false
}

// Around returns a logarithmic scale that fits lo to hi: its ends are 1, 2 or 5 times a power
// of ten.
func Around(lo, hi float64) Scale {
	s := Scale{below(lo), Nice(hi), true}
	if s.High <= s.Low {
		s.High = s.Low * 10
	}
	return s
}

// Round returns the powers of ten from lo to hi, and if fine also twice and five times
// those.
func Round(lo, hi float64, fine bool) []float64 {
	if fine {
		return round(lo, hi, steps)
	}
	return round(lo, hi, steps[:1])
}

// round returns so many times the powers of ten from lo to hi.
func round(lo, hi float64, by []float64) (out []float64) {
	for power := math.Pow(10, math.Floor(math.Log10(lo*1.001))); power <= hi*1.001; power *= 10 {
		for _, f := range by {
			if v := power * f; v >= lo*0.999 && v <= hi*1.001 {
				out = append(out, v)
			}
		}
	}
	return out
}

// Parts returns round percentages of a whole, with the positions that they have, from one
// position to another: few enough to be labelled side by side.
func Parts(whole, from, to float64) (at []float64, labels []string) {
	if !finite(whole) || whole <= 0 || !finite(from) || !(to > from) {
		return nil, nil
	}
	const most = 8
	step := 10.0
	for _, by := range []float64{20, 25, 50, 100} { // 100 % is one of them
		if (to-from)/whole*100/step > most {
			step = by
		}
	}
	if all := (to - from) / whole; all > most {
		step = 100 * Nice(all/most)
	}
	for i := max(math.Ceil(from/whole*100/step*(1-1e-9)), 1); i*step <= to/whole*100*(1+1e-9); i++ {
		at, labels = append(at, whole*i*step/100), append(labels, fmt.Sprintf("%g %%", i*step))
	}
	return at, labels
}

// Shares returns the percentages 1, 2 and 5 times a power of ten of a whole, as Parts does, for a
// logarithmic axis.
func Shares(whole, from, to float64) (at []float64, labels []string) {
	if !finite(whole) || whole <= 0 || !finite(to) || !(from > 0) || !(to > from) {
		return nil, nil
	}
	for _, percent := range Round(100*from/whole, 100*to/whole, true) {
		at, labels = append(at, whole*percent/100), append(labels, fmt.Sprintf("%.6g %%", percent))
	}
	return at, labels
}

// Tick is a value of a scale that is labelled, and the row of a picture that it is at, counted
// from the top.
type Tick struct {
	Row   int
	Value float64
}

// Row returns the row of a picture of so many rows, counted from the top, that a value lies in; -1 if
// it cannot be drawn.
func (s Scale) Row(v float64, rows int) int {
	part := s.Part(v)
	if math.IsNaN(part) || rows < 1 {
		return -1
	}
	return rows - 1 - int(math.Round(min(max(part, 0), 1)*float64(4*rows-1)))/4
}

// mostParts is how many parts the labels of a linear scale make at most.
const mostParts = 6

// Even returns the values to label on a logarithmic axis with room for so many labels, in even steps: 1, 2 and 5 times
// each power of ten, if these fit and are of two decades or leave room for as many again; else 1 and 3 times those, which
// are half a decade apart, if these fit with room for two between them; else the powers of ten, or as many of them as
// fit; without two of these, both ends of what is round.
func Even(lo, hi float64, most int, fit func(values []float64) bool) []float64 {
	fine, powers := Round(lo, hi, true), Round(lo, hi, false)
	if len(fine) < 3 || len(fine) <= max(2*len(steps)+1, most/2+1) && fit(fine) {
		return fine
	}
	if half := round(lo, hi, []float64{1, 3}); len(half) > 1 && len(half) <= most/3+1 && fit(half) {
		return half
	}
	gaps := max(most-1, 1)
	for each := max((len(powers)+gaps-2)/gaps, 1); each < len(powers); each++ {
		var some []float64
		for i := 0; i < len(powers); i += each {
			some = append(some, powers[i])
		}
		if fit(some) {
			return some
		}
	}
	return []float64{fine[0], fine[len(fine)-1]}
}

// multiples returns the multiples of a step on the scale, from the lowest up.
func (s Scale) multiples(step float64) (out []float64) {
	for i := math.Ceil(s.Low / step); i*step <= s.High*(1+1e-9); i++ {
		out = append(out, i*step)
	}
	return out
}

// even reports whether values that rise are all as many rows apart, and apart at all.
func (s Scale) even(values []float64, rows int) bool {
	for i := range len(values) - 1 {
		by := s.Row(values[i], rows) - s.Row(values[i+1], rows)
		if by < 1 || by != s.Row(values[0], rows)-s.Row(values[1], rows) {
			return false
		}
	}
	return true
}

// inRows returns the distance between the round labels of a linear scale from 0 that stand exactly in rows, as TopIn
// chose its end for them; 0 if there is none.
func (s Scale) inRows(rows int) float64 {
	parts := float64(rows - 1)
	for _, labels := range []float64{2, 1} {
		for _, in := range [][]float64{plain, finer} {
			for by := max(2, math.Ceil(parts/mostParts)); labels*by <= parts; by++ {
				if v := s.High * by / parts; least(v*(1-1e-9), in) <= v*(1+1e-9) {
					return v
				}
			}
		}
	}
	return 0
}

// Ticks returns the values to label on a picture of so many rows, from the lowest up, all equally far apart: those that
// TopIn chose the end of the scale for, or multiples of 1, 2 or 5 times a power of ten, by two rows or more where there
// are more than four, or both ends of those where none are; or those that Even has for a logarithmic scale. The end of
// the scale is one of them only if it is such a multiple.
func (s Scale) Ticks(rows int) []Tick {
	if rows < 2 || !(s.High > s.Low) || !finite(s.High) {
		return nil
	}
	var values []float64
	if s.Log {
		values = Even(s.Low, s.High, rows, func(values []float64) bool { return s.even(values, rows) })
	} else if step := s.inRows(rows); rows > 4 && s.Low == 0 && step > 0 {
		values = s.multiples(step)
	} else {
		parts, most := min(float64(rows-1)/2, mostParts), below((s.High-s.Low)*(1+1e-9))
		if rows == 4 {
			parts = 3
		}
		step := min(Nice((s.High-s.Low)/parts), most)
		for values = s.multiples(step); step < most && !s.even(values, rows); values = s.multiples(step) {
			step = Nice(step * 1.01)
		}
		if last := len(values) - 1; !s.even(values, rows) {
			values = []float64{values[0], values[last]}
		}
	}
	var out []Tick
	for _, v := range values {
		row := s.Row(v, rows)
		if len(out) == 0 || out[len(out)-1].Row > row {
			out = append(out, Tick{row, v})
		}
	}
	return out
}

// Step returns the smallest round distance between the lines of a grid that is at least
// v; of bytes, a power of 2.
func Step(v float64, bytes bool) float64 {
	if bytes {
		return math.Pow(2, math.Ceil(math.Log2(v)-1e-9))
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, by := range steps {
		if by*power >= v*(1-1e-9) {
			return by * power
		}
	}
	return 10 * power
}
