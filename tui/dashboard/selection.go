package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// selection is the operation that the user looks at, and its figures.
type selection struct {
	now *reading
	op  int // -1 for all
	fig figures
	// behind is until when the run was last far behind its rate, as far as this screen has seen it.
	behind time.Duration
	// peaks are those of the window of the figures.
	peaks peaks
}

// refresh computes the figures of the newest state of the run.
func (sel *selection) refresh() {
	sel.fig = digest(sel.now.snap, sel.op)
	if sel.fig.behind() {
		sel.behind = sel.now.snap.At
	}
	sel.peaks.next(sel.now.snap, &sel.fig, sel.now.passed())
}

// peak returns the best second of the window so far; ok is false if there is none, or if it stays below
// the mean, as where most was done in the part of a second with which the window begins.
func (sel *selection) peak() (b best, ok bool) {
	b, ok = sel.peaks.best[sel.op]
	return b, ok && !(b.rate < sel.fig.mean)
}

// series lists the operations that have a colour of their own: those that count, unless they are too many.
func (sel *selection) series() []int {
	var out []int
	for i := range sel.now.snap.Ops {
		if sel.now.snap.Counts(i) {
			out = append(out, i)
		}
	}
	if len(out) > len(widget.Styles{}.Series) {
		return nil
	}
	return out
}

// apart lists the operations that charts show separately. It is nil if they show the
// selected one, or all as one because there are too many.
func (sel *selection) apart() []int {
	if out := sel.series(); sel.op < 0 && len(out) > 1 {
		return out
	}
	return nil
}

// hue returns the series whose colour an operation has in charts: its own, or the first where it has none.
func (sel *selection) hue(op int) int { return max(slices.Index(sel.series(), op), 0) }

// ink returns the ink for the rates of an operation in the table: that of its area in the charts, or grey if
// they show none of it alone.
func (sel *selection) ink(s *widget.Styles, op int) widget.Ink {
	if op == sel.op || sel.op < 0 && slices.Contains(sel.series(), op) {
		return s.Series[sel.hue(op)]
	}
	return s.Muted
}

// legend names the operations that charts show separately, each in its colour; empty if they show one area.
func (sel *selection) legend(s *widget.Styles) string {
	var names []string
	for _, op := range sel.apart() {
		names = append(names, s.Series[sel.hue(op)].On("■ "+sel.now.opName(sel.now.snap.Ops[op].Operation)))
	}
	return strings.Join(names, "  ")
}

func (sel *selection) ofOp() string {
	if sel.op < 0 || sel.op >= len(sel.now.snap.Ops) {
		return ""
	}
	return " · " + sel.now.opName(sel.now.snap.Ops[sel.op].Operation)
}

// ofAll says that the latencies are of several operations, or not of all that were called.
func (sel *selection) ofAll() string {
	others := false
	for i, o := range sel.now.snap.Ops {
		others = others || o.Calls > 0 && !sel.now.snap.Counts(i)
	}
	switch {
	case sel.op >= 0 || sel.fig.of == 0 || sel.fig.of == 1 && !others:
		return ""
	case sel.fig.of == 1:
		return "1 counted op"
	case others:
		return fmt.Sprintf("%d counted ops", sel.fig.of)
	}
	return fmt.Sprintf("all %d ops", sel.fig.of)
}

// answered says, while calls fail or none is answered, that the figures are of calls that were answered, and how
// old they are: in several forms, the longest first; nil while all calls are answered.
func (sel *selection) answered() []string {
	w := sel.now.watch
	switch {
	case w.gone && sel.fig.latency.Count == 0:
		since := w.since.Seconds()
		return []string{"no answer since " + plot.At(since), "no answer since " + plot.Clock(since)}
	case sel.fig.latency.Count == 0:
		return nil
	case w.gone || w.silent > 0:
		old := whole(sel.now.snap.At-w.since) + " old"
		return []string{"of answered calls, " + old, "answered calls, " + old, old}
	}
	switch untimed, timedOut := sel.failures(); {
	case untimed && timedOut:
		return []string{"of calls answered or timed out", "calls answered or timed out"}
	case untimed:
		return []string{"of answered calls", "answered calls"}
	}
	return nil
}

