package ab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// benchRun is a run against dtm's benchmark server. It is safe for use by several
// goroutines.
type benchRun struct {
	s    *benchSpec
	conn *dtm.Bench
	// first is the reply before the run; set by setup.
	first dtm.Request

	mu            sync.Mutex
	tallies       []*benchTally
	before, after common.Usage
}

// benchTally is what one client has done. Only the client writes it.
type benchTally struct {
	done, undecided, unknown atomic.Int64
	noConnection, noReply    atomic.Int64
	non2xx, connections      atomic.Int64
	bytes, body              atomic.Int64
	last                     atomic.Int64 // end of the last request
	mu                       sync.Mutex   // guards statuses, those of unsuccessful replies
	statuses                 map[string]int64
	_                        [64]byte
}

// Connector connects a plan to dtm's benchmark server, and to nothing else.
func (s *benchSpec) Connector(driver string) workload.Connector {
	if driver != Driver {
		return nil
	}
	return workload.On(s.bind)
}

func (s *benchSpec) bind(_ context.Context, c *dtm.Bench, p *workload.Bound) error {
	b := &benchRun{s: s, conn: c}
	p.Parts = workload.Parts{b}
	p.Phases[0].Tracks[0].NewTask = func(int) (workload.Task, error) {
		return &benchTask{b: b, c: c.Client(s.keepAlive), t: b.tally()}, nil
	}
	return nil
}

// Verify notes what the run has used; there is nothing that could be compared.
func (b *benchRun) Verify(ctx context.Context) workload.Verification {
	u := common.Meter{}.Usage(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after = u
	return workload.Verification{State: workload.Skipped, Summary: "dtm's benchmark server does not name its sagas, so none can be looked up; its answers are counted"}
}

// Setup makes sure that the URL works, with one request, which is one saga.
func (b *benchRun) Setup(ctx context.Context, _ func(done, total int64)) error {
	c := b.conn.Client(false)
	defer c.Close()
	r, err := c.Get(ctx, wallClock{})
	if err != nil {
		hint := "look at its log; its store may be away"
		if r.Status == 0 || r.Status == http.StatusNotFound {
			hint = "is this dtm's benchmark server? docs/tx-saga.md says how to start one"
		}
		return fault.Store(fmt.Errorf("GET %s before the run: %w", b.conn.Path(), err), hint)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.first, b.before = r, common.Meter{}.Usage(ctx)
	return nil
}

func (b *benchRun) tally() *benchTally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &benchTally{statuses: map[string]int64{}}
	b.tallies = append(b.tallies, t)
	return t
}

// benchTask is one client. It belongs to its worker.
type benchTask struct {
	b *benchRun
	c *dtm.BenchClient
	t *benchTally
}

// Do requests the URL once.
func (k *benchTask) Do(ctx context.Context, it *workload.Iteration) error {
	m := it.Begin(OpRequest)
	start := it.Now()
	r, err := k.c.Get(ctx, it)
	units := 0
	if err == nil {
		units = 1
	}
	err = it.End(m, units, err)
	if end := it.Now(); r.Replied {
		connected := start
		if r.Dialled {
			connected = r.Connected
			it.Record(OpConnect, 1, start, start, connected, nil)
		}
		it.Record(opProcessing, 1, connected, connected, end, nil)
		it.Record(OpWaiting, 1, r.Sent, r.Sent, r.First, nil)
	}
	if !it.Warmup {
		k.t.count(r, err)
		k.t.last.Store(it.Now())
	}
	return err
}

func (t *benchTally) count(r dtm.Request, err error) {
	t.bytes.Add(int64(r.Bytes))
	t.body.Add(int64(r.Body))
	if r.Dialled {
		t.connections.Add(1)
	}
	if r.Status > 0 && r.Status/100 != 2 {
		t.non2xx.Add(1)
	}
	reply, isReply := errors.AsType[*dtm.ReplyError](err)
	switch {
	case err == nil:
		t.done.Add(1)
		return
	case isReply && reply.Undecided():
		t.undecided.Add(1)
	default:
		t.unknown.Add(1)
	}
	switch {
	case isReply:
		t.mu.Lock()
		t.statuses[strconv.Itoa(r.Status)]++
		t.mu.Unlock()
	case !r.Reached:
		t.noConnection.Add(1)
	default:
		t.noReply.Add(1)
	}
}

// Facts returns the record of what has been done so far.
func (b *benchRun) Facts(*measure.Result) any {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := &saga.BenchFacts{Path: b.conn.Path(), KeepAlive: b.s.keepAlive, Length: b.first.Body, Statuses: map[string]int64{}}
	f := &saga.Facts{Schema: 1, Mode: saga.Mode, Branches: 2, Bench: x}
	var last int64
	for _, t := range b.tallies {
		f.Done += t.done.Load()
		f.Undecided += t.undecided.Load()
		f.Unknown += t.unknown.Load()
		x.Connections += t.connections.Load()
		x.NoConnection += t.noConnection.Load()
		x.NoReply += t.noReply.Load()
		x.Non2xx += t.non2xx.Load()
		x.Bytes += t.bytes.Load()
		x.Body += t.body.Load()
		last = max(last, t.last.Load())
		t.mu.Lock()
		for status, n := range t.statuses {
			x.Statuses[status] += n
		}
		t.mu.Unlock()
	}
	if s := float64(last) / 1e9; s > 0 {
		f.Rates.Done, f.Rates.Undecided, f.Rates.Unknown = float64(f.Done)/s, float64(f.Undecided)/s, float64(f.Unknown)/s
	}
	f.Rates.BytesPer = -1
	f.Cost = saga.Cost{ClientUS: -1, ServerUS: -1, Counted: -1, Predicted: -1, Received: -1, Sent: -1, Mean: -1, Calls: saga.Agreement{State: saga.NotCompared, Why: "the server does not tell what it asked of its store"}}
	if n := float64(f.Done + f.Undecided + f.Unknown); n > 0 && !b.after.At.IsZero() {
		f.Cost.ClientUS = (b.after.Client - b.before.Client) / n * 1e6
	}
	return f
}
