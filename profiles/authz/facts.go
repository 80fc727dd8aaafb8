package authz

import "slices"

// Facts is the profile's own record in a run's folder.
type Facts struct {
	Mode       string `json:"mode"`
	Variant    string `json:"variant"`
	Membership string `json:"membership_mode"`
	Strategy   string `json:"strategy"`
	JSON       string `json:"json"`
	// CacheTTLMS is how long each worker keeps decisions in memory, Viewer who reads
	// profiles, PasswordHash how passwords are hashed.
	CacheTTLMS   int64   `json:"cache_ttl_ms,omitempty"`
	Viewer       string  `json:"viewer,omitempty"`
	PasswordHash string  `json:"password_hash,omitempty"`
	Compat       bool    `json:"compat"`
	Dataset      Dataset `json:"dataset"`
	// Concurrent is the number of tenants in each phase; of a series in those of its
	// first test.
	Concurrent int `json:"tenants_per_phase"`
	// Series are the tests of a run with several, which share out Phases in order.
	Series []Series     `json:"series,omitempty"`
	Phases []PhaseFacts `json:"phases"`
}

// Dataset says what every tenant is loaded with.
type Dataset struct {
	Source      string `json:"source"`
	Users       int    `json:"users"`
	Groups      int    `json:"groups"`
	TopGroups   int    `json:"top_groups"`
	Memberships int    `json:"memberships"`
	// Duplicates are memberships named more than once, Skipped those of creators and
	// of groups in themselves: counted by the original, and not stored.
	Duplicates int `json:"duplicates"`
	Skipped    int `json:"skipped"`
	// Mapped are visibilities that the files have and the application does not know:
	// contacts is private, everyone is public.
	Mapped int   `json:"mapped_visibilities,omitempty"`
	Seed   int64 `json:"seed"`
}

// PhaseFacts is what one phase came to.
type PhaseFacts struct {
	// Tenants are their names in order.
	Tenants []string `json:"tenants"`
	// Load holds a step for each kind, in order, Tests one for each test.
	Load  []Step `json:"load"`
	Tests []Step `json:"tests"`
}

// Step is one kind of a load or one test, over the tenants of a phase.
type Step struct {
	Name string `json:"name"`
	// Num is the number of one tenant, TimeMS the time of the tenant that ended last.
	Num    int64 `json:"num"`
	TimeMS int64 `json:"time_ms"`
	// Total and TotalMS are over all tenants, by the clock on the wall.
	Total   int64 `json:"total"`
	TotalMS int64 `json:"total_ms"`
	// Allowed and Denied are decisions, Errors operations that failed, Statements
	// what was sent to the store.
	Allowed    int64 `json:"allowed"`
	Denied     int64 `json:"denied"`
	Errors     int64 `json:"errors"`
	Statements int64 `json:"statements"`
	// Lookups and Hits are of caches, in the store or in memory.
	Lookups int64 `json:"cache_lookups,omitempty"`
	Hits    int64 `json:"cache_hits,omitempty"`
	// Stale are probes of the staleness test that found a permission granted after
	// its revocation was acknowledged, Stuck those that found it so to their end.
	Stale int64 `json:"stale,omitempty"`
	Stuck int64 `json:"stuck,omitempty"`
}

// tests are the facts of each test of the run, with the number of its first phase.
func (f *Facts) tests() (out []Facts, first []int) {
	if len(f.Series) == 0 {
		return []Facts{*f}, []int{0}
	}
	at := 0
	for _, t := range f.Series {
		one := *f
		to := min(at+t.Phases, len(f.Phases))
		one.Phases, one.Concurrent, one.Series = f.Phases[at:to], t.Concurrent, nil
		out, first = append(out, one), append(first, at)
		at = to
	}
	return out, first
}

func facts(s *spec) *Facts {
	m := s.model
	f := &Facts{
		Mode: s.mode, Variant: s.variant, Membership: s.membership, Strategy: s.strategy, JSON: s.json, Compat: s.compat, Concurrent: s.rounds[0].concurrent,
		CacheTTLMS: s.ttl.Milliseconds(), Viewer: s.viewer, PasswordHash: s.password,
		Dataset: Dataset{
			Source: m.data.source, Users: m.users, Groups: m.groups(), TopGroups: m.top, Memberships: len(m.edges),
			Duplicates: m.duplicate, Skipped: m.skipped, Mapped: m.data.mapped, Seed: s.seed,
		},
	}
	if len(s.rounds) > 1 {
		for _, rd := range s.rounds {
			f.Series = append(f.Series, Series{rd.phases, rd.concurrent})
		}
	}
	for _, ph := range s.phase {
		p := PhaseFacts{Load: []Step{}, Tests: []Step{}}
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
func stepOf(kind string, ts []*tenant) (Step, bool) {
	st := Step{Name: kind}
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
