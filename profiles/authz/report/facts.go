// Package report defines the profile's record in a run's folder, and the documents that
// are made from it.
package report

// Name is the profile's name.
const Name = "authz"

// Ids of the profile's documents.
const (
	FormatID     = "oae"
	HTMLFormatID = "oae-html"
)

// Modes.
const (
	ModeChecks   = "checks"
	ModeProfiles = "user-profile"
)

// Facts is the profile's own record in a run's folder.
type Facts struct {
	Mode       string `json:"mode"`
	Variant    string `json:"variant"`
	Membership string `json:"membership_mode"`
	Strategy   string `json:"strategy"`
	JSON       string `json:"json"`
	// CacheTTLMS is how long each worker caches decisions in memory, Viewer is who
	// reads profiles, and PasswordHash how passwords are hashed.
	CacheTTLMS   int64   `json:"cache_ttl_ms,omitempty"`
	Viewer       string  `json:"viewer,omitempty"`
	PasswordHash string  `json:"password_hash,omitempty"`
	Compat       bool    `json:"compat"`
	Dataset      Dataset `json:"dataset"`
	// Concurrent is the number of tenants in each phase; for a series, in the phases of
	// its first test.
	Concurrent int `json:"tenants_per_phase"`
	// Series are the tests of a run with several, which divide Phases among them in
	// order.
	Series []Series     `json:"series,omitempty"`
	Phases []PhaseFacts `json:"phases"`
}

// Dataset describes what every tenant is loaded with.
type Dataset struct {
	Source      string `json:"source"`
	Users       int    `json:"users"`
	Groups      int    `json:"groups"`
	TopGroups   int    `json:"top_groups"`
	Memberships int    `json:"memberships"`
	// Duplicates counts memberships named more than once, Skipped those of creators and
	// of groups in themselves: the original counts them, but they are not stored.
	Duplicates int `json:"duplicates"`
	Skipped    int `json:"skipped"`
	// Mapped counts visibilities in the files that the application does not know:
	// contacts becomes private, everyone becomes public.
	Mapped int   `json:"mapped_visibilities,omitempty"`
	Seed   int64 `json:"seed"`
}

// PhaseFacts is the result of one phase.
type PhaseFacts struct {
	// Tenants are their names, in order.
	Tenants []string `json:"tenants"`
	// Load has a step for each kind, in order; Tests has one for each test.
	Load  []Step `json:"load"`
	Tests []Step `json:"tests"`
}

// Step is the result of one kind of a load, or of one test, over the tenants of a
// phase.
type Step struct {
	Name string `json:"name"`
	// Num is the number for one tenant, TimeMS the time of the tenant that ended last.
	Num    int64 `json:"num"`
	TimeMS int64 `json:"time_ms"`
	// Total and TotalMS are over all tenants, the latter in wall clock time.
	Total   int64 `json:"total"`
	TotalMS int64 `json:"total_ms"`
	// Allowed and Denied count decisions, Errors failed operations, and Statements what
	// was sent to the store.
	Allowed    int64 `json:"allowed"`
	Denied     int64 `json:"denied"`
	Errors     int64 `json:"errors"`
	Statements int64 `json:"statements"`
	// Lookups and Hits are of caches, in the store or in memory.
	Lookups int64 `json:"cache_lookups,omitempty"`
	Hits    int64 `json:"cache_hits,omitempty"`
	// Stale counts probes of the staleness test that found a permission granted after
	// its revocation was acknowledged, Stuck those for which that remained so until the
	// probe ended.
	Stale int64 `json:"stale,omitempty"`
	Stuck int64 `json:"stuck,omitempty"`
}

// tests returns the facts of each test of the run, with the number of its first phase.
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

// Series is one test of a run with several.
type Series struct {
	// Phases is how many of the run's phases belong to it, Concurrent the number of
	// tenants in each.
	Phases     int `json:"phases"`
	Concurrent int `json:"tenants_per_phase"`
}
