// Package measure holds what a run has measured: samples, histograms, the
// one-second series, snapshots and results. It knows nothing of stores, profiles
// or screens and imports nothing of ours. The engine writes to it; reports and
// screens read its immutable values.
package measure

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Operation names one operation of one track. Its index in a run's list of
// operations is what samples carry.
type Operation struct {
	Track string
	Op    string
}

// Among names the operation in a run of so many tracks: with its own where there are several.
func (o Operation) Among(tracks int) string {
	if tracks > 1 {
		return o.Track + "." + o.Op
	}
	return o.Op
}

// Summary is the digest of one histogram. All values but Count are nanoseconds,
// equal to what a reader of the histogram log computes from it; all are 0 when
// Count is 0.
type Summary struct {
	Count                                     int64
	Mean                                      float64
	Min, P50, P90, P95, P99, P999, P9999, Max int64
}

// Totals is the sum of what one operation did over a period of a run.
type Totals struct {
	Operation
	// Count is the number of units (entries, transactions …) that succeeded.
	Count int64
	// Calls is the number of timed calls, those that succeeded or timed out: the
	// number of values in each of the four histograms.
	Calls int64
	// Errors is the number of calls that failed, timeouts included.
	Errors int64
	// Retries is the number of calls that failed and were tried again; they are no errors.
	Retries int64
	// InTime is the number of calls that were answered within the deadline of the moment that
	// they were due; 0 without one.
	InTime int64
	// Unstarted is the number of units that were due by an open loop's schedule but
	// never started: those of the track by what each operation did, since which one a
	// call is of is drawn when it starts.
	Unstarted int64
	// Beyond is the number of values over one hour, which were clipped to it.
	Beyond int64
	// Active is how long the operation's track ran within the period.
	Active time.Duration
	// Lateness is the part of Wait that is our fault, not the store's: see
	// Sample.Late.
	Response, Service, Wait, Lateness Summary
	// Slowest are the response times of requests that make several such calls at once.
	Slowest [len(parallel)]Slowest
}

// Throughput is the number of successful units per second of the period, as
// computed by Rate.
func (t Totals) Throughput() float64 { return Rate(t.Count, t.Active.Seconds()) }

// ShortestRate is the shortest interval, in seconds, for which a rate is
// computed: extrapolating a few milliseconds to a second would be a guess.
const ShortestRate = 0.2

// Rate returns count over an interval in units per second, or NaN if the interval
// is shorter than ShortestRate.
func Rate(count int64, seconds float64) float64 {
	if seconds < ShortestRate {
		return math.NaN()
	}
	return float64(count) / seconds
}

// Row is one second of one operation: a row of the series.
type Row struct {
	// T is the second, counted from the start of measurement; negative during
	// warm-up.
	T  int
	Op int
	// Count is the number of units that succeeded, and Errors of calls that failed,
	// that ended in this second.
	Count, Errors int64
	// Lost is how many of the calls that failed the store answered, without a record that it had
	// acknowledged. It is 0 in the seconds of a run that was resumed.
	Lost int64
	// Retries is the number of calls that failed and were tried again.
	Retries int64
	// GivenUp is how many units were still due and not started when the track ended, if it ended in
	// this second.
	GivenUp int64
	// Seconds is the length of the row: 1, except for the first and last of a
	// track.
	Seconds                                           float64
	ResponseP50, ResponseP99, ResponseMax, ServiceP99 int64
	Gauge
}

// PerSecond is the rate of the row, as computed by Rate.
func (r Row) PerSecond() float64 { return Rate(r.Count, r.Seconds) }

// Gauge is the state of a track at one moment.
type Gauge struct {
	// Backlog is the number of units that are due and not started; 0 in a closed
	// loop.
	Backlog int64
	// Threads, Payload, Batch and Rate are the settings in force.
	Threads, Payload, Batch int
	Rate                    float64
	Paused                  bool
	// Segment is the number of the segment in force, from 0.
	Segment int
	// InFlight is the number of operations in progress, Oldest how long the oldest of them
	// has been, and OldestDue how long ago the oldest that has not ended was due: it may have
	// waited, or been tried before.
	InFlight          int
	Oldest, OldestDue time.Duration
	// Running means that the track has begun and not ended.
	Running bool
	// Ended means that nothing more becomes due; calls may still be in progress.
	Ended bool
	// Sessions are those of the track's users.
	Sessions Visits
}