// failures reports whether calls failed in the window that have no time, and whether any timed out, which have one.
func (sel *selection) failures() (untimed, timedOut bool) {
	if sel.fig.failed == 0 {
		return false, false
	}
	for _, e := range sel.now.snap.Errors {
		op := slices.IndexFunc(sel.now.snap.Ops, func(o measure.Totals) bool { return o.Operation == e.Operation })
		if op == sel.op || sel.op < 0 && op >= 0 && sel.now.snap.Counts(op) {
			untimed, timedOut = untimed || e.Class != store.Timeout.String(), timedOut || e.Class == store.Timeout.String()
		}
	}
	return untimed, timedOut
}

// early says when there will be figures; empty once there are some.
func (sel *selection) early() string {
	switch {
	case sel.fig.whole:
		return ""
	case sel.now.snap.At-sel.fig.from < time.Second:
		return "first figures after 1 s"
	}
	return "waiting for the first figures"
}

// since names the window of the figures.
func (sel *selection) since() string {
	switch {
	case !sel.fig.whole:
		return sel.early()
	case sel.fig.warmup:
		return "warm-up, not counted"
	case sel.fig.to != open:
		return "figures " + widget.Clock(sel.fig.from) + " to " + widget.Clock(sel.fig.to)
	case sel.fig.from > 0:
		return "figures since " + widget.Clock(sel.fig.from)
	}
	return "figures since the start"
}

// brief is since in as few words as possible.
func (sel *selection) brief() string { return strings.TrimPrefix(sel.since(), "figures ") }

// second names the second that the rate of now is of; empty if there is none.
func (sel *selection) second() string {
	if !sel.fig.whole {
		return ""
	}
	return theSecond(sel.fig.last())
}

// theSecond names a second of the run.
func theSecond(t int) string { return "second " + widget.Clock(time.Duration(t)*time.Second) }

// unknown says why there is no p99 although the store answers; empty if there is one.
func (sel *selection) unknown() string {
	switch l := sel.fig.latency; {
	case !sel.fig.whole:
		return ""
	case l.Count == 0 && sel.fig.warmup:
		return "p99 of one second"
	case l.Count == 0 && sel.fig.errors > 0:
		return "no call has succeeded yet"
	case l.Count == 0:
		return "no call has ended yet"
	case l.P99 == measure.Hidden:
		return fmt.Sprintf("p99 takes %d calls, there are %d", measure.Needs(99), l.Count)
	}
	return ""
}

// untimed says why a picture of the measured part has no call.
func (sel *selection) untimed() string {
	switch {
	case !sel.fig.whole:
		early := sel.early()
		return units.Capital(early) + "."
	case sel.fig.warmup:
		return "The warm-up is not counted."
	}
	return "No call was timed yet."
}

// short says of the table of operations why it has no p99 of some; empty if it has all.
func (sel *selection) short() string {
	for i := range sel.now.snap.Ops {
		if l := digest(sel.now.snap, i).latency; l.Count > 0 && l.P99 == measure.Hidden {
			return tooFew()
		}
	}
	return ""
}

// tooFew says why a table has no p99 of an operation.
func tooFew() string { return fmt.Sprintf("–: p99 takes %d calls", measure.Needs(99)) }

// distributions returns the response times of the measured part, and the colours of the
// operations: those shown separately, or all as one.
func (sel *selection) distributions() (spreads []measure.Spread, series []int) {
	ops := sel.apart()
	if ops == nil {
		return []measure.Spread{sum(sel.spreads(false))}, []int{sel.hue(sel.op)}
	}
	for _, op := range ops {
		spreads, series = append(spreads, sum(sel.now.measured(op))), append(series, sel.hue(op))
	}
	return spreads, series
}

// spreads returns those of the selected operation, or of all that count; of the
// measured part only unless warm-up is requested too.
func (sel *selection) spreads(warmup bool) []measure.Spread {
	var out []measure.Spread
	for op := range sel.now.snap.Spreads {
		switch {
		case sel.op >= 0 && op != sel.op || sel.op < 0 && !sel.now.snap.Counts(op):
		case warmup:
			out = append(out, sel.now.snap.Spreads[op]...)
		default:
			out = append(out, sel.now.measured(op)...)
		}
	}
	return out
}

func (sel *selection) rateText(v float64) string { return units.Number(v) + " " + sel.unit() + "/s" }

