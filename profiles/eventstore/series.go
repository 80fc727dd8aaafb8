package eventstore

import (
	"context"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// maxPoints is how many samples are kept before every two are merged into one.
const maxPoints = 600

// look is one observation of the run.
type look struct {
	report.SeriesPoint            // without rates
	Sums               stage.Sums // totals so far, from which rates are computed
	Own                *own       // of a worker, or of all workers; nil: this process is not a worker
}

// eyes are what an observation is made of.
type eyes struct {
	clock  *runClock
	counts *stage.Counts
	ledger *ledger.Ledger
	way    *way
}

// series keeps the observations, which are a second apart. Its methods may be called from any
// goroutine.
type series struct {
	eyes
	own usage
	// hosted means that another part of the run, in the same process, tells what that uses.
	hosted bool
	// seconds are those of workers.
	seconds workload.Seconds[look]

	mu    sync.Mutex
	looks measure.Downsampled[look]
}

func newSeries(e eyes) *series {
	x := &series{eyes: e, looks: measure.Downsampled[look]{Most: maxPoints, At: func(x look) int64 { return x.AtNs }, Join: higherBacklog}}
	x.seconds.See, x.seconds.Sum = x.observe, x.sum
	x.seconds.At = func(l *look) int64 { return l.AtNs }
	x.seconds.Fits = func(l *look) bool { return !e.clock.toCome(l.AtNs) }
	return x
}

// sample makes one sample, unless workers make them.
func (x *series) sample(ctx context.Context) {
	if l := x.see(ctx); l != nil && !x.seconds.Shared() {
		x.keep(*l)
	}
}

func (x *series) keep(l look) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.looks.Add(l)
}

// see observes the run now; nil if it has not begun.
func (e *eyes) see(ctx context.Context) *look {
	if !e.clock.entered.Load() {
		return nil
	}
	now := e.counts.Sums()
	now.At = e.clock.since(e.clock.now())
	segment, _ := e.counts.Now()
	p := report.SeriesPoint{AtNs: now.At, Step: int(segment), Ready: -1, Unacked: -1, QueuedBytes: -1}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if d, err := e.way.via.Depth(ctx); err == nil {
		p.Ready, p.Unacked, p.QueuedBytes, p.Blocked = d.Ready, d.Unacked, d.Bytes, d.Blocked
	}
	p.Tasks, p.TaskBytes, _, _ = e.way.inside()
	p.BacklogEvents = e.ledger.Left()
	if due := e.counts.LastDue(); p.BacklogEvents > 0 && due > 0 {
		p.LagNs = max(e.clock.now()-due, 0)
	}
	return &look{p, now, nil}
}

// observe returns what can be seen of the run in a worker; nil before it has begun.
func (x *series) observe() *look {
	if x.clock.zero.Load() == 0 {
		return nil
	}
	l := x.see(context.Background())
	if l != nil && !x.hosted {
		l.Own = x.own.sample(context.Background())
	}
	return l
}

// sum adds up what workers observed at the end of a second.
func (x *series) sum(at int64, all []*look) {
	sum := look{SeriesPoint: report.SeriesPoint{Ready: -1, Unacked: -1, QueuedBytes: -1}}
	for _, l := range all {
		sum.Join(&l.SeriesPoint)
		sum.Sums.Add(&l.Sums)
		sum.Own = sum.Own.plus(l.Own)
	}
	sum.AtNs, sum.Sums.At = at, at
	x.keep(sum)
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
func (x *series) report() ([]report.SeriesPoint, int64) {
	x.mu.Lock()
	looks, every := x.looks.Samples(), x.looks.Every(time.Second)
	x.mu.Unlock()
	out := make([]report.SeriesPoint, len(looks))
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

// workers returns what the processes of all workers used together, second by second.
func (x *series) workers() []report.ResourcePoint {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := []report.ResourcePoint{}
	for _, l := range x.looks.Samples() {
		if l.Own != nil {
			p := report.ResourcePoint(*l.Own)
			p.AtNs = l.AtNs
			out = append(out, p)
		}
	}
	return out
}
