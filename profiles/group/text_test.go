package group

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/report"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// documented is the complete example of the documented layout.
const documented = `******************************************
Group Test
******************************************

                       Product: redis
                         Group: g1
           Concurrent Group(s): g1 & g2
                       Comment: put() and get() mix
                    Operations: put1,get1
                Test Run Count: 2
      Test Run Interval (msec): 100
Total Invocation Count per Run: 1003
                  Thread Count: 4
   Invocation Count per Thread: 250

Start Time: Mon Mar 03 09:20:00 UTC 2025

Actual Total Number of Invocations: 2000

Time unit: msec
   Thread 1: 640
   Thread 2: 655
   Thread 3: 631
   Thread 4: 648

                Max Time (msec): 655
            Elapsed Time (msec): 868
         Total Invocation Count: 2000
 M Throughput (invocations/sec): 3053.4351
M Latency per invocation (msec): 0.3275
 E Throughput (invocations/sec): 2304.1475
E Latency per invocation (msec): 0.434

Stop Time: Mon Mar 03 09:20:00 UTC 2025

`

func documentedRun(t *testing.T) *rundir.Folder {
	t.Helper()
	start := time.Date(2025, 3, 3, 9, 20, 0, 0, time.UTC)
	stop := start.Add(868 * time.Millisecond)
	facts, err := json.Marshal(report.Facts{Schema: 1, Zone: "UTC", TestCount: 2, IntervalMS: 100, Groups: []report.TrackFacts{{
		Group: "g1", Track: "g1", Concurrent: "g1 & g2", Comment: "put() and get() mix", Operations: "put1,get1", Total: 1003, PerThread: 250, Threads: 4,
		Started: &start, Stopped: &stop, Acknowledged: 2000, ThreadMS: []int64{640, 655, 631, 648},
	}}})
	require.NoError(t, err)
	return &rundir.Folder{Run: rundir.Run{Profile: Name, Store: rundir.Store{Name: "redis"}, Facts: facts}}
}

func TestTextIsTheDocumentedOne(t *testing.T) {
	files, err := report.Encode(documentedRun(t))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "group-g1-redis-250303-092000.txt", files[0].Name)
	assert.Equal(t, documented, string(files[0].Data))
}

func TestTextOfADatabaseAndOfAFailedVerification(t *testing.T) {
	f := documentedRun(t)
	var facts report.Facts
	require.NoError(t, json.Unmarshal(f.Run.Facts, &facts))
	facts.Database = true
	facts.Groups = append(facts.Groups, facts.Groups[0])
	var err error
	f.Run.Facts, err = json.Marshal(facts)
	require.NoError(t, err)
	f.Run.Verification.State = workload.Failed
	files, err := report.Encode(f)
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Contains(t, string(files[0].Data), "\nGroup Test (Dababase)\n")
	assert.Contains(t, string(files[0].Data), "M Throughput (invocations/sec): NaN\n")
	assert.Equal(t, "group-g1-redis-250303-092001.txt", files[1].Name, "the same group again gets a name of its own")
}

func TestTextOfARunThatDidNothing(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Profile: Name, Store: rundir.Store{Name: "redis"}, Started: time.Date(2025, 3, 3, 9, 20, 0, 0, time.UTC), Parameters: map[string]string{
		"groupNames": "a&b,c", "a.threadCount": "2", "a.totalInvocationCount": "10", "testCount": "1",
	}}}
	files, err := report.Encode(f)
	require.NoError(t, err)
	require.Len(t, files, 3)
	assert.Contains(t, string(files[0].Data), "Concurrent Group(s): a & b\n")
	assert.Contains(t, string(files[0].Data), "Invocation Count per Thread: 5\n")
}

func TestCSVIsThatOfCreateCSV(t *testing.T) {
	files, err := padogrid.CSVFormat(Name, Format()).Encode(documentedRun(t))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "results-group.csv", files[0].Name)
	assert.Equal(t, "perf_test, File, Product, Group, Concurrent Groups, Operations, Comment, Test Run Count, Test Run Interval (msec), Total Invocation Count Per Run, "+
		"Thread Count, Invocation Count per Thread, Start Time, Stop Time, Actual Total Number of Invocations, Max Time (msec), Elapsed Time (msec), "+
		"Total Invocation Count, M Throughput invocations/sec), M Latency (msec), E Throughput (invocations/sec), E Latency (msec)\n"+
		"perf_test, group-g1-redis-250303-092000.txt, redis, g1, g1 & g2, put1,get1, put() and get() mix, 2, 100, 1003, 4, 250, "+
		"Mon Mar 03 09:20:00 UTC 2025, Mon Mar 03 09:20:00 UTC 2025, 2000, 655, 868, 2000, 3053.4351, 0.3275, 2304.1475, 0.434\n", string(files[0].Data))
}
