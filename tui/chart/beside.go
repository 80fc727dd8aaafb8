package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Beside draws throughput and p99 of each point of a sweep as bars, in w cells, or what each costs
// and lost in a crash. It is
// nil if a knob is numeric, since there are curves then.
func Beside(s *widget.Styles, r *sweep.Result, w int) []string {
	if r.Across() >= 0 {
		return nil
	}
	names, wide, most, slowest := make([]string, len(r.Points)), 6, 0.0, int64(0)
	other, of, text := "p99", func(p *sweep.Point) int64 { return p.P99 }, widget.Nanos
	first, cost := r.Unit+"/s", func(p *sweep.Point) (string, float64) {
		if p.Done == nil {
			return "–", 0
		}
		return units.Number(*p.Done), *p.Done
	}
	if r.Crash != "" {
		other, of, text = "lost", lostMost, lostText
		if name := r.Cost(); name != "" {
			first, cost = name, func(p *sweep.Point) (string, float64) {
				v := r.CostOf(p)
				if !(v > 0) {
					return "–", 0
				}
				return widget.Nanos(int64(v)), v
			}
		}
	}
	for i, p := range r.Points {
		names[i] = strings.Join(r.ShortValues(p), " ")
		wide = max(wide, ansi.StringWidth(names[i]))
		slowest = max(slowest, of(&p))
		_, v := cost(&p)
		most = max(most, v)
	}
	const figure = 10
	wide = min(wide, w/3)
	room := (w-wide-2)/2 - figure - 2
	if room < 4 {
		return nil
	}
	out := []string{s.Muted.On(widget.Fit("", wide+2) + widget.FitRight(first, figure) + strings.Repeat(" ", room+2) + widget.FitRight(other, figure))}
	for i, p := range r.Points {
		done, bar := cost(&p)
		out = append(out, widget.Fit(names[i], wide)+"  "+
			widget.FitRight(done, figure)+" "+s.Series[0].On(Bar(bar, most, room))+" "+
			widget.FitRight(text(of(&p)), figure)+" "+s.Series[1].On(Bar(float64(of(&p)), float64(slowest), room)))
	}
	return out
}

// lostMost is the most that a run of a point lost; -1: nobody knows.
func lostMost(p *sweep.Point) int64 {
	if p.Loss == nil || p.Loss.Known == 0 {
		return -1
	}
	return p.Loss.Most
}

func lostText(n int64) string {
	if n < 0 {
		return "–"
	}
	return widget.Whole(n)
}
