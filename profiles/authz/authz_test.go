package authz

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }

func TestProfile(t *testing.T) { profiletest.Run(t, Profile()) }

// design makes a plan of the defaults with some values set.
func design(t *testing.T, set ...string) (*workload.Plan, *spec) {
	t.Helper()
	in := workload.Inputs{Values: profiletest.Values(t, Profile(), "small"), Seed: 42, Namespace: "perfbench", RunID: "260102-030405-authz-x"}
	for _, kv := range set {
		name, v, _ := strings.Cut(kv, "=")
		in.Values.Set(workload.Value{Name: name, Text: v, Origin: workload.OriginFlag})
	}
	p, err := Design(in)
	require.NoError(t, err)
	return p, p.Private.(*spec)
}

func TestRunsBecomePhases(t *testing.T) {
	for _, c := range []struct{ n, c, phases int }{{1, 1, 1}, {4, 4, 1}, {1, 4, 1}, {10, 2, 5}, {10, 4, 3}, {12, 4, 3}} {
		p, s := design(t, fmt.Sprintf("runs=%d", c.n), fmt.Sprintf("concurrent=%d", c.c))
		assert.Len(t, s.phase, c.phases)
		assert.Len(t, s.phase[0], c.c)
		assert.Len(t, p.Tracks(), 3*c.phases*c.c)
		assert.True(t, strings.HasSuffix(s.phase[0][0].name, fmt.Sprintf("-%d-0", c.phases-1)), "names count down: %s", s.phase[0][0].name)
	}
}

// The next phase loads as soon as this one has, beside its checks; loads never
// overlap each other; the sweep follows the valid checks of its own phase.
func TestPhasesOverlapAsDocumented(t *testing.T) {
	p, _ := design(t, "runs=3")
	after := map[string][]string{}
	for _, ph := range p.Phases {
		after[ph.Name] = ph.After
	}
	assert.Equal(t, map[string][]string{
		"load-0": nil, "valid-0": {"load-0"}, "sweep-0": {"valid-0"},
		"load-1": {"load-0"}, "valid-1": {"load-1"}, "sweep-1": {"valid-1"},
		"load-2": {"load-1"}, "valid-2": {"load-2"}, "sweep-2": {"valid-2"},
	}, after)
}

func fixture() *dataset {
	return &dataset{
		users: []user{{id: "a"}, {id: "b"}, {id: "c"}, {id: "creator"}},
		groups: []group{{id: "G", creator: "creator", roles: []roleSpec{
			{name: "manager", users: []string{"a", "b", "creator"}}, {name: "member", users: []string{"b", "c", "c"}, groups: []string{"G"}},
		}}},
	}
}

func TestMembershipsOfEachMode(t *testing.T) {
	for mode, want := range map[string]int{modeRoles: 6, modeCommitted: 2, modeNested: 7, modeFlat: 4} {
		m, err := newModel(fixture(), mode, true)
		require.NoError(t, err)
		assert.Len(t, m.edges, want, mode)
	}
	m, err := newModel(fixture(), modeRoles, false)
	require.NoError(t, err)
	o := newOracle(m)
	for i, want := range []bool{false, true, true, false} {
		got, _ := o.allowed(int32(i), 4, int(m.role("member")))
		assert.Equal(t, want, got, m.local[i])
	}
	m, err = newModel(fixture(), modeRoles, true)
	require.NoError(t, err)
	got, depth := newOracle(m).allowed(3, 4, int(m.role("member")))
	assert.True(t, got, "who makes a role group is its manager and so in it, as in the original")
	assert.Equal(t, 2, depth)
}

func TestGeneratorIsDeterministicAndLikeTheOriginal(t *testing.T) {
	assert.Equal(t, generate("classic", 50, 25, 7), generate("classic", 50, 25, 7))
	assert.NotEqual(t, generate("classic", 50, 25, 7), generate("classic", 50, 25, 8))
	d := generate("classic", 50, 25, 7)
	a, p := d.sections(3)
	a2, p2 := generate("classic", 50, 25, 7).sections(3)
	assert.Equal(t, a+p, a2+p2)
	count := func(shape string, users, groups int, mode string) (float64, float64) {
		edges, allowed := 0.0, 0.0
		const seeds = 5
		for seed := range int64(seeds) {
			m, err := newModel(generate(shape, users, groups, seed), mode, true)
			require.NoError(t, err)
			edges += float64(len(m.edges)) / seeds
			o, role := newOracle(m), int(m.role("member"))
			for u := range users {
				for g := range 50 {
					if ok, _ := o.allowed(int32(u), int32(users+g), role); ok {
						allowed += 100 / float64(seeds*users*50)
					}
				}
			}
		}
		return edges, allowed
	}
	edges, _ := count("classic", 500, 250, modeCommitted)
	assert.InDelta(t, 590, edges, 40)
	edges, share := count("classic", 500, 250, modeRoles)
	assert.InDelta(t, 5360, edges, 700)
	assert.InDelta(t, 2, share, 1)
	edges, _ = count("hilary", 1000, 2000, modeRoles)
	assert.InDelta(t, 54000, edges, 4000)
}

