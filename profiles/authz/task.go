package authz

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// patience is how long one item of a load may keep failing before the run ends, unless
// the run's time is up sooner, or it has none: in these cases the drain applies.
const patience = 2 * time.Minute

// hopeless reports whether an item that has been failing since a time should now be
// given up, both in time since measurement began.
func (s *spec) hopeless(since, now int64) bool {
	if s.duration > 0 && now-since > int64(patience) {
		return true
	}
	return now-max(since, int64(s.duration)) > int64(cmp.Or(s.drain, patience))
}

// bound is the plan in progress on one store.
type bound struct {
	s    *spec
	l    *model.Adapter
	conn store.Conn
	// carried is the record of fillings.
	carried carried
}

// worker is what the tasks have in common. It belongs to its worker.
type worker struct {
	b      *bound
	t      *tenant
	number int
	c      *Checker
	o      *model.Oracle
	r      *rand.Rand
	noted  [2]int // last sizes of principals and sections, plus one
}

func (b *bound) worker(t *tenant, number int) *worker {
	return &worker{
		b: b, t: t, number: number, o: model.NewOracle(b.s.model),
		c: b.checker(),
		r: dataset.Stream(b.s.seed, t.name[len(t.name)-3:], number+1<<20*t.phase),
	}
}

// checker returns a checker as configured by the plan.
func (b *bound) checker() *Checker {
	return &Checker{
		Layer: b.l, Strategy: b.s.strategy, Invalidate: b.s.invalidate, Sentinel: !b.s.compat,
		Exists: b.s.variant == "v1" && b.s.driver != "null", Memory: NewMemory(b.s.ttl), Seen: b.carried.account,
	}
}

// cost returns what was sent and looked up since the last call.
func (w *worker) cost() model.Work {
	n := w.c.Work
	w.c.Work = model.Work{}
	return n
}

// loadTask stores one item after the other.
type loadTask struct {
	*worker
	load    *loader
	tallies []*tally
	// warm is a tenant that only a warm-up writes to, because the load itself, which is
	// done once, begins with measurement.
	warm   *tenant
	warmed int
}

// Do stores one item; a failed one is tried again by the next worker to come.
func (k *loadTask) Do(ctx context.Context, it *workload.Iteration) error {
	if it.Warmup {
		return k.warmUp(ctx, it)
	}
	l := k.load
	next, ok := l.claim(ctx)
	if !ok {
		return workload.ErrDone
	}
	kd := l.kinds[next.kind]
	from := it.Now()
	var err error
	at := kd.n - 1 - next.i // the original works backwards from the end
	switch {
	case next.stored:
	case next.silent:
		err = k.store(ctx, k.t, kd, at, it.Settings)
	default:
		m := it.Begin(workload.Op(kd.op))
		err = it.End(m, 1, k.store(ctx, k.t, kd, at, it.Settings))
	}
	stored := err == nil
	if stored {
		if batch, complete := l.stored(next); complete {
			// Marking belongs to the item that it follows: a failed attempt is one of the
			// item's, and otherwise it is not measured.
			start := it.Now()
			if err = k.b.l.Progress.Mark(ctx, k.t.name, batchName(kd.name, batch)); err != nil {
				it.Record(workload.Op(kd.op), 0, start, start, it.Now(), err)
			}
		}
	}
	now := it.Now()
	if cost := k.cost(); !next.silent {
		k.tallies[next.kind].note(from, now, cost, err)
	}
	if err != nil && k.b.conn.Classify(err) == store.WrongType { // trying again would not help
		l.end(next, now, stored, err)
		return workload.Fatal(fault.Store(fmt.Errorf("load %s of tenant %s: somebody else's data is where item %d of %d belongs: %w", kd.name, k.t.name, next.i+1, kd.n, err), "use another --namespace"))
	}
	if since := l.end(next, now, stored, err); err != nil && k.b.s.hopeless(since, now) {
		return workload.Fatal(fault.Code(fmt.Errorf("load %s of tenant %s: item %d of %d was given up after failing for %s (--drain): %w", kd.name, k.t.name, next.i+1, kd.n, units.Duration(time.Duration(now-since)), err), fault.CodeStore))
	}
	return err
}

// warmUp stores items of every kind in turn, for a tenant that nobody queries.
func (k *loadTask) warmUp(ctx context.Context, it *workload.Iteration) error {
	kd := k.load.kinds[k.warmed%len(k.load.kinds)]
	i := (k.warmed*7919 + k.number) % max(kd.n, 1)
	k.warmed++
	m := it.Begin(workload.Op(kd.op))
	err := it.End(m, 1, k.store(ctx, k.warm, kd, i, it.Settings))
	k.cost()
	return err
}

