package dashboard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// window is how many seconds before a change are compared with as many after it, at most.
// fewest is how many are needed to tell an effect from chance. fresh is for how many
// seconds a change is news.
const window, fewest, fresh = 30, 3, 10

// told is how long the effect of a change is shown.
const told = 100 * time.Second

// gap is the maximum interval between presses of one key that are reported as one
// change.
const gap = 2 * time.Second

// act is what somebody did at once: a change of a knob, in one track or several, or of all
// knobs by a reset, or a ramp of the timetable.
type act struct {
	measure.Change
	// others are changes of other tracks, or of other knobs by a reset.
	others []measure.Change
}

// acts returns what was done, in order.
func acts(changes []measure.Change) (out []act) {
	for _, c := range slices.Backward(measure.Folded(changes)) {
		if n := len(out); n > 0 && c.Joins(out[n-1].Change) {
			out[n-1].add(c)
			continue
		}
		out = append(out, act{Change: c})
	}
	slices.Reverse(out)
	return out
}

// add records an earlier change that belongs to the act.
func (a *act) add(p measure.Change) {
	a.At = p.At
	if a.Name == p.Name {
		a.From = p.From
		return
	}
	for i := range a.others {
		if a.others[i].Name == p.Name {
			a.others[i].From = p.From
			return
		}
	}
	a.others = append(a.others, p)
}

// effect is the last act of a run and its effect; or that of the last few together, where there
// were too few seconds between them to tell them apart.
type effect struct {
	act
	with          []act         // what was done before it that it cannot be told from, the newest first
	first, last   time.Duration // of the key presses that made it
	before, after stretch
	// had is how many seconds before the change could be compared, window at most.
	had int
	// given means that throughput is what a rate asks for, so that p99 decides.
	given bool
	// ours is how much of the p99 of the slowest operation was perfbench's own lateness, before the
	// change or after it, whichever is more: 0 to 1. It is 0 if p99 changed by more than twice of that.
	ours float64
	// scarce means that there are too few seconds between it and what came before it,
	// past that it was long ago.
	scarce, past bool
}

// stretch summarises a range of finished seconds.
type stretch struct {
	seconds int
	// rate is the mean over all operations together. p99 is that of a typical second:
	// the median over the seconds of the slowest operation's p99.
	rate, p99 float64
	// rates and tails are the logarithms of rate and p99 of each second that has one.
	rates, tails []float64
	// stood means that the store did not answer in one of the seconds.
	stood bool
}

// lastEffect compares the seconds before the last change with as many after it, excluding those
// in which something else changed; ok is false if nothing has changed yet. Where too few seconds
// were left before it by another change, it is what both did together, or the last few, if that
// can be known.
func lastEffect(s *measure.Snapshot) (e effect, ok bool) {
	if len(s.Changes) == 0 {
		return e, false
	}
	e = effectOf(s, 0)
	for more := e; more.scarce || more.after.seconds >= fewest && more.tooSoon(); {
		next := effectOf(s, len(more.with)+1)
		if len(next.with) == len(more.with) || next.last-next.first > window*time.Second {
			return e, true
		}
		if more = next; !more.tooSoon() {
			return more, true
		}
	}
	return e, true
}

// effectOf compares the seconds before the last changes with as many after them: the last act, and
// as many before it.
func effectOf(s *measure.Snapshot, many int) effect {
	n := len(s.Changes)
	c := s.Changes[n-1]
	e := effect{act: act{Change: c}, first: c.At, last: c.At}
	cur := &e.act
	from, to := time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for i := n - 2; i >= 0; i-- {
		p := s.Changes[i]
		switch {
		case (p.Knob() == cur.Knob() || cur.reset(p)) && !cur.undo(p) && e.first-p.At <= gap:
			cur.add(p)
		case e.pause() || p.Knob() == "paused" || phaseBetween(s, p.At, e.first) || len(e.with) == many:
			from = p.At
		default:
			e.with = append(e.with, act{Change: p})
			cur = &e.with[len(e.with)-1]
		}
		if from == p.At {
			break
		}
		e.first = p.At
	}
	for i, ph := range s.Ran {
		switch {
		case i == 0:
		case ph.From <= e.first:
			from = max(from, ph.From)
		default:
			to = min(to, ph.From)
		}
	}
	if e.past = s.At-e.last > told; e.past || e.pause() {
		return e
	}
	before, after := seconds(s, from, e.first), seconds(s, e.last, to)
	k := min(len(before), len(after), window)
	e.had = min(len(before), window)
	e.scarce = e.had < fewest
	e.given = k > 0 && !slices.ContainsFunc(append(before[len(before)-k:], after[:k]...), func(s second) bool { return !s.open })
	e.before, e.after = over(before[len(before)-k:]), over(after[:k])
	latest := 0.0
	for _, seg := range s.Segments {
		if end := seg.To; seg.From < e.first && (end == 0 || end >= e.first) || seg.From >= e.first && (end == 0 || end > e.last) {
			share, late := lateShare(seg.Ops)
			e.ours, latest = max(e.ours, share), max(latest, late)
		}
	}
	if latest < mostlyOurs*math.Abs(e.after.p99-e.before.p99) {
		e.ours = 0 // the change is far more than perfbench was late at any time
	}
	return e
}

