package eventstore_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Three workers write what one process would, and it is told and verified as that of one.
func TestWorkersWriteWhatOneProcessWould(t *testing.T) {
	t.Parallel()
	c := caseOf(labtest.Redis(t).URL(), "threads=3", "events=3000", "batch=100", "treeDepth=2", "childCount=2", "payload=300", "queryThreads=3", "queries=30", "seed=3")
	one, all := c.Run(t), c.Together(t, 3)
	require.NoError(t, one.Err)
	assert.Equal(t, workload.Passed, all.Run.Verification.State, "%+v", all.Run.Verification)
	assert.Equal(t, one.Run.Verification, all.Run.Verification)
	for _, op := range []string{"publish", "tree"} {
		want, _ := operation(&one.Run, "events", op)
		got, errs := operation(&all.Run, "events", op)
		assert.Equal(t, want, got, op)
		assert.Zero(t, errs, op)
	}
	for _, op := range report.QueryOps { // which rows are asked for is a matter of chance
		got, errs := operation(&all.Run, "query", op)
		assert.Positive(t, got, op)
		assert.Zero(t, errs, op)
	}
	want, got := profiletest.Facts[report.Facts](t, one), profiletest.Facts[report.Facts](t, all)
	require.NotEmpty(t, want.Steps)
	assert.NotEmpty(t, want.Process(report.RoleOwn).Points)
	own := got.Process(report.RoleOwn)
	assert.True(t, slices.ContainsFunc(own.Points, func(x report.ResourcePoint) bool { return x.RSS != nil && x.Heap != nil }), "of the workers, not of who conducts")
	assert.Contains(t, own.Note, "3 workers together")
	for _, f := range []*report.Facts{&want, &got} {
		assert.True(t, slices.IsSortedFunc(f.Series, func(a, b report.SeriesPoint) int { return cmp.Compare(a.AtNs+f.SeriesEveryNs/2, b.AtNs) }), "one series, whose samples are a second apart")
		assert.NotNil(t, f.Drain)
		f.Page, f.Ledger.ReadNs, f.Ledger.OutOfOrder, f.Series, f.Processes, f.Drain, f.Limits = "", 0, 0, nil, nil, nil, report.Limits{}
	}
	// In one process it is a matter of chance which generator makes how many, and so how
	// long their numbers are.
	first, stages := whole(&want)
	second, more := whole(&got)
	assert.InEpsilon(t, first.SentBytes, second.SentBytes, 0.01)
	assert.InEpsilon(t, first.StoredBytes, second.StoredBytes, 0.01)
	for _, s := range []*report.Step{&first, &second} {
		s.SentBytes, s.ReceivedBytes, s.RawBytes, s.CompressedBytes, s.LinkBytes, s.StoredBytes = 0, 0, 0, 0, 0, 0
	}
	assert.Equal(t, first, second)
	assert.Equal(t, stages, more)
	want.Steps, got.Steps = nil, nil
	assert.Equal(t, want, got)
}

// On Cassandra three workers store in batches of rows that no other has.
func TestWorkersStoreInCassandra(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestWorkersWriteWhatOneProcessWould, and TestStores on Cassandra")
	c := caseOf(labtest.Cassandra(t).Patient(), "namespace=together", "threads=3", "events=1500", "batch=100", "payload=300", "queryThreads=3", "queries=12")
	o := c.Together(t, 3)
	require.NoError(t, o.Err)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	var stored, errs int64
	for _, op := range o.Run.Operations {
		errs += op.Errors
	}
	f := profiletest.Facts[report.Facts](t, o)
	for i := range f.Steps {
		stored += f.Steps[i].Stored.Events
	}
	assert.Zero(t, errs)
	assert.EqualValues(t, 1500+3, stored, "the events, and a root of each generator")
	require.Len(t, o.Run.Workers, 3)
	for _, w := range o.Run.Workers {
		assert.Positive(t, w.Count)
	}
}

