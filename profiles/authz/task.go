package authz

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// patience is how long one item of a load may go on failing before the run ends.
const patience = 2 * time.Minute

// bound is the plan at work on one store.
type bound struct {
	s *spec
	l layer
}

// worker is what the tasks have in common. It belongs to its worker.
type worker struct {
	b      *bound
	t      *tenant
	number int
	c      *checker
	o      *oracle
	r      *rand.Rand
}

func (b *bound) worker(t *tenant, number int) *worker {
	return &worker{
		b: b, t: t, number: number, o: newOracle(b.s.model),
		c: &checker{l: b.l, strategy: b.s.strategy, invalidate: b.s.invalidate, sentinel: !b.s.compat},
		r: stream(b.s.seed, t.name[len(t.name)-3:], number+1<<20*t.phase),
	}
}

// statements returns how many statements were sent since it was last called.
func (w *worker) statements() int64 {
	n := w.c.work.statements
	w.c.work.statements = 0
	return n
}

// loadTask stores one item after the other.
type loadTask struct {
	*worker
	tallies []*tally
	batch   batch
	at      int
	have    bool
	failing int64 // since when the item at hand fails
}

// Do stores one item; one that fails is tried again.
func (k *loadTask) Do(ctx context.Context, it *workload.Iteration) error {
	l := &k.t.load
	if !k.have {
		if k.batch, k.have = l.claim(ctx); !k.have {
			return workload.ErrDone
		}
		k.at = k.batch.from
	}
	kd := l.kinds[k.batch.kind]
	from := it.Now()
	m := it.Begin(workload.Op(kd.op))
	err := it.End(m, 1, k.store(ctx, kd, kd.n-1-k.at)) // the original works from the end
	last := k.at+1 == k.batch.to
	if err == nil && last {
		// The mark is part of the item after which it stands, and of no measurement.
		err = k.b.l.mark(ctx, k.t.name, batchName(kd.name, k.batch.number))
	}
	k.tallies[k.batch.kind].note(from, it.Now(), k.statements(), err)
	if err != nil {
		if k.failing == 0 {
			k.failing = from
		}
		if it.Now()-k.failing > int64(patience) {
			return workload.Fatal(fmt.Errorf("load %s of tenant %s: failing for %v: %w", kd.name, k.t.name, patience, err))
		}
		return err
	}
	k.failing = 0
	if k.at++; last {
		l.end()
		k.have = false
	}
	return nil
}

// store writes one item as the variant does.
func (k *loadTask) store(ctx context.Context, kd kind, i int) error {
	m, l, w, t := k.b.s.model, k.b.l, &k.c.work, k.t
	switch kd.name {
	case "users":
		u := &m.data.users[i]
		if _, _, err := l.account(ctx, w, t.id(int32(i))); err != nil {
			return err
		}
		vis, err := visibility(u.privacy)
		if err != nil {
			return err
		}
		return l.putAccount(ctx, w, account{t.id(int32(i)), t.name, "u", vis, u.first, u.last, ""})
	case "groups":
		return k.storeGroup(ctx, i)
	case "profileSections":
		return k.storeSection(ctx, i)
	}
	e := m.edges[i]
	v1 := k.b.s.variant == "v1"
	if m.skips(e, v1) {
		return nil
	}
	g := grant{t.id(e.group), t.id(e.member), m.roles[e.role]}
	if !v1 {
		return l.change(ctx, w, []grant{g})
	}
	if c := m.creators[int(e.group)-m.users]; c >= 0 {
		if _, _, err := l.account(ctx, w, t.id(c)); err != nil {
			return err
		}
		if _, err := l.role(ctx, w, t.id(c), g.resource); err != nil {
			return err
		}
	}
	for _, id := range []string{g.resource, g.member} {
		if _, _, err := l.account(ctx, w, id); err != nil {
			return err
		}
	}
	if err := l.setMember(ctx, w, g); err != nil {
		return err
	}
	return l.setRole(ctx, w, g)
}

func (k *loadTask) storeGroup(ctx context.Context, i int) error {
	m, l, w, t := k.b.s.model, k.b.l, &k.c.work, k.t
	p, creator := int32(m.users+i), m.creators[i]
	if creator >= 0 {
		if _, _, err := l.account(ctx, w, t.id(creator)); err != nil {
			return err
		}
	}
	if _, _, err := l.account(ctx, w, t.id(p)); err != nil {
		return err
	}
	if err := l.putAccount(ctx, w, account{t.id(p), t.name, "g", "public", "", "", m.local[p]}); err != nil || creator < 0 {
		return err
	}
	g := grant{t.id(p), t.id(creator), "manager"}
	if err := l.setMember(ctx, w, g); err != nil {
		return err
	}
	return l.setRole(ctx, w, g)
}

