package eventstore

import (
	"context"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure/thin"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/meter"
)

// maxPoints is how many samples are kept: then every two become one.
const maxPoints = 600

// look is one look at the run.
type look struct {
	facts.SeriesPoint            // without rates
	sums              meter.Sums // up to then: what rates are made of
}

// series keeps what was seen in each look, which are a second apart.
type series struct {
	b     *binding
	mu    sync.Mutex
	looks thin.List[look]
}

func newSeries(b *binding) *series {
	return &series{b: b, looks: thin.List[look]{Most: maxPoints, At: func(x look) int64 { return x.AtNs }, Join: higherBacklog}}
}

// take makes one sample.
func (x *series) take(ctx context.Context) {
	b := x.b
	if !b.meter.Entered.Load() {
		return
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
	x.mu.Lock()
	defer x.mu.Unlock()
	x.looks.Add(look{p, now})
}

// higherBacklog is the later of two looks, with the higher backlog.
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
	return later
}

// report returns the samples with their rates, and how far they are apart.
func (x *series) report() ([]facts.SeriesPoint, int64) {
	x.mu.Lock()
	looks, every := x.looks.Samples(), x.looks.Every(time.Second)
	x.mu.Unlock()
	out := make([]facts.SeriesPoint, len(looks))
	var prev meter.Sums
	for i, l := range looks {
		p, now := l.SeriesPoint, l.sums
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

// facts is the record of the run so far.
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
	gate, audited := b.gate, b.audited
	for _, at := range b.crashes {
		f.Crashes = append(f.Crashes, at-b.zero.Load())
	}
	if b.drainFrom > 0 {
		f.Drain = &facts.Drain{FromNs: b.drainFrom - b.zero.Load(), ToNs: now, Backlog: b.backlog, Left: b.ledger.Left()}
		if b.drainTo > 0 {
			f.Drain.ToNs = b.drainTo - b.zero.Load()
		}
	}
	b.mu.Unlock()
	if audited != nil {
		f.Ledger = *audited
	} else {
		b.ledger.Sums(&f.Ledger)
	}
	f.Limits = facts.Limits{MaxTasks: s.maxTasks, MaxTaskBytes: s.maxTaskBytes}
	_, _, f.Limits.PeakTasks, f.Limits.PeakBytes = gate.Inside()
	b.addWatched(f)
	f.Machine = b.machine
	if b.search != nil {
		f.Search = b.search.report(b.zero.Load())
	}
	return f
}
