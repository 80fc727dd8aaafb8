package dashboard

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// window is how long before a change is compared with the time since.
const window = 10

// gap is how far apart presses of one key may be to be told of as one change.
const gap = 2 * time.Second

// effect is the last change of a run and what came of it.
type effect struct {
	name     string
	from, to float64
	// others are the same knob of other tracks, turned at the same time.
	others        []measure.Change
	first, last   time.Duration // of the presses that made it
	by            string
	before, after stretch
}

// stretch is what a stretch of finished seconds was like.
type stretch struct {
	seconds int
	// rate is the mean of all operations together; p99 is that of the typical
	// second: the median over the seconds of the slowest operation's p99.
	rate, p99 float64
}

// lastEffect compares the ten seconds before the last change with those since; ok
// is false when nothing has changed yet.
func lastEffect(s *measure.Snapshot) (e effect, ok bool) {
	n := len(s.Changes)
	if n == 0 {
		return e, false
	}
	c := s.Changes[n-1]
	e = effect{name: c.Name, from: c.From, to: c.To, first: c.At, last: c.At, by: c.By}
	for i := n - 2; i >= 0; i-- {
		p := s.Changes[i]
		if knobOf(p.Name) != knobOf(c.Name) && !e.reset(p) || e.first-p.At > gap {
			break
		}
		if e.first = p.At; p.Name == c.Name {
			e.from = p.From
			continue
		}
		e.add(p)
	}
	first, last := e.first.Seconds(), e.last.Seconds()
	e.before = between(s, first-window-0.5, first)
	e.after = between(s, last, math.Inf(1))
	return e, true
}

// reset tells whether both the effect and another change are of one reset.
func (e *effect) reset(p measure.Change) bool { return e.by == "reset" && p.By == "reset" }

// add notes an earlier change of another track.
func (e *effect) add(p measure.Change) {
	for i := range e.others {
		if e.others[i].Name == p.Name {
			e.others[i].From = p.From
			return
		}
	}
	e.others = append(e.others, p)
}

// knobOf is the knob of a change that may be aimed at one track.
func knobOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// between looks at the finished seconds that lie wholly in from..to.
func between(s *measure.Snapshot, from, to float64) stretch {
	counts, lengths, slowest := map[int]float64{}, map[int]float64{}, map[int]float64{}
	for op, rows := range s.Recent {
		if !s.Counts(op) {
			continue
		}
		for _, r := range rows {
			if float64(r.T) < from || float64(r.T+1) > to || r.Seconds < measure.ShortestRate {
				continue
			}
			counts[r.T] += float64(r.Count)
			lengths[r.T] = max(lengths[r.T], r.Seconds)
			slowest[r.T] = max(slowest[r.T], float64(r.ResponseP99))
		}
	}
	out := stretch{seconds: len(counts), rate: math.NaN(), p99: math.NaN()}
	if len(counts) == 0 {
		return out
	}
	sum, length := 0.0, 0.0
	var p99 []float64
	for t, c := range counts {
		sum, length = sum+c, length+lengths[t]
		if slowest[t] > 0 {
			p99 = append(p99, slowest[t])
		}
	}
	out.rate = sum / length
	if len(p99) > 0 {
		slices.Sort(p99)
		out.p99 = p99[len(p99)/2]
	}
	return out
}

// what says what changed: "threads 16 → 32"; of several tracks that have values of
// their own from the lowest to the highest: "payload 1 KiB–10 KiB → 2 KiB–20 KiB".
func (e effect) what(p *workload.Plan) string {
	tracks, base := []string{}, knobOf(e.name)
	lo, hi := [2]float64{e.from, e.to}, [2]float64{e.from, e.to}
	for _, c := range append(e.others, measure.Change{Name: e.name, From: e.from, To: e.to}) {
		if knobOf(c.Name) != base {
			return "every knob reset"
		}
		track, _, ok := strings.Cut(c.Name, "."+base)
		if !ok {
			return changeText(p, e.name, e.from, e.to) // of all tracks together
		}
		tracks = append(tracks, track)
		for i, v := range [2]float64{c.From, c.To} {
			lo[i], hi[i] = min(lo[i], v), max(hi[i], v)
		}
	}
	k, ok := p.Knob(base)
	if len(tracks) < 2 || !ok {
		return changeText(p, e.name, e.from, e.to)
	}
	text := base + " " + widget.RangeText(k, lo[0], hi[0]) + " → " + widget.RangeText(k, lo[1], hi[1])
	if len(tracks) < len(p.Tracks()) {
		slices.Sort(tracks)
		text = strings.Join(tracks, ", ") + " " + text
	}
	return text
}

// changeText writes a change of a setting named as users type it.
func changeText(p *workload.Plan, name string, from, to float64) string {
	what, k := subject(p, name)
	if knobOf(name) == "paused" {
		return pauseText(what, to)
	}
	return what + " " + widget.KnobText(k, from) + " → " + widget.KnobText(k, to)
}

// changedTo names a change where there is little room: "threads 32".
func changedTo(p *workload.Plan, c measure.Change) string {
	what, k := subject(p, c.Name)
	if knobOf(c.Name) == "paused" {
		return pauseText(what, c.To)
	}
	return what + " " + widget.KnobText(k, c.To)
}

// subject is what a change turns in words, with its track, and its knob.
func subject(p *workload.Plan, name string) (string, workload.Knob) {
	base := knobOf(name)
	k, ok := p.Knob(base)
	if !ok {
		k, _ = p.Knob(name)
	}
	return strings.Replace(name, "."+base, " "+base, 1), k
}

func pauseText(what string, to float64) string {
	return strings.TrimSuffix(what, "paused") + map[bool]string{true: "paused", false: "resumed"}[to != 0]
}

// outcome says in words what came of the change.
func (e effect) outcome() string {
	if e.before.seconds == 0 {
		return ""
	}
	if e.after.seconds == 0 {
		return "measuring its effect"
	}
	var words []string
	if p := widget.Percent(e.before.rate, e.after.rate); p != "" {
		words = append(words, "throughput "+p)
	}
	if e.before.p99 > 0 && e.after.p99 > 0 {
		words = append(words, "p99 "+arrow(e.before.p99, e.after.p99))
	}
	return strings.Join(words, ", ")
}

// arrow writes how a latency became another, the unit once if it is the same.
func arrow(from, to float64) string {
	a, b := units.Duration(time.Duration(from)), units.Duration(time.Duration(to))
	av, au, _ := strings.Cut(a, " ")
	if _, bu, _ := strings.Cut(b, " "); au == bu {
		a = av
	}
	return a + " → " + b
}
