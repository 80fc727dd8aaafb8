package eventstore

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// maxPoints is how many samples are kept before every two are merged into one.
const maxPoints = 600

// look is one observation of the run.
type look struct {
	facts.SeriesPoint            // without rates
	Sums              stage.Sums // totals so far, from which rates are computed
	Own               *own       // of a worker, or of all workers; nil: this process is not a worker
}

// series keeps the observations, which are a second apart.
type series struct {
	b     *binding
	mu    sync.Mutex
	looks measure.Downsampled[look]
	// others holds, for each process, its last observation, and those since the second
	// that was taken last; nil if there are no others.
	others map[int][]look
	second int64
}

func newSeries(b *binding) *series {
	return &series{b: b, looks: measure.Downsampled[look]{Most: maxPoints, At: func(x look) int64 { return x.AtNs }, Join: higherBacklog}}
}

// sample makes one sample, unless others make them.
func (x *series) sample(ctx context.Context) {
	l := x.see(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	if l != nil && x.others == nil {
		x.looks.Add(*l)
	}
}

// see observes the run now; nil if it has not begun.
func (x *series) see(ctx context.Context) *look {
	b := x.b
	if !b.meter.Entered.Load() {
		return nil
	}
	now := b.meter.Totals()
	now.At = b.clock() - b.zero.Load()
	p := facts.SeriesPoint{AtNs: now.At, Step: int(b.meter.Step.Load()), Ready: -1, Unacked: -1, QueuedBytes: -1}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if d, err := b.via.Depth(ctx); err == nil {
		p.Ready, p.Unacked, p.QueuedBytes, p.Blocked = d.Ready, d.Unacked, d.Bytes, d.Blocked
	}
	b.mu.Lock()
	gate := b.gate
	b.mu.Unlock()
	p.Tasks, p.TaskBytes, _, _ = gate.Inside()
	p.BacklogEvents = b.ledger.Left()
	if due := b.meter.LastDue.Load(); p.BacklogEvents > 0 && due > 0 {
		p.LagNs = max(b.clock()-due, 0)
	}
	return &look{p, now, nil}
}

// mostLooks is how many observations of one process wait at most.
const mostLooks = 1000

// lateLooks is for how many seconds one process is waited for.
const lateLooks = 4

// lookTold is an observation; nil: there is none yet.
type lookTold struct{ Look *look }

// Tell observes the run, once it has begun.
func (x *series) Tell() (told lookTold) {
	if x.b.zero.Load() == 0 {
		return told
	}
	if told.Look = x.see(context.Background()); told.Look != nil {
		told.Look.Own = x.b.sampleOwn(context.Background())
	}
	return told
}

// Take takes in the observation of another process.
func (x *series) Take(from workload.Process, told lookTold) bool {
	if told.Look != nil && x.b.toCome(told.Look.AtNs) {
		return false
	}
	x.credit(from.Number, from.Of, told.Look)
	return true
}

// credit takes in the observation, if any, of one of that many processes: a second is
// taken once all have reported it, or when it is long past.
func (x *series) credit(process, of int, l *look) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.others == nil {
		x.others = map[int][]look{}
	}
	if l == nil {
		return
	}
	row := append(x.others[process], *l)
	x.others[process] = row[max(len(row)-mostLooks, 0):]
	newest, all := int64(0), int64(math.MaxInt64)
	for _, row := range x.others {
		last := row[len(row)-1].second()
		newest, all = max(newest, last), min(all, last)
	}
	if len(x.others) < of {
		all = 0
	}
	x.upTo(max(all, newest-lateLooks))
}

// close takes what has not been taken yet. For a run that was over within half a second
// that is one sample.
func (x *series) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	newest, at := int64(0), int64(0)
	for _, row := range x.others {
		last := &row[len(row)-1]
		newest, at = max(newest, last.second()), max(at, last.AtNs)
	}
	if x.upTo(newest); newest == 0 && at > 0 {
		x.sum(at)
	}
}

// second returns the second at the end of which an observation was made.
func (l *look) second() int64 { return (l.AtNs + 5e8) / 1e9 }

