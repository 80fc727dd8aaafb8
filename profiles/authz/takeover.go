package authz

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// How the rest of a part goes from a process that was lost to another. Batches of a load that are
// marked in the store are not loaded again; of the others, whatever had been stored and measured is
// stored again without being measured. Tests go on after as many items as were measured.

// tests are how the items of each test are given out and counted, by the name of its phases.
var tests = map[string]struct {
	cursor int
	// whole are the operations, so many of the first, of which an item is one, noted those of them
	// that are counted as items; 0: all.
	whole, noted int
}{
	"valid": {cursor: 0}, "sweep": {cursor: 1}, "mix": {cursor: 2}, "staleness": {cursor: 3, whole: 1}, "profile": {cursor: 0, noted: 1},
}

// pass registers the work of a track of a tenant, in a phase of that name, with so many operations.
func (b *binding) pass(s *workload.Shared, track int, what string, t *tenant, ops int) {
	if test, ok := tests[what]; ok {
		var all []int
		for op := range cmp.Or(test.whole, ops) {
			all = append(all, op)
		}
		workload.Pass(s, track, remainder{t, what}, all...)
		return
	}
	for k, kd := range b.kinds(what) {
		workload.Pass(s, track, unloaded{t, what, k}, kd.op)
	}
}

// unloaded is what another process can load of a kind of a tenant.
type unloaded struct {
	t    *tenant
	what string
	kind int
}

// Left tells how many items of the part were to be loaded and have not been measured.
func (u unloaded) Left(of workload.Process, did []workload.Did) int64 {
	l := u.t.loader(u.what)
	u.t.believe(l.kinds[u.kind].name, of, did, 1)
	return max(l.missingOf(u.kind, u.t.site.of(of))-did[0].Units, 0)
}

// Inherit loads as many.
func (u unloaded) Inherit(left int64, again int) bool {
	u.t.site.stake.Again = again
	return u.t.loader(u.what).owe(u.kind, left, u.t.site.stretch)
}

// remainder is what another process can do of a test of a tenant.
type remainder struct {
	t    *tenant
	what string
}

// Left tells how many items of the part are done.
func (r remainder) Left(of workload.Process, did []workload.Did) (done int64) {
	r.t.believe(r.what, of, did, cmp.Or(tests[r.what].noted, len(did)))
	for _, d := range did {
		done += d.Units + d.Failed
	}
	return done
}

// Inherit goes on after them.
func (r remainder) Inherit(done int64, again int) bool {
	r.t.site.stake.Again = again
	r.t.cursors[tests[r.what].cursor].Store(done)
	return done >= 0
}

// of returns the range of n things that a process has to do, with to excluded.
func (x *site) of(p workload.Process) func(n int64) (from, to int64) {
	from, to := workload.Stretch(x.threads, p.Of, p.Part)
	return (&site{stake: workload.Stake{Of: p.Of, From: from, To: to, All: x.threads}}).stretch
}

// believe forgets what was told of a part and is not in the figures: it is done again. The first
// operations, so many, are counted as items.
func (t *tenant) believe(kind string, of workload.Process, did []workload.Did, noted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*tally
	for _, o := range t.others {
		if o.part == of.Part {
			all = append(all, o.tallies[kind]...)
		}
	}
	var units, failed int64
	for _, d := range did[:noted] {
		units, failed = units+d.Units, failed+d.Failed
	}
	lower(all, units, func(k *tally) *atomic.Int64 { return &k.count })
	lower(all, failed, func(k *tally) *atomic.Int64 { return &k.errors })
	switch kind {
	case "valid":
		lower(all, did[0].Units, func(k *tally) *atomic.Int64 { return &k.allowed })
	case "sweep":
		lower(all, did[0].Units, func(k *tally) *atomic.Int64 { return &k.allowed })
		lower(all, did[1].Units, func(k *tally) *atomic.Int64 { return &k.denied })
	case "mix":
		lower(all, did[opDirect].Units+did[opNear].Units+did[opDeep].Units, func(k *tally) *atomic.Int64 { return &k.allowed })
		lower(all, did[opDeny].Units, func(k *tally) *atomic.Int64 { return &k.denied })
	}
}

// lower lowers a counter of tallies until together they come to no more than most.
func lower(all []*tally, most int64, of func(*tally) *atomic.Int64) {
	over := -most
	for _, k := range all {
		over += of(k).Load()
	}
	for _, k := range all {
		if n := min(over, of(k).Load()); n > 0 {
			of(k).Add(-n)
			over -= n
		}
	}
}

// undone says how much of the load nobody has stored, because the worker that was to do so was lost;
// empty: all is there.
func (b *binding) undone() string {
	var left, all int64
	parts := map[int]bool{}
	for _, of := range b.lost {
		if parts[of.Part] {
			continue
		}
		parts[of.Part] = true
		b.each(func(t *tenant) {
			for _, what := range b.s.loadPhases() {
				for k, kd := range b.kinds(what) {
					mine := t.loader(what).missingOf(k, b.site.of(of))
					all += mine
					left += max(mine-t.storedBy(of.Part, kd.name), 0)
				}
			}
		})
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("nobody stored %d of the %s of the load that a lost worker had: what was read and decided afterwards lacks them; --on-loss redeal has another worker store them",
		left, units.Plural(int(all), "item"))
}

// storedBy is how many items of a kind were stored by those who had a part, as they told.
func (t *tenant) storedBy(part int, kind string) (n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.others {
		if o.part == part {
			for _, k := range o.tallies[kind] {
				n += k.count.Load()
			}
		}
	}
	return n
}
