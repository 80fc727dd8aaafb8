package eventstoretest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Facts returns facts of a run like th2's: two steps of three minutes, the second of
// which is too much, and a drain. All numbers are made up.
func Facts() *report.Facts {
	const every, step = int64(5 * time.Second), int64(180 * time.Second)
	f := &report.Facts{
		Schema: "cradle", Store: "cassandra", Transport: "RabbitMQ 3.10.8 at amqp://me:***@h:5672, durable queue", Compression: "lz4",
		Pacing: "ticked", Durability: "commit log synced every 10 s", Book: "estore_perf_test_01", Page: "p1", Scope: "qa_session_01",
		Config: map[string]string{
			"tickRate": "1", "prefetchCount": "160", "maxTaskCount": "128", "maxTaskDataSize": "512MiB", "timeout": "5s", "query": "after", "compression": "lz4",
			"bookName": "estore_perf_test_01", "scope": "qa_session_01", "generationMode": generate.SingleRoot, "treeDepth": "0", "childCount": "0", "failureRate": "0",
			"descriptionLength": "0", "bodyKind": generate.BodyTable, "bodyDataLength": "200", "attachedMessages": "1",
		}, SeriesEveryNs: every,
		Ledger: report.Ledger{Generated: 36_000_000, Sent: 36_000_000, Confirmed: 36_000_000, Acked: 36_000_000, Read: true, Once: 36_000_000, ReadNs: 9e10},
		Drain:  &report.Drain{FromNs: 2 * step, ToNs: 2*step + 40*int64(time.Second), Backlog: 3_000_000},
		Limits: report.Limits{MaxTasks: 128, MaxTaskBytes: 512 << 20, PeakTasks: 128, PeakBytes: 71 << 20},
		Search: &report.Search{Rate: 90_000, Trials: []report.SearchTrial{
			{Rate: 90_000, ToNs: 2e10, Stored: 90_001, Slope: -3, Held: true, Why: "the backlog stays bounded"},
			{Rate: 100_000, FromNs: 2e10, ToNs: 4e10, Stored: 91_000, Slope: 9_000, Why: "the backlog grew by 9000 events/s"},
		}},
		Machine: report.Machine{Processor: "Some CPU @ 2.30GHz", Memory: 16 << 30},
		Crashes: []int64{7e10}, Errors: []report.Error{{Text: "timeout", Count: 3}},
	}
	for i, received := range []float64{99_000, 80_600} {
		b, events := 300+100*i, int64(received*180)
		f.Steps = append(f.Steps, report.Step{
			Name: string(rune('1' + i)), FromNs: int64(i) * step, ToNs: int64(i+1) * step, Batch: b, Rate: 100_000, Generators: 2, Payload: 1155, MaxBatch: b,
			Offered: report.Amount{Events: 18_000_000, Batches: 60_000}, Sent: report.Amount{Events: 18_000_000, Batches: 60_000}, Confirmed: report.Amount{Events: 18_000_000, Batches: 60_000},
			Received: report.Amount{Events: events, Batches: events / int64(b)}, Stored: report.Amount{Events: events, Batches: events / int64(b)}, Acked: report.Amount{Events: events, Batches: events / int64(b)},
			ReceivedBytes: events * 1495, RawBytes: events * 1345, CompressedBytes: events * 249, LinkBytes: events * 105, StoredBytes: events * 354,
			Rows: events / int64(b), Statements: events / int64(b), Retries: int64(i), BlockedNs: int64(i) * 6e10,
			Latency: []report.StageLatency{{Stage: report.StageDurable, Count: 60_000, Mean: 4e7, P50: 3e7, P95: 9e7, P99: 2e8, P999: 5e8, Max: 9e8}},
		})
	}
	f.Steps = append(f.Steps, report.Step{Name: "drain", FromNs: 2 * step, ToNs: f.Drain.ToNs, Batch: 400, Received: report.Amount{Events: 3_000_000, Batches: 7500}, Stored: report.Amount{Events: 3_000_000, Batches: 7500}, Acked: report.Amount{Events: 3_000_000, Batches: 7500}})
	us, them := report.Process{Role: "perfbench", PID: 11, Name: "perfbench"}, report.Process{Role: "cassandra", PID: 12, Name: "java", Note: "network is the content of its TCP connections, as the kernel counts it"}
	for t := every; t <= 2*step; t += every {
		second := 0
		if t > step {
			second = 1
		}
		k := t / every
		f.Series = append(f.Series, report.SeriesPoint{
			AtNs: t, Step: second, Offered: 100_000, Sent: 100_000, Received: []float64{99_000, 80_600}[second] + 500*float64(k%3-1), Stored: 80_000,
			BatchEvents: float64(300 + 100*second), BatchBytes: float64(300+100*second) * 1495, EventBytes: 1495, Raw: 1.3e8, Compressed: 2.5e7,
			Ready: k * int64(second), Unacked: 160, QueuedBytes: -1, BacklogEvents: 1000 + int64(second)*(t-step)/5e4, LagNs: int64(second) * 5e9, Tasks: 128, TaskBytes: 1 << 26,
		})
		us.Points = append(us.Points, report.ResourcePoint{AtNs: t, CPU: new(2.5 + float64(second)/4), Throttled: new(0.13), RSS: new(int64(200 << 20)), NetIn: new(1e7), NetOut: new(2e7), Heap: new(int64(90 << 20)), OldGCs: new(k % 7), GCTimeNs: new(int64(1e6))})
		them.Points = append(them.Points, report.ResourcePoint{
			AtNs: t, CPU: new(1.2), RSS: new(int64(5800 << 20)), LoadPerCPU: new(1.35), Load5PerCPU: new(1.2), Load15PerCPU: new(0.9), MachineUsed: new(int64(6500 << 20)), NetIn: new(3.5e7), NetOut: new(1e6), Heap: new(int64(1 << 30)), HeapMax: new(int64(4 << 30)),
			Old: new(int64(881 << 20)), Young: new(int64(300 << 20)), OldGCs: new(int64(0)), YoungGCs: new(int64(18)), GCTimeNs: new(int64(16e8)),
		})
	}
	f.Processes = []report.Process{us, them}
	return f
}

