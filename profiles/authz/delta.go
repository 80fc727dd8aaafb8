package authz

import (
	"context"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// counted are the kinds of work that are counted: those of loads, and the tests.
var counted = []string{"users", "groups", "memberships", "profileSections", "valid", "sweep", "mix", "staleness", "profile"}

// Facts returns the record of what has been done so far.
func (b *binding) Facts(*measure.Result) any {
	s, m := b.s, b.s.model
	f := &report.Facts{
		Mode: s.mode, Variant: s.variant, Membership: s.membership, Strategy: s.strategy, JSON: s.json, Compat: s.compat, Concurrent: s.rounds[0].concurrent,
		CacheTTLMS: s.ttl.Milliseconds(), Viewer: s.viewer, PasswordHash: s.password,
		Dataset: report.Dataset{
			Source: m.Data.Source, Users: m.Users, Groups: m.Groups(), TopGroups: m.Top, Memberships: len(m.Edges),
			Duplicates: m.Duplicate, Skipped: m.Skipped, Mapped: m.Data.Mapped, Seed: s.seed,
		},
	}
	if len(s.rounds) > 1 {
		for _, rd := range s.rounds {
			f.Series = append(f.Series, report.Series{Phases: rd.phases, Concurrent: rd.concurrent})
		}
	}
	for _, ph := range b.site.tenants {
		p := report.PhaseFacts{Load: []report.Step{}, Tests: []report.Step{}}
		for _, t := range ph {
			p.Tenants = append(p.Tenants, t.name)
		}
		for _, k := range counted {
			st, ok := stepOf(k, ph)
			switch {
			case !ok:
			case slices.Contains(counted[:4], k):
				p.Load = append(p.Load, st)
			default:
				p.Tests = append(p.Tests, st)
			}
		}
		f.Phases = append(f.Phases, p)
	}
	return f
}

// stepOf sums up what the workers of a phase's tenants have done of one kind.
func stepOf(kind string, ts []*tenant) (report.Step, bool) {
	st := report.Step{Name: kind}
	found := false
	var first, last, ended int64
	for _, t := range ts {
		t.mu.Lock()
		var from, to, num int64
		begun := false
		for _, k := range t.tallies[kind] {
			n, errs := k.count.Load(), k.errors.Load()
			st.Allowed, st.Denied = st.Allowed+k.allowed.Load(), st.Denied+k.denied.Load()
			st.Errors, st.Statements, st.Total = st.Errors+errs, st.Statements+k.statements.Load(), st.Total+n
			st.Lookups, st.Hits = st.Lookups+k.lookups.Load(), st.Hits+k.hits.Load()
			st.Stale, st.Stuck = st.Stale+k.stale.Load(), st.Stuck+k.stuck.Load()
			num += n
			if n+errs == 0 {
				continue
			}
			if a := k.first.Load(); !begun || a < from {
				from = a
			}
			to, begun = max(to, k.last.Load()), true
		}
		t.mu.Unlock()
		if !begun {
			continue
		}
		if !found || from < first {
			first = from
		}
		if !found || to > ended { // the tenant that ended last stands for a single one
			st.Num, st.TimeMS, ended = num, (to-from)/1e6, to
		}
		last, found = max(last, to), true
	}
	st.TotalMS = (last - first) / 1e6
	return st, found
}

// share registers what processes share: whose tenants these are, which batches of them were stored
// when the run began, and what became of each.
func (b *binding) share(s *workload.Shared) {
	b.site.shared = s
	s.Found(nil, &b.epoch, &b.loaded)
	b.each(func(t *tenant) {
		s.Keep(nil, &t.marks)
		workload.Share(s, t)
		s.WhenLost(t.lose)
	})
	s.WhenLost(func(of workload.Process) { b.lost = append(b.lost, of) })
	c := &b.carried
	c.others = workload.EachOf(c.amiss, (*amiss).sound)
	workload.Share(s, workload.Payloads{SizeSet: &c.principals})
	workload.Share(s, workload.Payloads{SizeSet: &c.sections})
	workload.Share(s, c.others)
}

// each calls f for the tenants of all phases.
func (b *binding) each(f func(*tenant)) {
	for _, ph := range b.site.tenants {
		for _, t := range ph {
			f(t)
		}
	}
}

// Join begins in a worker what Setup has begun where the run is conducted.
func (b *binding) Join(ctx context.Context) (err error) {
	b.carried.earlier, b.site.tells = b.loaded, true
	b.site.name(b.epoch)
	b.each(func(t *tenant) {
		if err == nil { // whose place this process takes may have stored some
			t.marks, err = b.l.Progress.Marks(ctx, t.name)
		}
		b.ready(t)
		for _, what := range b.s.loadPhases() {
			t.loader(what).leave(b.site)
		}
	})
	return fault.Code(err, fault.CodeStore)
}

// Succeed goes by the batches that were stored when the run began, since workers have stored
// others by now.
func (b *binding) Succeed(context.Context, workload.Predecessor) error {
	b.each(func(t *tenant) { b.ready(t) })
	return nil
}

// tenantDelta is the record of a tenant.
type tenantDelta struct {
	Over [2]bool // the loads
	// Tallies are those that have changed since the last report.
	Tallies map[string][][]int64 `told:"signed"`
	Wrong   wrongDelta
	// Changed are roles that were changed since then, Gone those whose state is
	// unknown, and Doubtful what these were to become where no answer came.
	Changed  map[string]string `told:"key"`
	Gone     []string          `told:"key"`
	Doubtful map[string]string `told:"key"`
}

// wrongDelta are the wrong decisions of a process so far.
type wrongDelta struct {
	Counts   [2]int64
	Examples []string
}

// Delta returns what was done of the tenant since the last call.
func (t *tenant) Delta() tenantDelta {
	out := tenantDelta{Over: [2]bool{t.loads[0].over(), t.loads[1].over()}, Tallies: map[string][][]int64{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, list := range t.tallies {
		var now [][]int64
		for _, k := range list {
			var one []int64
			for _, n := range k.list() {
				one = append(one, n.Load())
			}
			now = append(now, one)
		}
		if !slices.EqualFunc(now, t.told[kind], slices.Equal) {
			out.Tallies[kind] = now
		}
		if t.told == nil {
			t.told = map[string][][]int64{}
		}
		t.told[kind] = now
	}
	out.Wrong = wrongDelta{t.wrongs, slices.Clone(t.wrong)}
	out.Changed, out.Doubtful = map[string]string{}, map[string]string{}
	for key := range t.news {
		if role, is := t.doubtful[key]; is {
			out.Doubtful[key] = role
		}
		if role, known := t.changed[key]; known {
			out.Changed[key] = role
		} else {
			out.Gone = append(out.Gone, key)
		}
	}
	clear(t.news)
	return out
}

// mostExamples is how many examples of what was wrong a process tells of.
const mostExamples = 10

// fits reports whether another process can have told this of a tenant that has so many
// relations between principals and resources: kinds of work that there are, by as many workers
// as there can be, and counts that are none below nothing, but for moments of the warm-up.
func (n *tenantDelta) fits(relations int64) bool {
	for kind, list := range n.Tallies {
		if !slices.Contains(counted, kind) || len(list) > workload.MaxThreads {
			return false
		}
		for _, one := range list {
			if len(one) != counters || slices.ContainsFunc(one[:moments], negative) || slices.ContainsFunc(one[moments+2:], negative) {
				return false
			}
		}
	}
	return len(n.Wrong.Examples) <= mostExamples && int64(len(n.Changed)+len(n.Gone)) <= relations && len(n.Doubtful) <= len(n.Gone)
}

func negative(n int64) bool { return n < 0 }

// elsewhere is the record of a tenant in another process.
type elsewhere struct {
	part    int // of the work
	tallies map[string][]*tally
	wrong   wrongDelta
	// changed and doubtful are as those of a tenant.
	changed, doubtful map[string]string
}

// Merge takes in what another process has told of the tenant.
func (t *tenant) Merge(from workload.Process, news tenantDelta) bool {
	names := int64(len(t.s.model.Local))
	relations := names * names
	if !news.fits(relations) {
		return false
	}
	for i, over := range news.Over {
		if over {
			t.loads[i].done(from.Part, from.Of)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.others == nil {
		t.others = map[int]*elsewhere{}
	}
	o := t.others[from.Number]
	if o == nil {
		o = &elsewhere{part: from.Part, tallies: map[string][]*tally{}, changed: map[string]string{}, doubtful: map[string]string{}}
		t.others[from.Number] = o
	}
	if int64(len(o.changed)+len(news.Changed)) > 2*relations || int64(len(o.doubtful)+len(news.Doubtful)) > 2*relations {
		return false
	}
	for kind, list := range news.Tallies {
		for i, now := range list {
			if i == len(o.tallies[kind]) {
				o.tallies[kind] = append(o.tallies[kind], t.addTally(kind))
			}
			for j, n := range o.tallies[kind][i].list() {
				n.Store(now[j])
			}
		}
	}
	o.wrong = news.Wrong
	maps.Copy(o.changed, news.Changed)
	for key := range news.Changed {
		delete(o.doubtful, key)
	}
	for _, key := range news.Gone {
		delete(o.changed, key)
		delete(o.doubtful, key)
	}
	maps.Copy(o.doubtful, news.Doubtful)
	return true
}

// lose forgets what a process that has gone changed last, which it may have changed again.
func (t *tenant) lose(of workload.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.others[of.Number]; o != nil {
		clear(o.changed)
		clear(o.doubtful)
	}
}
