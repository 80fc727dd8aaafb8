package cassandra_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// inPlace says what make test has in place of what needs a server.
const inPlace = "a run of each profile on Cassandra"

func dial(t *testing.T, url string) (*cassandra.Conn, error) {
	t.Helper()
	return storetest.Dial(t, cassandra.Driver, cassandra.Open, url)
}

func open(t *testing.T, url string) *cassandra.Conn {
	t.Helper()
	c, err := dial(t, storetest.With(url, labtest.Patience))
	require.NoError(t, err)
	return c
}

func TestShapes(t *testing.T) {
	tier.Full(t, inPlace)
	url := labtest.Cassandra(t).URL()
	_, err := open(t, url).EnsureKeyspace(t.Context(), "storetest")
	require.NoError(t, err)
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, url+"/storetest") })
	t.Run("fence", func(t *testing.T) {
		storetest.Fence(t, cassandra.Driver, storetest.With(url+"/storetest", labtest.Patience))
		storetest.Proxy(t, cassandra.Driver, storetest.With(url+"/storetest", labtest.Patience))
	})
}

func TestKeyspaceNamedAsTheNamespace(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Cassandra(t).URL())
	s := store.Space{Namespace: "own-space", Name: "a", Shape: store.Map}
	made, err := c.Records.Made(t.Context(), s.Namespace)
	require.NoError(t, err)
	assert.Empty(t, made)
	require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	columns, err := c.Columns(t.Context(), "own_x2dspace", "own_x2dspace_a")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"k": "blob", "v": "blob"}, columns)
}

func TestWhatTheReportSays(t *testing.T) {
	tier.Full(t, inPlace)
	url := labtest.Cassandra(t).URL()
	info, err := open(t, url).Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "one node", info.Topology)
	assert.Equal(t, "LOCAL_QUORUM", info.Details["consistency"])
	assert.Equal(t, "none: an operation is one attempt", info.Details["retry policy"])
	assert.Equal(t, "off", info.Details["speculative execution"])
	assert.Equal(t, "v5", info.Details["protocol"])
	assert.Empty(t, info.Warnings)

	info, err = open(t, url+"?consistency=one&retries=2&speculative=1&speculative_delay=20ms&dc=datacenter1").Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "ONE", info.Details["consistency"])
	assert.Contains(t, info.Details["retry policy"], "up to 2 more attempts")
	assert.Equal(t, "1 more after 20ms each", info.Details["speculative execution"])
	assert.Contains(t, info.Details["routing"], "within datacenter1")
	assert.Len(t, info.Warnings, 2)
}

func TestTargetsThatCannotBe(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Cassandra(t)
	for url, want := range map[string]string{
		srv.URL() + "/nosuch?" + labtest.Patience:          "there is no keyspace nosuch",
		srv.Patient() + "&dc=mars":                         `there is no data centre "mars"`,
		srv.URL() + "?tls=1&insecure=1&dial_timeout=2s":    "cassandra: " + srv.Addr(),
		"cassandra://127.0.0.1:1?dial_timeout=2s":          "cannot be reached",
		srv.URL() + "?consistency=most":                    `consistency: "most" is not one of one, two`,
		srv.URL() + "/a-b":                                 `"a-b" cannot be the name of a keyspace`,
		srv.URL() + "?protocol=9":                          "protocol",
		"cassandra://no.such.host.invalid?dial_timeout=2s": "cassandra: no.such.host.invalid",
	} {
		_, err := dial(t, url)
		require.ErrorContains(t, err, want, url)
		assert.NotEqual(t, fault.CodeOther, fault.CodeOf(err), url)
	}
}