// Point is one bucket of the downsampled series of an operation: counts add up,
// latencies keep their maximum.
type Point struct {
	// At is the start of the bucket since measurement began.
	At            time.Duration
	Count, Errors int64
	// Seconds is how much of the bucket was measured.
	Seconds                                           float64
	ResponseP50, ResponseP99, ResponseMax, ServiceP99 int64
	Backlog                                           int64
	// Oldest is the greatest age that an operation in progress reached.
	Oldest  time.Duration
	Segment int
	Warmup  bool
}

// The Change.By of those whose changes are told apart: of a search, which goes beyond what the
// store holds; of what takes changes back, each track on its own; of the timetable; of a workbench
// that watches the run of another process.
const (
	BySearch    = "search"
	ByUndo      = "undo"
	ByReset     = "reset"
	ByTimetable = "timetable"
	ByWatcher   = "watcher"
)

// Change is one live change of one setting.
type Change struct {
	// At is when it took effect, since measurement began.
	At time.Duration
	// Name is the setting as users type it: "threads", "profile.payload".
	Name     string
	From, To float64
	// By is who made the change: "timetable", "workbench", "undo", "watcher".
	By string
	// Segment is the segment that the change opened or joined.
	Segment int
	// Ramp is the number, from 1, of the timetable's ramp that the change is a step
	// of; 0 if none.
	Ramp int
}

// KnobOf returns the knob of a setting as users type it, which may be that of one track only.
func KnobOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// Knob returns the knob that was turned.
func (c Change) Knob() string { return KnobOf(c.Name) }

// Mark is a note that somebody put on the time line.
type Mark struct {
	At   time.Duration
	Note string
}

// Segment is a period of a run with constant settings, or a ramp.
type Segment struct {
	From, To time.Duration
	// Settings holds every live setting under the name that users type; SettingsEnd what
	// those of a ramp have come to by its end, nil if they did not change.
	Settings, SettingsEnd map[string]float64
	Ops                   []Totals
	// All has the response times of all calls that count in totals.
	All Summary
	// Arrivals are those of the tracks of which enough came in open loop to tell.
	Arrivals []Arrivals
	// Accounts are those of the tracks that are over.
	Accounts []Account
}

// ErrorCount is how often an operation failed with errors of one class.
type ErrorCount struct {
	Operation
	Class string
	Count int64
}

// Message is one of the first distinct messages of one kind of failure.
type Message struct {
	Operation
	Class, Text string
	// At is when it was first seen, since measurement began.
	At time.Duration
}

// Snapshot is the state of a run at one moment. Neither it nor anything it points
// to is ever modified, so any goroutine may read it.
type Snapshot struct {
	// Number increases by one with each snapshot.
	Number int64
	// At is the time since measurement began; negative during warm-up.
	At time.Duration
	// Began is when the run began: the negative of its warm-up, or of the longest
	// warm-up it may have as long as the actual length is not known.
	Began time.Duration
	// Done and Total are the units done and planned; Total is 0 if unknown.
	Done, Total int64
	Tracks      []string
	Gauges      []Gauge
	Ops         []Totals
	// All has the response times of all calls that count in totals.
	All Summary
	// Apart holds, per operation, whether it is part of another or measured beside
	// it, and so is left out of totals; nil: none is.
	Apart []bool
	// Within holds, per operation, whether it is part of another, which fails with it; nil: none is.
	Within []bool
	// Recent holds, per operation, the finished seconds of the last two minutes.
	Recent [][]Row
	// Together is the same of all calls that count in totals: response times, and how many they are.
	Together []Row
	// Timeline holds, per operation, the whole run in buckets of width Bucket:
	// of a second, or of more in a long run.
	Timeline [][]Point
	Bucket   time.Duration
	// Whole is the timeline of all calls that count in totals: response times, and how many they are.
	Whole []Point
	// Spreads holds, per operation, the distribution of its response times over the
	// whole run, in buckets of one width; seconds without a call have none.
	Spreads  [][]Spread
	Changes  []Change
	Marks    []Mark
	Segments []Segment
	Errors   []ErrorCount
	Messages []Message
	// Silence is the latest of a second or more in which the store answered nothing, up to the last
	// finished second; zero if there was none.
	Silence Silence
	// Undone are all of a second or more in which nothing was done although calls were due or under way.
	Undone []Silence
	// Paused is for how much of Silence the process itself did not run, Pauses are the first times in which
	// it did not.
	Paused time.Duration
	Pauses []Pause
	// Phases names the phases in progress.
	Phases []string
	// Ran are the phases whose measured part has begun, in the order of the plan.
	Ran []Phase

	open int // the second that was in progress
}

