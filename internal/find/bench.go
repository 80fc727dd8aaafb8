package find

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Run is a run whose knobs can be changed: a session.Driven or an engine.Run.
type Run interface {
	Change(by string, track int, f func(workload.Settings) workload.Settings)
	Settings(track int) workload.Settings
	Afresh()
	Elapsed() time.Duration
	Done() <-chan struct{}
}

// errOver means that the run ended before the search did.
var errOver = errors.New("the run ended before the search did")

// widen is the factor by which the number of threads grows if there were too few.
// busier is how much longer than at first calls may take for the threads to be blamed
// rather than the store.
const (
	widen  = 4
	busier = 1.5
)

// bench sets levels on a run and gathers what its seconds were like.
type bench struct {
	run      Run
	options  Options
	tracks   []*workload.Track
	counted  []bool // whether each operation counts in totals
	ops      []measure.Operation
	observed func() *verdict.Observed // may be nil

	in chan heard

	// The fields below belong to the searching goroutine.
	set   time.Duration // when the level was set
	level float64
	step  stepSum
	quick float64 // p50 of the service time at the first level, ns
}

// oneMix is how far the share of a track in what was done without a rate may be from that at a rate to count as the same.
const oneMix = 0.05

// heard is a finished second on its way to the search.
type heard struct {
	Second
	sum stepSum
}

// stepSum sums up the seconds of a step, for the curve.
type stepSum struct {
	seconds                     int
	count, errors, retries      int64
	response, service, lateness *hdrhistogram.Histogram
	slow                        []Reading                 // for each condition, the calls that the store alone made too slow
	judged                      []*hdrhistogram.Histogram // for each condition, the times that it is about; nil without any
	busy                        int                       // number of seconds at whose end all threads were busy
	threads                     int
	tracks                      []float64         // for each track, the units that count
	before, after               *verdict.Observed // observations at their beginning and end
}

func (s *stepSum) add(o stepSum) {
	if s.seconds == 0 {
		s.response, s.service, s.lateness = measure.NewHistogram(), measure.NewHistogram(), measure.NewHistogram()
		s.slow = make([]Reading, len(o.slow))
		s.judged = make([]*hdrhistogram.Histogram, len(o.judged))
		s.tracks = make([]float64, len(o.tracks))
	}
	for i, n := range o.tracks {
		s.tracks[i] += n
	}
	for i, times := range o.judged {
		s.judged[i] = merged(s.judged[i], times)
	}
	for i, r := range o.slow {
		s.slow[i].Against, s.slow[i].Of = s.slow[i].Against+r.Against, s.slow[i].Of+r.Of
	}
	s.seconds += o.seconds
	s.count, s.errors, s.busy, s.threads = s.count+o.count, s.errors+o.errors, s.busy+o.busy, o.threads
	s.retries += o.retries
	s.response, s.service = measure.Merge(s.response, o.response), measure.Merge(s.service, o.service)
	s.lateness = measure.Merge(s.lateness, o.lateness)
}

// merged adds times to those of before, which are nil without any.
func merged(all, times *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if times == nil {
		return all
	}
	if all == nil {
		all = measure.NewHistogram()
	}
	return measure.Merge(all, times)
}

// waitingSeconds is how many finished seconds may wait for the search, which normally
// takes them at once.
const waitingSeconds = 16

func newBench(run Run, plan *workload.Plan, o Options, observed func() *verdict.Observed) *bench {
	return &bench{
		run: run, tracks: plan.Tracks(), ops: plan.Operations(), counted: plan.Counted(),
		options: o, observed: observed, in: make(chan heard, waitingSeconds),
	}
}

