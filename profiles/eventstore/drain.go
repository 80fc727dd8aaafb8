package eventstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// drain is the time after the generators have ended, until everything on its way is durable, or
// nothing of it moves any more. Its methods may be called from any goroutine.
type drain struct {
	spec   *spec
	clock  *runClock
	way    *way
	ledger *ledger.Ledger
	counts *stage.Counts
	gaveUp atomic.Bool  // it ended before all was durable
	empty  atomic.Bool  // it ended as nothing was on its way any more, whether all was durable or not
	still  atomic.Int64 // since when nothing has ended in it, in Unix ns

	mu       sync.Mutex
	from, to int64 // 0: it has not begun, or not ended
	backlog  int64
}

// drainTask drains, and records what becomes durable meanwhile.
type drainTask struct {
	drain *drain
	boxes *mailboxes
	clock *runClock
}

// Do drains, once.
func (k *drainTask) Do(ctx context.Context, it *workload.Iteration) error {
	if it.Warmup {
		return workload.ErrDone
	}
	k.drain.work(ctx, func() {
		for _, x := range k.boxes.each() {
			x.record(it, 0, k.clock.zero.Load())
		}
	})
	return workload.ErrDone
}

// work waits until nothing is on its way any more, it is to be given up, or ctx ends. It calls
// meanwhile again and again, the last time when it is over.
func (d *drain) work(ctx context.Context, meanwhile func()) {
	w := d.wait()
	d.begin()
	defer d.end()
	var q quiet
	for over := false; !over; {
		if over = d.settled(); !over && q.lasts(ctx, d) {
			over = true
			d.empty.Store(true)
		}
		meanwhile()
		if !over && w.over() {
			over = true
			d.gaveUp.Store(true) // there is no need to ask the store for what it does not accept
		}
		if over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// finish waits for the backlog if that has not been done, by this process or others.
func (d *drain) finish(ctx context.Context) {
	d.mu.Lock()
	drained := d.to > 0
	d.mu.Unlock()
	if !drained && d.way.leads() {
		d.work(ctx, func() {})
	}
}

// longestDrain is how many times the standstill limit a drain that makes progress may
// take: a backlog that a slow store works off is not a failure.
const longestDrain = 12

// standstill decides when to stop waiting for what is on its way: when nothing has
// become durable for a while.
type standstill struct {
	d      *drain
	left   int64
	moved  time.Time
	longer time.Time
}

// wait begins to wait for what is on its way.
func (d *drain) wait() *standstill {
	now := time.Now()
	d.still.Store(now.UnixNano())
	return &standstill{d: d, left: d.ledger.Left(), moved: now, longer: now.Add(longestDrain * d.spec.drain)}
}

// over reports whether to give up.
func (p *standstill) over() bool {
	now := time.Now()
	if left := p.d.ledger.Left(); left != p.left {
		p.left, p.moved = left, now
		p.d.still.Store(now.UnixNano())
	}
	return now.Sub(p.moved) >= p.d.spec.drain || now.After(p.longer)
}

// UnderWay names what is waited for while the drain goes on.
func (d *drain) UnderWay() ([]string, time.Time) {
	d.mu.Lock()
	draining := d.from != 0 && d.to == 0
	d.mu.Unlock()
	left := d.ledger.Left()
	if !draining || left == 0 {
		return nil, time.Time{}
	}
	return []string{fmt.Sprintf("%d events on their way %s", left, d.spec.whither())}, time.Unix(0, d.still.Load())
}

// whither says where events on their way may be.
func (s *spec) whither() string {
	if s.route.via == report.ViaDirect {
		return "to the store"
	}
	return "through the broker to the store"
}

// answered reports whether the transport confirms what it accepts: if not, missing
// events are lost, and nobody knows.
func (s *spec) answered() bool {
	return s.route.via == report.ViaDirect || !s.Compat && s.route.publish != publishForget
}

// quiet determines whether nothing is on its way any more where that need not mean that all is
// durable: without confirmations, and behind a broker that may lose what it has confirmed.
type quiet struct{ asked, since time.Time }

// lasts reports whether there has been nothing in the transport or in the store stage
// for a while.
func (q *quiet) lasts(ctx context.Context, d *drain) bool {
	const every, enough = 250 * time.Millisecond, 2 * time.Second
	if d.spec.route.via == report.ViaDirect || time.Since(q.asked) < every {
		return false
	}
	q.asked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	depth, err := d.way.via.Depth(ctx)
	if n, _, _, _ := d.way.inside(); err != nil || !depth.Idle || depth.Ready != 0 || depth.Unacked != 0 || n != 0 {
		q.since = time.Time{}
		return false
	}
	if q.since.IsZero() {
		q.since = time.Now()
	}
	return time.Since(q.since) >= enough
}

// settled reports whether nothing is on its way any more, and the store stage has said what
// became of everything.
func (d *drain) settled() bool {
	n, _, _, _ := d.way.inside()
	return n == 0 && d.ledger.Settled()
}

// begin notes that the generators have ended.
func (d *drain) begin() {
	d.mu.Lock()
	first := d.from == 0
	if first {
		d.from, d.backlog = d.clock.now(), d.ledger.Left()
	}
	d.mu.Unlock()
	if first {
		d.counts.BeginDrain()
		d.way.confirm(d.spec.drain)
	}
}

func (d *drain) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to == 0 {
		d.to = d.clock.now()
	}
}

// report tells of the drain of this process; nil: it has not begun.
func (d *drain) report() *report.Drain {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.from == 0 {
		return nil
	}
	to := d.to
	if to == 0 {
		to = d.clock.now()
	}
	return &report.Drain{FromNs: d.clock.since(d.from), ToNs: d.clock.since(to), Backlog: d.backlog, Left: d.ledger.Left()}
}

// errTimeUp is the reason for not handing over a batch that was waiting for room when
// the run's time was up.
var errTimeUp = errors.New("the time is up")
