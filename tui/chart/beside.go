package chart

import (
	"slices"
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
	rows := make([]Two, len(r.Points))
	for i, p := range r.Points {
		rows[i] = Two{Name: strings.Join(r.ShortValues(p), " "), Texts: [2]string{"", text(of(&p))}, Values: [2]float64{0, float64(of(&p))}}
		rows[i].Texts[0], rows[i].Values[0] = cost(&p)
	}
	return Twos(s, [2]string{first, other}, rows, w)
}

// Two is a thing with two figures, as text and as a value.
type Two struct {
	Name   string
	Texts  [2]string
	Values [2]float64
}

// Twos draws the figures of several things, whose heads are given, as bars in w cells, a line each below
// the heads; nil if there is no room.
func Twos(s *widget.Styles, heads [2]string, rows []Two, w int) []string {
	wide, text, most := 6, 0, [2]float64{}
	for _, r := range rows {
		wide = max(wide, ansi.StringWidth(r.Name))
		text = max(text, ansi.StringWidth(r.Texts[0]), ansi.StringWidth(r.Texts[1]))
		most = [2]float64{max(most[0], r.Values[0]), max(most[1], r.Values[1])}
	}
	figure := max(10, text, ansi.StringWidth(heads[0]), ansi.StringWidth(heads[1]))
	if wide > w/3 {
		wide, rows = w/3, distinct(rows)
	}
	room := [2]int{(w-wide-2)/2 - figure - 2, (w-wide-2)/2 - figure - 2}
	if room[0] < 4 {
		return nil
	}
	for i := range most { // figures without bars leave their room to the others
		if most[i] == 0 {
			room[1-i] += room[i]
			room[i] = 0
		}
	}
	out := []string{s.Muted.On(widget.Fit("", wide+2) + widget.FitRight(heads[0], figure) + strings.Repeat(" ", room[0]+2) + widget.FitRight(heads[1], figure))}
	for _, r := range rows {
		out = append(out, widget.Fit(r.Name, wide)+"  "+
			widget.FitRight(r.Texts[0], figure)+" "+s.Series[0].On(Bar(r.Values[0], most[0], room[0]))+" "+
			widget.FitRight(r.Texts[1], figure)+" "+s.Series[1].On(Bar(r.Values[1], most[1], room[1])))
	}
	return out
}

// distinct returns the rows without the words that all names begin with: what differs is what is to be seen.
func distinct(rows []Two) []Two {
	lead := rows[0].Name
	for _, r := range rows {
		for !strings.HasPrefix(r.Name, lead) {
			lead = lead[:len(lead)-1]
		}
	}
	lead = lead[:strings.LastIndex(lead, " ")+1]
	if lead == "" {
		return rows
	}
	out := slices.Clone(rows)
	for i := range out {
		out[i].Name = "… " + strings.TrimPrefix(out[i].Name, lead)
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
