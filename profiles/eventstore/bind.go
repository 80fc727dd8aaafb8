package eventstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/inmemory"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/oncassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/onredis"
	"github.com/perfbench/perfbench/profiles/eventstore/onsql"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded", Target: "sqlite:"},
		{Driver: "redis"},
		{Driver: "cassandra"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "coherence", Refuse: "events are kept in streams and tables; use cassandra: or redis:"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no events; use cassandra: or redis:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no events; use cassandra: or redis:"},
	}
}

// binding is the plan at work on one store.
type binding struct {
	s    *spec
	conn store.Conn
	l    model.Adapter
	tr   model.Traits

	epoch   time.Time
	zero    atomic.Int64 // the clock's time when measurement began
	meter   *stage.Meter
	ledger  *ledger.Ledger
	gate    *stage.Gate
	series  *series
	watcher *watcher
	machine facts.Machine
	search  *searching // nil unless search=on
	via     transport.Transport
	left    atomic.Int64 // events yet to be generated
	gaveUp  atomic.Bool  // the drain ended before all was durable
	still   atomic.Int64 // since when nothing has ended in the drain, in Unix ns
	sample  *reservoir
	authors *generate.Authors
	asked   atomic.Int64    // queries of the phase after the load
	watched []facts.Process // by the process that this one takes the place of

	// shared is what processes share; others are those that do the work, if this one does not.
	shared *workload.Shared
	others *workload.Each[stand]

	turning    sync.Mutex // held while the stage is ended or replaced
	mu         sync.Mutex
	st         *stage.Stage
	publishers []transport.Publisher
	boxes      []*mailbox
	crashes    []int64
	ended      bool // the stage is over
	drainFrom  int64
	drainTo    int64
	backlog    int64
	audited    *facts.Ledger
	background sync.WaitGroup
	stop       context.CancelFunc
	stopped    context.Context
	self       *watch.Watched // this process, a worker's; nil before it first tells
	reopen     func()         // the layer, for another page
}

// Connector connects a plan to the stores of a driver.
func (s *spec) Connector(driver string) workload.Connector {
	switch driver {
	case "redis":
		return on(s, onredis.New)
	case "cassandra":
		if s.schema == schemaCradle {
			return on(s, oncassandra.NewCradle)
		}
		return on(s, oncassandra.NewLean)
	case "embedded", "mysql", "postgres", "sqlite":
		return on(s, onsql.New)
	}
	return on(s, func(*model.Options, store.Conn) (model.Adapter, []ownership.Space) {
		return inmemory.New(driver == "null"), nil
	})
}

// on makes a Connector of what opens a layer on connections of type C.
func on[C any](s *spec, open func(*model.Options, C) (model.Adapter, []ownership.Space)) workload.Connector {
	return workload.On(func(_ context.Context, c C, p *workload.Bound) error {
		s.begin(p.RunID, time.Now())
		l, claims := open(s.options(), c)
		b := s.bind(p, l)
		b.reopen = func() { b.l, _ = open(s.options(), c) }
		p.Claims = claims
		if l, ok := l.(model.Checker); ok {
			p.Admit = l.Check
		}
		return nil
	})
}

// options are what the layer is told of the run.
func (s *spec) options() *model.Options {
	o := &model.Options{
		Namespace: s.namespace, Book: string(s.Book), Page: s.page, Scope: string(s.Scope), Born: s.Born, Bucket: s.bucket, Shards: s.shards,
		PageSize: s.pageSize, QueryLimit: s.queryLimit, Gorm: s.gorm,
	}
	o.Params = map[string]string{"schema": s.schema, "book": o.Book, "page": o.Page}
	return o
}

// stageOptions are what the store stage is told of the run.
func (s *spec) stageOptions() *stage.Options {
	return &stage.Options{
		Codec: s.codec, CompressOver: s.compressOver, BatchLimit: s.batchLimit,
		MaxTasks: s.maxTasks, MaxTaskBytes: s.maxTaskBytes, Composers: s.processing, PerCall: s.rowsPerCall,
		Timeout: s.timeout, Retries: s.maxRetries, RetryBase: s.retryBase, Requeue: s.onFailure == failRequeue,
		FlushEvery: s.counterEvery, RandomID: s.randomID, Compat: s.Compat,
	}
}

// bind connects a plan to a layer.
func (s *spec) bind(p *workload.Bound, l model.Adapter) *binding {
	b := &binding{s: s, conn: p.Conn, l: l, epoch: time.Now(), meter: stage.New(), ledger: ledger.New(), sample: newReservoir(s.Seed), authors: generate.NewAuthors(&s.Shape)}
	b.meter.Length = int64(s.duration)
	b.gate = stage.NewGate(int64(s.maxTasks), s.maxTaskBytes)
	b.series = newSeries(b)
	if s.search {
		b.search = b.newSearching()
	}
	b.left.Store(s.events)
	for i := range p.Phases {
		for j := range p.Phases[i].Tracks {
			t := &p.Phases[i].Tracks[j]
			t.NewTask = b.tasks(t.Name)
		}
	}
	p.Setup, p.Verify, p.Teardown = b.setup, b.verify, b.teardown
	p.Watch = b.watch
	p.Facts, p.UnderWay, p.Calls = func(*measure.Result) any { return b.facts() }, b.underWay, b.meter.Calls
	if s.via != facts.ViaDirect && s.answered() {
		p.Answer = b.askBroker
	}
	b.others = workload.EachOf(b.stand, nil)
	b.share(p.Shared)
	p.Join, p.Settle = b.join, b.settle
	return b
}

