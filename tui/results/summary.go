package results

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// page is the first page: the figures and whether to trust them, the charts of the run at the moment that
// is read, each operation, a line for each cause, and what was measured where. The outcome, of a run of this
// session, may be nil.
func (l *loadedRun) page(s *widget.Styles, m *moment, o *screen.Outcome, w, h int) []string {
	if wide(s, w, h) {
		return l.wall(s, m, o, w, h)
	}
	head, table, rest := l.head(s, o, w, h >= causesSeen), l.operations(s, w), l.rest(s, w, true)
	room := h - len(head) - min(len(table), mostFirst) - 2
	leave := min(len(rest), h/4)
	drawn := l.drawn(s, m, len(head), w, room, leave)
	if over := len(head) + len(drawn) + 1 + len(table) + len(rest) - h; over > 0 && over <= fewLines && len(drawn) > over && room >= leastBoth {
		lower := room - (len(drawn) - 1 - over)
		if less := l.drawn(s, m, len(head), w, room, lower); len(less) <= len(drawn)-over {
			drawn = less
		} else {
			drawn = l.drawn(s, m, len(head), w, room, leave) // which the moment is read in
		}
	}
	return slices.Concat(head, drawn, []string{""}, table, rest)
}

// fewLines is how many lines of the first page at most the charts make room for, rather than that it scrolls for so few.
const fewLines = 4

// causesSeen is from how many lines on a page shows its causes at once.
const causesSeen = 30

// mostFirst is how many lines of the table of operations are to be seen at once, with its head.
const mostFirst = 4

// Heights of the charts of the first page: of one with its title and axis, of both, and of both where
// there is much room.
const leastOne, leastBoth, mostBoth = 6, 9, 22

// drawn draws the charts in room lines from a line of the page on, if need be more; where there is little
// room only throughput, where there is much it leaves some lines. A blank line is before them.
func (l *loadedRun) drawn(s *widget.Styles, m *moment, from, w, room, leave int) []string {
	if len(l.course.rates) < 2 {
		return nil
	}
	h, least := max(room, leastOne), leastBoth
	if l.course.lane(s, w) != "" {
		least++
	}
	if room >= least || s.Spoken {
		h = min(max(room-leave, least), mostBoth)
	}
	return append([]string{""}, l.charts(s, m, image.Pt(0, from+1), w, h)...)
}

// text is what the first page says in words and tables, with a line for each cause or, unless brief, all
// of it.
func (l *loadedRun) text(s *widget.Styles, o *screen.Outcome, w int, brief bool) []string {
	return slices.Concat(l.head(s, o, w, true), []string{""}, l.operations(s, w), l.rest(s, w, brief))
}

// head are the main figures with the verdict and its causes, unless these are seen on the same screen, on one line
// if they fit; a verification that did not pass, and what the figures are of; then what was asked for, and whether it was
// met.
func (l *loadedRun) head(s *widget.Styles, o *screen.Outcome, w int, seen bool) []string {
	run := &l.folder.Run
	f := widget.FiguresOf(run)
	rate := units.Number(f.Rate)
	if f.Rate != f.Rate {
		rate = "no throughput"
	} else {
		rate = run.RateSign() + rate + " " + run.Unit + "/s"
	}
	if text := run.PausedText(); text != "" {
		rate += " (" + text + ")"
	}
	errs := s.Muted
	if f.Errors > 0 {
		errs = s.Bad
	}
	sign, k := widget.Worth(s, run.Verdict)
	verdict := run.Verdict.State
	if causes := run.Verdict.Main(); len(causes) > 0 && !seen {
		verdict += ": " + strings.Join(causes, ", ")
	}
	out := flow([]string{
		s.FocusTitle.On(rate), s.Muted.On("p50") + " " + s.Bold.On(run.Sign()+widget.Nanos(f.P50)), s.Muted.On("p99") + " " + s.Bold.On(run.Sign()+widget.Nanos(f.P99)),
		errs.On(widget.Plural(f.Errors, "error")), k.On(sign + verdict),
	}, "   ", w)
	length := run.MeasuredText()
	if run.EndedBy != "duration" {
		length += ", " + run.Ending("you")
	}
	more := []string{length, "p99.9 " + widget.Nanos(f.P999), "max " + widget.Nanos(f.Max)}
	if f.P99 == measure.Hidden {
		more = append(more, needs(run))
	}
	if f.Of != "" {
		more = append(more, "times: "+f.Of)
	}
	switch {
	case f.Mixes > 0 && run.Idle():
		more = append(more, rundir.MixedNote+", see Changes; throughput "+rundir.IdleNote)
	case f.Mixes > 0:
		more = append(more, rundir.MixedNote+", see Changes")
	case run.Idle():
		more = append(more, rundir.MixedSign+" "+rundir.IdleNote)
	}
	if !passed(run) {
		out = append(out, verified(s, run, w)...)
	}
	out = append(out, flow(on(s.Muted, more), s.Muted.On(" · "), w)...)
	for _, t := range run.Verdict.Thresholds {
		sign, k := "✓ ", s.OK
		if !t.OK {
			sign, k = "✗ ", s.Bad
		}
		out = append(out, widget.Labelled(s, 7, "Asked", sign+report.Met(t), k, w)...)
	}
	if o != nil && o.Note != "" {
		out = append(out, widget.Labelled(s, 9, "Problem", o.Note, s.Bad, w)...)
	}
	if text := untold(run, o); text != "" {
		out = append(out, widget.Labelled(s, 9, "Problem", text, s.Bad, w)...)
	}
	return out
}