func TestOlderTableIsNamed(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Cassandra(t).URL())
	ks, err := c.EnsureKeyspace(t.Context(), "older")
	require.NoError(t, err)
	require.NoError(t, c.Session().Query(`CREATE TABLE "`+ks+`".older_a (k text PRIMARY KEY, value text)`).ExecContext(t.Context()))
	s := store.Space{Namespace: "older", Name: "a", Shape: store.Map}
	err = c.Prober.Probe(t.Context(), s)
	require.ErrorContains(t, err, "the table older_a has other columns than ours")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	found, err := c.Records.Inspect(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, "table with other columns", found.Kind)
	assert.Equal(t, store.WrongType, c.Classify(c.Maps.Set(t.Context(), s, []byte("k"), nil)))
}

// A killed node fails calls in the right class, and comes back with what it had
// acknowledged. While it is frozen what is measured is given up after the time that the
// target says, and what is not measured waits.
func TestKilledNodeComesBack(t *testing.T) {
	tier.Full(t, "profiles/eventstore's TestStoreKilledInMidRun on Cassandra")
	srv := labtest.ToKill(t, "cassandra")
	c := open(t, srv.URL())
	hasty, err := dial(t, srv.URL()+"?dial_timeout=2m&read_timeout=3s")
	require.NoError(t, err)
	s := store.Space{Namespace: "killed", Name: "a", Shape: store.Map}
	k := []byte("k")
	require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
	require.NoError(t, c.Maps.Put(t.Context(), s, k, []byte("before")))

	srv.Pause()
	recorded := make(chan error, 1)
	go func() { recorded <- hasty.Records.Record(t.Context(), store.Made{Space: s, Run: "r2"}) }()
	err = hasty.Maps.Set(t.Context(), s, []byte("lost"), nil)
	assert.Equal(t, store.Timeout, hasty.Classify(err), "%v", err)
	srv.Resume()
	require.NoError(t, <-recorded)

	srv.Kill()
	for range 4 {
		err := hasty.Maps.Set(t.Context(), s, []byte("lost"), nil)
		require.Error(t, err)
		assert.Contains(t, []store.Class{store.Unreachable, store.Timeout}, c.Classify(err), "%v", err)
	}
	srv.Restart()
	require.Eventually(t, func() bool { return c.Maps.Set(t.Context(), s, []byte("k2"), []byte("after")) == nil }, time.Minute, 100*time.Millisecond)
	for key, want := range map[string]string{"k": "before", "k2": "after"} {
		got, ok, err := c.Maps.Get(t.Context(), s, []byte(key), nil)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, string(got))
	}
}

func TestPasswordsAndCertificates(t *testing.T) {
	tier.Full(t, "TLS and passwords on Redis")
	srv := labtest.CassandraTLS(t, labtest.TLSOptions{Args: []string{"--authenticator", "PasswordAuthenticator"}})
	_, rest, _ := strings.Cut(srv.URL(), "://")
	host, _, _ := strings.Cut(rest, "?")
	as := func(user, params string) string { return "cassandra://" + user + host + "?" + params }
	ca := "dial_timeout=2m&tls=1&ca=" + srv.CA
	require.Eventually(t, func() bool { // the first user is made a moment after the start
		_, err := dial(t, as("cassandra:cassandra@", ca))
		return err == nil
	}, time.Minute, 200*time.Millisecond)
	for _, c := range []struct{ user, params, want string }{
		{"cassandra:sesame42@", ca, "the user or the password is wrong"},
		{"", ca, "it wants a password"},
		{"cassandra:cassandra@", "dial_timeout=2m&tls=1", "signed by an authority that is not trusted here"},
		{"cassandra:cassandra@", "", "cassandra: " + host},
	} {
		_, err := dial(t, as(c.user, c.params))
		require.ErrorContains(t, err, c.want)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		assert.NotContains(t, err.Error(), "sesame42")
	}
}

