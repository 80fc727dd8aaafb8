package eventstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
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
	l    layer
	tr   traits

	epoch   time.Time
	zero    atomic.Int64 // the clock's time when measurement began
	meter   *meter
	ledger  *ledger
	gate    *gate
	series  *series
	watcher *watcher
	machine facts.Machine
	search  *searching // nil unless search=on
	via     transport.Transport
	left    atomic.Int64 // events yet to be generated
	gaveUp  atomic.Bool  // the drain ended before all was durable
	still   atomic.Int64 // since when nothing has ended in the drain, in Unix ns
	sample  *reservoir
	asked   atomic.Int64 // queries of the phase after the load
	forest  sync.Map     // generator number → *forest

	turning    sync.Mutex // held while the stage is ended or replaced
	mu         sync.Mutex
	st         *stage
	publishers []transport.Publisher
	boxes      []*mailbox
	crashes    []int64
	ended      bool // the stage is over
	drainFrom  int64
	drainTo    int64
	backlog    int64
	audited    *facts.Ledger
	background sync.WaitGroup
	prefix     map[string]int // of ids, to numbers of generators
	stop       context.CancelFunc
	stopped    context.Context
}

// layerOf finds the layer for a connection, and the spaces that it keeps data in.
func layerOf(s *spec, c store.Conn) (layer, []place.Space) {
	params := map[string]string{"schema": s.schema, "book": string(s.Book), "page": s.page}
	keys := store.Space{Namespace: s.namespace, Name: "events", Shape: store.Keys, Grouped: true}
	switch c := c.(type) {
	case cassandra.Typed:
		if s.schema == schemaCradle {
			l := newCradle(s, c)
			l.space = keys
			return l, []place.Space{{Space: keys, Parts: l.names(cradleTables), Tables: l.needs(cradleTables), Params: params}}
		}
		l := newLean(s, c)
		l.space = keys
		return l, []place.Space{{Space: keys, Parts: l.names(leanTables), Tables: l.needs(leanTables), Params: params}}
	case redis.Typed:
		return newStreams(s, c), []place.Space{{Space: keys, Parts: redisKeys, Params: params}}
	case sqlstore.Typed:
		l := newSQL(s, c)
		return l, l.Spaces(params)
	}
	return newHeld(s.driver == "null"), nil
}

// looker is a layer that can tell, before anything is made, whether the tables that
// are there will do.
type looker interface {
	look(ctx context.Context, c *place.Claim) error
}

// Connector connects a plan to stores of every kind.
func (s *spec) Connector(string) workload.Connector { return s.bind }

// bind connects a plan to a store. It changes nothing there.
func (s *spec) bind(_ context.Context, p *workload.Bound) error {
	c := p.Conn
	s.begin(p.RunID, time.Now())
	b := &binding{s: s, conn: c, epoch: time.Now(), meter: newMeter(), ledger: newLedger(), sample: newReservoir(s.Seed)}
	b.meter.length = int64(s.duration)
	b.gate = newGate(int64(s.maxTasks), s.maxTaskBytes)
	b.series = newSeries(b)
	if s.search {
		b.search = b.newSearching()
	}
	b.l, p.Claims = layerOf(s, c)
	if l, ok := b.l.(looker); ok {
		p.Admit = l.look
	}
	b.tr = b.traits()
	b.left.Store(s.events)
	for i := range p.Phases {
		for j := range p.Phases[i].Tracks {
			t := &p.Phases[i].Tracks[j]
			t.NewTask = b.tasks(t.Name)
		}
	}
	p.Setup, p.Verify, p.Teardown = b.setup, b.verify, b.teardown
	p.Facts, p.UnderWay = func() any { return b.facts() }, b.underWay
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

// traits are those of the layer, and what compat makes of them.
func (b *binding) traits() traits {
	t := b.l.traits()
	t.linksRaw = t.linksRaw || b.s.Compat // the original compresses no links
	return t
}

// clock is the run's own: nanoseconds since the plan was bound.
func (b *binding) clock() int64 { return int64(time.Since(b.epoch)) }

// wall is the time of day in nanoseconds since 1970, by the run's clock, so that it
// never goes back.
func (b *binding) wall() int64 { return b.epoch.UnixNano() + b.clock() }

// setup makes what the layer needs, and starts the store stage.
func (b *binding) setup(ctx context.Context, _ func(done, total int64)) error {
	if err := b.l.prepare(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	b.tr = b.traits() // now that the store has been asked
	var err error
	if b.via, err = openTransport(ctx, b); err != nil {
		return err
	}
	b.stopped, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := b.begin(); err != nil {
		return err
	}
	b.background.Go(b.series.run)
	b.watch(ctx)
	if b.search != nil {
		b.background.Go(func() { b.search.run(b.stopped) })
	}
	if b.s.crash > 0 {
		b.background.Go(b.crashing)
	}
	return nil
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
	g := newGate(b.gate.maxCount, b.gate.maxBytes)
	_, _, g.peak, g.peakBytes = b.gate.inside()
	st := &stage{
		s: b.s, l: b.l, traits: b.tr, recv: recv, gate: g, meter: b.meter, ledger: b.ledger,
		clock: b.clock, wall: b.wall, classify: b.conn.Classify, durable: b.durable, stored: b.sample.add,
	}
	if err := st.start(); err != nil {
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
			b.meter.failed(fmt.Errorf("start the store stage again: %w", err))
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
	b.st.crash()
	return b.begin()
}

// teardown ends what goes on, and removes the queues of the run.
func (b *binding) teardown(ctx context.Context) error {
	b.end(ctx)
	if t, ok := b.via.(*amqpTransport); ok {
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
		if err := b.st.stop(ctx); err != nil {
			b.meter.failed(fmt.Errorf("statistics: %w", err))
		}
	}
	b.turning.Unlock()
	if over {
		return
	}
	b.stop()
	b.background.Wait()
	if err := b.via.Close(); err != nil {
		b.meter.failed(fmt.Errorf("close the transport: %w", err))
	}
}