// askBroker asks the broker: without one that confirms, no batch reaches the store, and no
// call fails that would show it.
func (b *binding) askBroker(ctx context.Context) error {
	if err := b.via.(*transport.AMQP).Answer(ctx); err != nil {
		return fmt.Errorf("the broker does not answer: %w", err)
	}
	return nil
}

func (b *binding) tasks(track string) func(worker int) (workload.Task, error) {
	switch track {
	case trackEvents:
		return b.newGeneratorTask
	case trackDrain:
		return func(int) (workload.Task, error) { return &drainTask{b: b}, nil }
	}
	return func(worker int) (workload.Task, error) { return newQueryTask(b, track, worker), nil }
}

// clock is the run's own: nanoseconds since the plan was bound.
func (b *binding) clock() int64 { return int64(time.Since(b.epoch)) }

// wall is the time of day in nanoseconds since 1970, by the run's clock, so that it
// never goes back.
func (b *binding) wall() int64 { return b.epoch.UnixNano() + b.clock() }

// setup makes what the layer needs, and starts the store stage.
func (b *binding) setup(ctx context.Context, _ func(done, total int64)) error {
	tr, err := b.l.Prepare(ctx)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	tr.LinksRaw = tr.LinksRaw || b.s.Compat // the original compresses no links
	b.tr = tr
	if err := b.open(ctx); err != nil {
		return err
	}
	if b.search != nil {
		b.background.Go(func() { b.search.run(b.stopped) })
	}
	if b.s.crash > 0 {
		b.background.Go(b.crashing)
	}
	return nil
}

// open opens the transport, and starts the store stage.
func (b *binding) open(ctx context.Context) (err error) {
	if b.via, err = openTransport(ctx, b); err != nil {
		return err
	}
	b.stopped, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	return b.begin()
}

// openTransport opens what carries the batches.
func openTransport(ctx context.Context, b *binding) (transport.Transport, error) {
	s := b.s
	if s.via == facts.ViaDirect {
		return transport.NewDirect(b.clock, s.prefetch, s.maxTaskBytes), nil
	}
	return openVia(ctx, b)
}

// begin starts a store stage.
func (b *binding) begin() error {
	recv, err := b.via.Receiver(b.stopped, b.s.prefetch)
	if err != nil {
		return fault.Code(fmt.Errorf("event-store: open the receiver: %w", err), fault.CodeStore)
	}
	g := stage.NewGate(b.gate.MaxCount, b.gate.MaxBytes)
	_, _, g.Peak, g.PeakBytes = b.gate.Inside()
	st := &stage.Stage{
		Options: b.s.stageOptions(), Layer: b.l, Traits: b.tr, Receiver: recv, Gate: g, Meter: b.meter, Ledger: b.ledger,
		Clock: b.clock, Wall: b.wall, Durable: b.durable, Stored: b.sample.add,
	}
	if err := st.Start(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gate, b.st = g, st
	return nil
}

// crashing ends the store stage without notice now and then, and starts another.
func (b *binding) crashing() {
	t := time.NewTicker(b.s.crash)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-b.stopped.Done():
			return
		}
		if err := b.crashNow(); err != nil {
			b.meter.Failed(fmt.Errorf("start the store stage again: %w", err))
		}
	}
}

// crashNow ends the store stage as a kill would, and starts another.
func (b *binding) crashNow() error {
	b.turning.Lock() // not b.mu, which the stage's own goroutines take
	defer b.turning.Unlock()
	b.mu.Lock()
	ended := b.ended
	if !ended {
		b.crashes = append(b.crashes, b.clock())
	}
	b.mu.Unlock()
	if ended {
		return nil
	}
	b.st.Crash()
	return b.begin()
}

// teardown ends what goes on, and removes the queues of the run.
func (b *binding) teardown(ctx context.Context) error {
	b.end(ctx)
	if t, ok := b.via.(*transport.AMQP); ok {
		return t.Remove()
	}
	return nil
}

// end ends everything that runs beside the workers. It may be called again.
func (b *binding) end(ctx context.Context) {
	b.turning.Lock()
	b.mu.Lock()
	over := b.ended || b.st == nil
	b.ended = true
	b.mu.Unlock()
	if !over {
		if err := b.st.Stop(ctx); err != nil {
			b.meter.Failed(fmt.Errorf("statistics: %w", err))
		}
	}
	b.turning.Unlock()
	if over {
		return
	}
	b.stop()
	b.background.Wait()
	if err := b.via.Close(); err != nil {
		b.meter.Failed(fmt.Errorf("close the transport: %w", err))
	}
}
