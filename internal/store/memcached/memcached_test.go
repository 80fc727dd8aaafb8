package memcached_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memcached"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

func dial(t *testing.T, url string) (*memcached.Conn, error) {
	t.Helper()
	return storetest.Dial(t, memcached.Driver, memcached.Open, url)
}

func open(t *testing.T, url string) *memcached.Conn {
	t.Helper()
	c, err := dial(t, url)
	require.NoError(t, err)
	return c
}

func space(name string) store.Space {
	return store.Space{Namespace: "perfbench", Name: name, Shape: store.Map}
}

// Servers say for how long they have been there, and that they began without an item.
func TestServersTellOfTheirProcess(t *testing.T) {
	t.Parallel()
	c := open(t, labtest.Memcached(t).URL())
	list := storetest.Readings(t, storetest.As[store.Metered](t, c), func() {})
	assert.Contains(t, list, store.Reading{Name: store.Began})
	assert.True(t, slices.ContainsFunc(list, func(r store.Reading) bool { return r.Name == store.Uptime }))
}

func items(t *testing.T, c *memcached.Conn) (n float64) {
	t.Helper()
	for _, r := range storetest.Readings(t, storetest.As[store.Metered](t, c), func() {}) {
		if r.Name == "items" {
			n += r.Value
		}
	}
	return n
}

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := labtest.Memcached(t, "--max-item-size", "8m")
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, srv.URL()) })
	t.Run("fence", func(t *testing.T) { storetest.Fence(t, memcached.Driver, srv.URL()) })
	t.Run("proxy", func(t *testing.T) { storetest.Proxy(t, memcached.Driver, srv.URL()) })
	assert.Equal(t, "END", first(t, srv, "lru_crawler metadump all"), "the tests leave nothing behind")
}

// first returns the first line of what a server answers.
func first(t *testing.T, srv *labtest.Server, command string) string {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", srv.Addr())
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, command+"\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// Keys are divided among the servers of a target, and all of them are counted and removed.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	one, two := labtest.Memcached(t), labtest.Memcached(t)
	c := open(t, "memcached://"+one.Addr()+","+two.Addr())
	s := space("a")
	var es []store.Entry
	for i := range 200 {
		es = append(es, store.Entry{Key: []byte{byte(i), ':'}, Val: []byte("v")})
	}
	require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
	require.NoError(t, c.Maps.PutAll(t.Context(), s, es))
	n, err := c.Maps.Count(t.Context(), s)
	require.NoError(t, err)
	assert.EqualValues(t, 200, n)
	for _, srv := range []*labtest.Server{one, two} {
		assert.Greater(t, items(t, open(t, srv.URL())), 20.0, "each has a part")
	}
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "2 servers, keys divided by the client", info.Topology)
	gone, err := c.Records.Drop(t.Context(), s, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 200, gone)
}

// Entries that a cache has evicted are missing, and nothing else is said of them.
func TestWhatIsEvictedIsMissing(t *testing.T) {
	t.Parallel()
	c := open(t, labtest.Memcached(t, "--memory-limit", "2").URL())
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	require.Len(t, info.Warnings, 1)
	assert.Contains(t, info.Warnings[0], "evicts items when 2 MiB are full")
	val := bytes.Repeat([]byte("x"), 100_000)
	for i := range 100 {
		require.NoError(t, c.Maps.Set(t.Context(), space("a"), []byte{byte(i)}, val))
	}
	n, err := c.Maps.Count(t.Context(), space("a"))
	require.NoError(t, err)
	assert.Less(t, n, int64(100))
	_, there, err := c.Maps.Get(t.Context(), space("a"), []byte{0}, nil)
	require.NoError(t, err)
	assert.False(t, there)
	err = c.Maps.Set(t.Context(), space("a"), []byte("large"), bytes.Repeat(val, 30))
	require.ErrorContains(t, err, "too large")
	assert.Equal(t, store.Other, c.Classify(err))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][2]string{
		"memcached://user:pw@localhost":                                  {"the text protocol knows none", "leave it out"},
		"memcached://localhost/db":                                       {"a server has no databases", "--namespace"},
		"memcached://127.0.0.1:1":                                        {"connection refused", "perfbench lab up memcached"},
		"memcached://no-such-host.invalid":                               {"cannot be resolved", "spelling"},
		strings.Replace(labtest.Redis(t).URL(), "redis", "memcached", 1): {"does not speak Memcached's text protocol", "right port"},
	} {
		_, err := dial(t, target)
		require.Error(t, err, target)
		assert.Contains(t, err.Error(), want[0])
		assert.Contains(t, fault.HintOf(err), want[1])
	}
}

func TestWhatAServerLacks(t *testing.T) {
	t.Parallel()
	for _, f := range facts(t, labtest.Memcached(t)) {
		assert.NoError(t, f.Lacks, f.Title)
	}
	for _, f := range facts(t, labtest.Memcached(t, "--extended", "no_lru_crawler")) {
		if f.Ability == "list of keys" {
			require.Error(t, f.Lacks)
			assert.Contains(t, f.Lacks.Error(), "lru crawler disabled")
		}
	}
}

func facts(t *testing.T, srv *labtest.Server) []store.Fact {
	t.Helper()
	got, err := storetest.As[store.Factual](t, open(t, srv.URL())).Facts(t.Context())
	require.NoError(t, err)
	require.Len(t, got.All, len(memcached.Driver.Traits))
	return got.All
}
