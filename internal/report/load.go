package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// overLoad is a chart of p50 and p99 over a load, whose lines are in pairs: one for each side.
func overLoad(title, caption string, across func(float64) string) plot.Chart {
	return plot.Chart{Title: title, Caption: caption, Log: true, Unit: plot.Nanoseconds, Format: duration, Across: across}
}

// pair adds the lines of a side to a chart over a load: at its loads, with bands if what stands
// for each was chosen from several.
func pair(c *plot.Chart, side string, at []float64, p50, p99 sweep.Spread, banded bool) {
	for _, p := range []struct {
		name string
		of   sweep.Spread
	}{{"p99", p99}, {"p50", p50}} {
		l := plot.Line{At: at, Name: strings.TrimSpace(p.name + " " + Plain(side)), Values: shownTimes(p.of.Middle)}
		if banded {
			l.Low, l.High = shownTimes(p.of.Low), shownTimes(p.of.High)
		}
		c.Lines = append(c.Lines, l)
	}
}

// knee marks the knee of the side whose lines were added last, and adds an axis in per cent of it.
func knee(c *plot.Chart, side string, at float64, note string) {
	if at <= 0 {
		return
	}
	c.Marks = append(c.Marks, plot.Mark{At: at, Name: "knee", Note: note})
	a := plot.Axis{Name: cmp.Or(Plain(side), "of the knee"), Line: len(c.Lines) - 2}
	if a.At, a.Labels = plot.Parts(at, c.From, c.To); c.LogAcross {
		a.At, a.Labels = plot.Shares(at, c.From, c.To)
	}
	c.Axes = append(c.Axes, a)
}

// LoadCurve returns the chart of p50 and p99 over the rate of a sweep over rates, for each
// value of the other axis: the median of the runs and, with several rounds, a band from the
// lowest to the highest of all runs. It is empty for any other sweep.
func LoadCurve(r *sweep.Result) plot.Chart {
	c := overLoad("response time over rate, "+r.Unit+" per second",
		"The median of the runs at each rate, percentile by percentile. The knee is the rate up to which all were met by most runs; the axis below has the rates in per cent of it.", units.Number)
	c.Band = "from the lowest to the highest of the runs"
	over := r.OverRate()
	if over < 0 {
		return c
	}
	c.At = slices.Sorted(slices.Values(r.Axes[over].Numbers()))
	c.From, c.To, c.Ticks = c.At[0], c.At[len(c.At)-1], apart(c.At, false)
	for _, at := range r.Others(over) {
		p50, p99 := r.Latencies(over, at)
		most, _ := r.RateKnee(over, at)
		side := r.Short(over, at)
		pair(&c, side, nil, p50, p99, r.Rounds > 1)
		knee(&c, side, most, strings.TrimSpace("knee at "+units.Number(most)+" "+Plain(side)))
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

// Size of a chart over a load as text, without its labels.
const (
	loadWidth  = 64
	loadHeight = 12
)

// loadText draws a chart over a load for a terminal, if there is more to see than in a table.
func loadText(c plot.Chart) string {
	if len(c.At) < 3 || c.Empty() {
		return ""
	}
	return "\n" + c.Text(loadWidth, loadHeight)
}

// kneesOf says up to which rate each side kept up.
func kneesOf(r *sweep.Result) (out []string) {
	over := r.OverRate()
	if over < 0 {
		return nil
	}
	for _, at := range r.Others(over) {
		knee, missed := r.RateKnee(over, at)
		where := ""
		if at != "" {
			where = " (" + r.Axes[1-over].Side(at) + ")"
		}
		switch {
		case knee == 0:
		case missed == 0:
			out = append(out, fmt.Sprintf("knee%s: %s %s/s or above · every rate was met (98 %% or more of what was due was done)", where, units.Number(knee), r.Unit))
		default:
			out = append(out, fmt.Sprintf("knee%s: %s %s/s · %s was the first not met", where, units.Number(knee), r.Unit, units.Number(missed)))
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
	if knee, _ := r.RateKnee(over, at); knee > 0 {
		return Percent(r.N(p, over) / knee)
	}
	return "–"
}
