package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Opened is a prepared run that has its store: it is connected, its plan is bound and set
// up, its spaces are claimed, its folder is there, remote workers have joined, and nothing
// is measured yet. Drive or Abandon must follow. Its exported methods may be called from
// any goroutine.
type Opened struct {
	// Prepared is what was asked for, and what it comes to.
	Prepared *Prepared
	// Info is what the store reported about itself at the start.
	Info store.Info
	// Notices are sentences to show, which reports repeat.
	Notices []string

	conn store.Conn
	// close closes conn, once. release keeps an interrupt from doing so; false: it already
	// has.
	close   func() error
	release func() bool
	// proxy is what the connections go through, and through those to what stands between; nil: the run
	// has no such faults.
	proxy, through *proxy.Proxy
	// plan is Plan bound to conn.
	plan    *workload.Plan
	lease   lease
	journal *rundir.Journal
	// crew does the work; nil: this process does. told means that it was told to begin, and
	// shown is the constant part of what those who watch the run see.
	crew    *crew.Crew
	told    bool
	shown   crew.View
	sampler *Sampler
	ceiling *ceiling
	heap    heap
	// measured is what has been measured up to the last finished second; nil before there is one.
	measured atomic.Pointer[measure.Result]
	// first is the first second that this session sees itself, of a run that it goes on with.
	first int
}

// contacts returns what the client of the store, or those of the workers, did so far, and that of
// what stands between.
func (o *Opened) contacts() (c rundir.Contacts) {
	if o.crew != nil {
		c.Connections, c.Redirects = o.crew.Contacts()
		return c
	}
	pool, _ := o.Pool()
	c = rundir.Contacts{Connections: o.lease.fence.Connections(), Redirects: pool.Redirects}
	if o.plan != nil {
		c.Connections += o.plan.Parts.Connections()
	}
	return c
}

// Progress says how far a start has come.
type Progress struct {
	// Stage says what is being done: "connecting", "preparing".
	Stage string
	// Done and Total count what the stage works through; Total is 0 when unknown.
	Done, Total int64
	// Note is a sentence that somebody has to act on, such as where workers join;
	// empty: none. Keeps means that it says what becomes of what earlier runs have left, which holds for the whole run.
	Note  string
	Keeps bool
}

// Start opens the run and drives it. Cancelling ctx later stops the run gracefully with
// the context's cause. A start that fails leaves nothing on the disk. progress may be nil
// and may be called from any goroutine. Start must be called only once.
func (p *Prepared) Start(ctx context.Context, progress func(Progress)) (*Driven, error) {
	o, err := p.Open(ctx, progress)
	if err != nil {
		return nil, err
	}
	return o.Drive(ctx)
}

// Open connects to the store, makes the run directory, binds the plan, claims its spaces,
// sets it up, and waits for remote workers. An error undoes what was done until then.
func (p *Prepared) Open(ctx context.Context, progress func(Progress)) (*Opened, error) {
	o := &Opened{Prepared: p, first: math.MinInt}
	g := &opening{p: p, o: o, report: serially(progress)}
	g.enter("connecting")
	if err := g.connect(ctx); err != nil {
		return nil, p.secret().hide(caused(ctx, err))
	}
	o.close = sync.OnceValue(func() error {
		defer o.through.Close()
		defer o.proxy.Close()
		return o.conn.Close()
	})
	// A call in progress may ignore its context, so an interrupt closes the connection.
	o.release = context.AfterFunc(ctx, func() { _ = o.close() })
	var err error
	if o.Info, err = o.conn.Info(ctx); err != nil {
		err = fault.Code(fmt.Errorf("ask %s what it is: %w", p.Target, err), fault.CodeStore)
	}
	o.heap = heap{info: &o.Info, agent: p.Inputs.Agent, bytes: p.Plan.Bytes}
	o.ceiling = newCeiling(p)
	switch {
	case err != nil:
	case p.restored != nil:
		err = g.resume(ctx)
	default:
		err = g.begin(ctx)
	}
	if err != nil {
		return nil, o.fail(ctx, err)
	}
	return o, nil
}

// caused returns the cause of a cancelled context in preference to the resulting error.
func caused(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fault.Code(fmt.Errorf("before the run began: %w", cause), codeOfCause(cause))
	}
	return err
}

// serially makes progress safe to call from any goroutine.
func serially(progress func(Progress)) func(Progress) {
	var mu sync.Mutex
	return func(g Progress) {
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			progress(g)
		}
	}
}

// facts is the plan's own record; nil: there is none.
func (o *Opened) facts() any {
	switch {
	case o.Prepared.restored.verified() != nil:
		return o.Prepared.restored.kept.Facts
	case o.plan == nil:
		return nil
	}
	return o.plan.Facts(o.measured.Load())
}

// fail abandons a start because of an error, and returns the error to show.
func (o *Opened) fail(ctx context.Context, because error) error {
	o.release()
	return o.Prepared.secret().hide(caused(ctx, errors.Join(because, o.Abandon(ctx, because))))
}

// Abandon undoes Open, for a reason that the store is told: of a new run nothing stays. A
// run that was to be resumed stays as it was, so that this can be tried again.
func (o *Opened) Abandon(ctx context.Context, because error) error {
	if o.Prepared.restored != nil {
		o.crew.Leave()
		return errors.Join(o.lease.leave(ctx), o.Prepared.Forget(), o.close())
	}
	if o.told {
		o.crew.Idle()
		o.lease.endWorkers(ctx, o.crew, nil, o.Prepared.env.Log)
	}
	if o.crew != nil && ctx.Err() != nil {
		o.lease.cede(ctx, o.Prepared, o.told)
	}
	err := o.lease.abandon(ctx, because)
	if o.journal != nil {
		err = errors.Join(err, o.journal.Discard())
	}
	o.crew.Close()
	return errors.Join(err, o.close())
}

// Dir is the run directory.
func (o *Opened) Dir() string { return o.journal.Dir() }

// ID is the id of the run.
func (o *Opened) ID() string { return o.journal.Run().ID }

// Bound returns the plan being run.
func (o *Opened) Bound() *workload.Plan { return o.plan }

// Pool returns the statistics of the connection pool; false if the store has none.
func (o *Opened) Pool() (store.PoolStats, bool) {
	if p, ok := store.Has[store.Pooled](o.conn); ok {
		return p.Pool(), true
	}
	return store.PoolStats{}, false
}
