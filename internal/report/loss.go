package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// lossLead says in a few sentences what is lost at which cost; nothing of a sweep without a crash.
func lossLead(r *sweep.Result) (out []string) {
	if r.Crash == "" {
		return nil
	}
	out = append(out, fmt.Sprintf("Cost against loss in a %s, which each run had: figures are of the time before it.", r.Crash))
	if r.Crash == sweep.ProcessCrash {
		out = append(out, "A killed process loses nothing that it had given to this machine: a power cut may lose more.")
	}
	best, safe := r.Cheapest(func(*sweep.Point) bool { return true }), r.Cheapest((*sweep.Point).Safe)
	switch {
	case best < 0:
	case safe < 0:
		out = append(out, "At each point, something was lost that had been acknowledged, or nobody knows.")
	default:
		p, least := &r.Points[safe], r.CostOf(&r.Points[best])
		s := fmt.Sprintf("Nothing that had been acknowledged was lost with %s, in %s", r.Place(safe), Several(p.Runs, "run"))
		switch {
		case safe == best:
		case r.Cost() == "" && least > 0:
			s += fmt.Sprintf("; that does %s of the highest throughput", Percent(r.CostOf(p)/least))
		case r.Cost() != "":
			s += fmt.Sprintf(", at a %s of %s; the lowest is %s, with %s", r.Cost(), costText(r, r.CostOf(p)), costText(r, least), r.Place(best))
		}
		out = append(out, s+".")
	}
	if n := slices.IndexFunc(r.Runs, func(d sweep.Run) bool { return d.Unread > 0 }); n >= 0 {
		out = append(out, fmt.Sprintf("What was lost is of a sample: in run %d, nobody looked for %s that had been acknowledged.", n+1, units.Plural(r.Runs[n].Unread, "record")))
	}
	return out
}

// costText writes a cost.
func costText(r *sweep.Result, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case r.Cost() == "":
		return units.Number(v)
	}
	return Nanos(int64(v))
}

// lostOf says how many writes the runs of a point lost.
func lostOf(p sweep.Point) string {
	switch l := p.Loss; {
	case l == nil || l.Known == 0:
		return "–"
	case l.Least == l.Most:
		return Whole(l.Most)
	default:
		return Whole(l.Least) + "…" + Whole(l.Most)
	}
}

// lossyOf says in how many runs of a point there was a loss, and of how many nobody knows.
func lossyOf(p sweep.Point) string {
	if p.Loss == nil || p.Runs == 0 {
		return "–"
	}
	out := fmt.Sprintf("%d of %d", p.Loss.Lossy, p.Runs)
	if n := p.Runs - p.Loss.Known; n > 0 {
		out += fmt.Sprintf(", %d unknown", n)
	}
	return out
}

// lossText draws the cost and the highest loss of each point as bars; empty without a crash.
func lossText(r *sweep.Result) string {
	if r.Crash == "" || len(r.Runs) == 0 {
		return ""
	}
	const room, figure = 18, 10
	name, most, worst := 0, 0.0, 0.0
	for i, p := range r.Points {
		name = max(name, ansi.StringWidth(Plain(r.Place(i))))
		if v := r.CostOf(&p); v > most { // which NaN is not
			most = v
		}
		if p.Loss != nil {
			worst = max(worst, float64(p.Loss.Most))
		}
	}
	var b strings.Builder
	line := func(name string, width int, cost, costBar, lost, lostBar string) {
		s := fmt.Sprintf("%s%s  %s %s  %s %s", name, strings.Repeat(" ", max(width-ansi.StringWidth(name), 0)), right(cost, figure), left(costBar, room), right(lost, figure), lostBar)
		b.WriteString(strings.TrimRight(s, " ") + "\n")
	}
	fmt.Fprintf(&b, "\ncost against loss in a %s\n", r.Crash)
	line("", name, cmp.Or(r.Cost(), r.Unit+"/s"), "", "lost", "")
	for i, p := range r.Points {
		many, loss := "–", 0.0
		if p.Loss != nil && p.Loss.Known > 0 {
			many, loss = Whole(p.Loss.Most), float64(p.Loss.Most)
		}
		line(Plain(r.Place(i)), name, costText(r, r.CostOf(&p)), bar(r.CostOf(&p), most, room), many, bar(loss, worst, room))
	}
	return b.String()
}

// bar is a bar of a width for v of most; whatever is above 0 can be seen.
func bar(v, most float64, width int) string {
	if !(v > 0) || most <= 0 {
		return ""
	}
	return strings.Repeat("█", max(int(math.Round(v/most*float64(width))), 1))
}

func right(s string, width int) string {
	return strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)) + s
}
func left(s string, width int) string {
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}

// lossCurve is the chart of loss over cost, with a mark for each point; empty without a crash.
func lossCurve(r *sweep.Result) plot.Chart {
	text := func(v float64) string { return costText(r, v) }
	c := plot.Chart{
		Title: "acknowledged and lost in a " + r.Crash + ", over " + r.Unit + " per second", Format: units.Number, Across: text,
		Caption: "The most that any run lost, over the mean throughput before it: right is fast, low is safe. The rules are the settings that ran.",
	}
	if r.Cost() != "" {
		c.Title = "acknowledged and lost in a " + r.Crash + ", over " + r.Cost()
		c.Caption = "The most that any run lost, over the " + r.Cost() + " before it: left is fast, low is safe. The rules are the settings that ran."
	}
	type place struct {
		at, lost float64
		name     string
	}
	var all []place
	for i, p := range r.Points {
		if v := r.CostOf(&p); r.Crash != "" && !math.IsNaN(v) && p.Loss != nil && p.Loss.Known > 0 {
			all = append(all, place{v, float64(p.Loss.Most), Plain(r.Place(i))})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	line := plot.Line{Name: "lost"}
	for _, p := range all {
		c.At, line.Values = append(c.At, p.at), append(line.Values, p.lost)
		c.Marks = append(c.Marks, plot.Mark{At: p.at, Name: p.name, Note: fmt.Sprintf("%s: %s, %s lost at most", p.name, text(p.at), Whole(int64(p.lost)))})
		c.To = max(c.To, p.at*1.1)
	}
	if len(all) > 0 {
		c.Lines, c.Ticks = []plot.Line{line}, []float64{0, c.To / 2, c.To}
	}
	return c
}
