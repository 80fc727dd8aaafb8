package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// Sweep returns the documents on the results of a sweep: sweep.json, from which
// everything else is made, sweep.csv with a row for each run, sweep.txt, sweep.html
// and, if the knob is a number, throughput over it as sweep.svg; over a rate it is latency.
func Sweep(r *sweep.Result) ([]rundir.File, error) {
	data, err := r.Encode()
	if err != nil {
		return nil, fmt.Errorf("write the sweep: %w", err)
	}
	p := sweepPage(r)
	files := []rundir.File{
		{Name: sweep.File, Data: data},
		{Name: "sweep.csv", Data: sweepRows(r)},
		{Name: "sweep.txt", Data: []byte(p.Text())},
		{Name: "sweep.html", Data: []byte(p.HTML())},
	}
	c := sweepCurve(r)
	if load := LoadCurve(r); !load.Empty() {
		c = load
	}
	if r.Crash != "" {
		c = lossCurve(r)
	}
	if !c.Empty() {
		files = append(files, rundir.File{Name: "sweep.svg", Data: c.File()})
	}
	return files, nil
}

// mostCurves is how many curves are shown on a terminal; sweep.svg has all of them.
const mostCurves = 4

// SweepText describes a sweep for a terminal: its results, the curves and each point.
func SweepText(r *sweep.Result) string {
	var b strings.Builder
	lead, more := SweepAnswer(r)
	for _, s := range lead {
		b.WriteString(Plain(s) + "\n")
	}
	c := sweepCurve(r)
	for _, l := range c.Lines[:min(r.Curves(), mostCurves, len(c.Lines))] {
		if s := lineText(c.At, l, r.Axes[r.Across()].Name, r.Unit); s != "" {
			b.WriteString("\n" + s)
		}
	}
	b.WriteString(loadText(LoadCurve(r)) + lossText(r))
	t := sweepTable(r)
	b.WriteString("\n" + t.Text())
	for i, s := range more {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(Plain(s) + "\n")
	}
	return b.String()
}

func sweepPage(r *sweep.Result) Page {
	var names []string
	for _, a := range r.Axes {
		names = append(names, a.Name)
	}
	lead, more := SweepAnswer(r)
	p := Page{Title: "perfbench sweep: " + r.Profile + " over " + strings.Join(names, " and "), Lead: lead}
	if r.Crash != "" {
		p.Title += ", cost against loss in a " + r.Crash
	}
	s := Section{Heading: "Points", Table: sweepTable(r), Text: []string{
		"The figure after ± is the margin of error of the mean throughput, at 95 % confidence. " + sweep.Statistics + " A dash means too few calls to tell.",
	}}
	for _, c := range []plot.Chart{lossCurve(r), sweepCurve(r)} {
		if !c.Empty() {
			s.Charts = append(s.Charts, Graph{Chart: c, Over: true})
		}
	}
	if c := LoadCurve(r); !c.Empty() {
		s.Charts = append(s.Charts, Graph{Chart: c, Over: true, Drawn: true})
	}
	p.Sections = append(p.Sections, s)
	p.Add(Section{Heading: "More", Text: more})
	return p
}