var sectionNames = []string{"aboutme", "publications"}

// sectionOf is one section of a user: its visibility and its data.
func (s *spec) sectionOf(user, n int) (vis, data string, err error) {
	u := &s.model.data.users[user]
	about, pubs := s.model.data.sections(user)
	if n == 0 {
		vis, err = visibility(u.aboutVis)
		return vis, about, err
	}
	vis, err = visibility(u.publications)
	return vis, pubs, err
}

func (k *loadTask) storeSection(ctx context.Context, i int) error {
	id, name := k.t.id(int32(i/2)), sectionNames[1-i%2] // taken from the end
	vis, data, err := k.b.s.sectionOf(i/2, 1-i%2)
	if err != nil {
		return err
	}
	if _, _, _, err := k.b.l.section(ctx, &k.c.work, id, name); err != nil {
		return err
	}
	return k.b.l.putSection(ctx, &k.c.work, id, name, vis, data)
}

// listTask works through a list of checks: the valid ones or the sweep.
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
	i := k.t.cursors[k.test].Add(1) - 1
	if !k.wrap && i >= k.n || k.n == 0 {
		return workload.ErrDone
	}
	p, g, role := k.at(i % k.n)
	want, _ := k.o.allowed(p, g, role)
	op := workload.Op(0)
	if k.sweep && !want {
		op = 1
	}
	principal, resource, name := k.t.id(p), k.t.id(g), k.b.s.model.roles[role]
	from := it.Now()
	m := it.Begin(op)
	got, err := k.c.allowed(ctx, principal, resource, name)
	_ = it.End(m, 1, err)
	k.tally.note(from, it.Now(), k.statements(), err)
	if err != nil {
		return err
	}
	k.tally.decided(got)
	k.t.judge(got, want, principal, resource, name)
	return nil
}

// at is the i-th check.
func (k *listTask) at(i int64) (principal, resource int32, role int) {
	m := k.b.s.model
	if !k.sweep {
		e := m.edges[int64(len(m.edges))-1-i]
		return e.member, e.group, int(e.role)
	}
	switch {
	case k.order != nil:
		i = int64(k.order[i])
	case k.b.s.order == "reverse":
		i = k.n - 1 - i
	}
	users := int64(m.users)
	return int32(i % users), int32(users + i/users), k.role
}

// profileTask reads full profiles: the account and both sections.
type profileTask struct {
	*worker
	tally *tally
	wrap  bool
	n     int64
}

// Do reads one profile and compares it with what was stored.
func (k *profileTask) Do(ctx context.Context, it *workload.Iteration) error {
	i := k.t.cursors[0].Add(1) - 1
	if !k.wrap && i >= k.n {
		return workload.ErrDone
	}
	user := int(k.n - 1 - i%k.n)
	id := k.t.id(int32(user))
	var sections [2][2]string
	from := it.Now()
	m := it.Begin(0)
	a, ok, err := k.b.l.account(ctx, &k.c.work, id)
	for n := 0; n < 2 && err == nil; n++ {
		sections[n][0], sections[n][1], _, err = k.b.l.section(ctx, &k.c.work, id, sectionNames[n])
	}
	_ = it.End(m, 1, err)
	k.tally.note(from, it.Now(), k.statements(), err)
	if err != nil || k.b.s.driver == "null" {
		return err
	}
	right := ok && a.first == k.b.s.model.data.users[user].first && a.last == k.b.s.model.data.users[user].last
	for n := range sections {
		vis, data, _ := k.b.s.sectionOf(user, n) // loading has refused bad ones
		right = right && sections[n][0] == vis && sections[n][1] == data
		k.tally.decided(visible(vis, "other"))
	}
	k.t.judge(right, true, id, "its profile", "owner")
	return nil
}

// zipf draws numbers below n, small ones more often.
type zipf struct{ sum []float64 }

func newZipf(n int, theta float64) *zipf {
	z := &zipf{make([]float64, n)}
	total := 0.0
	for i := range z.sum {
		total += math.Pow(float64(i+1), -theta)
		z.sum[i] = total
	}
	return z
}

func (z *zipf) draw(r *rand.Rand) int {
	u := r.Float64() * z.sum[len(z.sum)-1]
	return min(sort.SearchFloat64s(z.sum, u), len(z.sum)-1)
}