// unit returns what the figures count: those of the selected operation, or of all.
func (sel *selection) unit() string {
	if sel.op >= 0 && sel.op < len(sel.now.snap.Ops) {
		return cmp.Or(sel.now.otherUnit(sel.now.snap.Ops[sel.op].Operation), sel.now.info.Unit)
	}
	return sel.now.info.Unit
}

// state describes the run at this moment: in flight, or on its way where calls hand over what is
// stored later; behind, errors, the verdict so far and thresholds. relief is what drops a backlog, which is said
// where the verdict has room besides.
func (sel *selection) state(e screen.Env, short bool, relief string) string {
	line, whole := sel.stateWith(e, short, true, relief)
	if brief, reason := sel.stateWith(e, short, false, relief); !whole && reason {
		line = brief // the tab has the classes of errors
	}
	if relief != "" && !strings.Contains(line, sel.now.verdict.State) {
		return sel.state(e, short, "")
	}
	if stand := sel.now.stand(e.Styles, e.W-5-ansi.StringWidth(line)); stand != "" {
		line += " · " + stand
	}
	return line
}

// causes names what casts doubt on the figures, and of a backlog that is over until when there was one.
func (sel *selection) causes() []string {
	out := sel.now.verdict.Main()
	for i, cause := range out {
		switch {
		case cause != string(verdict.Backlog) || sel.fig.behind():
		case sel.behind > 0:
			out[i] += " until " + widget.Clock(sel.behind)
		default:
			out[i] = "earlier " + cause
		}
	}
	return out
}

// late reports whether the verdict says that perfbench itself starts calls late.
func (sel *selection) late() bool {
	return slices.Contains(sel.now.verdict.Causes, string(verdict.Lateness))
}

// stateWith is state with the classes of errors or without them, and reports whether it has all causes of
// the verdict.
func (sel *selection) stateWith(e screen.Env, short, classed bool, relief string) (text string, whole bool) {
	s, f := e.Styles, sel.fig
	var parts []string
	switch {
	case !sel.now.relaying():
		parts = append(parts, fmt.Sprintf("in flight %d", f.inFlight))
	case sel.now.relays:
		parts = append(parts, units.Number(float64(sel.now.left))+" "+sel.now.info.Unit+" on their way")
	}
	if f.stalls() {
		parts = append(parts, s.Warn.On("oldest "+age(f.due)))
	} else if !short && !sel.now.relaying() {
		parts = append(parts, "oldest "+age(f.due))
	}
	switch {
	case f.backlog > 0 && relief != "":
		parts = append(parts, s.Warn.On(units.Number(float64(f.backlog))+" behind: "+relief))
	case f.backlog > 0:
		parts = append(parts, s.Warn.On(units.Number(float64(f.backlog))+" behind schedule"))
	case f.open && (f.rate != 0 || f.errors == 0) && !sel.late(): // what only fails is on time, which is no merit
		parts = append(parts, "on schedule")
	}
	if n := sel.fig.errors; n > 0 {
		text := "errors " + widget.Whole(n)
		if classes := errorsInWords(sel.now.snap); classes != "" && !short && classed {
			text += " (" + classes + ")"
		}
		parts = append(parts, s.Bad.On(text))
	} else {
		parts = append(parts, "errors 0")
	}
	if sel.now.told != "" && !short {
		parts = append(parts, sel.now.told)
	}
	line := strings.Join(parts, " · ")
	if state := sel.now.verdict.State; sel.now.snap.At <= 0 || state == "" || state == verdict.Valid && sel.now.watch.gone {
		return line, true // nothing speaks against figures of a store that does not answer, and nothing for them
	}
	_, k := widget.Worth(s, sel.now.verdict)
	if f.behind() && sel.now.verdict.State == verdict.Valid {
		k = s.Warn // it comes to doubts only if that lasts
	}
	word := sel.now.verdict.State
	whole = len(sel.now.verdict.Causes) == 0
	if len(sel.now.verdict.Causes) > 0 {
		if causes := word + ": " + strings.Join(sel.causes(), ", "); ansi.StringWidth(line+causes)+5 <= e.W {
			word, whole = causes, true
		}
	}
	if ansi.StringWidth(line+word)+5 > e.W {
		return line, false // the tab shows it
	}
	return line + " · " + k.On(word), whole
}

// age formats how long something has been in progress; coarsely below a second, so that
// it does not flicker.
func age(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}