// SweepAnswer says in lines what a sweep found: the best point and the knee; and in more what the law says, and how it
// was made. A reader wants the picture and the table between the two.
func SweepAnswer(r *sweep.Result) (lead, more []string) {
	if !r.Complete() {
		lead = append(lead, fmt.Sprintf("%d of %s are done; the same command does the rest.", len(r.Runs), Several(r.All(), "run")))
	}
	lead = append(append(lead, lossLead(r)...), kneesOf(r)...)
	held := r.Open && r.Crash == "" && r.OverRate() < 0 // the rate decided the throughput
	if held {
		text := "each run holds a rate"
		if r.Rate > 0 {
			text += fmt.Sprintf(" of %s %s/s", units.Number(r.Rate), r.Unit)
		}
		text += ", so throughput does not show how the store scales"
		if best := r.Cheapest(func(*sweep.Point) bool { return true }); best >= 0 {
			text += fmt.Sprintf("; %s is lowest, %s, with %s", r.Cost(), Nanos(int64(r.CostOf(&r.Points[best]))), r.Place(best))
		}
		lead = append(lead, text)
	}
	var knees []string
	doubt := false // about the knee, which matters more than which point is highest, perhaps by chance
	for _, l := range r.Lines {
		knee, law := kneeOf(r, l)
		if knee != "" {
			knees = append(knees, knee)
		}
		more = append(more, law...)
		doubt = doubt || l.Doubt != ""
	}
	if doubt {
		lead = append(lead, knees...)
	}
	if best := r.Best(); best >= 0 && !held && !(r.Open && r.Crash != "") {
		so := ""
		if !r.Complete() {
			so = " so far"
		}
		lead = append(lead, fmt.Sprintf("most%s: %s %s/s%s with %s", so, units.Number(*r.Points[best].Done), r.Unit, wide(r.Points[best]), r.Place(best)+ran(r.Points[best])))
	}
	if !doubt {
		lead = append(lead, knees...)
	}
	if slices.ContainsFunc(r.Lines, func(l sweep.Line) bool { return l.Knee > 0 || l.Doubt != "" }) {
		more = append([]string{"knee: beyond it, another thread adds less than a quarter of what one of the first adds"}, more...)
	}
	for _, k := range r.Knees {
		where := ""
		if k.At != "" {
			where = " at " + r.Short(r.OverRate(), k.At)
		}
		under := ""
		if len(k.Under) > 0 {
			under = " under " + strings.Join(k.Under, " and ")
		}
		more = append(more, fmt.Sprintf("rates around what a search found first: %s %s/s%s%s with %s (run %s)", units.Number(k.Rate), r.Unit, where, under, Several(k.Threads, "thread"), k.Run))
	}
	if s := moreThreads(r); s != "" {
		more = append(more, s)
	}
	more = append(more, r.LeftOut...)
	if len(r.Timetable) > 0 {
		more = append(more, "each run: "+strings.Join(r.Timetable, ", "))
	}
	if r.Workers > 0 {
		more = append(more, "each run: "+Several(r.Workers, "worker"))
	}
	if s := shortNames(r); s != "" {
		more = append(more, s)
	}
	doubtful := 0
	for _, p := range r.Points {
		doubtful += p.Doubtful
	}
	if doubtful > 0 {
		more = append(more, fmt.Sprintf("not VALID: %d of %s, whose reports say why", doubtful, Several(len(r.Runs), "run")))
	}
	return lead, more
}

// wide is the margin of error of a point's throughput where it is more than a quarter of it: such a point
// is the highest by chance.
func wide(p sweep.Point) string {
	if p.Low == nil || p.High == nil || *p.High-*p.Done <= *p.Done/4 {
		return ""
	}
	return " (± " + p.Margin(Percent) + ")"
}