// upTo adds up what processes had observed by each second up to last. The caller holds
// x.mu.
func (x *series) upTo(last int64) {
	for ; x.second < last; x.second++ {
		for process, row := range x.others {
			for len(row) > 1 && row[1].second() <= x.second+1 {
				row = row[1:]
			}
			x.others[process] = row
		}
		x.sum((x.second + 1) * 1e9)
	}
}

// sum adds up what processes observed up to a moment, if that comes first in each of
// their lists. The caller holds x.mu.
func (x *series) sum(at int64) {
	sum, some := look{SeriesPoint: facts.SeriesPoint{Ready: -1, Unacked: -1, QueuedBytes: -1}}, false
	for _, row := range x.others {
		if row[0].second() > x.second+1 {
			continue
		}
		sum.Join(&row[0].SeriesPoint)
		sum.Sums.Add(&row[0].Sums)
		sum.Own = sum.Own.plus(row[0].Own)
		some = true
	}
	if some {
		sum.AtNs, sum.Sums.At = at, at
		x.looks.Add(sum)
	}
}

// higherBacklog returns the later of two observations, with the higher backlog.
func higherBacklog(earlier, later look) look {
	for _, v := range []struct{ to, from *int64 }{
		{&later.Ready, &earlier.Ready},
		{&later.Unacked, &earlier.Unacked},
		{&later.QueuedBytes, &earlier.QueuedBytes},
		{&later.BacklogEvents, &earlier.BacklogEvents},
		{&later.LagNs, &earlier.LagNs},
		{&later.Tasks, &earlier.Tasks},
		{&later.TaskBytes, &earlier.TaskBytes},
	} {
		*v.to = max(*v.to, *v.from)
	}
	later.Own = later.Own.after(earlier.Own)
	return later
}

// report returns the samples with their rates, and the interval between them.
func (x *series) report() ([]facts.SeriesPoint, int64) {
	x.mu.Lock()
	looks, every := x.looks.Samples(), x.looks.Every(time.Second)
	x.mu.Unlock()
	out := make([]facts.SeriesPoint, len(looks))
	var prev stage.Sums
	for i, l := range looks {
		p, now := l.SeriesPoint, l.Sums
		if s := float64(now.At-prev.At) / 1e9; s > 0 {
			p.Offered, p.Sent = float64(now.Offered-prev.Offered)/s, float64(now.Sent-prev.Sent)/s
			p.Received, p.Stored = float64(now.Received-prev.Received)/s, float64(now.Stored-prev.Stored)/s
			p.Raw, p.Compressed = float64(now.Raw-prev.Raw)/s, float64(now.Compressed-prev.Compressed)/s
		}
		if n := now.Batches - prev.Batches; n > 0 {
			p.BatchEvents = float64(now.Received-prev.Received) / float64(n)
			p.BatchBytes = float64(now.ReceivedBytes-prev.ReceivedBytes) / float64(n)
		}
		if n := now.Received - prev.Received; n > 0 {
			p.EventBytes = float64(now.ReceivedBytes-prev.ReceivedBytes) / float64(n)
		}
		out[i], prev = p, now
	}
	return out, int64(every)
}

// facts returns the record of the run so far.
func (b *binding) facts() *facts.Facts {
	s := b.s
	now := b.clock() - b.zero.Load()
	f := &facts.Facts{
		Schema: s.schema, Store: s.driver, Compression: s.codecName, Pacing: s.pacing, Compat: s.Compat, Durability: b.tr.Durability,
		Config: s.config, Book: string(s.Book), Page: s.page, Scope: string(s.Scope), Transport: facts.ViaDirect, Processes: []facts.Process{},
	}
	b.meter.Report(f, now)
	f.Series, f.SeriesEveryNs = b.series.report()
	b.mu.Lock()
	if b.via != nil {
		f.Transport = b.via.Name()
	}
	audited := b.audited
	for _, at := range b.crashes {
		f.Crashes = append(f.Crashes, at-b.zero.Load())
	}
	b.mu.Unlock()
	f.Drain = b.drained()
	if audited != nil {
		f.Ledger = *audited
	} else {
		b.ledger.Sums(&f.Ledger)
	}
	f.Limits = b.limits()
	b.addWatched(f)
	f.Machine = b.machine
	if b.search != nil {
		f.Search = b.search.report(b.zero.Load())
	}
	return f
}
