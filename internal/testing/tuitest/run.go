package tuitest

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// NewPlan returns a plan with one or more tracks of two operations each.
func NewPlan(tracks int) *workload.Plan {
	p := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("entries")}}
	ph := workload.Phase{Name: "fill", Duration: time.Minute}
	for i := range tracks {
		name := []string{"feed", "profile", "claims"}[i%3]
		ph.Tracks = append(ph.Tracks, workload.Track{
			Name: name, Ops: []string{"putall", "verify"},
			Start: workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100},
		})
	}
	p.Phases = []workload.Phase{ph}
	return p
}

// Run is a run whose store follows a formula: throughput grows with the threads and
// levels off, latency grows when it does. Its clock is moved by Tick only.
type Run struct {
	Designed *workload.Plan
	Known    screen.RunInfo

	Mu       sync.Mutex
	want     []workload.Settings
	Stage    screen.Progress
	At       time.Duration // since measurement began
	second   int           // the second in progress
	changes  []measure.Change
	segments []measure.Segment
	Calls    int
	Marks    []measure.Mark
	Judged   rundir.Verdict
	Sampled  []rundir.Sample
	recent   [][]measure.Row
	line     [][]measure.Point
	spreads  [][]measure.Spread
	silence  measure.Silence
	// Paused is for how much of the last silence perfbench itself did not run.
	Paused   time.Duration
	heard    time.Duration // the end of the last second in which the store answered
	ops      []measure.Totals
	errors   map[string]int64
	snap     *measure.Snapshot
	NoRoom   error    // what Room returns
	NoFaults error    // what Faults returns
	Direct   bool     // means that the connections are not breakable
	Broken   []string // the faults that were begun, with how long each was to last
	Behind   int64    // calls of each track that are due and have not begun
	Gone     bool     // the store does not answer
	Empty    bool     // the store answers, but without the records that it had acknowledged
	Hang     time.Duration
	Late     time.Duration // how much earlier calls were due than they began
	Stopped  bool
	Killed   bool
	Came     screen.Outcome
	// Sought are the searches requested, Refused is why none can be made.
	Sought  []find.Asked
	Refused error
	seek    *screen.Search
	done    chan struct{}
}

// Warmup is how long the warm-up of a fake run is.
const Warmup = 5 * time.Second

// NewRun returns a run that is about to begin its warm-up.
func NewRun(tracks int) *Run {
	r := &Run{
		Designed: NewPlan(tracks), Stage: screen.Progress{Stage: screen.Measuring}, errors: map[string]int64{}, done: make(chan struct{}),
		Known: screen.RunInfo{
			Profile: "ingestion", Title: "Bulk ingestion", Store: "redis", Target: "redis://127.0.0.1:6379", Unit: "entries",
			CPUs: 4, Cores: 4, Duration: time.Minute, Request: request.Request{Profile: "ingestion", Preset: "small"},
		},
		Came: screen.Outcome{
			ID: "260503-114000-ingestion-redis", Dir: "results/260503-114000-ingestion-redis",
			Summary: "41.2k entries/s, p99 7.1 ms\n", Verification: workload.Verification{State: workload.Passed, Summary: "0 lost of 2 472 000"},
		},
	}
	for _, t := range r.Designed.Tracks() {
		r.want = append(r.want, t.Start)
	}
	for _, op := range r.Designed.Operations() {
		r.ops = append(r.ops, measure.Totals{Operation: op})
		r.recent, r.line, r.spreads = append(r.recent, nil), append(r.line, nil), append(r.spreads, nil)
	}
	r.At, r.second = -Warmup, int(-Warmup/time.Second)
	r.segments = []measure.Segment{{Ops: slices.Clone(r.ops), Settings: r.named()}}
	r.Publish()
	return r
}

// Tick advances the clock by d in steps of 100 ms.
func (r *Run) Tick(d time.Duration) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for ; d > 0; d -= 100 * time.Millisecond {
		r.At += 100 * time.Millisecond
		if s := int(math.Floor(r.At.Seconds())); s > r.second {
			r.finish()
			r.second = s
		}
	}
	r.Publish()
}