// passed reports whether there is nothing to know of a verification but that it passed.
func passed(run *rundir.Run) bool {
	return run.Verification.State == workload.Passed && run.Restarted() == ""
}

// verified says whether what is stored is what was acknowledged, and that a server came back empty.
func verified(s *widget.Styles, run *rundir.Run, w int) []string {
	v, k := run.Verification, s.Plain
	text := v.State
	if v.Summary != "" {
		text += " · " + v.Summary
	}
	switch {
	case run.Failed():
		text, k = "✗ "+text, s.Bad
	case run.Unverified():
		text, k = "✗ not verified · "+v.Summary, s.Bad
	}
	out := widget.Labelled(s, 14, "Verification", text, k, w)
	if text := run.Restarted(); text != "" {
		out = append(out, widget.Labelled(s, 14, "", "! "+text, s.Warn, w)...)
	}
	return out
}

// needs says why the run has no p99.
func needs(run *rundir.Run) string {
	calls := int64(0)
	for _, o := range run.Headline().Timed {
		calls += o.Calls
	}
	if measure.Enough(99, calls) {
		return "the perfbench that made the run had no p99 of several operations"
	}
	return fmt.Sprintf("p99 takes %d calls, and there were %d", measure.Needs(99), calls)
}

// on gives each of some texts a colour.
func on(k widget.Ink, texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = k.On(t)
	}
	return out
}

// flow puts parts into lines of at most w cells.
func flow(parts []string, between string, w int) []string {
	out := parts[:1:1]
	for _, p := range parts[1:] {
		if last := &out[len(out)-1]; ansi.StringWidth(*last+between+p) <= w {
			*last += between + p
			continue
		}
		out = append(out, p)
	}
	return out
}

// operations is the table of operations, and why it has no rates.
func (l *loadedRun) operations(s *widget.Styles, w int) []string {
	out := operationsTable(s, &l.folder.Run, w)
	if text := report.Rateless(&l.folder.Run); text != "" {
		out = append(out, widget.MutedLines(s, text, w)...)
	}
	return out
}

// rest has what has to be known of the run, the causes, and what was measured where.
func (l *loadedRun) rest(s *widget.Styles, w int, brief bool) []string {
	var out []string
	for _, list := range [][]string{l.remarks(s, w), l.causes(s, w, brief && !s.Spoken), l.facts(s, w)} {
		if len(list) > 0 {
			out = append(append(out, ""), list...)
		}
	}
	return out
}

// remarks has what every report of the run must repeat, without what stands beside its verification, and what
// the figures mix, which their sign says.
func (l *loadedRun) remarks(s *widget.Styles, w int) (out []string) {
	run := &l.folder.Run
	beside, mixed := run.Restarted(), run.Mixed()
	for _, text := range run.Remarks() {
		if text != beside && text != mixed {
			out = append(out, remark(s, text, w)...)
		}
	}
	return out
}

// remark is a sentence that has to be known, in lines of w cells.
func remark(s *widget.Styles, text string, w int) (out []string) {
	for i, line := range widget.Wrap(text, w-2) {
		lead := "  "
		if i == 0 {
			lead = "! "
		}
		out = append(out, s.Warn.On(lead+line))
	}
	return out
}

// inOne returns as many whole clauses of a text as fit in w cells, or else words.
func inOne(text string, w int) (row string, cut bool) {
	if ansi.StringWidth(text) <= w {
		return text, false
	}
	row = widget.Brief(text, w)
	if at := strings.LastIndex(row, " ("); at > strings.LastIndex(row, ")") { // what it opens is not closed
		return row[:at], true
	}
	if at := strings.LastIndexAny(row, ",:;"); at > len(row)/2 && strings.HasPrefix(row[at+1:], " ") {
		row = row[:at]
	}
	return row, true
}