// shortNames says which targets are meant by the names that they have here; empty if those are
// the targets.
func shortNames(r *sweep.Result) string {
	var list []string
	for _, a := range r.Axes {
		for _, v := range a.Values {
			if short := a.Short(v); short != strings.TrimSuffix(v, ":") {
				list = append(list, short+" is "+v)
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "here " + strings.Join(list, ", and ")
}

// moreThreads says at which points other numbers of threads ran than the axis has; empty
// if at none.
func moreThreads(r *sweep.Result) string {
	across := slices.IndexFunc(r.Axes, sweep.Axis.Concurrency)
	var list []string
	for _, p := range r.Points {
		if p.Threads > 0 {
			if s := fmt.Sprintf("%s=%s ran with %s", r.Axes[across].Name, p.Values[across], units.Number(p.Threads)); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, ", ") + ": every track has at least one thread"
}

// ran says with how many threads a point ran, if that is another number than its place says.
func ran(p sweep.Point) string {
	if p.Threads == 0 {
		return ""
	}
	return ", which ran with " + Several(int(p.Threads), "thread")
}

// muchOff is how far points may typically lie from the law for it to be credible.
const muchOff = 0.1

// kneeOf says where throughput stops rising, and what the law is.
func kneeOf(r *sweep.Result, l sweep.Line) (knee string, law []string) {
	where := ""
	if l.At != "" {
		where = " (" + r.Axes[1-r.Across()].Side(l.At) + ")"
	}
	switch have, of := l.Awaited(r); {
	case of > 0 && have == 0:
	case of > 0:
		knee = fmt.Sprintf("knee%s: named once %d numbers of threads have figures, so far %d", where, of, have)
	case l.Doubt != "":
		may := l.MayBe(r)
		switch {
		case l.KneeHigh != nil && *l.KneeLow == *l.KneeHigh:
			may = ", perhaps " + may
		case may != "":
			may = ", " + may
		}
		if !r.Complete() {
			knee = fmt.Sprintf("knee%s: unsure so far%s · %s", where, may, l.Doubt)
			break
		}
		knee = fmt.Sprintf("knee%s: unsure%s · %s · more runs (--repeat %d), longer ones or a quieter machine would tell", where, may, l.Doubt, max(5, 2*r.Rounds))
	case l.Knee > 0 && l.Thin(r) != "":
		more := " yet"
		if r.Complete() {
			more = ": " + l.Surer(r) + " would"
		}
		knee = fmt.Sprintf("knee%s: seems to be at %s · %s cannot show it for certain%s", where, Several(int(l.Knee), "thread"), l.Thin(r), more)
	case l.Knee > 0:
		knee = fmt.Sprintf("knee%s: %s%s", where, Several(int(l.Knee), "thread"), kneeRange(l))
	case l.Law != nil && l.KneeLow != nil:
		knee = fmt.Sprintf("knee%s: none in the range that was tried, but noise may hide one from %s on", where, Several(int(*l.KneeLow), "thread"))
	case l.Law != nil:
		knee = fmt.Sprintf("knee%s: none in the range that was tried", where)
	}
	f := l.Law
	if f == nil {
		return knee, nil
	}
	text := fmt.Sprintf("Universal Scalability Law%s: one thread %s %s/s (%s..%s) · contention σ %s · coherence κ %s", where,
		units.Number(f.Lambda.Value), r.Unit, units.Number(f.Lambda.Low), units.Number(*f.Lambda.High), interval(f.Sigma), interval(f.Kappa))
	switch p := f.Peak; {
	case p == nil:
		text += " · no peak"
	case p.High == nil:
		text += fmt.Sprintf(" · a peak near %.0f threads, not certain: anywhere from %.0f on", p.Value, p.Low)
	default:
		text += fmt.Sprintf(" · peak at %s threads (%s..%s)", units.Number(p.Value), units.Number(p.Low), units.Number(*p.High))
	}
	off := fmt.Sprintf("law%s: runs lie %s off it", where, Percent(f.Off))
	if f.Off > muchOff {
		off += ", a lot: go by the points"
	}
	return knee, []string{text, off}
}

// kneeRange says how sure the knee of a line is, and where else it may be; empty if that is unknown.
func kneeRange(l sweep.Line) string {
	switch {
	case l.KneeLow == nil:
		return ""
	case l.KneeHigh == nil:
		return fmt.Sprintf(", %g or more with 95 %% confidence", *l.KneeLow)
	case *l.KneeLow == *l.KneeHigh:
		return ", with 95 % confidence"
	}
	return fmt.Sprintf(", between %g and %g with 95 %% confidence", *l.KneeLow, *l.KneeHigh)
}

func interval(k sweep.FitKnown) string {
	return fmt.Sprintf("%.3g (%.3g..%.3g)", k.Value, k.Low, *k.High)
}

func sweepTable(r *sweep.Result) Table {
	t := Table{Left: len(r.Axes)}
	for _, a := range r.Axes {
		t.Columns = append(t.Columns, a.Name)
	}
	t.Columns = append(t.Columns, "runs", r.Unit+"/s", "±")
	sized := r.Sized()
	if sized {
		t.Columns = append(t.Columns, "bytes/s")
	}
	t.Columns = append(t.Columns, "p50", "p99", "errors", "not VALID")
	if r.Crash != "" {
		t.Columns = append(t.Columns, "lost", "runs with a loss")
	}
	load := r.OverRate() >= 0
	if load {
		t.Columns = append(t.Columns, "of the knee")
	}
	for _, p := range r.Points {
		done, p50, p99 := "–", "–", "–"
		if p.Done != nil {
			done = units.Number(*p.Done)
		}
		if p.Runs > 0 {
			p50, p99 = Nanos(p.P50), Nanos(p.P99)
		}
		row := append(r.ShortValues(p), strconv.Itoa(p.Runs), done, p.Margin(Percent))
		if sized {
			row = append(row, p.BytesText())
		}
		row = append(row, p50, p99, Whole(p.Errors), strconv.Itoa(p.Doubtful))
		if r.Crash != "" {
			row = append(row, lostOf(p), lossyOf(p))
		}
		if load {
			row = append(row, ofKnee(r, p))
		}
		t.Add(row...)
	}
	return t
}

// sweepRows returns sweep.csv: a row for each run that is done, by point and round.
func sweepRows(r *sweep.Result) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	var head []string
	for _, a := range r.Axes {
		head = append(head, cells([]string{a.Name})...)
	}
	head = append(head, "round", "run", "throughput_per_s", "response_p50_ns", "response_p99_ns", "errors", "verdict")
	if r.Crash != "" {
		head = append(head, "lost")
	}
	rows := [][]string{head}
	runs := slices.SortedFunc(slices.Values(r.Runs), func(a, b sweep.Run) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Round, b.Round))
	})
	for _, d := range runs {
		done := "NaN"
		if d.Done != nil {
			done = Number(*d.Done)
		}
		hidden := func(v int64) string {
			if v < 0 {
				return ""
			}
			return Whole(v)
		}
		row := append(slices.Clone(r.Points[d.Point].Values), strconv.Itoa(d.Round+1), d.ID, done, hidden(d.P50), hidden(d.P99), Whole(d.Errors), d.Verdict)
		if r.Crash != "" {
			n := int64(-1)
			if d.Lost != nil {
				n = *d.Lost
			}
			row = append(row, hidden(n))
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		_ = w.Write(cells(row)) // cannot fail: into memory
	}
	w.Flush()
	return b.Bytes()
}

// cells are texts that a spreadsheet takes for numbers or text, not for formulas.
func cells(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = rundir.Cell(Plain(s))
	}
	return out
}

