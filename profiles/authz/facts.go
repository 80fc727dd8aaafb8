package authz

import (
	"slices"

	"github.com/perfbench/perfbench/profiles/authz/report"
)

func facts(s *spec) *report.Facts {
	m := s.model
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
	for _, ph := range s.phase {
		p := report.PhaseFacts{Load: []report.Step{}, Tests: []report.Step{}}
		for _, t := range ph {
			p.Tenants = append(p.Tenants, t.name)
		}
		for _, k := range []string{"users", "groups", "memberships", "profileSections", "valid", "sweep", "mix", "staleness", "profile"} {
			st, ok := stepOf(k, ph)
			switch {
			case !ok:
			case slices.Contains([]string{"users", "groups", "memberships", "profileSections"}, k):
				p.Load = append(p.Load, st)
			default:
				p.Tests = append(p.Tests, st)
			}
		}
		f.Phases = append(f.Phases, p)
	}
	return f
}

// stepOf sums what the workers of a phase's tenants have done of one kind.
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
		if !found || to > ended { // the tenant that ended last speaks for one
			st.Num, st.TimeMS, ended = num, (to-from)/1e6, to
		}
		last, found = max(last, to), true
	}
	st.TotalMS = (last - first) / 1e6
	return st, found
}