// causes has a line for each cause and one for its cure if brief; what does not fit is on the page of the verdict.
func (l *loadedRun) causes(s *widget.Styles, w int, brief bool) (out []string) {
	list := report.Causes(l.folder)
	names := 0
	for _, c := range list {
		names = max(names, ansi.StringWidth(c.Name))
	}
	_, worth := widget.Worth(s, l.folder.Run.Verdict)
	cut := false
	for _, c := range list {
		lead, k := "· ", s.Muted
		if c.Doubt {
			lead, k = "! ", worth
		}
		text, room := widget.Unflagged(c.Text), w-names-4
		if !brief {
			for i, line := range widget.Wrap(text, max(room, 10)) {
				head := widget.Fit("", names+2)
				if i == 0 {
					head = k.On(lead + widget.Fit(c.Name, names))
				}
				out = append(out, head+"  "+line)
			}
			continue
		}
		cure := ""
		if c.Cure != "" && ansi.StringWidth(text) > room { // what to do has a line of its own
			text, cure = widget.Unflagged(strings.TrimRight(strings.TrimSuffix(c.Text, c.Cure+"."), ":; ")), widget.Unflagged(c.Cure)+"."
		}
		row, less := inOne(text, room)
		out = append(out, k.On(lead+widget.Fit(c.Name, names))+"  "+row)
		if rest, is := strings.CutPrefix(text, row); less && is && c.Doubt && c.Cure == "" { // the row of a cure has more of it
			row, less = inOne(strings.TrimLeft(rest, ",:; "), room)
			out = append(out, widget.Fit("", names+4)+row)
		}
		cut = cut || less
		if cure != "" {
			row, less = inOne(cure, room-2)
			out = append(out, widget.Fit("", names+4)+s.Accent.On("→ ")+row)
			cut = cut || less
		}
	}
	if more := "  more on Verdict: tab"; cut && ansi.StringWidth(out[len(out)-1]+more) <= w {
		out[len(out)-1] += s.Muted.On(more)
	} else if cut {
		out = append(out, s.Muted.On(more))
	}
	return out
}

// facts shows what was measured where.
func (l *loadedRun) facts(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	var out []string
	add := func(name, text string, k widget.Ink) {
		out = append(out, widget.Labelled(s, 14, name, text, k, w)...)
	}
	if run.Note != "" {
		add("Note", run.Note, s.Plain)
	}
	if len(run.Tags) > 0 {
		add("Tags", strings.Join(run.TagWords(), ", "), s.Plain)
	}
	for _, a := range report.Faults(l.folder) {
		add("Fault", report.FaultText(&a, run), s.Plain)
	}
	if passed(run) {
		out = append(out, verified(s, run, w)...)
	}
	store := []string{run.Target}
	for _, more := range []string{strings.TrimSpace(run.Store.Product + " " + run.Store.Version), run.Store.Topology} {
		if more != "" {
			store = append(store, more)
		}
	}
	add("Target", strings.Join(store, " · "), s.Plain)
	add("Settings", settingsInWords(run), s.Plain)
	return out
}

// told reports whether the verdict, the thresholds or the reason for the end already
// mention an error.
func told(run *rundir.Run, err error) bool {
	switch fault.CodeOf(err) {
	case fault.CodeThreshold, fault.CodeVerification, fault.CodeInterrupted:
		return true
	}
	return strings.HasPrefix(run.EndedBy, "fault: ")
}

// untold is what the error of a run says that stands nowhere else on the page.
func untold(run *rundir.Run, o *screen.Outcome) string {
	if o == nil || o.Err == nil || told(run, o.Err) {
		return ""
	}
	text := o.Err.Error()
	if before, after, is := strings.Cut(text, run.Verification.Summary); is && run.Unverified() && run.Verification.Summary != "" {
		text = before[:strings.LastIndex(before, "\n")+1] + strings.TrimPrefix(after, "\n")
	}
	return strings.TrimSpace(text)
}

// settingsInWords lists the live settings at the start; those of single tracks only if
// the totals do not determine them.
func settingsInWords(run *rundir.Run) string {
	words := settingWords(run.Settings)
	if text := run.Changed("later"); text != "" {
		words = append(words, text)
	}
	if run.Parameters["preset"] != "" {
		words = append(words, "preset "+run.Parameters["preset"])
	}
	return strings.Join(words, " · ")
}

// mostName is how wide a name is that is shown whole on a narrow screen.
const mostName = 28