// phaseBetween reports whether a phase begins after one moment and not after another.
func phaseBetween(s *measure.Snapshot, after, until time.Duration) bool {
	return slices.ContainsFunc(s.Ran[min(len(s.Ran), 1):], func(p measure.Phase) bool { return p.From > after && p.From <= until })
}

// when is the moment of the change in words, or from when to when the last few were.
func (e *effect) when() string {
	first, last := widget.Clock(e.first), widget.Clock(e.last)
	if len(e.with) > 0 && first != last {
		return first + "–" + last
	}
	return last
}

// lateShare returns how much of the p99 of the slowest operation is perfbench's own lateness, as a
// share and in nanoseconds.
func lateShare(ops []measure.Totals) (share, late float64) {
	slowest := int64(0)
	for _, o := range ops {
		if o.Response.P99 > slowest {
			slowest, late = o.Response.P99, float64(o.Lateness.P99)
			share = min(late/float64(slowest), 1)
		}
	}
	return share, late
}

// mostlyOurs is the share from which on a p99 says little about the store.
const mostlyOurs = 0.5

// pause reports whether the change is a pause rather than a turn of a knob.
func (e *effect) pause() bool { return e.Knob() == "paused" }

// undo reports whether exactly one of the act and another change is an undo.
func (a *act) undo(p measure.Change) bool {
	return (a.By == measure.ByUndo) != (p.By == measure.ByUndo)
}

// reset reports whether the act and another change belong to the same reset.
func (a *act) reset(p measure.Change) bool {
	return a.By == measure.ByReset && p.By == measure.ByReset
}

// second is a finished second of all operations together.
type second struct {
	count, length, p99 float64
	oldest             time.Duration
	open               bool // calls were due at a rate
}

// seconds returns the finished ones that lie entirely in from..to, in order.
func seconds(s *measure.Snapshot, from, to time.Duration) []second {
	at := map[int]*second{}
	for op, rows := range s.Recent {
		if !s.Counts(op) {
			continue
		}
		for _, r := range rows {
			begin := time.Duration(r.T) * time.Second
			if begin < from || begin+time.Second > to || r.Seconds < measure.ShortestRate || r.Paused {
				continue
			}
			if at[r.T] == nil {
				at[r.T] = &second{}
			}
			x := at[r.T]
			x.count += float64(r.Count)
			x.open = r.Rate > 0
			x.length, x.p99, x.oldest = max(x.length, r.Seconds), max(x.p99, float64(r.ResponseP99)), max(x.oldest, r.Oldest)
		}
	}
	out := make([]second, 0, len(at))
	for _, t := range slices.Sorted(maps.Keys(at)) {
		out = append(out, *at[t])
	}
	return out
}

// over summarises seconds.
func over(list []second) stretch {
	out := stretch{seconds: len(list), rate: math.NaN(), p99: math.NaN()}
	sum, length := 0.0, 0.0
	var p99 []float64
	for _, x := range list {
		sum, length = sum+x.count, length+x.length
		if x.count > 0 {
			out.rates = append(out.rates, math.Log(x.count/x.length))
		}
		out.stood = out.stood || x.count == 0 && x.oldest >= stalled
		if x.p99 > 0 {
			p99 = append(p99, x.p99)
			out.tails = append(out.tails, math.Log(x.p99))
		}
	}
	if len(list) > 0 {
		out.rate = sum / length
	}
	if len(p99) > 0 {
		slices.Sort(p99)
		out.p99 = p99[len(p99)/2]
	}
	return out
}

// confidence is how certain a difference must be to count as real. A difference below
// small, as a fraction, counts as none.
const confidence, small = 0.95, 0.05

// enough is how many seconds on either side tell a leap from chance if none of those before
// reaches any of those after.
const enough = 4

// finding is what was found out about a figure.
type finding struct {
	is string
	// needs is how many seconds on either side would make sure; 0 if that cannot be told.
	needs int
}