// sweepCurve returns the chart of throughput over the knob, with a line for each value
// of the other one, and the law for each.
func sweepCurve(r *sweep.Result) plot.Chart {
	c := plot.Chart{Title: r.Unit + " per second", Caption: "The mean of the runs at each point.", Format: units.Number, Across: units.Number, Mean: true, Band: "95 % confidence interval"}
	across := r.Across()
	if across < 0 {
		return c
	}
	c.Title += " over " + r.Axes[across].Name
	if c.At, _ = r.Curve(across, ""); len(c.At) < 2 {
		return c // all ran with one number of threads
	}
	c.From, c.To = c.At[0], c.At[len(c.At)-1]
	c.Ticks = apart(c.At, false)
	for _, at := range r.Others(across) {
		line := plot.Line{Name: cmp.Or(Plain(r.Short(across, at)), "measured")}
		_, line.Values = r.Curve(across, at)
		line.Bars = true
		line.Low, line.High = r.Intervals(across, at)
		c.Lines = append(c.Lines, line)
	}
	for _, l := range r.Lines {
		if l.Law != nil {
			c.Caption = "The mean of the runs at each point, and the Universal Scalability Law that lies closest; at the knee, throughput stops rising with threads."
			law := plot.Line{Name: strings.TrimSpace("law " + Plain(r.Short(across, l.At)))}
			for _, n := range c.At {
				law.Values = append(law.Values, l.Law.At(n))
			}
			c.Lines = append(c.Lines, law)
		}
		if l.Knee > 0 || l.Doubt != "" {
			note := "the knee is unsure"
			if l.Knee > 0 {
				note = "knee at " + Number(l.Knee)
				if l.Thin(r) != "" {
					note = "the knee seems to be at " + Number(l.Knee)
				}
			} else if may := l.MayBe(r); may != "" {
				note += ": " + may
			}
			note = strings.TrimSpace(note + " " + Plain(r.Short(across, l.At)))
			if l.Knee > 0 {
				c.Marks = append(c.Marks, plot.Mark{At: l.Knee, Name: "knee", Note: note})
			}
			if l.KneeLow != nil {
				span := plot.Span{From: *l.KneeLow, To: c.To, Kind: plot.Range, Note: note}
				if l.KneeHigh != nil {
					span.To = *l.KneeHigh
				}
				if span.To > span.From {
					c.Spans = append(c.Spans, span)
				}
			}
		}
	}
	return c
}

// apart returns those values that can be labelled side by side on an axis from the
// first to the last, which may be logarithmic.
func apart(values []float64, log bool) []float64 {
	const room = 1. / 16 // of the axis
	if len(values) < 3 {
		return slices.Clone(values)
	}
	last := len(values) - 1
	axis := plot.Scale{Low: values[0], High: values[last], Log: log}
	out := values[:1:1]
	for _, v := range values[1:last] {
		if axis.Part(v)-axis.Part(out[len(out)-1]) >= room && 1-axis.Part(v) >= room {
			out = append(out, v)
		}
	}
	return append(out, values[last])
}

// evenly returns into how many ticks an axis of text is divided: the usual five or, if
// its ends are whole numbers that people count by, as many as fall on whole numbers.
func evenly(from, to float64) int {
	const usual, counted = 5, 1000
	if span := to - from; from == math.Trunc(from) && to == math.Trunc(to) && span < counted {
		for _, n := range []int{usual, 4, 6, 3} {
			if math.Mod(span, float64(n-1)) == 0 {
				return n
			}
		}
		return 2
	}
	return usual
}

// lineText draws a line over a knob in a few lines of text.
func lineText(at []float64, l plot.Line, over, unit string) string {
	var x, y []float64
	for i, v := range l.Values {
		if v > 0 {
			x, y = append(x, at[i]), append(y, v)
		}
	}
	if len(x) < 3 {
		return ""
	}
	const width = 60
	from, to := x[0], x[len(x)-1]
	var drawn []float64
	for i := range width {
		drawn = append(drawn, interpolated(x, y, from+(to-from)*float64(i)/(width-1)))
	}
	rows, top := ruled(drawn, ChartHeight, false)
	picture := asciigraph.Plot(drawn, asciigraph.Height(rows), asciigraph.Width(width), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.YAxisValueFormatter(units.Number), asciigraph.XAxisRange(from, to), asciigraph.XAxisTickCount(evenly(from, to)), asciigraph.XAxisValueFormatter(units.Number))
	var b strings.Builder
	fmt.Fprintf(&b, "%s/s over %s, %s\n", unit, over, l.Name)
	for s := range strings.Lines(picture) {
		b.WriteString(strings.TrimRight(s, " \n") + "\n")
	}
	return b.String()
}