// Phase is a phase of a plan whose measured part has begun.
type Phase struct {
	Name   string
	Tracks []string
	// From and To are since measurement began; To is the current time while the
	// phase goes on.
	From, To time.Duration
}

// Covered returns how much of from..to lies within any of the phases that have a
// track for which counts is true.
func Covered(phases []Phase, counts func(track string) bool, from, to time.Duration) time.Duration {
	var list []Phase
	for _, p := range phases {
		p.From, p.To = max(p.From, from), min(p.To, to)
		if p.From < p.To && slices.ContainsFunc(p.Tracks, counts) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Phase) int { return cmp.Compare(a.From, b.From) })
	sum, end := time.Duration(0), from
	for _, p := range list {
		if p.To > end {
			sum += p.To - max(p.From, end)
			end = p.To
		}
	}
	return sum
}

// Counts reports whether an operation counts in totals.
func (s *Snapshot) Counts(op int) bool { return op >= len(s.Apart) || !s.Apart[op] }

// Fails reports whether a call of an operation that fails is an error by itself, and not part of one.
func (s *Snapshot) Fails(op int) bool { return op >= len(s.Within) || !s.Within[op] }

// Failures returns how many operations have failed: the number of errors so far.
func (s *Snapshot) Failures() (n int64) {
	for op := range s.Ops {
		if s.Fails(op) {
			n += s.Ops[op].Errors
		}
	}
	return n
}

// Active returns for how much of from..to operations ran that count in totals and the run was
// not paused, looking at finished seconds only.
func (s *Snapshot) Active(from, to time.Duration) time.Duration {
	if n := len(s.Segments); n > 0 {
		to = min(to, s.Segments[n-1].To)
	}
	counts := func(track string) bool {
		for i, o := range s.Ops {
			if o.Track == track && s.Counts(i) {
				return true
			}
		}
		return false
	}
	active := Covered(s.Ran, counts, from, to)
	for i := range s.Segments {
		if p := &s.Segments[i]; p.Settings["paused"] != 0 {
			active -= Covered(s.Ran, counts, max(from, p.From), min(to, p.To))
		}
	}
	return active
}

// Result is the outcome of a run, or of the part of it that was measured.
type Result struct {
	// Measured is the time from the start of measurement to its end.
	Measured time.Duration
	Ops      []Totals
	// All has the response times of all calls that count in totals.
	All      Summary
	Segments []Segment
	// Phases are those whose measured part has begun.
	Phases []Phase
	// Shares has the tracks with at least two threads that can be compared.
	Shares []Shares
	// Sessions are those of the tracks that have any.
	Sessions []Sessions
	Changes  []Change
	Marks    []Mark
	Errors   []ErrorCount
	Messages []Message
	// Stages has how long each stage took, by segment; see MostStaged.
	Stages [][]Summary
	// Silences are the times of a tenth of a second or more in which nothing was done, in order;
	// those of this process alone.
	Silences []Silence
	// Undone is the part of each in which calls were due or under way, or failed one after the other.
	Undone []Silence
	// Unanswered are the same without answers either that lacked records which the store had
	// acknowledged.
	Unanswered []Silence
	// Sound are the times of a tenth of a second or more in which no call failed, likewise; nil if
	// none did at all.
	Sound []Silence
}
