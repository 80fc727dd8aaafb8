package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Beside draws throughput and p99 of each point of a sweep as bars, in w cells. It is
// nil if a knob is numeric, since there are curves then.
func Beside(s *widget.Styles, r *sweep.Result, w int) []string {
	if r.Across() >= 0 {
		return nil
	}
	names, wide, most, slowest := make([]string, len(r.Points)), 6, 0.0, int64(0)
	for i, p := range r.Points {
		names[i] = strings.Join(p.Values, " ")
		wide = max(wide, ansi.StringWidth(names[i]))
		slowest = max(slowest, p.P99)
		if p.Done != nil {
			most = max(most, *p.Done)
		}
	}
	const figure = 10
	wide = min(wide, w/3)
	room := (w-wide-2)/2 - figure - 2
	if room < 4 {
		return nil
	}
	out := []string{s.Muted.On(widget.Fit("", wide+2) + widget.FitRight(r.Unit+"/s", figure) + strings.Repeat(" ", room+2) + widget.FitRight("p99", figure))}
	for i, p := range r.Points {
		done, bar := "–", 0.0
		if p.Done != nil {
			done, bar = units.Number(*p.Done), *p.Done
		}
		out = append(out, widget.Fit(names[i], wide)+"  "+
			widget.FitRight(done, figure)+" "+s.Series[0].On(Bar(bar, most, room))+" "+
			widget.FitRight(widget.Nanos(p.P99), figure)+" "+s.Series[1].On(Bar(float64(p.P99), float64(slowest), room)))
	}
	return out
}
