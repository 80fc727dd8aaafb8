package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// reading is what the run said at the last frame, of all operations.
type reading struct {
	run      screen.Run
	searches screen.Searches // nil if the run is only watched
	watched  bool            // something else drives the run: another process or, if of says so, a sweep or a plan
	of       string          // as in screen.Access
	info     screen.RunInfo
	plan     *workload.Plan
	tracks   []*workload.Track
	snap     *measure.Snapshot
	progress screen.Progress
	watch    watch
	course   chart.Course
	verdict  rundir.Verdict
	told     string            // what only the profile knows
	answers  *workload.Answers // that differ from earlier ones; nil if none are compared
	left     int64             // how many units are on their way, if a track relays what it does
	relays   bool              // that is known
	found    *screen.Search    // the last search
	did      []effect.Effect   // what each change did, as of didAt
	didAt    *measure.Snapshot
	ran      *effect.Course // the seconds so far, as of ranAt
	ranAt    *measure.Snapshot
}

func newReading(a screen.Access) *reading {
	r := &reading{run: a.Run, searches: a.Searches, watched: a.Ending == nil, of: a.Of, info: a.Run.Info(), plan: a.Run.Plan()}
	r.tracks = r.plan.Tracks()
	return r
}

func (r *reading) opName(o measure.Operation) string { return o.Among(len(r.tracks)) }

// read reads the newest state of the run, and reports whether its figures are new ones.
func (r *reading) read() bool {
	if r.progress = r.run.Progress(); r.searches != nil {
		r.found = r.searches.Found()
	}
	s := r.run.Snapshot()
	if s == nil || r.snap == s {
		return false
	}
	r.snap, r.info = s, r.run.Info()
	r.course.Add(r.run.Samples())
	r.watch = r.watch.next(s)
	r.verdict, r.told, r.answers = r.run.Verdict(), r.run.Plan().Status(), r.run.Plan().Answers()
	r.left, r.relays = r.run.Plan().OnTheWay()
	return true
}

// whose says that this workbench only watches, and whose run, the longest first; none if it is its own.
func (r *reading) whose() []string {
	if !r.watched {
		return nil
	}
	run, out := "watching another perfbench's run", []string{"watching"}
	if r.of != "" {
		return append([]string{"watching a run of the " + r.of}, out...)
	}
	if r.held() != "" {
		run, out = "watching another perfbench's search", []string{"watching a search", "watching"}
	}
	out = append([]string{run}, out...)
	if !r.info.Started.IsZero() {
		out = append([]string{run + " of " + r.info.Started.Local().Format(time.TimeOnly)}, out...)
	}
	return out
}

// axis returns the time axis for charts of that many cells.
func (r *reading) axis(cells int) Axis {
	return NewAxis(cells, widget.Seconds(-r.snap.Began), widget.Seconds(r.snap.At)+1, widget.Seconds(r.info.Duration), len(r.info.Planned) > 0, r.snap.Bucket)
}

// beyond reports whether what has a length is over, and phases go on that have none.
func (r *reading) beyond() bool {
	return r.info.Duration > 0 && r.snap.At >= r.info.Duration+time.Second && len(r.plan.Phases) > 1 && r.snap.Total == 0
}

