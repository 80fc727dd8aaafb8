package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// loadCurve returns the chart of p50 and p99 over the rate of a sweep over rates, for each
// value of the other axis: those of the median run and, with a single curve and several
// rounds, the least and the most of p99. It is empty for any other sweep.
func loadCurve(r *sweep.Result) plot.Chart {
	c := plot.Chart{
		Title: "response time over rate, " + r.Unit + " per second", Caption: "Percentiles of the median run at each rate; the knee is the highest rate that was met.",
		Log: true, Unit: plot.Nanoseconds, Format: duration, Across: units.Number,
	}
	over := r.OverRate()
	if over < 0 {
		return c
	}
	c.At = slices.Sorted(slices.Values(r.Axes[over].Numbers()))
	c.From, c.To, c.Ticks = c.At[0], c.At[len(c.At)-1], apart(c.At)
	others := r.Others(over)
	for _, at := range others {
		low, p50, p99, high := r.Latencies(over, at)
		add := func(name string, list []int64) {
			c.Lines = append(c.Lines, plot.Line{Name: strings.TrimSpace(name + " " + Plain(at)), Values: shownTimes(list)})
		}
		add("p99", p99)
		add("p50", p50)
		if len(others) == 1 && r.Rounds > 1 {
			add("highest p99", high)
			add("lowest p99", low)
		}
		if knee := r.RateKnee(over, at); knee > 0 {
			note := strings.TrimSpace("knee at " + units.Number(knee) + " " + Plain(at))
			c.Marks = append(c.Marks, plot.Mark{At: knee, Name: "knee", Note: note})
		}
	}
	return c
}

// shownTimes returns times as values of a chart; what too few calls support is a gap.
func shownTimes(list []int64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		if out[i] = float64(v); v <= 0 || v == measure.Hidden {
			out[i] = math.NaN()
		}
	}
	return out
}

// loadText draws p99 over the rate for a terminal, with a picture for each curve.
func loadText(r *sweep.Result) string {
	c := loadCurve(r)
	var b strings.Builder
	drawn := 0
	for _, l := range c.Lines {
		if !strings.HasPrefix(l.Name, "p99") || !plot.Some(l.Values) || len(c.At) < 3 || drawn == mostCurves {
			continue
		}
		drawn++
		b.WriteString("\n" + logText(&c, l, l.Name+" over rate"))
	}
	return b.String()
}

// kneesOf says up to which rate each side kept up.
func kneesOf(r *sweep.Result) (out []string) {
	over := r.OverRate()
	if over < 0 {
		return nil
	}
	for _, at := range r.Others(over) {
		knee, where := r.RateKnee(over, at), ""
		if at != "" {
			where = " (" + r.Axes[1-over].Name + "=" + at + ")"
		}
		if knee > 0 {
			out = append(out, fmt.Sprintf("The knee%s is at %s %s/s: the highest rate that was met.", where, units.Number(knee), r.Unit))
		}
	}
	return out
}

// ofKnee is a rate in per cent of the knee of its side; "" if there is none.
func ofKnee(r *sweep.Result, p sweep.Point) string {
	over, at := r.OverRate(), ""
	if len(r.Axes) > 1 {
		at = p.Values[1-over]
	}
	if knee := r.RateKnee(over, at); knee > 0 {
		return Percent(r.N(p, over) / knee)
	}
	return "–"
}
