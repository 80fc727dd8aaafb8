package dashboard

import (
	"fmt"
	"image"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/dashboard/plot"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// lens draws a tab of the lower panel that is a picture.
func (d *Dashboard) lens(e screen.Env, r image.Rectangle) []string {
	p := d.rects(e)
	pane := widget.Panel{Title: d.lower.String() + d.ofOp(), Note: d.otherTabs(r.Dx())}
	lw := labelWidth(p)
	if d.lower == tabHeat {
		a := d.axis(chartCells(p, r))
		h := plot.NewHeat(a, r.Dy()-2, d.spreads(true))
		if h == nil {
			return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  No call was timed yet."})
		}
		pane.Under = d.timeline(a, r.Dx(), lw)
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), scaled(e.Styles, lw, h.Ticks(latencyLabel), h.Draw(e.Styles)))
	}
	ops := d.apart()
	spreads := make([]measure.Spread, 0, 4)
	if ops == nil {
		ops = []int{d.op}
		spreads = append(spreads, sum(d.spreads(false)))
	} else {
		for _, op := range ops {
			spreads = append(spreads, sum(d.measured(op)))
		}
	}
	series := make([]int, len(ops))
	for i, op := range ops {
		series[i] = d.hue(op)
	}
	c := plot.NewCurve(chartCells(p, r), r.Dy()-3, spreads, series, latencyLabel)
	if c == nil {
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{fmt.Sprintf("  p90 takes %d calls: there are fewer.", measure.Needs(90))})
	}
	lines := scaled(e.Styles, lw, c.Ticks(), c.Draw(e.Styles))
	lines = append(lines, strings.Repeat(" ", lw+2)+e.Styles.Muted.On(c.Foot()))
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// scaled puts the values of a scale at the left of the rows of a field.
func scaled(s *widget.Styles, width int, ticks []plot.Tick, rows []string) []string {
	labels := make([]string, len(rows))
	for _, t := range ticks {
		labels[t.Row] = t.Text
	}
	out := make([]string, len(rows))
	for y, row := range rows {
		edge := " │"
		if labels[y] != "" {
			edge = " ┤"
		}
		out[y] = s.Muted.On(widget.FitRight(labels[y], width)) + s.Line.On(edge) + row
	}
	return out
}

// spreads are those of the operation that is selected, or of all that count; of the
// measured part alone unless warm-up is asked for too.
func (d *Dashboard) spreads(warmup bool) []measure.Spread {
	var out []measure.Spread
	for op := range d.snap.Spreads {
		switch {
		case d.op >= 0 && op != d.op || d.op < 0 && !d.snap.Counts(op):
		case warmup:
			out = append(out, d.snap.Spreads[op]...)
		default:
			out = append(out, d.measured(op)...)
		}
	}
	return out
}

// measured are the spreads of an operation after the warm-up.
func (d *Dashboard) measured(op int) []measure.Spread {
	if op >= len(d.snap.Spreads) {
		return nil
	}
	list := d.snap.Spreads[op]
	for len(list) > 0 && list[0].T < 0 {
		list = list[1:]
	}
	return list
}

func sum(list []measure.Spread) (all measure.Spread) {
	for _, s := range list {
		all = all.Plus(s)
	}
	return all
}