// over names the phases with a length, once they are over and others go on; "" until then.
func (r *reading) over() string {
	if !r.beyond() {
		return ""
	}
	var names []string
	for _, ph := range r.plan.Phases {
		if ph.Duration > 0 && !slices.Contains(r.snap.Phases, ph.Name) {
			names = append(names, ph.Name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is over"
	}
	return strings.Join(names, ", ") + " are over"
}

// beside returns the busiest of the operations that run now while none does that counts, and what it
// does a second, with its unit; false: one that counts runs, or none does anything.
func (r *reading) beside() (op int, rate float64, unit string, ok bool) {
	for i, o := range r.snap.Ops {
		t := slices.Index(r.snap.Tracks, o.Track)
		if t < 0 || t >= len(r.snap.Gauges) || !r.snap.Gauges[t].Running {
			continue
		}
		if r.snap.Counts(i) {
			return 0, 0, "", false
		}
		if v := digest(r.snap, i).rate; v > rate {
			op, rate, unit, ok = i, v, cmp.Or(r.otherUnit(o.Operation), r.info.Unit)+"/s", true
		}
	}
	return op, rate, unit, ok
}

// keptSeconds is over how many whole seconds it is seen what a track keeps up.
const keptSeconds = 10

// kept returns what a track did in the median of its last seconds with the same settings in which it did
// anything: in operations that count or, if none does, in all of them; NaN if there is no such second.
func (r *reading) kept(track int) float64 {
	if r.snap == nil {
		return math.NaN()
	}
	var rates []float64
	f := digest(r.snap, -1)
	for t := f.last(); t > f.last()-keptSeconds && t >= seconds1(f.from); t-- {
		counted, all := 0.0, 0.0
		for i, o := range r.snap.Ops {
			row, ok := rowAt(r.snap, i, t)
			if !ok || o.Track != r.tracks[track].Name || row.Seconds < measure.ShortestRate {
				continue
			}
			if all += row.PerSecond(); r.snap.Counts(i) {
				counted += row.PerSecond()
			}
		}
		if rate := cmp.Or(counted, all); rate > 0 {
			rates = append(rates, rate)
		}
	}
	if len(rates) == 0 {
		return math.NaN()
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// done returns the fraction of the run that is done.
func (r *reading) done() (float64, bool) {
	if r.progress.Stage != screen.Measuring {
		if r.progress.Total > 0 {
			return min(float64(r.progress.Done)/float64(r.progress.Total), 1), true
		}
		return 0, false
	}
	part, known := 0.0, false
	if r.beyond() {
		return 0, false
	}
	if r.info.Duration > 0 {
		part, known = max(r.snap.At.Seconds(), 0)/r.info.Duration.Seconds(), true
	}
	if r.snap.Total > 0 {
		part, known = max(part, float64(r.snap.Done)/float64(r.snap.Total)), true
	}
	return min(part, 1), known
}

// measured returns the spreads of an operation after the warm-up.
func (r *reading) measured(op int) []measure.Spread {
	if op >= len(r.snap.Spreads) {
		return nil
	}
	list := r.snap.Spreads[op]
	for len(list) > 0 && list[0].T < 0 {
		list = list[1:]
	}
	return list
}

// relaying reports whether what runs hands its work over, and its calls are none of the store.
func (r *reading) relaying() bool {
	for i, t := range r.tracks {
		if t.Relays && i < len(r.snap.Gauges) && r.snap.Gauges[i].Running {
			return true
		}
	}
	return false
}

// firstRunning returns the first operation that is running now; 0 if none is.
func (r *reading) firstRunning() int {
	for op, o := range r.snap.Ops {
		if i := slices.Index(r.snap.Tracks, o.Track); i >= 0 && i < len(r.snap.Gauges) && r.snap.Gauges[i].Running {
			return op
		}
	}
	return 0
}

// firstTrack returns the first track that is running now; 0 if none is.
func (r *reading) firstTrack() int {
	return max(slices.IndexFunc(r.snap.Gauges, func(g measure.Gauge) bool { return g.Running }), 0)
}

func (r *reading) nameWidth(w int) int {
	n := 10
	for _, t := range r.snap.Ops {
		n = max(n, ansi.StringWidth(r.opLabel(t.Operation))+2)
	}
	return min(n, max(nameCol, w/5, w-6*numberCol-leastTrend-4), max(w-3*numberCol+3, 10))
}

// perSecond returns the head of a column of rates, with the unit if it fits.
func (r *reading) perSecond() string {
	if head := r.info.Unit + "/s"; ansi.StringWidth(head) < numberCol {
		return head
	}
	return "per s"
}

// searching reports whether a search is turning the knobs.
func (r *reading) searching() bool { return r.found != nil && r.found.Going }

// held is why no knob of the run turns from here now; empty if they turn.
func (r *reading) held() string {
	if r.searching() {
		return noKnobs
	}
	return r.progress.Held
}

// endsSoon reports whether this run ends by itself before a search could find anything.
func (r *reading) endsSoon() bool {
	return r.snap.Total > 0 || r.info.Duration > 0 && r.info.Duration-max(r.snap.At, 0) < leastLeft
}

// time formats how long the run has been going and how long it will take.
func (r *reading) time() string {
	if r.progress.Stage == screen.Preparing {
		return ""
	}
	now := widget.Clock(r.snap.At)
	if r.snap.At < 0 && r.info.Settles { // its length is not known
		return widget.Clock(r.snap.At - r.snap.Began)
	}
	end := r.info.Duration
	about := ""
	if r.snap.Total > 0 && r.snap.Done > 0 && r.snap.At > 0 {
		est := time.Duration(float64(r.snap.At) / float64(r.snap.Done) * float64(r.snap.Total))
		if end == 0 || est < end {
			end, about = est, "~"
		}
	}
	if end == 0 || r.beyond() {
		return now
	}
	return now + " / " + about + widget.Clock(end)
}

// otherUnit returns the unit of an operation if it differs from that of the run; else
// "".
func (r *reading) otherUnit(o measure.Operation) string { return r.info.Units[o.Track+"."+o.Op] }

// opLabel names an operation in a table, with its unit if that differs from the head of
// the table.
func (r *reading) opLabel(o measure.Operation) string {
	if unit := r.otherUnit(o); unit != "" {
		return r.opName(o) + " (" + unit + ")"
	}
	return r.opName(o)
}
