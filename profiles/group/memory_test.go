package group

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// TestOrdersLoadWithoutGrowthInMemory loads 20,000 orders, or as many as the variable
// PERFBENCH_TEST_ORDERS says, and looks at the heap and, on Linux, at the resident
// memory of this process all the while.
func TestOrdersLoadWithoutGrowthInMemory(t *testing.T) {
	orders := 20_000
	if text := os.Getenv("PERFBENCH_TEST_ORDERS"); text != "" {
		var err error
		orders, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	target := labtest.Shared(t, "mariadb").URL()
	path := write(t, "g.yaml", fmt.Sprintf("groupNames: g1\ng1: {operations: o, threadCount: 4, totalInvocationCount: %d}\n"+
		"o: {map: nw/orders, testCase: putall, batchSize: 100, totalEntryCount: %d, factory.class: order}\n", orders/100, orders))
	stop, done := make(chan struct{}), make(chan struct{})
	var heap, resident []uint64
	go func() { // ends when stop is closed
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap, resident = append(heap, m.HeapInuse), append(resident, residentBytes())
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	began := time.Now()
	o, f := runs(t, target, []string{path}, "namespace", "million", "cleanup", "on")
	took := time.Since(began)
	close(stop)
	<-done
	errorless(t, o)
	assert.Equal(t, int64(orders), f.Groups[0].Ops[0].Entries)
	part := len(heap) / 3
	require.Positive(t, part)
	const mib = 1 << 20
	first, last := slices.Max(heap[:part]), slices.Max(heap[len(heap)-part:])
	t.Logf("%d orders in %s; heap: at most %d MiB in the first third, %d MiB in the last; resident: %d and %d MiB", orders, took.Round(time.Millisecond),
		first/mib, last/mib, slices.Max(resident[:part])/mib, slices.Max(resident[len(resident)-part:])/mib)
	assert.Less(t, last, first+32*mib)
}

// residentBytes is the resident memory of this process, 0 where that is not told.
func residentBytes() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64) // 0 when it is no number
	return pages * uint64(os.Getpagesize())
}
