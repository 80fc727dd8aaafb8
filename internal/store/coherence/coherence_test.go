package coherence_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// inPlace says what make test has in place of what needs a server.
const inPlace = "a run of each profile on Coherence"

func dial(t *testing.T, url string) (*coherence.Conn, error) {
	t.Helper()
	return storetest.Dial(t, coherence.Driver, coherence.Open, url)
}

// patient gives a slow machine time.
const patient = "dial_timeout=60s&read_timeout=60s"

func open(t *testing.T, url string) *coherence.Conn {
	t.Helper()
	c, err := dial(t, storetest.With(url, patient))
	require.NoError(t, err)
	return c
}

// A member tells of itself where it has an agent; a client alone learns nothing.
func TestMemberTellsOfItself(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Coherence(t)
	url := storetest.With(srv.URL(), patient)
	list, err := open(t, srv.URL()).Meter.Readings(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
	c, err := storetest.DialAgent(t, coherence.Driver, coherence.Open, url, srv.Jolokia())
	require.NoError(t, err)
	s := store.Space{Namespace: "readings", Name: "a", Shape: store.Map}
	put := func() { require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v"))) }
	put() // what a cache tells begins with the cache
	list = storetest.Readings(t, c.Meter, put, "cpu_cores", "puts_per_s", "service_requests_per_s")
	assert.Len(t, list, 10)
	assert.Positive(t, c.Meter.Usage(t.Context()).CPU)
}

func TestShapes(t *testing.T) {
	tier.Full(t, inPlace)
	url := labtest.Coherence(t).URL()
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, url) })
	t.Run("fence", func(t *testing.T) { storetest.Fence(t, coherence.Driver, storetest.With(url, patient)) })
	t.Run("proxy", func(t *testing.T) { storetest.Proxy(t, coherence.Driver, storetest.With(url, patient)) })
}
