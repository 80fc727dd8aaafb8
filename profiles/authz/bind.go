package authz

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/zipf"
)

// layerOf finds the layer for a connection, and the spaces that it keeps data in.
func layerOf(s *spec, c store.Conn) (layer, []store.Space) {
	switch c := c.(type) {
	case cassandra.Typed:
		return newCassandra(c, s.namespace), []store.Space{s.space()}
	case redis.Typed:
		prefix := "authz:"
		if s.namespace != "" {
			prefix = s.namespace + ":authz:"
		}
		return &onRedis{c.Client(), prefix}, []store.Space{s.space()}
	case sqlstore.Typed:
		var spaces []store.Space
		for _, t := range sqlTables {
			spaces = append(spaces, store.Space{Namespace: s.namespace, Name: "authz_" + t.name, Shape: store.Map})
		}
		return newSQL(c, s.namespace), spaces
	}
	return newPlain(s.driver == "null"), nil
}

// binding is the plan at work on one store.
type binding struct {
	*bound
	conn   store.Conn
	keep   store.Keeper
	spaces []store.Space
	loaded bool // by an earlier run, in whole or part
	fresh  bool // nothing of ours was there before
}

// bind connects a plan to a store. It changes nothing there.
func bind(_ context.Context, c store.Conn, p *workload.Plan) error {
	s, ok := p.Private.(*spec)
	if !ok {
		return errors.New("authz: the plan is of another profile")
	}
	b := &binding{bound: &bound{s: s}, conn: c}
	b.l, b.spaces = layerOf(s, c)
	if len(b.spaces) > 0 {
		var err error
		if b.keep, err = store.As[store.Keeper](c); err != nil {
			return fault.Store(fmt.Errorf("authz: %w", err), "use cassandra: or redis:")
		}
	}
	for i := range p.Phases {
		ph := &p.Phases[i]
		what, number, _ := strings.Cut(ph.Name, "-")
		k, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("authz: phase %s: %w", ph.Name, err)
		}
		for j := range ph.Tracks {
			t, wrap := s.phase[k][j], ph.Duration > 0 && s.count == 0
			ph.Tracks[j].NewTask = func(worker int) (workload.Task, error) { return b.task(what, t, worker, wrap) }
		}
	}
	p.Setup, p.Verify, p.Teardown = b.setup, b.verify, b.teardown
	p.Facts, p.UnderWay = func() any { return facts(s) }, b.underWay
	return nil
}

func (b *binding) task(what string, t *tenant, number int, wrap bool) (workload.Task, error) {
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
		return &listTask{worker: w, tally: t.tally("valid"), test: 0, n: limit(len(s.model.edges)), wrap: wrap}, nil
	case "sweep":
		k := &listTask{worker: w, tally: t.tally("sweep"), test: 1, n: limit(s.sweep()), wrap: wrap, sweep: true, role: int(s.model.role(s.permission))}
		if s.order == "shuffle" {
			k.order = shuffled(s)
		}
		return k, nil
	case "profile":
		return &profileTask{worker: w, tally: t.tally("profile"), n: limit(s.model.users), wrap: wrap}, nil
	case "mix":
		return &mixTask{
			worker: w, tally: t.tally("mix"), n: limit(s.mixOps), wrap: wrap,
			users: zipf.New(w.r, s.zipf, int64(s.model.users)), groups: zipf.New(w.r, s.zipf, int64(s.model.groups())),
		}, nil
	}
	return &staleTask{worker: w, tally: t.tally("staleness"), n: limit(s.probes), observer: b.checker()}, nil
}

