package group

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// TestOrdersLoadWithoutGrowthInMemory loads 20,000 orders and then 80,000, or as many as
// the variable PERFBENCH_TEST_ORDERS says, and compares what collections usually leave
// alive: what is merely not collected yet says more about the tests before than about a
// run, and the most is seen at its end, where the histograms of all workers are merged.
func TestOrdersLoadWithoutGrowthInMemory(t *testing.T) {
	tier.Full(t, "nothing: it takes many orders, and make test-all loads them")
	many := 160_000 // what collections leave alive differs by some 10 MB from one to the next
	if text := os.Getenv("PERFBENCH_TEST_ORDERS"); text != "" {
		var err error
		many, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	few := many / 4
	target := labtest.Shared(t, "mariadb").URL()
	a, b := aliveLoading(t, target, few), aliveLoading(t, target, many)
	t.Logf("alive: %d KiB with %d orders, %d KiB with %d", a>>10, few, b>>10, many)
	assert.Less(t, b-min(a, b), uint64(200*(many-few)), "orders stay in memory")
}

// aliveLoading loads orders and is the median of the bytes that collections left alive,
// less what the first one left: a test's runs stay until it ends.
func aliveLoading(t *testing.T, target string, orders int) uint64 {
	t.Helper()
	path := write(t, "g.yaml", fmt.Sprintf("groupNames: g1\ng1: {operations: o, threadCount: 4, totalInvocationCount: %d}\n"+
		"o: {map: nw/orders, testCase: putall, batchSize: 100, totalEntryCount: %d, factory.class: order}\n", orders/100, orders))
	stop, done := make(chan struct{}), make(chan struct{})
	var alive []uint64
	go func() { // ends when stop is closed
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			alive = append(alive, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	o, f := runs(t, target, []string{path}, "namespace", "million", "cleanup", "on")
	close(stop)
	<-done
	errorless(t, o)
	assert.Equal(t, int64(orders), f.Groups[0].Ops[0].Entries)
	before := alive[0]
	slices.Sort(alive)
	return alive[len(alive)/2] - before
}