// second takes a finished second. It is called on the measuring goroutine.
func (b *bench) second(s *measure.Second) {
	if s.Warmup || s.Length < 1 {
		return
	}
	h := heard{Second: Second{From: int64(s.T) * 1e9, To: int64(s.T+1) * 1e9}}
	h.Readings = make([]Reading, len(b.options.Under))
	h.sum = stepSum{seconds: 1, slow: make([]Reading, len(b.options.Under)), judged: make([]*hdrhistogram.Histogram, len(b.options.Under)), response: measure.NewHistogram(), service: measure.NewHistogram(), lateness: measure.NewHistogram()}
	h.sum.tracks = make([]float64, len(b.tracks))
	threads, backlog, seen := 0, int64(0), map[string]bool{}
	for _, r := range s.Rows {
		op := b.ops[r.Op]
		if !seen[op.Track] {
			seen[op.Track] = true
			threads, backlog = threads+r.Threads, backlog+r.Backlog
		}
		if b.counted[r.Op] {
			h.Done += float64(r.Count)
			if i := slices.IndexFunc(b.tracks, func(t *workload.Track) bool { return t.Name == op.Track }); i >= 0 {
				h.sum.tracks[i] += float64(r.Count)
			}
			h.sum.count, h.sum.errors = h.sum.count+r.Count, h.sum.errors+r.Errors
			h.sum.retries += r.Retries
			h.Ended += float64(r.Errors)
		}
		if r.Errors > 0 {
			b.readErrors(&h, op, r.Errors)
		}
	}
	for i := range s.Intervals {
		in := &s.Intervals[i]
		b.readTimes(&h, in)
		if b.counts(in.Op) {
			h.sum.response = measure.Merge(h.sum.response, in.Response)
			b.readGood(&h.Second, in)
			h.sum.service = measure.Merge(h.sum.service, in.Service)
			h.sum.lateness = measure.Merge(h.sum.lateness, in.Lateness)
		}
	}
	h.sum.threads = threads
	if backlog > 0 { // units are due, and no thread is free to begin them
		h.sum.busy = 1
	}
	select {
	case b.in <- h:
	default: // nobody is searching any more
	}
}

// readGood adds the answers that were in time, where recovery is sought. What was given up at its
// deadline was not: the limit is a little below it, as histograms know times to a thousandth.
func (b *bench) readGood(s *Second, in *measure.Interval) {
	if b.options.Recovery == nil || in.Response == nil {
		return
	}
	limit := int64(b.options.Recovery.Deadline)
	n := in.Response.TotalCount()
	s.Ended += float64(n)
	s.Good += float64(n - measure.Above(in.Response, limit-limit/500))
}

// readErrors adds failed calls to the readings of conditions on errors.
func (b *bench) readErrors(h *heard, op measure.Operation, n int64) {
	for i, e := range b.options.Under {
		if e.Stat == "errors" && b.about(e, op) {
			h.Readings[i].Against += float64(n)
			h.Readings[i].Of += float64(n)
		}
	}
}

// readTimes adds timed calls to the readings of all conditions.
func (b *bench) readTimes(h *heard, in *measure.Interval) {
	for i, e := range b.options.Under {
		if !b.about(e, in.Op) {
			continue
		}
		if e.Stat != "errors" && (e.Time == "response" || e.Time == "service") && in.Service != nil {
			slow := &h.sum.slow[i]
			slow.Against, slow.Of = slow.Against+float64(measure.Above(in.Service, int64(e.Limit))), slow.Of+float64(in.Service.TotalCount())
		}
		times := in.Response
		switch e.Time {
		case "service":
			times = in.Service
		case "wait":
			times = in.Wait
		case "lateness":
			times = in.Lateness
		}
		if times == nil || times.TotalCount() == 0 {
			continue
		}
		if e.Stat != "errors" {
			h.sum.judged[i] = merged(h.sum.judged[i], times)
		}
		n := float64(times.TotalCount())
		switch r := &h.Readings[i]; e.Stat {
		case "errors":
			r.Of += n
		case "mean":
			r.Against, r.Of = r.Against+n*times.Mean(), r.Of+n
		default:
			r.Against, r.Of = r.Against+float64(measure.Above(times, int64(e.Limit))), r.Of+n
		}
	}
}

// about reports whether a condition applies to an operation; without a name it applies
// to those that count.
func (b *bench) about(e condition.Threshold, op measure.Operation) bool {
	return e.About(op) && (e.Of != "" || b.counts(op))
}

func (b *bench) counts(op measure.Operation) bool {
	for i, o := range b.ops {
		if o == op {
			return b.counted[i]
		}
	}
	return false
}

// Set sets the knob to a level. What was due before and has not begun is dropped, also where the level is
// the same.
func (b *bench) Set(level float64) {
	k := b.options.Over
	if level == b.level {
		b.run.Afresh()
	}
	b.run.Change(measure.BySearch, workload.AllTracks, func(s workload.Settings) workload.Settings { return k.Set(s, level) })
	b.level, b.set, b.step = level, b.run.Elapsed(), stepSum{}
}