// finish closes the second in progress.
func (r *Run) finish() {
	for i := range r.ops {
		track := i / 2
		s := r.want[track]
		n := rundirtest.Noise(r.second*7 + i)
		rate := 48e3 * float64(s.Threads) / (float64(s.Threads) + 11) / float64(len(r.want)) * (0.95 + 0.1*n)
		if s.Rate > 0 {
			rate = min(rate, s.Rate)
		}
		p50 := 0.3e6 + 0.028e6*float64(s.Threads)
		p99 := p50 * (4 + 1.6*n)
		if r.second == 9 {
			p99 *= 1.8
		}
		if i%2 == 1 {
			rate, p50, p99 = 12+math.Floor(3*n), p50*0.6, p99*0.3
		}
		row := measure.Row{
			T: r.second, Op: i, Count: int64(rate), Seconds: 1,
			ResponseP50: int64(p50), ResponseP99: int64(p99), ResponseMax: int64(p99 * 1.7), ServiceP99: int64(p99),
			Gauge: r.gauge(track),
		}
		if s.Paused || r.Hang > 0 || r.Gone || r.Empty {
			row.Count, row.ResponseP50, row.ResponseP99, row.ResponseMax = 0, 0, 0, 0
		}
		if r.Gone {
			row.Errors = int64(40 + 10*n)
			if r.second >= 0 {
				r.errors["unreachable"] += row.Errors
			}
		}
		if r.Empty && !r.Gone {
			row.Errors, row.Lost = 50, 50
			r.errors["lost"] += row.Errors
		}
		r.recent[i] = append(slices.Clone(r.recent[i]), row)
		r.line[i] = append(slices.Clone(r.line[i]), measure.Point{
			At: time.Duration(row.T) * time.Second, Count: row.Count, Errors: row.Errors, Seconds: 1, ResponseP50: row.ResponseP50, ResponseP99: row.ResponseP99,
			ResponseMax: row.ResponseMax, Warmup: row.T < 0, Oldest: row.Oldest, Segment: len(r.segments) - 1,
		})
		if row.ResponseMax > 0 {
			r.spreads[i] = append(slices.Clone(r.spreads[i]), spread(row))
		}
		if r.second >= 0 {
			seg := &r.segments[len(r.segments)-1]
			seg.Ops = slices.Clone(seg.Ops)
			for _, o := range []*measure.Totals{&r.ops[i], &seg.Ops[i]} {
				o.Count += row.Count
				o.Calls += row.Count/100 + 1
				o.Errors += row.Errors
				o.Active += time.Second
				o.Response = measure.Summary{
					Count: o.Calls, P50: int64(p50), P90: int64(p50 * 2.5), P95: int64(p50 * 3), P99: int64(p50 * 4.8), P999: int64(p50 * 8), P9999: int64(p50 * 9),
					Max: max(o.Response.Max, row.ResponseMax, int64(p50*9.5)),
				}
			}
		}
	}
	if r.Hang > 0 {
		r.Hang += time.Second
	}
	if now := time.Duration(r.second) * time.Second; r.Gone { // it was heard last, and will be first, within a second
		r.silence = measure.Silence{From: r.heard - 40*time.Millisecond, To: now + time.Second}
	} else {
		if r.silence.To == now {
			r.silence.To += 30 * time.Millisecond
		}
		r.heard = now + time.Second
	}
}

// spread distributes the calls of a row: half of them below its p50, one percent above
// its p99.
func spread(row measure.Row) measure.Spread {
	band := func(ns float64) int { return int(math.Ceil(math.Log10(ns) * measure.BandsPerDecade)) }
	p50, p99, most := band(float64(row.ResponseP50)), band(float64(row.ResponseP99)), band(float64(row.ResponseMax))
	s := measure.Spread{T: row.T, Width: 1, First: p50 - 6}
	s.Counts = make([]int64, most-s.First+1)
	share := func(from, to int, part float64) {
		for b := from; b <= to; b++ {
			s.Counts[b-s.First] += int64(part*float64(row.Count)/float64(to-from+1)) + 1
		}
	}
	share(s.First, p50, 0.5)
	share(p50+1, p50+5, 0.4)
	share(min(p50+6, p99), p99, 0.09)
	share(p99+1, most, 0.01)
	return s
}

func (r *Run) gauge(track int) measure.Gauge {
	s := r.want[track]
	g := measure.Gauge{
		Threads: s.Threads, Payload: s.Payload, Batch: s.Batch, Rate: s.Rate, Paused: s.Paused, Segment: len(r.segments) - 1,
		InFlight: s.Threads, Oldest: 9 * time.Millisecond, OldestDue: 9 * time.Millisecond, Running: true,
	}
	g.OldestDue += r.Late
	if s.Paused {
		g.InFlight, g.Oldest, g.OldestDue = 0, 0, 0
	}
	if r.Hang > 0 {
		g.Oldest, g.OldestDue = r.Hang, r.Hang
	}
	g.Backlog = r.Behind
	if s.Rate > 0 && r.Gone {
		g.Backlog = int64(s.Rate)
	}
	return g
}

// all has the times of all calls, nearly all of which are the first operation's.
func all(ops []measure.Totals) (sum measure.Summary) {
	for i, o := range ops {
		if i == 0 {
			sum = o.Response
			sum.Count = 0
		}
		sum.Count, sum.Max = sum.Count+o.Calls, max(sum.Max, o.Response.Max)
	}
	return sum
}

// together has the times of all calls second by second, likewise.
func together(recent [][]measure.Row, line [][]measure.Point) (rows []measure.Row, points []measure.Point) {
	for op := range recent {
		for i, row := range recent[op] {
			if op == 0 {
				rows, points = append(rows, row), append(points, line[op][i])
				continue
			}
			rows[i].Count, rows[i].Errors, rows[i].ResponseMax = rows[i].Count+row.Count, rows[i].Errors+row.Errors, max(rows[i].ResponseMax, row.ResponseMax)
			points[i].Count, points[i].Errors, points[i].ResponseMax = rows[i].Count, rows[i].Errors, rows[i].ResponseMax
		}
	}
	return rows, points
}