// shuffled is an order of the sweep that depends on the seed alone.
func shuffled(s *spec) []int32 {
	order := make([]int32, s.sweep())
	for i := range order {
		order[i] = int32(i)
	}
	r := stream(s.seed, "sweep", 0)
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// kinds lists what a phase loads.
func (b *binding) kinds(what string) []kind {
	m := b.s.model
	switch {
	case what == "users":
		return []kind{{"users", m.users, 0}}
	case b.s.mode == modeProfiles:
		return []kind{{"profileSections", 2 * m.users, 0}}
	case b.s.variant == "v1":
		return []kind{{"users", m.users, 0}, {"groups", m.groups(), 1}, {"memberships", len(m.edges), 2}}
	}
	return []kind{{"memberships", len(m.edges), 2}}
}

// setup makes sure that the place is ours, finds what an earlier run has loaded,
// and records what this one does.
func (b *binding) setup(ctx context.Context, progress func(done, total int64)) error {
	s := b.s
	var old store.Made
	if b.keep != nil {
		made, err := b.keep.Made(ctx, s.namespace)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		for _, m := range made {
			if m.Name == b.spaces[0].Name && m.Grouped == b.spaces[0].Grouped {
				old = m
			}
		}
	}
	b.fresh = old.Name == ""
	if err := b.admit(ctx, old); err != nil {
		return err
	}
	if err := b.adopt(old); err != nil {
		return err
	}
	if err := b.l.prepare(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := b.record(ctx); err != nil {
		return err
	}
	all := int64(s.phases * s.concurrent)
	for _, ph := range s.phase {
		for _, t := range ph {
			done := map[string]bool{}
			if b.loaded {
				var err error
				if done, err = b.l.marks(ctx, t.name); err != nil {
					return fault.Code(err, fault.CodeStore)
				}
			}
			t.id(0) // makes all of them, now rather than in the first operation
			var there, items int64
			for _, what := range s.loadPhases() {
				l := t.loader(what)
				l.begin(b.kinds(what), s.batch, done)
				there += l.before
				for _, k := range l.kinds {
					items += int64(k.n)
				}
			}
			if s.load == "never" && there < items {
				return fault.Input(fmt.Errorf("load=never, and tenant %s has %d of its %d items", t.name, there, items), "let a run with load=auto finish the load")
			}
			if progress != nil {
				progress(int64(t.phase*s.concurrent+t.number+1), all)
			}
		}
	}
	return nil
}

// admit refuses a place that others have filled.
func (b *binding) admit(ctx context.Context, old store.Made) error {
	if old.Name != "" || b.s.allow {
		return nil
	}
	for _, sp := range b.spaces {
		found, err := b.keep.Inspect(ctx, sp)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		if found.Exists && found.Size != 0 {
			return fault.Input(fmt.Errorf("%s is there under the namespace %q and was not made by perfbench", sp.Name, b.s.namespace),
				"use another --namespace, or --allow-existing to write into it")
		}
	}
	return nil
}

// shapeOf is what a load must have in common with an earlier one to go on with it.
func (s *spec) shapeOf() string {
	return fmt.Sprintf("%s %s %s %d %d %d %s", s.mode, s.variant, s.model.fingerprint(), s.phases, s.concurrent, s.batch, s.membership)
}

// adopt goes on with the tenants of an earlier run when it loaded the same data and
// did not come to the end of it, or when nothing is to be loaded.
func (b *binding) adopt(old store.Made) error {
	s := b.s
	same := old.Params["shape"] == s.shapeOf()
	if s.load == "never" && !same {
		return fault.Input(errors.New("load=never, and no earlier run has loaded these data into this namespace"), "load them with load=auto or load=only, the same parameters and --seed")
	}
	if !same || s.load != "never" && old.Params["loaded"] == "yes" {
		return nil
	}
	b.loaded = true
	for k, ph := range s.phase {
		for i, t := range ph {
			t.name = fmt.Sprintf("%s-%d-%d", old.Params["epoch"], s.phases-1-k, i)
		}
	}
	return nil
}

func (b *binding) record(ctx context.Context) error {
	if b.keep == nil {
		return nil
	}
	name := b.s.phase[0][0].name
	epoch := strings.Join(strings.Split(name, "-")[:3], "-")
	loaded := "no"
	if b.s.load == "never" || b.complete() {
		loaded = "yes"
	}
	for _, sp := range b.spaces {
		if err := b.keep.Record(ctx, store.Made{
			Space: sp, Profile: Name, Run: b.s.runID, Updated: time.Now().UTC().Format(time.RFC3339),
			Params: map[string]string{"shape": b.s.shapeOf(), "epoch": epoch, "loaded": loaded},
		}); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// complete says that every tenant has loaded all it has.
func (b *binding) complete() bool {
	for _, ph := range b.s.phase {
		for _, t := range ph {
			if !t.loaded() {
				return false
			}
		}
	}
	return true
}

func (b *binding) teardown(ctx context.Context) error {
	var errs []error
	for _, sp := range b.spaces {
		if !b.fresh {
			break
		}
		_, err := b.keep.Drop(ctx, sp, nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