// store writes one item in the way of the variant.
func (k *loadTask) store(ctx context.Context, t *tenant, kd kind, i int, set *workload.Settings) error {
	m, l, w := k.b.s.model, k.b.l, &k.c.Work
	if i >= kd.n {
		return nil
	}
	switch kd.name {
	case "users":
		size := set.Payload
		if k.b.s.mode == report.ModeProfiles {
			size = int(set.Extra[extraPrincipal])
		}
		if _, _, err := l.Accounts.Account(ctx, w, t.id(int32(i))); err != nil {
			return err
		}
		a, err := k.accountOf(t, int32(i), size)
		if err != nil {
			return err
		}
		return l.Accounts.PutAccount(ctx, w, a)
	case "groups":
		return k.storeGroup(ctx, t, i, set.Payload)
	case "profileSections":
		return k.putSection(ctx, t, i/2, 1-i%2, set.Payload) // from the end
	}
	e := m.Edges[i]
	v1 := k.b.s.variant == "v1"
	if m.Skips(e, v1) {
		return nil
	}
	g := model.Grant{Resource: t.id(e.Group), Member: t.id(e.Member), Role: m.Roles[e.Role]}
	if !v1 {
		return l.Edges.Change(ctx, w, []model.Grant{g})
	}
	if c := m.Creators[int(e.Group)-m.Users]; c >= 0 {
		if _, _, err := l.Accounts.Account(ctx, w, t.id(c)); err != nil {
			return err
		}
		if _, err := l.Graph.Role(ctx, w, t.id(c), g.Resource); err != nil {
			return err
		}
	}
	for _, id := range []string{g.Resource, g.Member} {
		if _, _, err := l.Accounts.Account(ctx, w, id); err != nil {
			return err
		}
	}
	if err := l.Edges.SetMember(ctx, w, g); err != nil {
		return err
	}
	return l.Edges.SetRole(ctx, w, g)
}

func (k *loadTask) storeGroup(ctx context.Context, t *tenant, i, size int) error {
	m, l, w := k.b.s.model, k.b.l, &k.c.Work
	p, creator := int32(m.Users+i), m.Creators[i]
	if creator >= 0 {
		if _, _, err := l.Accounts.Account(ctx, w, t.id(creator)); err != nil {
			return err
		}
	}
	if _, _, err := l.Accounts.Account(ctx, w, t.id(p)); err != nil {
		return err
	}
	a, err := k.accountOf(t, p, size)
	if err == nil {
		err = l.Accounts.PutAccount(ctx, w, a)
	}
	if err != nil || creator < 0 {
		return err
	}
	g := model.Grant{Resource: t.id(p), Member: t.id(creator), Role: "manager"}
	if err := l.Edges.SetMember(ctx, w, g); err != nil {
		return err
	}
	return l.Edges.SetRole(ctx, w, g)
}

var sectionNames = []string{"aboutme", "publications"}

// sectionOf returns one section of a user: its visibility and its data.
func sectionOf(m *model.Model, user, n int) (vis, data string, err error) {
	u := &m.Data.Users[user]
	about, pubs := dataset.Sections(m.Data, user)
	if n == 0 {
		vis, err = model.Visibility(u.AboutVis)
		return vis, about, err
	}
	vis, err = model.Visibility(u.Publications)
	return vis, pubs, err
}

// listTask works through a list of checks: either the valid ones or the sweep.
type listTask struct {
	*worker
	tally *tally
	test  int
	n     int64
	wrap  bool
	order []int32 // of a shuffled sweep
	sweep bool
	role  int
}

// Do makes one check and compares it with the oracle.
func (k *listTask) Do(ctx context.Context, it *workload.Iteration) error {
	i, ok := k.t.next(k.test, k.n, k.wrap, it)
	if !ok {
		return workload.ErrDone
	}
	p, g, role := k.at(i % k.n)
	want, _ := k.o.Allowed(p, g, role)
	op := workload.Op(0)
	if k.sweep && !want {
		op = 1
	}
	principal, resource, name := k.t.id(p), k.t.id(g), k.b.s.model.Roles[role]
	from := it.Now()
	m := it.Begin(op)
	got, err := k.c.Allowed(ctx, principal, resource, name)
	_ = it.End(m, 1, err)
	if cost := k.cost(); !it.Warmup {
		k.tally.note(from, it.Now(), cost, err)
	}
	if err != nil {
		return err
	}
	if !it.Warmup {
		k.tally.decided(got)
	}
	k.t.judge(got, want, principal, resource, name)
	return nil
}

// next returns the number of this process's next item of a test; false if there are no
// more. A warm-up has numbers of its own and does not use up any.
func (t *tenant) next(test int, n int64, wrap bool, it *workload.Iteration) (int64, bool) {
	from, to := t.site.stretch(n)
	mine := to - from
	if mine == 0 {
		return 0, false
	}
	if it.Warmup {
		return t.cursors[len(t.cursors)-1].Add(1) - 1, true
	}
	i := t.cursors[test].Add(1) - 1
	return i/mine*n + from + i%mine, wrap || i < mine
}

// at returns the i-th check.
func (k *listTask) at(i int64) (principal, resource int32, role int) {
	m := k.b.s.model
	if !k.sweep {
		e := m.Edges[int64(len(m.Edges))-1-i]
		return e.Member, e.Group, int(e.Role)
	}
	switch {
	case k.order != nil:
		i = int64(k.order[i])
	case k.b.s.order == "reverse":
		i = k.n - 1 - i
	}
	users := int64(m.Users)
	return int32(i % users), int32(users + i/users), k.role
}