// Folder returns the folder of a run with these facts.
func Folder(t *testing.T, f *report.Facts) *rundir.Folder {
	t.Helper()
	data, err := json.Marshal(f)
	require.NoError(t, err)
	return &rundir.Folder{Run: rundir.Run{
		ID: "260102-030405-event-store-cassandra", Profile: report.Profile, Unit: "events", Target: "cassandra://me:***@h/ks",
		Store:   rundir.Store{Name: "cassandra", Product: "Apache Cassandra", Version: "5.0.9", Topology: "1 node"},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), EndedBy: "duration", Seed: 1, Settings: map[string]float64{"threads": 2, "rate": 100_000, "batch": 300},
		Origins: map[string]string{"prefetchCount": "file estore.yaml:9", "maxTaskCount": "file estore.yaml:4"},
		Operations: []rundir.Operation{
			{Track: "events", Op: "publish", Count: 36_000_000, Calls: 105_000},
			{Track: "queries", Op: "range", Count: 50_000, Calls: 100, Errors: 1, ActiveS: 10, Response: rundir.Latency{Mean: 1e7, P50: 9e6, P95: 2e7, P99: 3e7, P999: 4e7, Max: 5e7}},
		},
		Verification: workload.Verification{State: workload.Passed, Summary: "36000000 events are stored exactly once"},
		Verdict:      rundir.Verdict{State: "VALID"}, Environment: map[string]any{"cpus": 2, "os": "linux", "arch": "amd64", "perfbench": "test", "go": "go1.26"},
		Notices: []string{"a notice"}, Facts: data,
	}}
}