// whole adds up the steps, as how much is stored after the load is a matter of chance, and
// how many batches went through each stage.
func whole(f *report.Facts) (sum report.Step, stages map[string]int64) {
	stages = map[string]int64{}
	for i := range f.Steps {
		addTo(&sum, &f.Steps[i])
		for _, l := range f.Steps[i].Latency {
			stages[l.Stage] += l.Count
		}
	}
	delete(stages, report.StageStore) // as many in a call as there happen to be
	return sum, stages
}

// addTo adds what is counted in a step.
func addTo(sum, s *report.Step) {
	sum.Rate, sum.Generators, sum.MaxBatch = sum.Rate+s.Rate, sum.Generators+s.Generators, max(sum.MaxBatch, s.MaxBatch)
	sum.Batch, sum.Payload = cmp.Or(sum.Batch, s.Batch), cmp.Or(sum.Payload, s.Payload)
	for _, a := range []struct{ to, from *report.Amount }{
		{&sum.Offered, &s.Offered},
		{&sum.Sent, &s.Sent},
		{&sum.Confirmed, &s.Confirmed},
		{&sum.Received, &s.Received},
		{&sum.Stored, &s.Stored},
		{&sum.Acked, &s.Acked},
	} {
		a.to.Events, a.to.Batches = a.to.Events+a.from.Events, a.to.Batches+a.from.Batches
	}
	for _, a := range []struct{ to, from *int64 }{
		{&sum.SentBytes, &s.SentBytes},
		{&sum.ReceivedBytes, &s.ReceivedBytes},
		{&sum.RawBytes, &s.RawBytes},
		{&sum.CompressedBytes, &s.CompressedBytes},
		{&sum.LinkBytes, &s.LinkBytes},
		{&sum.StoredBytes, &s.StoredBytes},
		{&sum.Rows, &s.Rows},
		{&sum.Retries, &s.Retries},
		{&sum.DeadLettered, &s.DeadLettered},
	} {
		*a.to += *a.from
	}
}

// What killed workers had left to make and to query is done by others: as many events are counted as
// were asked for, and whatever was acknowledged is there once.
func TestWhatKilledWorkersLeftIsDoneByOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target string
		after  []int64
	}{
		"redis":     {labtest.Redis(t).URL(), []int64{600, 1200}},
		"cassandra": {labtest.Cassandra(t).Patient(), []int64{600}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "redis" {
				tier.Full(t, "the case redis")
			}
			set := []string{"threads=6", "events=4003", "batch=20", "treeDepth=2", "childCount=2", "payload=300", "rate=300", "queryThreads=3", "queries=60"}
			o := caseOf(c.target, append(set, "namespace=lost", "seed=3")...).Losing(t, 3, c.after...)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			made, errs := operation(&o.Run, "events", "publish")
			assert.EqualValues(t, 4003, made)
			assert.Zero(t, errs)
			f := profiletest.Facts[report.Facts](t, o)
			assert.GreaterOrEqual(t, f.Ledger.Acked, int64(4003+6*7), "and the trees")
			assert.Zero(t, f.Drain.Left)
			for _, op := range report.QueryOps {
				got, errs := operation(&o.Run, "query", op)
				assert.Positive(t, got, op)
				assert.Zero(t, errs, op)
			}
		})
	}
}

// What cannot be divided is refused with the reason, before anything starts.
func TestWorkThatCannotBeDivided(t *testing.T) {
	t.Parallel()
	for why, set := range map[string][]string{
		"search=on paces the generators":          {"search=on", "rate=1000"},
		"batches in one queue":                    {"via=amqp://guest:guest@127.0.0.1:5672/"},
		"crash ends the store stage":              {"crash=1s"},
		"event-store has 2 threads and there are": {"threads=2", "queryThreads=3"},
		"track query has 2 threads":               {"threads=3"},
		"there are 2 events for 3 generators":     {"threads=3", "queryThreads=3", "events=2"},
	} {
		p, err := caseOf("redis://127.0.0.1:1", set...).Prepare(t.Context(), t)
		require.NoError(t, err, why)
		assert.ErrorContains(t, p.Plan.Divide(0, 3), why)
	}
}

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	caseOf(labtest.Redis(t).URL(), "threads=2", "events=300", "batch=10", "payload=64", "queries=4").Hostile(t)
}
