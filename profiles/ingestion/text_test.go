package ingestion

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// folderOf is the folder of a finished run whose figures are those of the
// document in testdata.
func folderOf(t *testing.T, change func(*rundir.Run, *MapFacts)) *rundir.Folder {
	t.Helper()
	start := time.Date(2025, 3, 3, 9, 5, 7, 200e6, time.UTC)
	stop := start.Add(1845 * time.Millisecond)
	m := MapFacts{
		Map: "profile", TestCase: "putall", Batched: true, TotalEntryCount: 10000, PerThread: 2500, ThreadCount: 4, BatchSize: 250,
		PayloadBytes: 2048, Started: &start, Stopped: &stop, Attempted: 20000, Acknowledged: 20000, ThreadMS: []int64{812, 797, 845, 830},
	}
	r := rundir.Run{ID: "250303-090507-ingestion-redis", Profile: Name, Store: rundir.Store{Name: "redis"}, Started: start, Ended: stop}
	r.Verification.State = workload.Passed
	change(&r, &m)
	var err error
	r.Facts, err = json.Marshal(Facts{Schema: 1, Zone: "UTC", Prefix: "x", MemberSetSize: 5, Layout: "map", TestCount: 2, IntervalMS: 500, Maps: []MapFacts{m}})
	require.NoError(t, err)
	return &rundir.Folder{Run: r}
}

func TestText(t *testing.T) {
	files, err := Format().Encode(folderOf(t, func(*rundir.Run, *MapFacts) {}))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "ingestion-profile-redis-250303-090507_x.txt", files[0].Name)
	golden.RequireEqual(t, files[0].Data)
}

func TestTextVariants(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*rundir.Run, *MapFacts)
		has, not string
	}{
		{
			"put has no batch size", func(_ *rundir.Run, m *MapFacts) { m.TestCase = "put" },
			"                   Test Case: put\n                         Map: profile\n              Test Run Count: 2\n", "PutAll Batch Size",
		},
		{
			"failed verification leaves no throughput", func(r *rundir.Run, _ *MapFacts) { r.Verification.State = workload.Failed },
			"   Throughput (msg/sec): NaN\n  *Throughput (KiB/sec): NaN\n  *Throughput (MiB/sec): NaN\n Latency per put (msec): NaN\n   **Total Volume (KiB): 40000\n", "∞",
		},
		{
			"nothing written", func(_ *rundir.Run, m *MapFacts) { m.Acknowledged, m.ThreadMS = 0, []int64{0, 0} },
			"   Thread 2: 0\n\n        Max Time (msec): 0\n   Throughput (msg/sec): NaN\n", "Thread 3",
		},
		{
			"under a millisecond", func(_ *rundir.Run, m *MapFacts) { m.Acknowledged, m.ThreadMS = 1, []int64{0} },
			"   Throughput (msg/sec): ∞\n", "NaN",
		},
		{"volume is of the bytes that were sent", func(r *rundir.Run, _ *MapFacts) {
			r.Segments = []rundir.Segment{
				{Settings: map[string]float64{"profile.payload": 2048, "eligibility.payload": 1}, Operations: []rundir.Operation{{Track: "profile", Count: 5000}, {Track: "eligibility", Count: 7}}},
				{Settings: map[string]float64{"profile.payload": 4096}, Operations: []rundir.Operation{{Track: "profile", Count: 15000}}},
			}
		}, "  *Throughput (KiB/sec): 82840.237\n  *Throughput (MiB/sec): 80.899\n Latency per put (msec): 0.042\n   **Total Volume (KiB): 70000\n   **Total Volume (MiB): 68.359\n   **Total Volume (GiB): 0.067\n   Payload Size (bytes): 2048\n", "40000"},
		{
			"threads are counted as they are listed", func(_ *rundir.Run, m *MapFacts) { m.ThreadMS = append(m.ThreadMS, 100, 200) },
			"                Thread Count: 6\n", "Thread Count: 4",
		},
		{"times are in the zone of the run", func(_ *rundir.Run, m *MapFacts) {
			at := m.Started.In(time.FixedZone("", -5*3600))
			m.Started = &at
		}, "Start Time: Mon Mar 03 04:05:07 UTC 2025\n", "09:05:07"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := Format().Encode(folderOf(t, c.change))
			require.NoError(t, err)
			assert.Contains(t, string(files[0].Data), c.has)
			assert.NotContains(t, string(files[0].Data), c.not)
		})
	}
}

// A run killed before its first second has no facts: its parameters will do.
func TestTextWithoutFacts(t *testing.T) {
	p := design(t, small())
	r := rundir.Run{Store: rundir.Store{Name: "redis"}, Started: time.Date(2025, 3, 3, 9, 5, 7, 0, time.UTC), EndedBy: rundir.CutShort, Parameters: map[string]string{}}
	for _, v := range p.Parameters {
		r.Parameters[v.Name] = v.Text
	}
	files, err := encode(&rundir.Folder{Run: r})
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, "ingestion-eligibility-redis-250303-090507_x.txt", files[0].Name)
	assert.Contains(t, string(files[0].Data), "          PutAll Batch Size: 20\n")
	assert.Contains(t, string(files[0].Data), "      Entry Count per Thread: 50\n")
	assert.Equal(t, 4, strings.Count(string(files[1].Data), "\n   Thread "))
	r.Facts = json.RawMessage(`{"maps": 3}`)
	_, err = encode(&rundir.Folder{Run: r})
	require.ErrorContains(t, err, "padogrid: facts of run")
}

// What a real run hands to the journal is what the document is made of.
func TestTextOfARun(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	profiletest.Work(t, p)
	data, err := json.Marshal(p.Facts(nil))
	require.NoError(t, err)
	files, err := encode(&rundir.Folder{Run: rundir.Run{Store: rundir.Store{Name: "memory"}, Facts: data}})
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Contains(t, string(files[0].Data), "\nActual Total Entry (Put) Count: 200\n")
	assert.Contains(t, files[1].Name, "ingestion-profile-memory-"+time.Now().Format("06"))
}