// Publish makes a new snapshot; the caller holds Mu.
func (r *Run) Publish() {
	s := &measure.Snapshot{Number: 1, At: r.At, Began: -Warmup, Bucket: time.Second, Phases: []string{"fill"}}
	if r.snap != nil {
		s.Number = r.snap.Number + 1
	}
	for i, t := range r.Designed.Tracks() {
		s.Tracks = append(s.Tracks, t.Name)
		s.Gauges = append(s.Gauges, r.gauge(i))
	}
	s.Ops, s.Recent, s.Timeline = slices.Clone(r.ops), slices.Clone(r.recent), slices.Clone(r.line)
	s.Together, s.Whole = together(r.recent, r.line)
	s.Spreads, s.Silence, s.Paused = slices.Clone(r.spreads), r.silence, r.Paused
	if r.silence != (measure.Silence{}) {
		s.Undone = []measure.Silence{r.silence}
	}
	s.Changes, s.Marks, s.Segments = slices.Clone(r.changes), slices.Clone(r.Marks), slices.Clone(r.segments)
	for i := range s.Segments {
		s.Segments[i].All = all(s.Segments[i].Ops)
	}
	s.All = all(r.ops)
	for _, o := range r.ops {
		s.Done += o.Count
	}
	if n := r.errors["unreachable"]; n > 0 {
		s.Errors = []measure.ErrorCount{{Operation: r.ops[0].Operation, Class: store.Unreachable.String(), Count: n}}
		s.Messages = []measure.Message{{Operation: r.ops[0].Operation, Class: "unreachable", Text: "dial tcp 127.0.0.1:6379: connection refused"}}
	}
	if n := r.errors["lost"]; n > 0 {
		s.Errors = append(s.Errors, measure.ErrorCount{Operation: r.ops[0].Operation, Class: store.Lost.String(), Count: n})
	}
	r.snap = s
}

// Access is all that a screen can have of the run.
func (r *Run) Access() screen.Access {
	return screen.Access{Run: r, Control: r, Searches: r, Ending: r}
}

// Info returns what is known from the start.
func (r *Run) Info() screen.RunInfo { return r.Known }

// Progress returns the stage.
func (r *Run) Progress() screen.Progress {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.Stage
}

// Snapshot returns the newest state.
func (r *Run) Snapshot() *measure.Snapshot {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.snap
}

// Plan returns the plan.
func (r *Run) Plan() *workload.Plan { return r.Designed }

// Settings returns the requested settings of a track, or the totals.
func (r *Run) Settings(track int) workload.Settings {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if track == screen.All {
		return r.total()
	}
	return r.want[track]
}

// Verdict returns the verdict, VALID unless set.
func (r *Run) Verdict() rundir.Verdict {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.Judged.State == "" {
		return rundir.Verdict{State: verdict.Valid}
	}
	return r.Judged
}

// Samples returns those that were set.
func (r *Run) Samples() []rundir.Sample {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.Sampled
}

// Mark records a note.
func (r *Run) Mark(at time.Duration, note string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Marks = append(r.Marks, measure.Mark{At: at, Note: note})
	r.Publish()
}

// Stop ends the run at once, as happens if operations are short.
func (r *Run) Stop() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if !r.Stopped {
		r.Stopped = true
		r.Stage.Stage = screen.Ended
		close(r.done)
	}
}

// Kill ends the run and records that it was killed.
func (r *Run) Kill() {
	r.Stop()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Killed = true
}

// Done is closed by Stop.
func (r *Run) Done() <-chan struct{} { return r.done }

// Outcome returns the outcome of the run.
func (r *Run) Outcome() screen.Outcome { return r.Came }

// Faults returns one of each sort, or NoFaults; those of connections take breakable ones if Direct.
func (r *Run) Faults() (ready, breakable []string, err error) {
	switch {
	case r.NoFaults != nil:
		return nil, nil, r.NoFaults
	case r.Direct:
		return []string{"kill:primary"}, []string{"delay:5ms", "pause"}, nil
	}
	return []string{"delay:5ms", "pause", "kill:primary"}, nil, nil
}

// CanBreak accepts what can be read, without heal.
func (r *Run) CanBreak(text string, long time.Duration) error {
	_, _, err := workload.ParseFault(text, "", &workload.Commands{})
	if err == nil && r.Direct && text != "kill:primary" {
		err = fmt.Errorf("at: %s: %w", text, workload.ErrDirect)
	}
	return err
}

// Break begins a fault, which Tick does not end.
func (r *Run) Break(by, text string, long time.Duration) error {
	kind, v, err := workload.ParseFault(text, "", &workload.Commands{})
	if err != nil {
		return err
	}
	r.Mu.Lock()
	r.Broken = append(r.Broken, text+" "+long.String())
	r.Mu.Unlock()
	r.Change(by, workload.AllTracks, func(s workload.Settings) workload.Settings {
		s.Faults[kind] = v
		return s
	})
	return nil
}

// Room returns NoRoom if a payload is to grow.
func (r *Run) Room(after []workload.Settings) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for i, s := range after {
		if s.Payload > r.want[i].Payload {
			return r.NoRoom
		}
	}
	return nil
}
