package effect

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Text names what was done: "rate 2 500 → 2 000", "undo: threads 32 → 16".
func (e *Effect) Text() string { return e.words.text(&e.Act) }

// What names what is judged: the act, or the last few together: "threads 16 → 32, payload 1 KiB →
// 2 KiB together", or only their knobs if they are many.
func (e *Effect) What() string {
	if len(e.With) == 0 {
		return e.Text()
	}
	var list []measure.Act
	for _, a := range slices.Backward(e.With) {
		list = netted(list, a)
	}
	list = netted(list, e.Act)
	if len(list) == 1 {
		return fmt.Sprintf("%s (%d changes)", e.words.turned(&list[0]), len(e.With)+1)
	}
	if len(list) == 2 {
		return e.words.text(&list[0]) + ", " + e.words.text(&list[1]) + " together"
	}
	return e.InFew()
}

// InFew is What in the fewest words: only the knobs, and how many changes are judged together.
func (e *Effect) InFew() string {
	if n := len(e.With) + 1; n > 1 {
		return fmt.Sprintf("%s (%d changes)", e.Knobs(), n)
	}
	return e.Knobs()
}

// Knobs names those that were turned, the first one first.
func (e *Effect) Knobs() string {
	names := []string{}
	for _, a := range slices.Backward(append([]measure.Act{e.Act}, e.With...)) {
		name := a.Knob()
		if kind, ok := workload.FaultSetting(name); ok {
			name = workload.FaultKinds()[kind].Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// netted adds an act to those before it: to what it goes on with, if that was of the same setting.
func netted(list []measure.Act, a measure.Act) []measure.Act {
	for i := range list {
		if len(list[i].Parts()) == 1 && len(a.Parts()) == 1 && list[i].Name == a.Name {
			list[i].To = a.To
			return list
		}
	}
	return append(list, a)
}

// When is the moment at which the act came into force or, if it went on, the first and the last:
// everywhere the same. Before and after it means before the first and after the last.
func (e *Effect) When() string { return spell(e.At, e.Until) }

// WhenAll is When of the act and of those that are judged together with it.
func (e *Effect) WhenAll() string { return spell(e.first, e.Until) }

func spell(from, to time.Duration) string {
	clock := func(at time.Duration) string { return plot.Clock(math.Floor(at.Seconds())) }
	first, last := clock(from), clock(to)
	if first != last {
		return first + "–" + last
	}
	return first
}

// Named is Text, and that it is a ramp.
func (e *Effect) Named() string {
	if e.Ramp > 0 && e.Until > e.At {
		return e.Text() + ", a ramp"
	}
	return e.Text()
}

// Segments names the segment that the act opened, or those from its first moment to its last.
func (e *Effect) Segments() string {
	if e.Last > e.Segment {
		return fmt.Sprintf("%d–%d", e.Segment, e.Last)
	}
	return fmt.Sprint(e.Segment)
}

// Takes says how long it takes to know an effect: how many seconds before and after a change, and that
// changes close together have one.
func Takes() string {
	return fmt.Sprintf("An effect takes %d s before and after a turn, a small one up to %d; what is turned within %d s has one effect together.", fewest, window, fewest)
}

// Throughput is how the units per second of the run have changed.
func (e *Effect) Throughput() Figure { return e.rate }

// Latency is how the response time of an operation has, in the median second: p99, or p50 where that is
// known and p99 cannot be judged. Of each it is the operation that has the highest before or after the
// change. Its Is is empty where none is known.
func (e *Effect) Latency() Figure {
	switch p99, p50 := &e.tail, &e.half; {
	case p50.Is == "", p99.Is != "" && p99.Is != Unsure:
		return e.tail
	case p99.Is == "", p50.Is != Unsure, p99.ours > 0 && p50.ours == 0:
		return e.half
	}
	return e.tail
}

// Given means that throughput is what a rate asks for, so that p99 decides.
func (e *Effect) Given() bool { return e.given }

// early means that the first seconds after it have not passed yet, which more may contradict.
func (e *Effect) early() bool { return e.more && e.since < settling }

// SoFar means that something became better or worse in its first seconds: it may yet be chance, however sure
// it looks.
func (e *Effect) SoFar() bool {
	moved := func(f Figure) bool { return f.Is == Better || f.Is == Worse }
	return e.early() && (moved(e.rate) || moved(e.Latency()))
}

// undone means that the acts told together left every knob as it was.
func (e *Effect) undone() bool {
	first, last := map[string]float64{}, map[string]float64{}
	for _, a := range slices.Backward(append([]measure.Act{e.Act}, e.With...)) {
		for _, c := range a.Parts() {
			if _, fault := workload.FaultSetting(c.Name); fault { // a store may remember one that has ended
				return false
			}
			if _, known := first[c.Name]; !known {
				first[c.Name] = c.From
			}
			last[c.Name] = c.To
		}
	}
	return maps.Equal(first, last)
}

// Missing says why there are no figures of it, or not yet; empty if there are, and of a pause.
func (e *Effect) Missing() string {
	switch {
	case e.Pauses():
		return ""
	case e.undone():
		return "as before"
	case e.Next:
		return "see the next one"
	case !e.scarce() && e.more && e.few() && !e.before.stood && !e.after.stood:
		return fmt.Sprintf("measuring its effect: %d of %d+ s", e.after.seconds, fewest)
	case e.rate.Is != Asked && (e.few() || e.before.silent || e.after.silent):
		return string(Unsure) + ": " + e.poor()
	}
	return ""
}

// poor says what both sides of it lack for any of its figures to be judged; empty if nothing.
func (e *Effect) poor() string {
	switch {
	case e.scarce():
		return fmt.Sprintf("it needs at least %d s before it, and had %d", fewest, e.had)
	case e.after.silent && e.after.own:
		return "perfbench itself did not run after it"
	case e.after.silent && e.more:
		return "the store has not answered since"
	case e.after.silent:
		return "the store did not answer after it"
	case e.before.silent && e.before.own:
		return "perfbench itself did not run before it"
	case e.before.silent:
		return "the store did not answer before it"
	case e.stood() && (e.before.own || e.after.own):
		return "perfbench itself did not run for a while"
	case e.stood():
		return "nothing was done for a while"
	case e.few():
		return fmt.Sprintf("it needs at least %d s after it, and had %d", fewest, e.after.seconds)
	}
	return ""
}

// stood means that nothing was done in some of the seconds beside it.
func (e *Effect) stood() bool {
	return (e.before.stood || e.after.stood) && !e.before.silent && !e.after.silent && !e.scarce()
}

// scarce means that there are too few seconds between it and what came before it.
func (e *Effect) scarce() bool { return !e.Pauses() && e.had < fewest }

// few means that there are too few seconds on a side of it for any figure.
func (e *Effect) few() bool { return e.scarce() || e.after.seconds < fewest }

// tooSoon reports whether the effect cannot be known because too little time lay before it.
func (e *Effect) tooSoon() bool {
	return !e.Pauses() && (e.scarce() || e.needs() > e.had && e.needs() <= window)
}

// Outcome describes the effect in words, everywhere the same: throughput and a response time before
// and after it, with their ranges if room cells are enough for that, else as much as fits.
func (e *Effect) Outcome(room int) string {
	if e.Pauses() {
		return ""
	}
	if why := e.Missing(); why != "" {
		return why
	}
	text := ""
	if slow := e.Slow(); slow != "" { // which matters more than ranges
		for _, d := range []detail{ranges, numbers} {
			if text = e.describe(d) + "; " + slow; ansi.StringWidth(text) <= room {
				return text
			}
		}
	}
	for _, d := range []detail{ranges, numbers, reasons, soon, least, bare, barest} {
		if text = e.describe(d); ansi.StringWidth(text) <= room {
			break
		}
	}
	return text
}

// Brief is Outcome or, where that has no room, its bare figures.
func (e *Effect) Brief(room int) string {
	text := e.Outcome(room)
	if e.Missing() != "" {
		return text
	}
	for _, d := range []detail{simple, figures} {
		if ansi.StringWidth(text) > room {
			text = e.describe(d)
		}
	}
	return text
}

// Told is the effect in a table: that it is one of several acts together, and its outcome.
func (e *Effect) Told(room int) string {
	with := e.Company(room/2 - 2)
	if with != "" {
		with += ": "
	}
	return with + e.Outcome(room-ansi.StringWidth(with))
}

// Company says together with which acts before it it is judged, by what that was if there is room: "with threads
// 16 → 32", "with the 2 before"; empty if it is judged alone.
func (e *Effect) Company(room int) string {
	n := len(e.With)
	if n == 0 {
		return ""
	}
	if with := "with " + e.words.text(&e.With[0]); n == 1 && ansi.StringWidth(with) <= room {
		return with
	}
	return units.Choose(n, "with the one before", fmt.Sprintf("with the %d before", n))
}

// detail is how much is told about a figure.
type detail int

const (
	figures detail = iota // before and after, without names but those of percentiles
	simple                // and that of throughput
	barest                // and of which operation a percentile is, in short
	bare                  // and what was sure before
	least                 // with its whole name
	soon                  // and in a few words what would make it sure
	reasons               // and the first thing that is lacking
	numbers               // and by how much they differ, and all that is lacking
	ranges
)

// describe says what the effect is, in some detail. That a rate was not kept up with comes first, and stands
// for throughput where there is little room; then what is sure, and of that what decides.
func (e *Effect) describe(d detail) string {
	short, list := e.Short(), e.Figures()
	if short != "" && d <= bare {
		list = slices.DeleteFunc(list, func(f Figure) bool { return f.name == OfThroughput })
	}
	if len(list) == 0 {
		return short
	}
	var out []string
	for i := range list {
		out = append(out, list[i].text(d))
	}
	text := strings.Join(out, ", ")
	lacks := e.Lacks()
	switch d {
	case reasons:
		lacks, _, _ = strings.Cut(lacks, "; ")
	case soon:
		lacks = e.soon()
		doubt := " (" + string(Unsure) + ")"
		if lacks != "" && len(list) > 1 && strings.Count(text, doubt) == len(list) { // said once, of all
			text = string(Unsure) + ": " + strings.ReplaceAll(text, doubt, "")
		}
	}
	if lacks != "" && d > least {
		text += "; " + lacks
	}
	if short != "" {
		text = short + "; " + text
	}
	if e.SoFar() && d > figures {
		text = "so far " + text
	}
	return text
}

// Figures returns what is told of the effect: throughput and, where one is known, a response time. What is sure
// comes first, and of that what decides.
func (e *Effect) Figures() []Figure {
	list := []Figure{e.rate}
	if l := e.Latency(); l.Is != "" {
		list = append(list, l)
	}
	if e.given {
		slices.Reverse(list)
	}
	doubt := func(f Figure) int { return map[string]int{"unsure now": 1, "unsure": 2}[f.Judged()] }
	slices.SortStableFunc(list, func(a, b Figure) int { return cmp.Compare(doubt(a), doubt(b)) })
	return list
}

// Counts says that response times count something else from then on, for which service times are compared in their
// place: with a rate, what a call waits for a thread is in them, and without one no call waits. It is empty where the
// acts have neither set nor lifted a rate.
func (e *Effect) Counts() string {
	for _, a := range append([]measure.Act{e.Act}, e.With...) {
		for _, c := range a.Parts() {
			switch set, was := c.To > 0, c.From > 0; {
			case c.Knob() != "rate" || set == was:
			case set:
				return "with a rate, response times also count the wait for a free thread, so service times are compared"
			default:
				return "without a rate, no call waits for a free thread, so service times are compared"
			}
		}
	}
	return ""
}

// open returns what is told of the effect and is unsure.
func (e *Effect) open() []Figure {
	latency := e.Latency()
	list := []Figure{latency}
	if !e.given || latency.Is == "" {
		list = append(list, e.rate)
	}
	return slices.DeleteFunc(list, func(f Figure) bool { return f.Is != Unsure })
}

// needs returns how many seconds on either side would make sure what is told and unsure: 0 if nothing
// is, math.MaxInt if that cannot be told.
func (e *Effect) needs() int { return needs(e.open()) }

func needs(list []Figure) (n int) {
	for _, f := range list {
		if f.needs == 0 {
			return math.MaxInt
		}
		n = max(n, f.needs)
	}
	return n
}

// Lacks says what would make sure what is unsure, and when that is known, and what of it was sure before; empty
// if nothing is unsure.
func (e *Effect) Lacks() string {
	var out []string
	why := ""
	if l := e.Latency(); l.Is == Unsure || e.rate.Is == Unsure {
		why = e.poor()
	}
	poor := why != ""
	if !poor {
		why = e.reason(e.open())
	}
	if why != "" {
		out = append(out, why)
	}
	switch {
	case poor:
	case e.tail.few:
		out = append(out, fmt.Sprintf("p99 takes %d calls on either side", measure.Needs(99)))
	case e.tail.Is == Unsure && e.Latency().name != e.tail.name:
		which := ""
		if e.tail.of != e.half.of {
			which = " of " + e.tail.of
		}
		out = append(out, "p99"+which+" "+e.tail.Judged()+": "+strings.Replace(e.reason([]Figure{e.tail}), " of its p99 ", " of it ", 1))
	}
	for _, f := range e.open() {
		if f.once != "" {
			out = append(out, f.once)
		}
	}
	return strings.Join(out, "; ")
}

// reason says what figures that are unsure lack; empty if there are none.
func (e *Effect) reason(list []Figure) string {
	for _, f := range list {
		if f.ours > 0 {
			return fmt.Sprintf("%.0f %% of its %s is perfbench's own lateness", 100*f.ours, f.name)
		}
	}
	if slices.ContainsFunc(list, func(f Figure) bool { return f.against }) {
		return "the payload alone would not do that: turn it back to see"
	}
	if slices.ContainsFunc(list, func(f Figure) bool { return f.others }) {
		return "other processes use this machine, which may be as much as that"
	}
	switch needs := needs(list); {
	case needs == 0:
		return ""
	case needs > window:
		if e.further() {
			return "its seconds vary too much to tell: turn it further"
		}
		return "its seconds vary too much to tell"
	case needs > e.had: // no waiting lengthens what was before it
		return fmt.Sprintf("it needs about %d s before it, and had %d", needs, e.had)
	case !e.more:
		return fmt.Sprintf("it needs about %d s after it, and had %d", max(needs, e.after.seconds+1), e.after.seconds)
	default:
		return "known in about " + units.Duration(time.Duration(max(needs-e.after.seconds, 1))*time.Second)
	}
}

// further reports whether somebody can still turn what was turned, which is no fault.
func (e *Effect) further() bool {
	return e.more && !slices.ContainsFunc(append([]measure.Act{e.Act}, e.With...), func(a measure.Act) bool {
		_, fault := workload.FaultSetting(a.Name)
		return fault
	})
}

// soon says in a few words what would make sure what is unsure; "" where that takes more of them.
func (e *Effect) soon() string {
	needs, open := e.needs(), e.open()
	switch {
	case e.poor() != "", needs == 0, slices.ContainsFunc(open, func(f Figure) bool { return f.ours > 0 || f.against }):
		return ""
	case slices.ContainsFunc(open, func(f Figure) bool { return f.others }):
		return "the machine is crowded"
	case needs > window && e.further():
		return "turn it further"
	case needs > window:
		return ""
	case needs > e.had, !e.more:
		return fmt.Sprintf("needs %d s", needs)
	}
	return fmt.Sprintf("%d s more", max(needs-e.after.seconds, 1))
}

// shortName is how wide the name of an operation is at most where there is little room.
const shortName = 12

// text says what the figure was before and after, and what was found out about it.
func (f *Figure) text(d detail) string {
	out := f.name
	switch {
	case d == figures && f.name == OfThroughput:
		out = ""
	case f.of == "" || d <= simple:
	case d <= bare: // nobody would know which it is, without
		if out += " "; ansi.StringWidth(f.of) <= shortName {
			out += f.of
		} else {
			out += ansi.Truncate(f.brief, shortName, "…")
		}
	default:
		out += " of " + f.of
	}
	switch {
	case d <= bare && d > simple && f.of != "" && f.Is == Same: // its name takes the room of one of two alike
		out += " " + join(f.show(f.After))
	case d != ranges:
		out += " " + f.Numbers()
	default:
		if f.name != OfThroughput { // that of the median second is another one than that of all calls together
			out += " per second"
		}
		out += " " + f.Ranges()
	}
	switch {
	case f.Is == Asked && d <= bare, f.Is == Same && d <= simple:
	case f.Is == Better || f.Is == Worse:
		if d > reasons {
			out += " " + f.Change()
		}
	case f.Is == Unsure:
		out += " (" + f.judged(d) + ")"
	default:
		out += " " + f.judged(d)
	}
	return strings.TrimSpace(out)
}

// judged is Judged, as far as there is room for it.
func (f *Figure) judged(d detail) string {
	if d <= barest {
		return string(f.Is)
	}
	return f.Judged()
}

// Change is by how much the figure differs: "+25 %", "×12".
func (f *Figure) Change() string { return units.Percent(f.Before, f.After) }

// Numbers formats both values: "20 → 40 ms".
func (f *Figure) Numbers() string {
	if f.Is == "" {
		return "–"
	}
	a, au := f.show(f.Before)
	b, bu := f.show(f.After)
	if au == bu {
		au = ""
	}
	return join(a, au) + " → " + join(b, bu)
}

// Seconds formats the lowest and the highest second on either side: "19–21 → 38–45 ms".
func (f *Figure) Seconds() string {
	one := func(r [2]float64) (text, unit string) {
		lo, lu := f.show(r[0])
		hi, hu := f.show(r[1])
		if lu == hu {
			return lo + "–" + hi, hu
		}
		return join(lo, lu) + "–" + join(hi, hu), ""
	}
	a, au := one(f.Was)
	b, bu := one(f.Now)
	if au == bu {
		au = ""
	}
	return join(a, au) + " → " + join(b, bu)
}

// Ranges formats both values with their ranges: "20 (19–21) → 40 (38–45) ms".
func (f *Figure) Ranges() string {
	if f.Is == "" {
		return "–"
	}
	one := func(v float64, r [2]float64) (text, unit string) {
		n, u := f.show(v)
		lo, lu := f.show(r[0])
		hi, hu := f.show(r[1])
		if lu == u && hu == u {
			return n + " (" + lo + "–" + hi + ")", u
		}
		if lu == hu {
			lu = ""
		}
		return join(n, u) + " (" + join(lo, lu) + "–" + join(hi, hu) + ")", ""
	}
	a, au := one(f.Before, f.Was)
	b, bu := one(f.After, f.Now)
	if au == bu {
		au = ""
	}
	return join(a, au) + " → " + join(b, bu)
}

func join(number, unit string) string { return strings.TrimSpace(number + " " + unit) }
