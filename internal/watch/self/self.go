// Package self watches perfbench itself and its machine for what may spoil a
// measurement: clocks, quotas, garbage collections, late timers.
package self

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

// Beat is how often Watcher.Beaten should be called.
const Beat = 100 * time.Millisecond

// Limits below which a difference between clocks is ignored.
const (
	leastStep  = 100 * time.Millisecond
	leastSleep = 500 * time.Millisecond
	// leastStop is how late a beat must be not to count as a late timer.
	leastStop = time.Second
	// mostReads is how often two clocks are read at most until nothing comes between; the readings with
	// the least between them count.
	mostReads = 100
)

// Watcher watches this process, its runtime and its machine for what may spoil a
// measurement. One goroutine calls its methods: Beaten every Beat, and Observed once a
// second, which takes about 100 µs.
type Watcher struct {
	from  counters
	began time.Time

	// The clocks as of the last beat.
	wall, slept time.Duration
	late        []time.Duration // of the timer, the newest last
	seen        verdict.Observed
	metrics     []metrics.Sample
}

// counters are totals since the process or the machine started.
type counters struct {
	cpu          time.Duration
	faults       int64
	quota        watch.Quota
	busy, stolen float64 // seconds of all processors
	machine      bool
	pressure     float64 // seconds in which some thread waited for a processor
	pressed      bool
	pause, gc    float64 // seconds of all processors
	sched        *metrics.Float64Histogram
}

// names are the names of the runtime's metrics, in the order of Watcher.metrics.
var names = []string{
	"/cpu/classes/gc/pause:cpu-seconds", "/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/gc/mark/idle:cpu-seconds",
	"/sched/latencies:seconds",
}

// maxLate is how many beats are remembered.
const maxLate = 6000

// Watch starts watching. ctx limits the first observation only.
func Watch(ctx context.Context) *Watcher {
	s := &Watcher{}
	for _, n := range names {
		s.metrics = append(s.metrics, metrics.Sample{Name: n})
	}
	s.seen.ClockCost, s.seen.ClockTick = clockOf()
	s.Restart(ctx)
	return s
}

// Restart discards what was observed, as at the end of a warm-up.
func (s *Watcher) Restart(ctx context.Context) {
	s.seen = verdict.Observed{ClockCost: s.seen.ClockCost, ClockTick: s.seen.ClockTick}
	s.from, s.began = s.read(ctx), together(time.Now)
	s.wall, s.slept, s.late = wallAgainst(s.began, s.began), asleep(), nil
}

// wallAgainst returns how far the wall clock has moved beyond the time that has passed
// since began.
func wallAgainst(began, now time.Time) time.Duration {
	return time.Duration(now.UnixNano()-began.UnixNano()) - now.Sub(began)
}

// together reads the wall clock and the monotonic clock with almost nothing in between.
// They are read one after the other: if the process had to wait for a processor in
// between, the wall clock would seem to have been set.
func together(now func() time.Time) time.Time {
	last := now()
	best, least := last, time.Duration(math.MaxInt64)
	for range mostReads {
		next := now()
		if took := next.Sub(last); took < least {
			best, least = next, took // its wall clock was read after last's monotonic clock
		}
		if least < time.Millisecond {
			break
		}
		last = next
	}
	return best
}

// apart returns how far one clock is ahead of another, both read with almost nothing in between, for the
// same reason as in together: a wait there would seem to be a sleep of the machine.
func apart(ahead, behind func() time.Duration) time.Duration {
	last := behind()
	best, least := time.Duration(0), time.Duration(math.MaxInt64)
	for range mostReads {
		a, next := ahead(), behind()
		if took := next - last; took < least {
			best, least = a-next, took
		}
		if least < time.Millisecond {
			break
		}
		last = next
	}
	return best
}

// Processor returns the processor time that this process has used.
func Processor() time.Duration {
	used, _ := usedSoFar()
	return used
}

// Waited returns for how long the threads of this process have waited for a processor, added up; 0 if
// that is unknown.
func Waited() time.Duration {
	s, _ := watch.Queued(os.Getpid())
	return time.Duration(s * float64(time.Second))
}

// Beaten notes that a timer set for Beat has fired after took. It returns how long the
// machine has been asleep since the last beat, usually 0. The engine itself notices if
// only the process was stopped.
func (s *Watcher) Beaten(took time.Duration) time.Duration {
	return s.beaten(took, together(time.Now), asleep())
}

func (s *Watcher) beaten(took time.Duration, now time.Time, slept time.Duration) time.Duration {
	late := max(took-Beat, 0)
	if len(s.late) < maxLate && late < leastStop {
		s.late = append(s.late, late)
	}
	nap := slept - s.slept
	s.slept = slept
	wall := wallAgainst(s.began, now)
	moved := wall - s.wall - nap
	s.wall = wall
	if moved >= leastStep || moved <= -leastStep {
		s.seen.Steps = append(slices.Clip(s.seen.Steps), verdict.Step{AtS: now.Sub(s.began).Seconds(), ByS: moved.Seconds()})
	}
	if nap < leastSleep {
		return 0
	}
	s.seen.Suspensions = append(slices.Clip(s.seen.Suspensions), verdict.Suspension{
		AtS: max(now.Sub(s.began)-took, 0).Seconds(), ForS: nap.Seconds(),
	})
	return nap
}