// operationsTable shows each rate with the latency at that rate.
func operationsTable(s *widget.Styles, run *rundir.Run, w int) []string {
	name, second := 0, "per second"
	for _, o := range run.Operations {
		name = max(name, ansi.StringWidth(partName(run, o)))
	}
	if w < 64 {
		second = "per s"
	}
	g := widget.Grid{Cols: []widget.Column{
		{Head: "operation", Most: max(w/3, min(name, mostName), 14)},
		{Head: run.Unit, Right: true, Spare: 3},
		{Head: second, Right: true},
		{Head: "p50", Right: true, Spare: 1, Least: 7},
		{Head: "p99", Right: true, Least: 7},
		{Head: "p99.9", Right: true, Spare: 2, Least: 7},
		{Head: "max", Right: true, Spare: 4, Least: 7},
		{Head: "errors", Right: true},
		{Head: "never sent", Right: true, Spare: 5},
	}}
	mixed := report.Mixed(run)
	if mixed {
		g.Cols[1].Head = "count"
	}
	failed := make([]bool, 0, len(run.Operations))
	for _, o := range run.Operations {
		l, count := o.Response.Shown(o.Calls), units.Whole(o.Count)
		if mixed {
			count += " " + run.UnitOf(o)
		}
		g.Add(partName(run, o), count, widget.RateText(o.Throughput), widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.P999), widget.Nanos(l.Max), units.Whole(o.Errors), units.Whole(o.Unstarted))
		failed = append(failed, o.Errors > 0)
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 7 && failed[row]:
			return s.Bad
		case col == 2:
			return s.Bold
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}

// partName returns the name of an operation, indented if its units do not count.
func partName(run *rundir.Run, o rundir.Operation) string {
	if !run.Counts(o) {
		return "  " + widget.OpName(run, o)
	}
	return widget.OpName(run, o)
}

// charts draws the charts of the run in w cells and h lines, their first cell at a place of the page:
// throughput above latency, on one time axis; throughput alone where there are fewer than leastBoth. Above
// them are the markers, and in their titles the figures of the moment that is read.
func (l *loadedRun) charts(s *widget.Styles, m *moment, at image.Point, w, h int) []string {
	c := l.course
	c.cross = m.cross
	c.rates, c.p99 = c.drawn(c.rates), c.drawn(c.p99)
	p99 := graph{vals: c.p99, low: c.drawn(c.course.P50), most: c.drawn(c.course.Max), series: 1, few: true, early: int(chart.Settling/time.Second) - c.first, format: durationLabel}
	p99.log = c.steep() != m.turned
	axis := ""
	if p99.log {
		axis = ", log"
	}
	from, to := c.whole()
	right := ""
	if !s.Spoken {
		right = legend(c)
	}
	rate, times := c.what+reach(c.rates[from:to], units.Number, w-ansi.StringWidth(c.what+right)-2), l.timesTitle(s, axis, w)
	w = min(w, widestSpoken(s))
	if width := c.readings(w - chart.AxisWidth).Width; c.cross.On && !s.Spoken {
		t := c.then(c.cross.At, width)
		rate, right = c.what+"  "+units.Number(t.Rate)+" "+l.folder.Run.Unit+"/s", c.cross.Clock(width)
		times = fmt.Sprintf("Latency%s  p50 %s   p99 %s   max %s", axis, widget.Nanos(t.Times.P50), widget.Nanos(t.Times.P99), widget.Nanos(t.Times.Max))
	}
	out := []string{s.Muted.On(widget.Spread(rate, right, w))}
	if lane := c.lane(s, w); lane != "" {
		out = append(out, lane)
		h--
	}
	each := h - 2
	if m.timed = h >= leastBoth; m.timed {
		each = (h - 3) / 2
		each -= 1 - each%2 // an odd height has a middle row to label
		out = append(out, graph{vals: c.rates, mean: true, format: units.Number}.draw(s, c, w, each)...)
		out = append(out, s.Muted.On(widget.Fit(times, w)))
		out = append(out, p99.draw(s, c, w, each)...)
	} else {
		out = append(out, graph{vals: c.rates, mean: true, format: units.Number}.draw(s, c, w, each)...)
	}
	out = append(out, chart.Clocks(s, c.first, len(c.rates), w))
	m.plots = image.Rect(at.X+chart.AxisWidth, at.Y, at.X+w, at.Y+len(out))
	return out
}

// errorRows is how high the chart of errors is at least, mostErrorRows at most, errorSeries the series in whose colour
// they are drawn.
const errorRows, mostErrorRows, errorSeries = 5, 11, 3

