package chart

import (
	"math"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Throughput returns the curves of throughput over the knob of a sweep, one for each
// value of the other, with the interval of each point, the law fitted to each and rules at the knees. It has no
// curves if no knob is numeric.
func Throughput(s *widget.Styles, r *sweep.Result) Plot {
	p := Plot{Format: units.Number, Across: units.Number}
	across := r.Across()
	if across < 0 {
		return p
	}
	var laws []Curve
	for i, other := range r.Others(across) {
		at, done := r.Curve(across, other)
		if len(at) < 2 {
			return p // all ran with one number of threads
		}
		c := Curve{At: at, Values: done, Bars: true, Ink: s.Series[i%len(s.Series)]}
		c.Low, c.High = r.Intervals(across, other)
		p.Curves = append(p.Curves, c)
		for _, l := range r.Lines {
			if l.At != other || l.Law == nil {
				continue
			}
			law := Curve{Ink: s.Past, Bare: true}
			for j := range lawPoints {
				x := at[0] + (at[len(at)-1]-at[0])*float64(j)/float64(lawPoints-1)
				law.At, law.Values = append(law.At, x), append(law.Values, l.Law.At(x))
			}
			laws = append(laws, law)
		}
	}
	p.Curves = append(p.Curves, laws...)
	for _, l := range r.Lines {
		if l.Knee > 0 && !slices.Contains(p.Marks, l.Knee) {
			p.Marks = append(p.Marks, l.Knee)
		}
	}
	return p
}

// Tail returns the curves of p99 over the knob of a sweep, one for each value of the other, in the colours
// of Throughput. It has no curves if no knob is numeric.
func Tail(s *widget.Styles, r *sweep.Result) Plot {
	p := Plot{Format: func(v float64) string { return widget.Nanos(int64(v)) }, Across: units.Number}
	across := r.Across()
	if across < 0 {
		return p
	}
	for i, other := range r.Others(across) {
		at, _ := r.Curve(across, other)
		c := Curve{At: at, Values: slices.Repeat([]float64{math.NaN()}, len(at)), Ink: s.Series[i%len(s.Series)]}
		for _, point := range r.Points {
			if n := slices.Index(at, r.N(point, across)); point.P99 > 0 && r.Of(point, across, other) && !(c.Values[n] > float64(point.P99)) {
				c.Values[n] = float64(point.P99)
			}
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}

// lawPoints is the number of points used to draw a law.
const lawPoints = 100

// Legend names the curves of Throughput in their colours.
func Legend(s *widget.Styles, r *sweep.Result) string {
	out := legend(s, r, r.Unit+"/s")
	if out != "" && slices.ContainsFunc(r.Lines, func(l sweep.Line) bool { return l.Law != nil }) {
		out += s.Muted.On("; dimmed: the law that fits")
	}
	if out != "" && slices.ContainsFunc(r.Points, func(p sweep.Point) bool { return p.High != nil }) {
		out += s.Muted.On("; │: ±")
	}
	return out
}

// TailLegend names the curves of Tail in their colours.
func TailLegend(s *widget.Styles, r *sweep.Result) string { return legend(s, r, "p99") }

// legend names curves of something over the knob of a sweep.
func legend(s *widget.Styles, r *sweep.Result, what string) string {
	across := r.Across()
	if across < 0 {
		return ""
	}
	others := r.Others(across)
	out := s.Muted.On(what + " over " + r.Axes[across].Name)
	if len(others) > 1 {
		out += s.Muted.On(", " + r.Axes[1-across].Name)
		for i, v := range others {
			out += "  " + s.Series[i%len(s.Series)].On(r.Short(across, v))
		}
	}
	return out
}

// Points returns the table of the points of a sweep; lead returns what precedes each.
func Points(r *sweep.Result, lead func(i int) string) *widget.Grid {
	g := &widget.Grid{Cols: []widget.Column{{Head: ""}}}
	for _, a := range r.Axes {
		g.Cols = append(g.Cols, widget.Column{Head: a.Name, Right: a.Numbers() != nil, Most: 24})
	}
	g.Cols = append(g.Cols, widget.Column{Head: r.Unit + "/s", Right: true}, widget.Column{Head: "±", Right: true, Spare: 1})
	sized := r.Sized()
	if sized {
		g.Cols = append(g.Cols, widget.Column{Head: "bytes/s", Right: true})
	}
	g.Cols = append(g.Cols, widget.Column{Head: "p50", Right: true, Spare: 3},
		widget.Column{Head: "p99", Right: true}, widget.Column{Head: "errors", Right: true, Spare: 4}, widget.Column{Head: "runs", Right: true, Spare: 2}, widget.Column{Head: "not VALID", Right: true, Spare: 5})
	if r.Crash != "" {
		g.Cols = append(g.Cols, widget.Column{Head: "lost", Right: true})
	}
	for i, p := range r.Points {
		done, p50, p99 := "–", "–", "–"
		if p.Done != nil {
			done = units.Number(*p.Done)
		}
		by := p.Margin(func(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" })
		if p.Runs > 0 {
			p50, p99 = widget.Nanos(p.P50), widget.Nanos(p.P99)
		}
		cells := append([]string{lead(i)}, r.ShortValues(p)...)
		cells = append(cells, done, by)
		if sized {
			cells = append(cells, p.BytesText())
		}
		cells = append(cells, p50, p99, widget.Whole(p.Errors), strconv.Itoa(p.Runs), strconv.Itoa(p.Doubtful))
		if r.Crash != "" {
			cells = append(cells, lostText(lostMost(&p)))
		}
		g.Add(cells...)
	}
	return g
}
