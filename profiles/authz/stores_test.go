package authz

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/inmemory"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/oncassandra"
	"github.com/perfbench/perfbench/profiles/authz/onredis"
	"github.com/perfbench/perfbench/profiles/authz/onsql"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// conn opens a target for the test.
func conn(t *testing.T, url string) store.Conn {
	t.Helper()
	target, _, err := drivers.Parse(url)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := drivers.Open(ctx, target, store.OpenOptions{Threads: 4})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// stores lists every store that the profile runs on.
func stores(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"memory": "memory:", "sqlite": "sqlite:", "miniredis": "embedded:",
		"redis": labtest.Redis(t).URL(), "cluster": labtest.Cluster(t).URL(),
		"cassandra": labtest.Cassandra(t).Patient(),
		"mariadb":   labtest.Shared(t, "mariadb").URL(), "postgres": labtest.Shared(t, "postgres").URL(),
	}
}

// One data set with groups of groups and cycles, loaded into every store: each
// decision of each strategy is the oracle's.
func TestAllStoresDecideAlike(t *testing.T) {
	t.Parallel()
	data := dataset.Generate("classic", 24, 8, 3)
	data.Groups[0].Roles[0].Groups = []string{data.Groups[1].ID}
	data.Groups[1].Roles[0].Groups = []string{data.Groups[0].ID, data.Groups[1].ID}
	m, err := model.New(data, model.Nested, true)
	require.NoError(t, err)
	for name, url := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &spec{model: m, namespace: "parity", driver: name, strategy: Ancestry}
			c := conn(t, url)
			l := layerOf(s, c)
			claim, err := ownership.Take(t.Context(), c, ownership.Want{Namespace: s.namespace, Profile: report.Name, Run: "parity", Spaces: l.Spaces})
			require.NoError(t, err)
			defer func() { assert.NoError(t, claim.Release(t.Context())) }()
			if l.Tables != nil {
				require.NoError(t, l.Tables.Create(t.Context()))
				require.NoError(t, l.Tables.Create(t.Context()), "a second time changes nothing")
			}
			tn := &tenant{s: s, name: "perf-test-1-0-0"}
			var all []model.Grant
			for p := range m.Up {
				for _, link := range m.Up[p] {
					all = append(all, model.Grant{Resource: tn.id(link.To), Member: tn.id(int32(p)), Role: m.Roles[link.Role]})
				}
			}
			for part := range slices.Chunk(all, 20) {
				require.NoError(t, l.Edges.Change(t.Context(), &model.Work{}, part))
			}
			var first []bool
			for _, strategy := range Strategies {
				if strategy == Server && l.Walker == nil {
					continue
				}
				got := decisions(t, l, m, tn, strategy)
				if first == nil {
					first = got
				}
				assert.Equal(t, first, got, strategy)
			}
			revoking(t, l, tn)
			carrying(t, l, tn)
			require.NoError(t, claim.Cleanup(t.Context()))
		})
	}
}

// decisions asks for every user and group what a strategy decides, each group by a
// worker of its own, and wants the oracle's answers.
func decisions(t *testing.T, l *model.Adapter, m *model.Model, tn *tenant, strategy string) []bool {
	t.Helper()
	all := make([]bool, m.Top*m.Users)
	var workers sync.WaitGroup
	for g := range m.Top {
		workers.Go(func() {
			k := &Checker{Layer: l, Strategy: strategy, Invalidate: true, Sentinel: true}
			o, role := model.NewOracle(m), int(m.Role("member"))
			for u := range m.Users {
				p, r := int32(u), int32(m.Users+g)
				got, err := k.Allowed(t.Context(), tn.id(p), tn.id(r), "member")
				assert.NoError(t, err)
				want, _ := o.Allowed(p, r, role)
				assert.Equal(t, want, got, "%s: %s on %s", strategy, tn.id(p), tn.id(r))
				all[g*m.Users+u] = got
			}
		})
	}
	workers.Wait()
	return all
}

// revoking: what is cached is denied once it is revoked, with both caches.
func revoking(t *testing.T, l *model.Adapter, tn *tenant) {
	t.Helper()
	for _, strategy := range []string{PermCache, MembershipsCache} {
		k := &Checker{Layer: l, Strategy: strategy, Invalidate: true}
		u, g, c := "u:"+tn.name+":new", "g:"+tn.name+":new", "c:"+tn.name+":new"
		require.NoError(t, l.Edges.Change(t.Context(), &model.Work{}, []model.Grant{{Resource: c, Member: g, Role: "viewer"}, {Resource: g, Member: u, Role: "member"}}))
		for range 2 {
			ok, err := k.Allowed(t.Context(), u, c, "viewer")
			require.NoError(t, err)
			assert.True(t, ok, strategy)
		}
		require.NoError(t, k.Change(t.Context(), model.Grant{Resource: g, Member: u, Role: ""}))
		ok, err := k.Allowed(t.Context(), u, c, "viewer")
		require.NoError(t, err)
		assert.False(t, ok, strategy)
	}
}

