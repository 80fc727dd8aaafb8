package effect

import (
	"fmt"
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
	n := len(e.With) + 1
	if len(list) == 1 {
		return fmt.Sprintf("%s (%d changes)", e.words.turned(&list[0]), n)
	}
	if len(list) == 2 {
		return e.words.text(&list[0]) + ", " + e.words.text(&list[1]) + " together"
	}
	return fmt.Sprintf("%s together (%d changes)", e.Knobs(), n)
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

// When is the moment of the change, or from when to when the last few were.
func (e *Effect) When() string {
	clock := func(at time.Duration) string { return plot.Clock(math.Floor(at.Seconds())) }
	first, last := clock(e.first), clock(e.Until)
	if len(e.With) > 0 && first != last {
		return first + "–" + last
	}
	return last
}

// Segments names the segment that the act opened, or those from its first moment to its last.
func (e *Effect) Segments() string {
	if e.Last > e.Segment {
		return fmt.Sprintf("%d–%d", e.Segment, e.Last)
	}
	return fmt.Sprint(e.Segment)
}

// Throughput is how the units per second of the run have changed. P99 is how that of the slowest
// operation has, in the median second; its Is is empty where none is known.
func (e *Effect) Throughput() Figure { return e.rate }

// P99 is described at Throughput.
func (e *Effect) P99() Figure { return e.tail }

// Given means that throughput is what a rate asks for, so that p99 decides.
func (e *Effect) Given() bool { return e.given }

// Missing says why there is nothing to judge, or not yet; empty if there is, and of a pause.
func (e *Effect) Missing() string {
	switch {
	case e.Pauses():
		return ""
	case e.Next:
		return "see the next one"
	case e.scarce():
		return string(Unsure) + ": " + needsBefore(fewest, e.had)
	case e.before.stood || e.after.stood:
		return string(Unsure) + ": nothing was done for a while"
	case e.after.seconds >= fewest:
		return ""
	case e.more:
		return fmt.Sprintf("measuring its effect: %d of %d s", e.after.seconds, fewest)
	}
	return fmt.Sprintf("%s: it needs %d s after it, and had %d", Unsure, fewest, e.after.seconds)
}

// scarce means that there are too few seconds between it and what came before it.
func (e *Effect) scarce() bool { return !e.Pauses() && e.had < fewest }

// needsBefore says that a change came too soon after the one before.
func needsBefore(needs, had int) string {
	return fmt.Sprintf("it needs %d s before it, and had %d", needs, had)
}

// tooSoon reports whether the effect cannot be known because too little time lay before it.
func (e *Effect) tooSoon() bool {
	return !e.Pauses() && (e.scarce() || e.needs() > e.had && e.needs() <= window)
}

// Outcome describes the effect in words: figures with their ranges if room cells are enough for
// that, else as much as fits, else the least.
func (e *Effect) Outcome(room int) string {
	if e.Pauses() {
		return ""
	}
	if why := e.Missing(); why != "" {
		return why
	}
	text := ""
	for _, d := range []detail{ranges, numbers, reasons, least} {
		if text = e.describe(d); ansi.StringWidth(text) <= room {
			break
		}
	}
	return text
}

// Told is the effect in a table: that it is one of several acts together, and its outcome.
func (e *Effect) Told(room int) string {
	text := e.Outcome(room)
	if n := len(e.With); n > 0 {
		with := "with " + e.words.text(&e.With[0]) + ": "
		if n > 1 || ansi.StringWidth(with) > room/2 {
			with = units.Choose(n, "with the one before: ", fmt.Sprintf("with the %d before: ", n))
		}
		text = with + e.Outcome(room-ansi.StringWidth(with))
	}
	return text
}

// detail is how much is told about a figure.
type detail int

const (
	least detail = iota
	reasons
	numbers
	ranges
)

// describe says what the effect is, in some detail. What decides comes first.
func (e *Effect) describe(d detail) string {
	if e.tail.Is == Unsure && e.rate.Moved() && d == reasons { // what is known, and then what is not
		name := "throughput " + e.rate.Numbers() + " " + e.rate.Change()
		if e.rate.Is == Asked {
			name = "throughput " + e.rate.Numbers() + " " + string(Asked)
		}
		return name + "; p99 unsure: " + strings.Replace(e.Lacks(), " of its p99 ", " of it ", 1)
	}
	if d <= reasons && !e.rate.Moved() && !e.tail.Moved() && e.tail.Is != Same && (e.rate.Is == Unsure || e.given && e.tail.Is == Unsure) {
		return string(Unsure) + ": " + e.Lacks()
	}
	out := []string{e.rate.text("throughput", d)}
	if e.tail.Is != "" {
		out = append(out, e.tail.text("p99", d))
	}
	if e.given {
		slices.Reverse(out)
	}
	text := strings.Join(out, ", ")
	if lacks := e.Lacks(); lacks != "" && d != least {
		text += "; " + lacks
	}
	return text
}

// open returns what is unsure of the effect.
func (e *Effect) open() []Figure {
	list := []Figure{e.tail}
	if !e.given || e.tail.Is == "" {
		list = append(list, e.rate)
	}
	return slices.DeleteFunc(list, func(f Figure) bool { return f.Is != Unsure })
}

// needs returns how many seconds on either side would make sure what is unsure: 0 if nothing is,
// math.MaxInt if that cannot be told.
func (e *Effect) needs() (n int) {
	for _, f := range e.open() {
		if f.needs == 0 {
			return math.MaxInt
		}
		n = max(n, f.needs)
	}
	return n
}

// Lacks says what would make sure what is unsure, and when that is known; empty if nothing is
// unsure.
func (e *Effect) Lacks() string {
	if e.tail.Is == Unsure && e.ours >= mostlyOurs {
		return fmt.Sprintf("%.0f %% of its p99 is perfbench's own lateness", 100*e.ours)
	}
	if slices.ContainsFunc(e.open(), func(f Figure) bool { return f.others }) {
		return "other processes use this machine, which may be as much as that"
	}
	switch needs := e.needs(); {
	case needs == 0:
		return ""
	case needs > e.had && e.had < window: // no waiting lengthens what was before it
		return fmt.Sprintf("the %d s before it are too few to tell", e.had)
	case needs > window:
		return "its seconds vary too much to tell"
	case !e.more:
		return fmt.Sprintf("it needs %d s after it, and had %d", max(needs, e.after.seconds+1), e.after.seconds)
	default:
		return "known in about " + units.Duration(time.Duration(max(needs-e.after.seconds, 1))*time.Second)
	}
}

// text describes how the figure has changed.
func (f *Figure) text(name string, d detail) string {
	switch {
	case d <= reasons && f.Moved() && name == "p99":
		name += " " + f.Numbers()
	case d == numbers && f.Is != Same:
		name = perSecond(name) + " " + f.Numbers()
	case d == ranges:
		name = perSecond(name) + " " + f.Ranges()
	}
	switch {
	case !f.Moved():
		name += " " + string(f.Is)
	case d > reasons || name == "throughput":
		name += " " + f.Change()
	}
	return name
}

// perSecond names a figure of which the median second before and after a change is shown: the p99
// of all calls together is another one.
func perSecond(name string) string {
	if name == "p99" {
		return "p99 per second"
	}
	return name
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
