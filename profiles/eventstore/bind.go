package eventstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/inmemory"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/oncassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/onredis"
	"github.com/perfbench/perfbench/profiles/eventstore/onsql"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
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
		{Driver: "memcached", Refuse: "it evicts what it stores, and has no order to read by; use redis: or cassandra:"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no events; use cassandra: or redis:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no events; use cassandra: or redis:"},
	}
}

// binding is the plan on one store: the parts of a run, which it makes and ties together.
type binding struct {
	s      *spec
	l      model.Adapter
	tr     model.Traits // of l
	reopen func()       // l, for another page

	clock    *runClock
	counts   *stage.Counts
	failures *stage.Failures
	ledger   *ledger.Ledger
	quota    *quota
	boxes    *mailboxes
	way      *way
	drain    *drain
	queries  *queries
	search   *searching // nil unless search=on
	series   *series
	watcher  *watcher
	account  *account
	// others are the processes that do the work, if this one does not.
	others *workload.Each[stand]
}

// Connector connects a plan to the stores of a driver.
func (s *spec) Connector(driver string) workload.Connector {
	switch driver {
	case "redis":
		return on(s, onredis.New)
	case "cassandra":
		if s.layout.schema == schemaCradle {
			return on(s, oncassandra.NewCradle)
		}
		return on(s, oncassandra.NewLean)
	case "embedded", "mysql", "postgres", "sqlite":
		return on(s, onsql.New)
	}
	return on(s, func(_ *model.Options, c store.Conn) (model.Adapter, []ownership.Space) {
		return inmemory.New(driver == "null", store.Serve(c)), nil
	})
}

// Needs says that on Redis a batch is added to a stream by a script, and that the schema of
// Cradle has durations that only grow.
func (s *spec) Needs(driver string) []store.Need {
	if driver == "cassandra" && s.layout.schema == schemaCradle {
		return []store.Need{{Ability: store.Conditional, For: "schema=cradle", Instead: "use --set schema=lean, or a keyspace without tablets"}}
	}
	if driver != "redis" {
		return nil
	}
	const instead = "use cassandra:, postgres: or mysql:"
	return []store.Need{{Ability: store.Scripts, For: "event-store", Instead: instead}, {Ability: store.Streams, For: "event-store", Instead: instead}}
}

// on makes a Connector of what opens a layer on connections of type C.
func on[C any](s *spec, open func(*model.Options, C) (model.Adapter, []ownership.Space)) workload.Connector {
	return workload.On(func(_ context.Context, c C, p *workload.Bound) error {
		s.begin(p.RunID, time.Now())
		l, claims := open(s.options(), c)
		b := s.bind(l)
		b.reopen = func() { b.l, _ = open(s.options(), c) }
		b.way.through = p.Through
		b.connect(p.Plan)
		p.Claims = claims
		if l, ok := l.(model.Checker); ok {
			p.Parts = append(p.Parts, tables{l})
		}
		return nil
	})
}

// tables are those of a layer.
type tables struct{ model.Checker }

// Admit refuses tables that are there and are not suitable.
func (t tables) Admit(ctx context.Context, c *ownership.Claim) error { return t.Check(ctx, c) }

// options are what the layer is told of the run.
func (s *spec) options() *model.Options {
	o := &model.Options{
		Namespace: s.namespace, Book: string(s.Book), Page: s.page, Scope: string(s.Scope), Born: s.Born, Bucket: s.layout.bucket, Shards: s.layout.shards,
		PageSize: s.layout.pageSize, QueryLimit: s.query.limit, Gorm: s.layout.gorm,
	}
	o.Params = map[string]string{"schema": s.layout.schema, "book": o.Book, "page": o.Page}
	return o
}

// stageOptions are what the store stage is told of the run.
func (s *spec) stageOptions() *stage.Options {
	o := s.stage
	o.Requeue, o.Compat = s.onFailure == failRequeue, s.Compat
	return &o
}

// bind makes the parts of a run.
func (s *spec) bind(l model.Adapter) *binding {
	b := &binding{
		s: s, l: l, clock: &runClock{epoch: time.Now()}, counts: &stage.Counts{}, failures: &stage.Failures{}, ledger: ledger.New(s.planted()),
		quota: newQuota(s.load.events),
	}
	b.others = workload.EachOf(b.stand, (*stand).sound)
	b.boxes = &mailboxes{counts: b.counts, authors: generate.NewAuthors(&s.Shape)}
	b.way = &way{spec: s, clock: b.clock, failures: b.failures, newStage: b.newStage}
	b.drain = &drain{spec: s, clock: b.clock, way: b.way, ledger: b.ledger, counts: b.counts}
	b.queries = newQueries(b)
	b.series = newSeries(eyes{b.clock, b.counts, b.ledger, b.way})
	b.watcher = newWatcher(s.driver, b.clock)
	b.account = &account{b: b}
	if s.search.on {
		b.search = newSearching(s, b.clock, func() int64 { return b.counts.Sums().Stored })
	}
	return b
}