// judged compares the logarithms of values before and after: changed, same, or unsure
// if the difference may be chance.
func judged(before, after []float64) finding {
	lo, hi := stat.Difference(stat.Successive(before), stat.Successive(after)).Interval(confidence)
	switch most := max(math.Abs(lo), math.Abs(hi)); {
	case most < small:
		return finding{is: same}
	case lo > 0 || hi < 0, leapt(before, after):
		return finding{is: changed}
	}
	out, diff, half := finding{is: unsure}, math.Abs(lo+hi)/2, (hi-lo)/2
	if reach := max(diff, small-diff); !math.IsInf(half, 0) && !math.IsNaN(half) {
		out.needs = int(min(math.Ceil(float64(len(after))*math.Pow(half/reach, 2)), 1e6))
	}
	return out
}

// leapt reports whether the values after lie apart from all those before, by more than the
// ones before moved from one to the next. It sees what has not settled yet, such as the p99
// of a store that falls behind more every second, which has no mean.
func leapt(before, after []float64) bool {
	if len(before) < enough || len(after) < enough {
		return false
	}
	gap := max(slices.Min(after)-slices.Max(before), slices.Min(before)-slices.Max(after))
	step := small
	for i := 1; i < len(before); i++ {
		step = max(step, math.Abs(before[i]-before[i-1]))
	}
	return gap > step
}

// The kinds of difference.
const (
	changed = "changed"
	same    = "as before"
	unsure  = "unsure"
)

// unsure returns why the effect of the change cannot be judged, or "" if it can.
func (e *effect) unsure() string {
	switch {
	case e.scarce:
		return "unsure: " + needsBefore(fewest, e.had)
	case e.before.stood || e.after.stood:
		return "unsure: the store stood still meanwhile"
	}
	return ""
}

// needsBefore says that a change came too soon after the one before.
func needsBefore(needs, had int) string {
	return fmt.Sprintf("it needs %d s before it, and had %d", needs, had)
}

// tooSoon reports whether the effect cannot be known because too little time lay before it.
func (e *effect) tooSoon() bool {
	return !e.pause() && !e.past && (e.scarce || e.needs() > e.had && e.needs() <= window)
}

// what describes the change, or the last few together: "threads 16 → 32, payload 1 KiB → 2 KiB
// together", or only their knobs if they are many.
func (e *effect) what(p *workload.Plan) string {
	if len(e.with) == 0 {
		return e.act.what(p)
	}
	var list []act
	for _, a := range slices.Backward(e.with) {
		list = netted(list, a)
	}
	list = netted(list, e.act)
	n := len(e.with) + 1
	if len(list) == 1 {
		return fmt.Sprintf("%s (%d changes)", list[0].what(p), n)
	}
	if len(list) == 2 {
		return list[0].what(p) + ", " + list[1].what(p) + " together"
	}
	return fmt.Sprintf("%s together (%d changes)", e.knobs(), n)
}