// Observed returns what was observed since the start or Restart.
func (s *Watcher) Observed(ctx context.Context) verdict.Observed {
	o, now := s.seen, s.read(ctx)
	o.Seconds = time.Since(s.began).Seconds()
	o.Cores = float64(min(runtime.NumCPU(), runtime.GOMAXPROCS(0)))
	if q := now.quota; q.Known {
		o.Quota = q.Cores
		o.Cores = min(o.Cores, q.Cores)
		if s.from.quota.Known {
			o.Periods, o.Throttled = q.Periods-s.from.quota.Periods, q.Held-s.from.quota.Held
			o.ThrottledS = (q.HeldFor - s.from.quota.HeldFor).Seconds()
		}
	}
	if o.Seconds > 0 {
		o.CPU = (now.cpu - s.from.cpu).Seconds() / o.Seconds
		if now.machine && s.from.machine {
			o.Machine = max(now.busy-s.from.busy, 0) / o.Seconds
			o.Stolen = max(now.stolen-s.from.stolen, 0) / o.Seconds / float64(runtime.NumCPU())
		}
		if now.pressed && s.from.pressed {
			o.Pressure = min(max(now.pressure-s.from.pressure, 0)/o.Seconds, 1)
		}
		o.GCPauses = max(now.pause-s.from.pause, 0) / o.Seconds / float64(runtime.GOMAXPROCS(0))
		o.GCCPU = max(now.gc-s.from.gc, 0) / o.Seconds
	}
	o.MajorFaults = now.faults - s.from.faults
	o.SchedP50, o.SchedP99 = between(s.from.sched, now.sched, 0.5), between(s.from.sched, now.sched, 0.99)
	if n := len(s.late); n >= 20 {
		sorted := slices.Sorted(slices.Values(s.late))
		o.WakeP50, o.WakeP90 = sorted[n/2].Nanoseconds(), sorted[n*9/10].Nanoseconds()
	}
	return o
}

func (s *Watcher) read(ctx context.Context) counters {
	c := counters{quota: watch.Of(os.Getpid())}
	c.cpu, c.faults = usedSoFar()
	if all, err := cpu.TimesWithContext(ctx, false); err == nil && len(all) == 1 {
		t := all[0]
		c.machine = true
		c.busy, c.stolen = t.User+t.System+t.Nice+t.Irq+t.Softirq, t.Steal
	}
	c.pressure, c.pressed = pressure(pressureFile)
	metrics.Read(s.metrics)
	seconds := func(i int) float64 {
		if v := s.metrics[i].Value; v.Kind() == metrics.KindFloat64 {
			return v.Float64()
		}
		return 0
	}
	c.pause, c.gc = seconds(0), seconds(1)-seconds(2)
	if v := s.metrics[3].Value; v.Kind() == metrics.KindFloat64Histogram {
		h := v.Float64Histogram()
		c.sched = &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: slices.Clone(h.Buckets)}
	}
	return c
}

// pressureFile is where Linux tells how long threads waited for a processor.
const pressureFile = "/proc/pressure/cpu"

// pressure reads for how many seconds at least one thread of this machine has waited for a
// processor; false if the system does not tell.
func pressure(path string) (float64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if _, total, ok := strings.Cut(line, " total="); ok && strings.HasPrefix(line, "some ") {
			us, err := strconv.ParseFloat(strings.TrimSpace(total), 64)
			return us / 1e6, err == nil
		}
	}
	return 0, false
}

// between returns a percentile, in nanoseconds, of what a histogram of seconds gained
// between two readings: the upper edge of its bucket. 0: nothing.
func between(from, to *metrics.Float64Histogram, p float64) int64 {
	if from == nil || to == nil || len(from.Counts) != len(to.Counts) {
		return 0
	}
	total := uint64(0)
	for i, n := range to.Counts {
		total += n - from.Counts[i]
	}
	if total == 0 {
		return 0
	}
	seen := uint64(0)
	for i, n := range to.Counts {
		if seen += n - from.Counts[i]; float64(seen) >= p*float64(total) {
			edge := to.Buckets[min(i+1, len(to.Buckets)-2)] // the last edge is infinite
			return int64(edge * 1e9)
		}
	}
	return 0
}

// clockOf measures how long reading the clock takes and its smallest step, in
// nanoseconds: the least of ten attempts, because other processes may take the
// processor in between.
func clockOf() (cost, tick int64) {
	const reads = 100
	for range 10 {
		start := time.Now()
		last := start
		for range reads {
			now := time.Now()
			if step := now.Sub(last).Nanoseconds(); step > 0 && (tick == 0 || step < tick) {
				tick = step
			}
			last = now
		}
		if each := last.Sub(start).Nanoseconds() / reads; cost == 0 || each < cost {
			cost = each
		}
	}
	return cost, max(tick-cost, 0)
}