// A table of others where our records would be, empty as it is, is neither taken nor
// dropped; nor is one that they have put where ours was.
func TestTablesOfOthersStay(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Cassandra(t).URL())
	for namespace, columns := range map[string]string{"others1": "k blob PRIMARY KEY, v blob, note text", "others2": "k blob, v blob, PRIMARY KEY (k, v)"} {
		ks, err := c.EnsureKeyspace(t.Context(), namespace)
		require.NoError(t, err)
		require.NoError(t, c.Session().Query(`CREATE TABLE "`+ks+`".`+namespace+`_made (`+columns+`)`).ExecContext(t.Context()))
		l := store.Lease{Token: "1"}
		_, how, err := c.Leases.Hold(t.Context(), namespace, l, time.Minute)
		require.ErrorContains(t, err, "has columns other than those of perfbench's records")
		assert.Equal(t, store.Denied, how)
		columnsNow, err := c.Columns(t.Context(), ks, namespace+"_made")
		require.NoError(t, err)
		assert.NotEmpty(t, columnsNow)
	}
	s := store.Space{Namespace: "others3", Name: "a", Shape: store.Map}
	require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
	full := `"` + c.KeyspaceFor("others3") + `".others3_a`
	for _, text := range []string{"DROP TABLE " + full, "CREATE TABLE " + full + " (k blob PRIMARY KEY, v blob, note text)"} {
		require.NoError(t, c.Session().Query(text).ExecContext(t.Context()))
	}
	gone, err := c.Records.Drop(t.Context(), s, nil)
	require.NoError(t, err)
	assert.Zero(t, gone)
	columns, err := c.Columns(t.Context(), c.KeyspaceFor("others3"), "others3_a")
	require.NoError(t, err)
	assert.Len(t, columns, 3)
}

// So are the tables that a profile has laid out: one of others, empty and with a column of
// their own, is not taken; and where they have put such a one in the place of ours, it is
// neither written nor dropped, with --cleanup as little as by data delete.
func TestTablesOfOthersInPlaceOfAProfilesStay(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Cassandra(t).URL())
	space := store.Space{Namespace: "others4", Name: "p", Shape: store.Keys, Grouped: true}
	set := cassandra.New(c, space, "p_", []cassandra.Table{
		{Name: "users", Columns: "id text, name text", Key: "(id)"}, {Name: "groups", Columns: "id text, at int, name text", Key: "(id), at"},
	})
	want := ownership.Want{Namespace: space.Namespace, Profile: "p", Run: "r", Spaces: set.Spaces(nil), Admit: set.Check}
	run := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			require.NoError(t, c.Session().Query(set.Text(text)).ExecContext(t.Context()))
		}
	}
	const theirs = "CREATE TABLE %users (id text PRIMARY KEY, name text, note text)"
	still := func() {
		t.Helper()
		columns, err := c.Columns(t.Context(), set.Keyspace, set.Name("users"))
		require.NoError(t, err)
		assert.Contains(t, columns, "note")
	}
	_, err := c.EnsureKeyspace(t.Context(), space.Namespace)
	require.NoError(t, err)
	run(theirs)
	_, err = ownership.Take(t.Context(), c, want)
	require.ErrorContains(t, err, "others4_p_users already exists and was not made by perfbench")
	run("DROP TABLE %users")

	for _, cleanup := range []bool{true, false} {
		claim, err := ownership.Take(t.Context(), c, want)
		require.NoError(t, err)
		require.NoError(t, set.Create(t.Context()))
		run("DROP TABLE %users", theirs)
		if cleanup {
			require.NoError(t, claim.Cleanup(t.Context()))
			require.NoError(t, claim.Release(t.Context()))
		} else {
			require.NoError(t, claim.Release(t.Context()))
			_, err := ownership.Take(t.Context(), c, want)
			require.ErrorContains(t, err, "others4_p_users has columns other than this version's")
			gone, err := c.Records.Drop(t.Context(), space, nil)
			require.NoError(t, err)
			assert.EqualValues(t, 1, gone)
		}
		still()
		columns, err := c.Columns(t.Context(), set.Keyspace, set.Name("groups"))
		require.NoError(t, err)
		assert.Empty(t, columns, "ours has gone")
		made, err := c.Records.Made(t.Context(), space.Namespace)
		require.NoError(t, err)
		assert.Empty(t, made)
		run("DROP TABLE %users")
	}
}