func write(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
}

func TestFoldersOfBothGenerations(t *testing.T) {
	classic, newer := t.TempDir(), t.TempDir()
	write(t, classic, "users/0.txt", `{"userid":"ann","userType":"student","aboutMe":{"aboutMePrivacy":"contacts"},"publications":{"publicationsPrivacy":"everyone"}}`+"\r", "", `{"userid":"bob"}`)
	write(t, classic, "worlds/0.txt", `{"id":"w1","creator":"ann","roles":{"manager":{"users":["ann"],"groups":[]},"member":{"users":["bob","bob"],"groups":["w1"]}}}`, "")
	write(t, newer, "scripts/users/0.txt", `{"userid":"ann","id":"u:x:ann"}`, `{"id":"u:x:bob"}`)
	write(t, newer, "scripts/groups/0.txt", `{"id":"g:x:w1","creator":"u:x:ann","roles":{"manager":{"users":["u:x:ann"],"groups":[]},"member":{"users":["u:x:bob"],"groups":["g:x:w1"]}}}`)
	for _, dir := range []string{classic, newer} {
		d, err := readFolder(dir, true)
		require.NoError(t, err)
		m, err := newModel(d, modeNested, true)
		require.NoError(t, err)
		assert.Equal(t, []string{"ann", "bob", "w1", "w1-manager", "w1-member"}, m.local)
		assert.Equal(t, []edge{{2, 3, 1}, {2, 4, 0}, {4, 1, 0}, {4, 2, 0}}, m.edges)
	}
	d, err := readFolder(classic, true)
	require.NoError(t, err)
	vis, data, err := (&spec{model: &model{data: d}}).sectionOf(0, 0)
	require.NoError(t, err)
	assert.Equal(t, "private", vis)
	assert.JSONEq(t, `{"aboutMePrivacy":"contacts"}`, data)
}

func TestBadLoaderFilesAreNamedByLine(t *testing.T) {
	dir := t.TempDir()
	user := `{"userid":"ann"}`
	for text, want := range map[string]string{
		`{"id":"w","roles":{"member":{"users":["a`: "worlds/0.txt:2: not a JSON object",
		`{"id":"w"}`: "worlds/0.txt:2: a group without an object of roles",
		`{"id":"w","roles":{"member":{"users":["zoe"]}}}`: "there is no user zoe",
		`["w"]`: "worlds/0.txt:2",
	} {
		write(t, dir, "users/0.txt", user)
		write(t, dir, "worlds/0.txt", `{"id":"v","roles":{}}`, text)
		in := workload.Inputs{Values: profiletest.Values(t, Profile(), "small")}
		in.Values.Set(workload.Value{Name: "folder", Text: dir, Origin: workload.OriginFlag})
		_, err := Design(in)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, err := readFolder(t.TempDir(), true)
	assert.ErrorContains(t, err, "users/0.txt")
}

func TestVisibility(t *testing.T) {
	assert.True(t, visible("private", "owner"))
	assert.False(t, visible("private", "other"))
	assert.True(t, visible("loggedin", "other"))
	assert.False(t, visible("loggedin", "anonymous"))
	assert.True(t, visible("public", "anonymous"))
	_, err := visibility("nobody")
	assert.ErrorContains(t, err, `"nobody"`)
}

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
		"redis": labtest.Redis(t).URL(), "cluster": labtest.Cluster(t).URL(), "cassandra": labtest.Cassandra(t).URL(),
		"mariadb": labtest.MariaDB(t).URL(), "postgres": labtest.Postgres(t).URL(),
	}
}