// connect puts the parts into a plan, and registers what processes share of them.
func (b *binding) connect(p *workload.Plan) {
	for i := range p.Phases {
		for j := range p.Phases[i].Tracks {
			t := &p.Phases[i].Tracks[j]
			t.NewTask = b.tasks(t.Name)
		}
	}
	p.Parts = append(p.Parts, b, b.account, b.drain)
	if b.s.route.via != report.ViaDirect && b.s.answered() {
		p.Parts = append(p.Parts, b.way)
	}
	b.share(p)
}

func (b *binding) tasks(track string) func(worker int) (workload.Task, error) {
	switch track {
	case trackEvents:
		return b.newGeneratorTask
	case trackDrain:
		return func(int) (workload.Task, error) { return &drainTask{b.drain, b.boxes, b.clock}, nil }
	}
	return func(worker int) (workload.Task, error) { return b.queries.task(track, worker), nil }
}

// newStage makes a store stage.
func (b *binding) newStage(recv transport.Receiver, g *stage.Gate) *stage.Stage {
	return &stage.Stage{
		Options: b.s.stageOptions(), Layer: b.l, Traits: b.tr, Receiver: recv, Gate: g, Counts: b.counts, Failures: b.failures, Ledger: b.ledger,
		Clock: b.clock.now, Wall: b.clock.wall, Took: b.stageTook, Durable: b.boxes.durable, Stored: b.queries.sample.add,
	}
}

// stageTook notes how long a batch took in the store stage.
func (b *binding) stageTook(m transport.Meta, s int, from, to int64) {
	b.boxes.stageTook(&m, s, false, from, to)
}

// Setup makes what the layer needs, and opens the way to it.
func (b *binding) Setup(ctx context.Context, _ func(done, total int64)) error {
	tr, err := b.l.Prepare(ctx)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	tr.LinksRaw = tr.LinksRaw || b.s.Compat // the original compresses no links
	b.tr = tr
	if err := b.way.open(ctx); err != nil {
		return err
	}
	if b.search != nil {
		b.way.background.Go(fault.Guarded(func() { b.search.run(b.way.stopped) }))
	}
	return nil
}

// Join begins what Setup has begun in another process.
func (b *binding) Join(ctx context.Context) error {
	b.ledger.Record()
	b.reopen()
	return b.way.open(ctx)
}

// Succeed takes the place of the process in which Setup was called.
func (b *binding) Succeed(ctx context.Context, dead workload.Predecessor) error {
	var last report.Facts
	if err := json.Unmarshal(dead.Facts, &last); err == nil { // what is not there is missing in the report
		b.watcher.earlier = last.Processes
	}
	b.clock.zero.Store(int64(dead.Began.Sub(b.clock.epoch)))
	b.reopen()
	return b.way.open(ctx)
}

// Watch takes part in the sampling of the run.
func (b *binding) Watch(ctx context.Context, set *watch.Set) {
	b.watcher.begin(ctx, set, b.s, b.way.broker())
	set.After(b.series.sample)
}

// Calls counts the statements of the store that have worked, and the errors, of all processes.
func (b *binding) Calls() (worked, failed int64) {
	wrong := b.wrong(b.others.Told())
	for _, n := range wrong.Errors {
		failed += n
	}
	return b.counts.Statements(), failed
}

// Connections counts those to a broker that were opened.
func (b *binding) Connections() int64 {
	if q := b.way.broker(); q != nil {
		return q.Connections()
	}
	return 0
}

// OnTheWay counts the events that were handed over, and are neither durable nor given up.
func (b *binding) OnTheWay() int64 { return b.ledger.Left() }

// Settle ends what goes on beside the workers, once what is on its way is durable.
func (b *binding) Settle(ctx context.Context) {
	if len(b.others.Told()) == 0 {
		b.drain.finish(ctx)
	}
	b.way.end(ctx)
}

// Teardown ends what goes on, and removes the queues of the run.
func (b *binding) Teardown(ctx context.Context) error {
	b.way.end(ctx)
	if q := b.way.broker(); q != nil {
		return q.Remove()
	}
	return nil
}
