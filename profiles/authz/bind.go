package authz

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/inmemory"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/oncassandra"
	"github.com/perfbench/perfbench/profiles/authz/onredis"
	"github.com/perfbench/perfbench/profiles/authz/onsql"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// binding is the plan at work on one store.
type binding struct {
	*bound
	site   *site
	claim  *ownership.Claim // nil where nothing is kept
	epoch  string           // of the names of its tenants
	loaded bool             // by an earlier run, in whole or part
	lost   []workload.Process
}

// Connector connects a plan to a store by the layer of its kind.
func (x *site) Connector(driver string) workload.Connector {
	switch driver {
	case "cassandra":
		return on(x, oncassandra.New)
	case "redis":
		return on(x, onredis.New)
	case "memory", "null":
		return func(_ context.Context, p *workload.Bound) error {
			return x.bind(p, inmemory.New(driver == "null", store.Serve(p.Conn)))
		}
	}
	return on(x, onsql.New)
}

// Needs says that on Redis the strategy server is a script that follows the graph.
func (x *site) Needs(driver string) []store.Need {
	if driver != "redis" || x.s.strategy != Server {
		return nil
	}
	return []store.Need{{Ability: store.FreeKeys, For: "strategy=server", Instead: "use --set strategy=ancestry, level or memberships-cache"}}
}

// on connects a plan to stores whose connections are of type C.
func on[C any](x *site, open func(c C, namespace string) *model.Adapter) workload.Connector {
	return workload.On(func(_ context.Context, c C, p *workload.Bound) error {
		return x.bind(p, open(c, x.s.namespace))
	})
}

// bind connects a plan to a store. It changes nothing there.
func (x *site) bind(p *workload.Bound, l *model.Adapter) error {
	s := x.s
	x.begin(p.RunID)
	b := &binding{bound: &bound{s: s, conn: p.Conn, l: l}, site: x}
	track := 0
	for i := range p.Phases {
		ph := &p.Phases[i]
		what, number, _ := strings.Cut(ph.Name, "-")
		k, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("authz: phase %s: %w", ph.Name, err)
		}
		for j := range ph.Tracks {
			t, wrap := x.tenants[k][j], ph.Duration > 0 && s.count == 0 || ph.Name == s.goesOn
			if what == "users" || what == "load" {
				t.loader(what).endless = wrap
			}
			b.pass(p.Shared, track, what, t, len(ph.Tracks[j].Ops))
			track++
			ph.Tracks[j].NewTask = func(worker int) (workload.Task, error) {
				return b.task(what, t, x.stake.Number(worker), wrap, ph.Name == s.goesOn)
			}
		}
	}
	p.Claims, p.Parts = l.Spaces, workload.Parts{b}
	b.share(p.Shared)
	return nil
}

func (b *binding) task(what string, t *tenant, number int, wrap, goesOn bool) (workload.Task, error) {
	w, s := b.worker(t, number), b.s
	limit := func(n int) int64 {
		if s.count > 0 {
			return min(int64(n), s.count)
		}
		return int64(n)
	}
	switch what {
	case "users", "load":
		k := &loadTask{worker: w, load: t.loader(what), warm: t.forWarmUp()}
		for _, kd := range b.kinds(what) {
			k.tallies = append(k.tallies, t.tally(kd.name))
		}
		return k, nil
	case "valid":
		return &listTask{worker: w, tally: t.tally("valid"), test: 0, n: limit(len(s.model.Edges)), wrap: wrap}, nil
	case "sweep":
		k := &listTask{worker: w, tally: t.tally("sweep"), test: 1, n: limit(s.sweep()), wrap: wrap, sweep: true, role: int(s.model.Role(s.permission))}
		if s.order == "shuffle" {
			k.order = shuffled(s)
		}
		return k, nil
	case "profile":
		return &profileTask{worker: w, tally: t.tally("profile"), n: limit(s.model.Users), wrap: wrap}, nil
	case "mix":
		return &mixTask{
			worker: w, tally: t.tally("mix"), n: limit(s.mixOps), wrap: wrap,
			users: datagen.New(w.r, s.zipf, int64(s.model.Users)), groups: datagen.New(w.r, s.zipf, int64(s.model.Groups())),
		}, nil
	}
	return &staleTask{worker: w, tally: t.tally("staleness"), n: limit(s.probes), wrap: goesOn, observer: b.checker()}, nil
}