// knobs names those of the last few changes together, the first one first.
func (e *effect) knobs() string {
	names := []string{}
	for _, a := range slices.Backward(append([]act{e.act}, e.with...)) {
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
func netted(list []act, a act) []act {
	for i := range list {
		if len(list[i].others) == 0 && len(a.others) == 0 && list[i].Name == a.Name {
			list[i].To = a.To
			return list
		}
	}
	return append(list, a)
}

// sums adds up what a knob that sums was turned from and to in all tracks that it was turned in; false
// if it was without a limit in one of them, which has no sum.
func (a *act) sums() (from, to float64, ok bool) {
	for _, c := range append(slices.Clip(a.others), a.Change) {
		if c.From <= 0 || c.To <= 0 || c.Knob() != a.Knob() {
			return 0, 0, false
		}
		from, to = from+c.From, to+c.To
	}
	return from, to, true
}

// what describes the change: "threads 16 → 32"; for several tracks with different
// values from the lowest to the highest: "payload 1 KiB–10 KiB → 2 KiB–20 KiB".
func (a *act) what(p *workload.Plan) string {
	tracks, base := []string{}, a.Knob()
	lo, hi := [2]float64{a.From, a.To}, [2]float64{a.From, a.To}
	for _, c := range append(slices.Clip(a.others), a.Change) {
		if c.Knob() != base {
			return "every knob reset"
		}
		track, _, ok := strings.Cut(c.Name, "."+base)
		if !ok {
			return changeText(p, a.Name, a.From, a.To) // of all tracks together
		}
		tracks = append(tracks, track)
		for i, v := range [2]float64{c.From, c.To} {
			lo[i], hi[i] = min(lo[i], v), max(hi[i], v)
		}
	}
	k, ok := p.Knob(base)
	if len(tracks) < 2 || !ok {
		return changeText(p, a.Name, a.From, a.To)
	}
	if from, to, ok := a.sums(); ok && k.Sum && len(tracks) == len(p.Tracks()) && a.By == measure.ByUndo { // it took back a total
		return changeText(p, base, from, to)
	}
	text := base + turned(widget.RangeText(k, lo[0], hi[0]), widget.RangeText(k, lo[1], hi[1]))
	if len(tracks) < len(p.Tracks()) {
		slices.Sort(tracks)
		text = strings.Join(tracks, ", ") + " " + text
	}
	return text
}

// turned formats the change of a value, which may be back where it was.
func turned(from, to string) string {
	if from == to {
		return " back to " + to
	}
	return " " + from + " → " + to
}

// changeText formats a change of a setting, named as users type it.
func changeText(p *workload.Plan, name string, from, to float64) string {
	what, k := subject(p, name)
	if measure.KnobOf(name) == "paused" {
		return pauseText(what, to)
	}
	if kind, ok := workload.FaultSetting(name); ok {
		return faultText(p, kind, to)
	}
	if name == workload.ComingKnob {
		return what + turned(workload.Coming(from).String(), workload.Coming(to).String())
	}
	text := what + turned(widget.KnobText(k, from), widget.KnobText(k, to))
	if name == k.Name {
		text = each(p, k, text)
	}
	return text
}

// changedTo formats a change for narrow space: "threads 32".
func changedTo(p *workload.Plan, c measure.Change) string {
	what, k := subject(p, c.Name)
	if c.Knob() == "paused" {
		return pauseText(what, c.To)
	}
	if kind, ok := workload.FaultSetting(c.Name); ok {
		return faultText(p, kind, c.To)
	}
	if c.Name == workload.ComingKnob {
		return what + " " + workload.Coming(c.To).String()
	}
	return what + " " + widget.KnobText(k, c.To)
}

// faultText says that a fault begins, as --at has it, or that it ends.
func faultText(p *workload.Plan, kind int, to float64) string {
	k := &workload.FaultKinds()[kind]
	if to == 0 {
		return k.Name + " healed"
	}
	if size := p.FaultSize(k, to); size != "on" {
		return k.Name + ":" + size
	}
	return k.Name
}

// subject returns what a change applies to in words, with its track, and its knob.
func subject(p *workload.Plan, name string) (string, workload.Knob) {
	base := measure.KnobOf(name)
	k, ok := p.Knob(base)
	if !ok {
		k, _ = p.Knob(name)
	}
	return strings.Replace(name, "."+base, " "+base, 1), k
}

func pauseText(what string, to float64) string {
	return strings.TrimSuffix(what, "paused") + map[bool]string{true: "paused", false: "resumed"}[to != 0]
}

// outcome describes the effect of the change in words: figures with their ranges if room
// cells are enough for that, else as much as fits, else the least.
func (e *effect) outcome(room int) string {
	switch why := e.unsure(); {
	case e.pause(), e.past:
		return ""
	case why != "":
		return why
	case e.after.seconds < fewest:
		return fmt.Sprintf("measuring its effect: %d of %d s", e.after.seconds, fewest)
	}
	text := ""
	for _, d := range []detail{ranges, numbers, reasons, words} {
		if text = e.describe(d); ansi.StringWidth(text) <= room {
			break
		}
	}
	return text
}

// detail is how much is told about a figure.
type detail int

const (
	words detail = iota
	reasons
	numbers
	ranges
)

// describe says what the effect is, in some detail. What decides comes first.
func (e *effect) describe(d detail) string {
	rate, tail := e.throughput(), e.tail()
	if d <= reasons && tail.is != changed && tail.is != same && (rate.is == unsure || e.given && tail.is == unsure) {
		return "unsure: " + e.lacks()
	}
	out := []string{rate.text("throughput", d)}
	if tail.is != "" {
		out = append(out, tail.text("p99", d))
	}
	if e.given {
		slices.Reverse(out)
	}
	text := strings.Join(out, ", ")
	if lacks := e.lacks(); lacks != "" && d != words {
		text += "; " + lacks
	}
	return text
}

// open returns what is unsure of the effect.
func (e *effect) open() []finding {
	list := []finding{e.tail().finding}
	if !e.given || list[0].is == "" {
		list = append(list, e.throughput().finding)
	}
	return slices.DeleteFunc(list, func(f finding) bool { return f.is != unsure })
}

// needs returns how many seconds on either side would make sure what is unsure: 0 if nothing is,
// math.MaxInt if that cannot be told.
func (e *effect) needs() (n int) {
	for _, f := range e.open() {
		if f.needs == 0 {
			return math.MaxInt
		}
		n = max(n, f.needs)
	}
	return n
}

// lacks says what would make sure what is unsure, and when that is known; "" if nothing is
// unsure.
func (e *effect) lacks() string {
	if e.tail().is == unsure && e.ours >= mostlyOurs {
		return fmt.Sprintf("%.0f %% of its p99 is perfbench's own lateness", 100*e.ours)
	}
	switch needs := e.needs(); {
	case needs == 0:
		return ""
	case needs > window:
		return tooWild
	case needs > e.had:
		return needsBefore(needs, e.had)
	default:
		return "known in about " + report.Length(float64(max(needs-e.after.seconds, 1)))
	}
}

// tooWild says that more seconds would hardly help.
const tooWild = "its seconds vary too much to tell"

// moved is a figure before and after a change, and what was found out about it.
type moved struct {
	finding
	before, after float64
	// was and now are the lowest and the highest second.
	was, now [2]float64
	show     func(v float64) (number, unit string)
}

// text describes how the figure has changed.
func (m *moved) text(name string, d detail) string {
	switch {
	case d <= reasons && m.is == changed && name == "p99":
		name += " " + m.numbers()
	case d == numbers && m.is != same:
		name = perSecond(name) + " " + m.numbers()
	case d == ranges:
		name = perSecond(name) + " " + m.ranges()
	}
	switch {
	case m.is != changed:
		name += " " + m.is
	case d > reasons || name == "throughput":
		name += " " + widget.Percent(m.before, m.after)
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

// numbers formats both values: "20 → 40 ms".
func (m *moved) numbers() string {
	a, au := m.show(m.before)
	b, bu := m.show(m.after)
	if au == bu {
		au = ""
	}
	return join(a, au) + " → " + join(b, bu)
}

// ranges formats both values with their ranges: "20 (19–21) → 40 (38–45) ms".
func (m *moved) ranges() string {
	one := func(v float64, r [2]float64) (text, unit string) {
		n, u := m.show(v)
		lo, lu := m.show(r[0])
		hi, hu := m.show(r[1])
		if lu == u && hu == u {
			return n + " (" + lo + "–" + hi + ")", u
		}
		if lu == hu {
			lu = ""
		}
		return join(n, u) + " (" + join(lo, lu) + "–" + join(hi, hu) + ")", ""
	}
	a, au := one(m.before, m.was)
	b, bu := one(m.after, m.now)
	if au == bu {
		au = ""
	}
	return join(a, au) + " → " + join(b, bu)
}

func join(number, unit string) string { return strings.TrimSpace(number + " " + unit) }

// throughput returns how the throughput has changed. If it was given another rate and follows it,
// that is no chance.
func (e *effect) throughput() moved {
	found := judged(e.before.rates, e.after.rates)
	if from, to, ok := e.sums(); ok && len(e.with) == 0 && e.given && e.Knob() == "rate" && from != to &&
		math.Abs(math.Log(e.after.rate/e.before.rate)-math.Log(to/from)) < follows {
		found = finding{is: changed}
	}
	return moved{
		finding: found, before: e.before.rate, after: e.after.rate,
		was: span(e.before.rates), now: span(e.after.rates), show: func(v float64) (string, string) { return units.Number(v), "" },
	}
}

// follows is how far the logarithm of a change of throughput may be from that of the rate.
const follows = 0.1

// tail returns how p99 has changed; it has nothing to say if there was none, and is unsure of what is
// mostly perfbench's own lateness.
func (e *effect) tail() moved {
	if len(e.before.tails) < fewest || len(e.after.tails) < fewest {
		return moved{}
	}
	found := judged(e.before.tails, e.after.tails)
	if e.ours >= mostlyOurs {
		found = finding{is: unsure}
	}
	return moved{
		finding: found, before: e.before.p99, after: e.after.p99,
		was: span(e.before.tails), now: span(e.after.tails), show: func(v float64) (string, string) {
			n, u, _ := strings.Cut(units.Duration(time.Duration(v)), " ")
			return n, u
		},
	}
}

// span returns the lowest and the highest of values given by their logarithms.
func span(logs []float64) [2]float64 {
	if len(logs) == 0 {
		return [2]float64{math.NaN(), math.NaN()}
	}
	return [2]float64{math.Exp(slices.Min(logs)), math.Exp(slices.Max(logs))}
}