// carrying: what principals and sections carry comes back as it was stored, and goes
// again; without it they are as the original has them.
func carrying(t *testing.T, l *model.Adapter, tn *tenant) {
	t.Helper()
	for _, size := range []int{0, 70_000, 0} {
		for kind, base := range map[string]string{"u": "", "g": model.GroupDescription} {
			id := kind + ":" + tn.name + ":heavy"
			a := model.Account{ID: id, Tenant: tn.name, Kind: kind, Visibility: "public", Filling: filled(id, 0, size)}
			description := a.Values()[len(model.AccountColumns)-1]
			assert.Equal(t, base+a.Filling, description)
			require.NoError(t, l.Accounts.PutAccount(t.Context(), &model.Work{}, a))
			got, ok, err := l.Accounts.Account(t.Context(), &model.Work{}, id)
			require.NoError(t, err)
			require.True(t, ok)
			assert.Equal(t, a.Filling, got.Filling)
			assert.Equal(t, kind, got.Kind)
		}
		id := "u:" + tn.name + ":heavy"
		want := grow(`{"aboutMe":"text"}`, filled(id, 1, size))
		require.NoError(t, l.Sections.PutSection(t.Context(), &model.Work{}, id, sectionNames[0], "public", want))
		_, got, ok, err := l.Sections.Section(t.Context(), &model.Work{}, id, sectionNames[0])
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, want, got)
	}
}

// counting runs f and returns how many statements it took.
func counting(t *testing.T, w *worker, f func() error) int64 {
	t.Helper()
	w.cost()
	require.NoError(t, f())
	return w.cost().Statements
}

func TestStatementsOfTheOriginal(t *testing.T) {
	m, err := model.New(fixture(), model.Roles, true)
	require.NoError(t, err)
	s := &spec{model: m, variant: "v1", driver: "memory", strategy: Ancestry}
	b := &bound{s: s, l: inmemory.New(false, atOnce)}
	tn := &tenant{s: s, name: "perf-test-1-0-0"}
	k := &loadTask{worker: b.worker(tn, 0)}
	load := func(name string, i int) int64 {
		return counting(t, k.worker, func() error { return k.store(t.Context(), tn, kind{name: name, n: i + 1}, i, &workload.Settings{}) })
	}
	for i := range m.Users {
		assert.EqualValues(t, 2, load("users", i))
	}
	for i := range m.Groups() {
		assert.EqualValues(t, 5, load("groups", i))
	}
	for i := range m.Edges {
		assert.EqualValues(t, 6, load("memberships", i))
	}
	assert.EqualValues(t, 2, load("profileSections", 0))
	took := func(c *Checker, user, group int32, role string, want bool) int64 {
		k.c = c
		return counting(t, k.worker, func() error {
			ok, err := c.Allowed(t.Context(), tn.id(user), tn.id(group), role)
			assert.Equal(t, want, ok)
			return err
		})
	}
	assert.EqualValues(t, 1, took(b.checker(), 5, 4, "manager", true), "a direct hit")
	require.NoError(t, b.l.Accounts.PutAccount(t.Context(), &model.Work{}, model.Account{ID: "u:perf-test-1-0-0:nobody", Kind: "u"}))
	k.c = b.checker()
	assert.EqualValues(t, 3, counting(t, k.worker, func() error {
		_, err := k.c.Allowed(t.Context(), "u:perf-test-1-0-0:nobody", tn.id(4), "member")
		return err
	}), "the role, the account, and a level without groups")
	_, err = k.c.Allowed(t.Context(), "u:perf-test-1-0-0:who", tn.id(4), "member")
	require.ErrorContains(t, err, "there is no principal u:perf-test-1-0-0:who")

	s.strategy = MembershipsCache
	warm := b.checker()
	took(warm, 1, 4, "member", true)
	assert.EqualValues(t, 4, took(warm, 1, 4, "member", true), "kept memberships, however deep")
	require.NoError(t, b.l.Accounts.PutAccount(t.Context(), &model.Work{}, model.Account{ID: "u:perf-test-1-0-0:nobody", Kind: "u"}))
	assert.EqualValues(t, 2, took(warm, 1, 6, "viewer", false), "a resource without groups")
}

func TestFullProfileTakesThreeReads(t *testing.T) {
	_, x := design(t, "mode=user-profile", "users=3")
	b := &bound{s: x.s, l: inmemory.New(false, atOnce)}
	tn := x.tenants[0][0]
	k := &loadTask{worker: b.worker(tn, 0)}
	for i := range 3 {
		require.NoError(t, k.store(t.Context(), tn, kind{name: "users", n: 3}, i, &workload.Settings{}))
	}
	for i := range 6 {
		require.NoError(t, k.store(t.Context(), tn, kind{name: "profileSections", n: 6}, i, &workload.Settings{}))
	}
	for _, reader := range readers {
		var w model.Work
		for user := range 3 {
			got, err := b.profile(t.Context(), &w, tn.id(int32(user)), reader)
			require.NoError(t, err)
			assert.Equal(t, shown(x.s.model, user, reader), got)
		}
		assert.EqualValues(t, 9, w.Statements, reader)
	}
}

