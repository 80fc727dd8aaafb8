package cassandra_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// ask reads from the agent of a Java server.
func ask(t *testing.T, url string) (status int, value any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var body struct {
		Status int `json:"status"`
		Value  any `json:"value"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
	return body.Status, body.Value
}

// The lab's Cassandra tells over HTTP what its JVM and it itself measure, and takes
// no orders that way.
func TestAgentTellsOfTheJVM(t *testing.T) {
	tier.Full(t, inPlace)
	url := labtest.Cassandra(t).Jolokia()
	require.NotEmpty(t, url)
	status, heap := ask(t, url+"read/java.lang:type=Memory/HeapMemoryUsage")
	assert.Equal(t, http.StatusOK, status)
	used, ok := heap.(map[string]any)["used"].(float64)
	require.True(t, ok)
	assert.Greater(t, used, 1e6)
	status, gc := ask(t, url+"read/java.lang:type=GarbageCollector,name=*/CollectionCount,CollectionTime")
	assert.Equal(t, http.StatusOK, status)
	assert.NotEmpty(t, gc)
	status, cpu := ask(t, url+"read/java.lang:type=OperatingSystem/ProcessCpuTime")
	assert.Equal(t, http.StatusOK, status)
	assert.Greater(t, cpu, 1e6)
	status, writes := ask(t, url+"read/org.apache.cassandra.metrics:type=ClientRequest,scope=Write,name=Latency/Count")
	assert.Equal(t, http.StatusOK, status)
	assert.GreaterOrEqual(t, writes, 0.0)
	status, _ = ask(t, url+"exec/java.lang:type=Memory/gc")
	assert.Equal(t, http.StatusForbidden, status)
	status, _ = ask(t, url+"write/java.lang:type=Memory/Verbose/true")
	assert.Equal(t, http.StatusForbidden, status)
}

// A node tells of its thread pools by virtual tables, and of more by its agent.
func TestNodeTellsOfItself(t *testing.T) {
	tier.Full(t, inPlace)
	srv := labtest.Cassandra(t)
	c := open(t, srv.URL())
	work := func() {
		require.NoError(t, c.Session().Query("SELECT keyspace_name FROM system_schema.keyspaces").ExecContext(t.Context()))
	}
	before := c.Meter.Usage(t.Context())
	plain := storetest.Readings(t, c.Meter, work, "requests_per_s")
	after := c.Meter.Usage(t.Context())
	assert.Equal(t, "requests", after.Kind)
	assert.Greater(t, after.Calls, before.Calls)
	assert.Negative(t, after.CPU, "only an agent tells")

	c, err := storetest.DialAgent(t, cassandra.Driver, cassandra.Open, srv.URL(), srv.Jolokia())
	require.NoError(t, err)
	all := storetest.Readings(t, c.Meter, work, "requests_per_s", "cpu_cores")
	assert.Len(t, all, len(plain)+9)
	assert.Positive(t, c.Meter.Usage(t.Context()).CPU)
}
