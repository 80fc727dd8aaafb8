package authz

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// tenant is one run of the original: its data and its record.
type tenant struct {
	s             *spec
	site          *site
	name          string
	phase, number int

	once    sync.Once
	ids     []string
	loads   [2]loader       // of the phases load and users
	marks   map[string]bool // the batches that were stored when the run began
	warm    *tenant         // that a warm-up writes to
	cursors [8]atomic.Int64 // by test

	mu      sync.Mutex
	tallies map[string][]*tally
	wrong   []string
	wrongs  [2]int64 // denied though allowed, allowed though not
	changed map[string]string
	// doubtful are the roles that were asked for likewise and to which no answer came.
	doubtful map[string]string
	// news are the changes still to be reported, told the tallies that have been;
	// others are the processes that do the work.
	news   map[string]bool
	told   map[string][][]int64
	others map[int]*elsewhere
}

// id returns the full id of a principal.
func (t *tenant) id(p int32) string {
	t.once.Do(func() {
		t.ids = make([]string, len(t.s.model.Local))
		for i := range t.ids {
			t.ids[i] = t.s.model.ID(t.name, int32(i))
		}
	})
	return t.ids[p]
}

// loader returns the loader of one of the phases that load.
func (t *tenant) loader(what string) *loader {
	if what == "users" {
		return &t.loads[1]
	}
	return &t.loads[0]
}

// loaded reports whether everything is stored.
func (t *tenant) loaded() bool {
	for _, what := range t.s.loadPhases() {
		if !t.loader(what).over() {
			return false
		}
	}
	return true
}

// forWarmUp returns the tenant that a warm-up of the load writes to.
func (t *tenant) forWarmUp() *tenant {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.warm == nil {
		t.warm = &tenant{s: t.s, site: t.site, name: t.name + "-warmup", phase: t.phase, number: t.number}
	}
	return t.warm
}

// tally is what one worker has done of one kind. Only the worker writes it.
type tally struct {
	count, errors, allowed, denied, statements, lookups, hits, first, last atomic.Int64
	// For the staleness probe: how often a revoked permission was still granted, and
	// how often it still was when the probe gave up.
	stale, stuck atomic.Int64
	_            [64]byte
}

// counters is how many list returns; two of them are the moments of the first and the last.
const counters, moments = 11, 7

// list returns the counters.
func (k *tally) list() []*atomic.Int64 {
	return []*atomic.Int64{&k.count, &k.errors, &k.allowed, &k.denied, &k.statements, &k.lookups, &k.hits, &k.first, &k.last, &k.stale, &k.stuck}
}

func (t *tenant) tally(kind string) *tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addTally(kind)
}

// addTally makes a tally. The caller holds t.mu.
func (t *tenant) addTally(kind string) *tally {
	if t.tallies == nil {
		t.tallies = map[string][]*tally{}
	}
	k := &tally{}
	t.tallies[kind] = append(t.tallies[kind], k)
	return k
}

// note adds one operation, from and to in ns since measurement began, with its cost.
func (k *tally) note(from, to int64, cost model.Work, err error) {
	k.lookups.Add(cost.Lookups)
	k.hits.Add(cost.Hits)
	if k.count.Load()+k.errors.Load() == 0 {
		k.first.Store(from)
	}
	k.last.Store(to)
	k.statements.Add(cost.Statements)
	if err != nil {
		k.errors.Add(1)
		return
	}
	k.count.Add(1)
}

func (k *tally) decided(ok bool) {
	if ok {
		k.allowed.Add(1)
	} else {
		k.denied.Add(1)
	}
}

// judge compares a decision with the oracle's.
func (t *tenant) judge(got, want bool, principal, resource, role string) {
	if got == want || t.s.driver == "null" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	word := "denied, and is allowed"
	if got {
		word = "allowed, and is not"
		t.wrongs[1]++
	} else {
		t.wrongs[0]++
	}
	if len(t.wrong) < 10 {
		t.wrong = append(t.wrong, fmt.Sprintf("%s as %s on %s: %s", principal, role, resource, word))
	}
}

// remember keeps the last acknowledged grant of a mix, for verification; one with an
// unknown outcome is kept apart, if it was sent.
func (t *tenant) remember(g model.Grant, err error, sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = map[string]string{}
	}
	key := g.Member + "\x00" + g.Resource
	if t.site.tells {
		if t.news == nil {
			t.news = map[string]bool{}
		}
		t.news[key] = true
	}
	delete(t.doubtful, key)
	if err != nil {
		delete(t.changed, key)
		if sent {
			if t.doubtful == nil {
				t.doubtful = map[string]string{}
			}
			t.doubtful[key] = g.Role
		}
		return
	}
	t.changed[key] = g.Role
}

// The readers of a profile.
const (
	ownerReads     = "owner"
	adminReads     = "admin"
	loggedInReads  = "loggedin"
	anonymousReads = "anonymous"
	mixedReaders   = "mixed" // each of the others in turn
)

var readers = []string{ownerReads, adminReads, loggedInReads, anonymousReads}

// visible reports whether a reader may see a section.
func visible(visibility, reader string) bool {
	switch reader {
	case ownerReads, adminReads:
		return true
	case loggedInReads:
		return visibility != "private"
	}
	return visibility == "public"
}

// named reports whether a reader may see the name of a user.
func named(visibility, reader string) bool { return visible(visibility, reader) }