// layerOf finds the layer for a connection.
func layerOf(s *spec, c store.Conn) *model.Adapter {
	switch c := c.(type) {
	case cassandra.Typed:
		return oncassandra.New(c, s.namespace)
	case redis.Typed:
		return onredis.New(c, s.namespace)
	case sqlstore.Typed:
		return onsql.New(c, s.namespace)
	}
	return inmemory.New(s.driver == "null", atOnce)
}

// A table that an older version made is named before anything is written.
func TestOlderSchemaIsRefused(t *testing.T) {
	t.Parallel()
	db := conn(t, "sqlite:"+filepath.Join(t.TempDir(), "old.db")).(sqlstore.Typed)
	l := layerOf(&spec{namespace: "old"}, db)
	_, err := db.SQL().ExecContext(t.Context(), `CREATE TABLE old_authz_roles (principal_id TEXT, value TEXT)`)
	require.NoError(t, err)
	_, err = db.SQL().ExecContext(t.Context(), `CREATE INDEX old_authz_roles_by_resource ON old_authz_roles (value)`)
	require.NoError(t, err)
	err = l.Tables.Create(t.Context())
	require.ErrorContains(t, err, "old_authz_roles has columns other than this version's")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))

	c := conn(t, labtest.Cassandra(t).Patient()).(cassandra.Typed)
	keyspace, err := c.EnsureKeyspace(t.Context(), "oldcassandra")
	require.NoError(t, err)
	for name, columns := range map[string]string{
		"roles":            "principal_id text, resource_id text, PRIMARY KEY (principal_id, resource_id)",
		"permission_cache": "principal_id text, resource_id text, action text, allowed text, PRIMARY KEY (principal_id, resource_id, action)",
	} {
		table := `"` + keyspace + `".oldcassandra_authz_` + name
		require.NoError(t, c.Session().Query("CREATE TABLE "+table+" ("+columns+")").ExecContext(t.Context()))
		l = layerOf(&spec{namespace: "oldcassandra"}, c)
		err = l.Tables.Create(t.Context())
		require.ErrorContains(t, err, "the table oldcassandra.oldcassandra_authz_"+name+" has columns other than this version's: an older version made it")
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		require.NoError(t, c.Session().Query("DROP TABLE "+table).ExecContext(t.Context()))
	}
}

// Workers that keep and drop the groups of one principal at once, each having found them
// in an order of its own, do not undo one another.
func TestClosuresAreKeptAtOnce(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"mariadb": labtest.Shared(t, "mariadb").URL(), "postgres": labtest.Shared(t, "postgres").URL()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := conn(t, url)
			l := onsql.New(c.(sqlstore.Typed), "atonce")
			claim, err := ownership.Take(t.Context(), c, ownership.Want{Namespace: "atonce", Profile: report.Name, Run: "atonce", Spaces: l.Spaces})
			require.NoError(t, err)
			defer func() { assert.NoError(t, claim.Release(t.Context())) }()
			require.NoError(t, l.Tables.Create(t.Context()))
			groups := []string{"g:a", "g:b", "g:c", "g:d", "g:e", "g:f"}
			var all sync.WaitGroup
			for worker := range 4 {
				all.Go(func() {
					found := slices.Clone(groups)
					if worker%2 == 1 {
						slices.Reverse(found)
					}
					w := &model.Work{}
					for range 60 {
						if !assert.NoError(t, l.Closures.PutClosure(t.Context(), w, "u:one", found, 2)) ||
							!assert.NoError(t, l.Closures.DropClosures(t.Context(), w, []string{"u:one"})) {
							return
						}
					}
				})
			}
			all.Wait()
			require.NoError(t, l.Closures.PutClosure(t.Context(), &model.Work{}, "u:one", groups, 2))
			kept, known, err := l.Closures.Closure(t.Context(), &model.Work{}, "u:one", groups)
			require.NoError(t, err)
			assert.True(t, known)
			assert.ElementsMatch(t, groups, kept)
		})
	}
}

// Whoever reads the kept groups of a principal while they are dropped finds them, or
// that none are kept: never that they are kept and do not have a group that they had.
func TestDroppedClosureIsNoDenial(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"redis": labtest.Redis(t).URL(), "miniredis": "embedded:"} {
		t.Run(name, func(t *testing.T) {
			l := onredis.New(conn(t, url).(redis.Typed), "denial")
			among := []string{"g:t:mine"}
			for i := range 4000 { // more than a server reads at once
				among = append(among, fmt.Sprintf("g:t:other%d", i))
			}
			var dropper sync.WaitGroup
			var over atomic.Bool
			dropper.Go(func() {
				defer over.Store(true)
				for range 300 {
					if !assert.NoError(t, l.Closures.PutClosure(t.Context(), &model.Work{}, "u:t:me", among[:1], 1)) ||
						!assert.NoError(t, l.Closures.DropClosures(t.Context(), &model.Work{}, []string{"u:t:me"})) {
						return
					}
				}
			})
			defer dropper.Wait()
			for !over.Load() {
				mine, known, err := l.Closures.Closure(t.Context(), &model.Work{}, "u:t:me", among)
				require.NoError(t, err)
				require.Equal(t, known, len(mine) == 1, "known, and which")
			}
		})
	}
}