// Next waits for a second that began after the level was set. One that began at that very
// moment is the second of the change: calls of the level before are still on their way in it.
func (b *bench) Next(ctx context.Context) (Second, error) {
	for {
		select {
		case h := <-b.in:
			if time.Duration(h.From) <= b.set {
				b.step.before = b.observation()
				continue
			}
			if b.options.Over.Name == OverRate {
				h.Due, h.Lump = b.level, b.lump()
				if h.sum.busy == 0 && h.sum.errors == 0 { // nothing waits: by chance, fewer than others came
					h.Due = min(h.Due, h.Done)
				}
			}
			b.step.add(h.sum)
			b.step.after = b.observation()
			return h.Second, nil
		case <-b.run.Done():
			return Second{}, errOver
		case <-ctx.Done():
			return Second{}, context.Cause(ctx)
		}
	}
}

// lump returns how many units fall due at once, over all tracks.
func (b *bench) lump() float64 {
	n := 0
	for i, t := range b.tracks {
		units, s := 1, b.run.Settings(i)
		if t.Units != nil {
			units = max(t.Units(&s), 1)
		}
		n += units
	}
	return float64(n)
}

// mix returns the share of each track in the units that count of the last step, which had no rate and did so many a second, with
// that of its rate when there is one, in the order of the tracks; nil if they are the same within oneMix. most is how much
// could have been done with the mix of a rate: the slowest track for its share bounds it.
func (b *bench) mix(done float64) (parts []Part, most float64) {
	now := make([]workload.Settings, len(b.tracks))
	for i := range now {
		now[i] = b.run.Settings(i)
	}
	at := workload.Turned(b.tracks, now, workload.AllTracks, b.options.Over, done)
	all, rates, apart := 0.0, 0.0, 0.0
	for i, n := range b.step.tracks {
		if n > 0 {
			all, rates = all+n, rates+at[i].Rate
		}
	}
	most = done
	for i, n := range b.step.tracks {
		if n > 0 && at[i].Rate > 0 {
			p := Part{Track: b.tracks[i].Name, Share: n / all, AtRate: at[i].Rate / rates}
			parts, apart, most = append(parts, p), max(apart, math.Abs(p.Share-p.AtRate)), min(most, done*p.Share/p.AtRate)
		}
	}
	if apart <= oneMix {
		return nil, done
	}
	return parts, most
}

func (b *bench) observation() *verdict.Observed {
	if b.observed == nil {
		return nil
	}
	return b.observed()
}

// Widen adds threads if all were busy while calls took no longer than at first, which
// means that the store was not the limit; and if calls waited for one while the store alone
// met the conditions, which leaves open whether more help.
func (b *bench) Widen([]Second) bool {
	s := b.run.Settings(workload.AllTracks)
	if b.options.Over.Name != OverRate || s.Threads >= b.options.Threads || b.step.errors > 0 || !b.tooFew() && !b.waited() {
		return false
	}
	b.run.Change(measure.BySearch, workload.AllTracks, func(s workload.Settings) workload.Settings {
		s.Threads = min(s.Threads*widen, b.options.Threads)
		return s
	})
	return true
}

// Width returns the number of threads.
func (b *bench) Width() int { return b.run.Settings(workload.AllTracks).Threads }

// Narrow sets the number of threads, unless that is what is sought.
func (b *bench) Narrow(threads int) {
	if b.options.Over.Name != OverRate || threads == b.Width() {
		return
	}
	b.run.Change(measure.BySearch, workload.AllTracks, func(s workload.Settings) workload.Settings {
		s.Threads = threads
		return s
	})
}

// busy reports whether all threads were busy in most seconds of the last step.
func (b *bench) busy() bool { return b.step.seconds > 0 && b.step.busy*2 >= b.step.seconds }

// waited reports whether calls of the last step waited for a free thread, and met the conditions by the time in the
// store alone.
func (b *bench) waited() bool {
	for i, c := range b.options.conditions() {
		bound := c.Bound
		if !c.Share { // the limit of a mean
			bound = 0.5
		}
		if r := b.step.slow; i < len(r) && r[i].Against > bound*r[i].Of {
			return false
		}
	}
	return b.busy() && len(b.options.Under) > 0
}

// tooFew reports whether the threads of the last step were too few for its level.
func (b *bench) tooFew() bool {
	if !b.busy() {
		return false
	}
	return b.quick == 0 || float64(measure.Percentile(b.step.service, 50)) <= busier*b.quick
}

// note remembers how fast calls are when nothing slows them down.
func (b *bench) note(held bool) {
	if p50 := float64(measure.Percentile(b.step.service, 50)); held && p50 > 0 {
		if b.quick == 0 {
			b.quick = math.Inf(1)
		}
		b.quick = min(b.quick, p50)
	}
}

var _ Bench = (*bench)(nil)