// shuffled is an order of the sweep that depends on the seed alone.
func shuffled(s *spec) []int32 {
	order := make([]int32, s.sweep())
	for i := range order {
		order[i] = int32(i)
	}
	r := dataset.Stream(s.seed, "sweep", 0)
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// kinds lists what a phase loads.
func (b *binding) kinds(what string) []kind {
	m := b.s.model
	switch {
	case what == "users":
		return []kind{{"users", m.Users, 0}}
	case b.s.mode == report.ModeProfiles:
		return []kind{{"profileSections", 2 * m.Users, 0}}
	case b.s.variant == "v1":
		return []kind{{"users", m.Users, 0}, {"groups", m.Groups(), 1}, {"memberships", len(m.Edges), 2}}
	}
	return []kind{{"memberships", len(m.Edges), 2}}
}

// Setup makes the tables, and finds out what an earlier run has loaded.
func (b *binding) Setup(ctx context.Context, progress func(done, total int64)) error {
	s := b.s
	if tables := b.l.Tables; tables != nil {
		if err := tables.Create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	all, ready := int64(s.rounds.tenants()), int64(0)
	for _, ph := range b.site.tenants {
		for _, t := range ph {
			if err := b.find(ctx, t); err != nil {
				return err
			}
			there, items := b.ready(t)
			if s.load == "never" && there < items && s.driver != "null" { // which has nothing, ever
				return fault.Input(fmt.Errorf("load=never, and tenant %s has %d of its %d items", t.name, there, items), "let a run with load=auto finish the load")
			}
			ready++
			progress(ready, all)
		}
	}
	return nil
}

// find asks which batches of a tenant are stored, where an earlier run has loaded some.
func (b *binding) find(ctx context.Context, t *tenant) (err error) {
	if b.loaded {
		t.marks, err = b.l.Progress.Marks(ctx, t.name)
	}
	return fault.Code(err, fault.CodeStore)
}

// ready sets up what is to be loaded of a tenant, of which the marked batches are stored,
// and says how many items of it are there.
func (b *binding) ready(t *tenant) (there, items int64) {
	t.id(0) // makes all of them, now rather than in the first operation
	for _, what := range b.s.loadPhases() {
		l := t.loader(what)
		l.begin(b.kinds(what), b.s.batch, t.marks)
		there += l.before
		for _, k := range l.kinds {
			items += int64(k.n)
		}
	}
	return there, items
}

// Admit looks at the tables that are there and at what an earlier run has loaded.
func (b *binding) Admit(ctx context.Context, c *ownership.Claim) error {
	b.claim = c
	if tables := b.l.Tables; tables != nil {
		if err := tables.Check(ctx, c); err != nil {
			return err
		}
	}
	old, _ := c.Earlier(b.l.Spaces[0].Space)
	if err := b.adopt(old); err != nil {
		return err
	}
	return b.record(ctx)
}

// shapeOf is what a load must have in common with an earlier one to go on with it.
func shapeOf(s *spec) string {
	return fmt.Sprintf("%s %s %s %s %d %s", s.mode, s.variant, s.model.Fingerprint(), s.rounds.words(), s.batch, s.membership)
}

// adopt goes on with the tenants of an earlier run when it loaded the same data and
// did not come to the end of it, or when nothing is to be loaded.
func (b *binding) adopt(old store.Made) error {
	s := b.s
	same := old.Params["shape"] == shapeOf(s)
	if s.load == "never" && !same {
		return fault.Input(errors.New("load=never, and no earlier run has loaded these data into this namespace"), "load them with load=auto or load=only, the same parameters and --seed")
	}
	b.loaded = same && (s.load == "never" || old.Params["loaded"] != "yes")
	b.epoch = epochOf(b.site.runID)
	b.carried.earlier = b.loaded
	if b.loaded {
		b.epoch = old.Params["epoch"]
	}
	b.site.name(b.epoch)
	return nil
}

// record says what is loaded, for later runs.
func (b *binding) record(ctx context.Context) error {
	if b.claim == nil {
		return nil
	}
	loaded := "no"
	if b.s.load == "never" || b.complete() {
		loaded = "yes"
	}
	params := map[string]string{"shape": shapeOf(b.s), "epoch": b.epoch, "loaded": loaded}
	for _, sp := range b.l.Spaces {
		if err := b.claim.Update(ctx, sp.Space, params); err != nil {
			return err
		}
	}
	return nil
}

// complete says that every tenant has loaded all it has.
func (b *binding) complete() bool {
	for _, ph := range b.site.tenants {
		for _, t := range ph {
			if !t.loaded() {
				return false
			}
		}
	}
	return true
}