// One data set with groups of groups and cycles, loaded into every store: each
// decision of each strategy is the oracle's.
func TestAllStoresDecideAlike(t *testing.T) {
	data := generate("classic", 24, 8, 3)
	data.groups[0].roles[0].groups = []string{data.groups[1].id}
	data.groups[1].roles[0].groups = []string{data.groups[0].id, data.groups[1].id}
	m, err := newModel(data, modeNested, true)
	require.NoError(t, err)
	for name, url := range stores(t) {
		t.Run(name, func(t *testing.T) {
			s := &spec{model: m, namespace: "parity", driver: name, strategy: strategyAncestry}
			c := conn(t, url)
			l, spaces := layerOf(s, c)
			require.NoError(t, l.prepare(t.Context()))
			require.NoError(t, l.prepare(t.Context()), "a second time changes nothing")
			tn := &tenant{s: s, name: "perf-test-1-0-0"}
			var all []grant
			for p := range m.up {
				for _, link := range m.up[p] {
					all = append(all, grant{tn.id(link.to), tn.id(int32(p)), m.roles[link.role]})
				}
			}
			for part := range slices.Chunk(all, 20) {
				require.NoError(t, l.change(t.Context(), &work{}, part))
			}
			o, role := newOracle(m), int(m.role("member"))
			var hash string
			for _, strategy := range strategies {
				if _, ok := l.(server); strategy == strategyServer && !ok {
					continue
				}
				k := &checker{l: l, strategy: strategy, invalidate: true, sentinel: true}
				var decisions strings.Builder
				for g := range m.top {
					for u := range m.users {
						p, r := int32(u), int32(m.users+g)
						want, _ := o.allowed(p, r, role)
						got, err := k.allowed(t.Context(), tn.id(p), tn.id(r), "member")
						require.NoError(t, err)
						require.Equal(t, want, got, "%s: %s on %s", strategy, tn.id(p), tn.id(r))
						fmt.Fprint(&decisions, got)
					}
				}
				if hash == "" {
					hash = decisions.String()
				}
				assert.Equal(t, hash, decisions.String(), strategy)
			}
			revoking(t, l, tn)
			if k, ok := c.(store.Keeper); ok && len(spaces) > 0 {
				for _, sp := range spaces {
					require.NoError(t, k.Record(t.Context(), store.Made{Space: sp, Profile: Name}))
					_, err := k.Drop(t.Context(), sp, nil)
					require.NoError(t, err)
				}
			}
		})
	}
}

// revoking: what is cached is denied once it is revoked, with both caches.
func revoking(t *testing.T, l layer, tn *tenant) {
	t.Helper()
	for _, strategy := range []string{strategyPerm, strategyClosure} {
		k := &checker{l: l, strategy: strategy, invalidate: true}
		u, g, c := "u:"+tn.name+":new", "g:"+tn.name+":new", "c:"+tn.name+":new"
		require.NoError(t, l.change(t.Context(), &work{}, []grant{{c, g, "viewer"}, {g, u, "member"}}))
		for range 2 {
			ok, err := k.allowed(t.Context(), u, c, "viewer")
			require.NoError(t, err)
			assert.True(t, ok, strategy)
		}
		require.NoError(t, k.change(t.Context(), grant{g, u, ""}))
		ok, err := k.allowed(t.Context(), u, c, "viewer")
		require.NoError(t, err)
		assert.False(t, ok, strategy)
	}
}

func TestStatementsOfTheOriginal(t *testing.T) {
	m, err := newModel(fixture(), modeRoles, true)
	require.NoError(t, err)
	s := &spec{model: m, variant: "v1", driver: "memory", strategy: strategyAncestry}
	b := &bound{s: s, l: newPlain(false)}
	tn := &tenant{s: s, name: "perf-test-1-0-0"}
	k := &loadTask{worker: b.worker(tn, 0)}
	for kind, want := range map[string]int64{"users": 2, "groups": 5} {
		require.NoError(t, k.store(t.Context(), loadKind(kind), 0))
		assert.Equal(t, want, k.statements(), kind)
	}
	require.NoError(t, k.store(t.Context(), loadKind("memberships"), 0))
	assert.EqualValues(t, 6, k.statements())
	ok, err := k.c.allowed(t.Context(), tn.id(5), tn.id(4), "manager")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 1, k.statements(), "a direct hit")
	ok, err = k.c.allowed(t.Context(), tn.id(0), tn.id(4), "member")
	require.NoError(t, err)
	assert.False(t, ok)
	assert.EqualValues(t, 2, k.statements(), "the role, and a level without groups")
}

func loadKind(name string) kind { return kind{name: name, n: 1} }

// An interrupted load goes on where it was: of what is marked nothing is handed
// out again.
func TestLoadsGoOnWhereTheyWere(t *testing.T) {
	kinds := []kind{{"users", 250, 0}, {"memberships", 90, 2}}
	var l loader
	l.begin(kinds, 100, map[string]bool{"users-0": true, "users-2": true, "memberships-0": true})
	assert.EqualValues(t, 100+50+90, l.before)
	b, ok := l.claim(t.Context())
	require.True(t, ok)
	assert.Equal(t, batch{0, 1, 100, 200}, b)
	l.end()
	_, ok = l.claim(t.Context())
	assert.False(t, ok)
}

func TestOlderSchemaIsRefused(t *testing.T) {
	c := conn(t, "sqlite:"+filepath.Join(t.TempDir(), "old.db"))
	l, _ := layerOf(&spec{namespace: "old"}, c)
	s := l.(*onSQL)
	_, err := s.db.ExecContext(t.Context(), `CREATE TABLE old_authz_roles (principal_id TEXT, value TEXT)`)
	require.NoError(t, err)
	_, err = s.db.ExecContext(t.Context(), `CREATE INDEX old_authz_roles_by_resource ON old_authz_roles (value)`)
	require.NoError(t, err)
	err = l.prepare(t.Context())
	require.ErrorContains(t, err, "old_authz_roles has other columns than this version's")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}