// failing draws how many operations failed in each second, in as many of h lines as the chart takes, with a blank line
// below; nothing of a run that is too short.
func (l *loadedRun) failing(s *widget.Styles, m *moment, w, h int) []string {
	c := l.course
	if len(c.rates) < 2 {
		return nil
	}
	c.cross = m.cross
	w = min(w, widestSpoken(s))
	each := make([]float64, len(c.rates))
	for i := range min(len(each), len(c.errors)) {
		each[i] = float64(c.errors[i])
	}
	some := slices.Clone(each) // 0 is drawn as nothing
	for i, v := range some {
		if v == 0 {
			some[i] = math.NaN()
		}
	}
	if chart.Peak(each) == 0 { // they were before, or are not in the series
		return nil
	}
	head, title, right := "", "Errors per second", ""
	if !s.Spoken {
		right = legend(c)
	}
	whole := title + reach(each, units.Number, w-ansi.StringWidth(title))
	for _, parts := range [][2]string{{whole, right}, {title, right}, {whole, ""}} {
		if head = widget.Spread(parts[0], parts[1], w); ansi.StringWidth(parts[0]+parts[1])+2 <= w {
			break
		}
	}
	out := []string{s.Muted.On(head)}
	if lane := c.lane(s, w); lane != "" {
		out = append(out, lane)
	}
	rows := min(max(h-len(out)-2, errorRows), mostErrorRows)
	rows -= 1 - rows%2 // an odd height has a middle row to label
	out = append(out, graph{vals: some, series: errorSeries, always: true, format: units.Number}.draw(s, c, w, rows)...)
	out = append(out, chart.Clocks(s, c.first, len(c.rates), w))
	m.plots = image.Rect(chart.AxisWidth, 0, w, len(out))
	return append(out, "")
}

// reach says between what the values of the seconds lie, as far as it fits into w cells: whoever
// cannot see the line hears that.
func reach(values []float64, format func(float64) string, w int) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	text := fmt.Sprintf(", each second %s to %s", format(low), format(high))
	if high < low || ansi.StringWidth(text) > w {
		return ""
	}
	return text
}

// timesTitle is the title of the chart of latency in w cells, with what is drawn in it and between what the p99 of its
// seconds lies; axis says which it has.
func (l *loadedRun) timesTitle(s *widget.Styles, axis string, w int) string {
	title := "Latency" + axis
	if s.Spoken {
		return "Latency p99" + axis + l.reachOfP99(w-len("Latency p99"+axis))
	}
	if key := "   █ p50 to p99  ⠒ max"; ansi.StringWidth(title+key) <= w {
		title += key
	}
	const lead = "   p99"
	if p99 := l.reachOfP99(w - ansi.StringWidth(title+lead)); p99 != "" {
		title += lead + p99
	}
	return title
}

// reachOfP99 is reach of the p99, and says that seconds are of too few calls: some of them, or all.
func (l *loadedRun) reachOfP99(w int) string {
	c := &l.course
	from, to := c.whole()
	few, known := c.fewOf()
	note := ""
	switch {
	case few == 0:
	case few < known:
		note = ", " + chart.DimmedFew()
	default:
		note = fmt.Sprintf(", of fewer than %d calls each", measure.Needs(99))
	}
	text := reach(c.p99[from:to], durationLabel, w)
	forms := []string{text + note}
	if note != "" && few == known {
		forms = append(forms, fmt.Sprintf(", each second of fewer than %d calls", measure.Needs(99)))
	}
	for _, form := range append(forms, text) {
		if ansi.StringWidth(form) <= w {
			return form
		}
	}
	return ""
}

// widestSpoken is how wide a chart is at most: where it is spoken, as wide as one that is drawn, since
// its moments are read one by one.
func widestSpoken(s *widget.Styles) int {
	if s.Spoken {
		return 75
	}
	return math.MaxInt
}

// legend explains what is drawn beside the line, if there is anything.
func legend(c curves) string {
	var words []string
	if c.first < 0 {
		words = append(words, fmt.Sprintf("%s of warm-up dimmed", units.Duration(time.Duration(-c.first)*time.Second)))
	}
	if len(c.changes) > 0 {
		words = append(words, "┊ a setting changed")
	}
	for _, kind := range []idle{{}, {emptied: true}} {
		if slices.ContainsFunc(c.idle, func(o idle) bool { return o.emptied == kind.emptied }) {
			words = append(words, string(kind.sign())+" "+kind.shaded())
		}
	}
	if len(c.faults) > 0 {
		words = append(words, "▒ an injected fault")
	}
	if len(c.phases) > 0 {
		words = append(words, "╎ a phase began")
	}
	return strings.Join(words, " · ")
}
