package eventstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// The documented load, two generators of 50,000 events a second with a tick a second,
// for some ticks: what it comes to in every figure that follows from the load alone.
// A tick has the batch size that was in force when it began, so that each step has
// whole ticks, however slow the machine is.
func TestTheDocumentedLoadHasTheDocumentedFigures(t *testing.T) {
	t.Parallel()
	c := caseOf("null:", "pacing=ticked", "tickRate=1", "rate=100000", "threads=2", "batch=300", "events=400000", "query=off", "schema=cradle", "failureRate=0")
	c.Timetable = []string{"2500ms:batch=400"}
	o := c.Run(t)
	require.NoError(t, o.Err)
	f := profiletest.Facts[report.Facts](t, o)
	require.GreaterOrEqual(t, len(f.Steps), 2)
	for i, want := range []struct {
		mean float64
		most int
	}{{299.4, 300}, {400, 400}} {
		s := f.Steps[i]
		sent, batches := s.Sent.Events, s.Sent.Batches
		if i == 0 { // the root of each generator is a batch of its own
			sent, batches = sent-2, batches-2
		}
		require.Positive(t, batches)
		assert.Zero(t, sent%50_000, "whole ticks: %d events", sent)
		assert.InDelta(t, want.mean, float64(sent)/float64(batches), 0.05)
		assert.Equal(t, want.most, s.MaxBatch)
		assert.Equal(t, s.Sent.Batches, s.Offered.Batches, "nothing is dropped")
		assert.InEpsilon(t, 1495, float64(s.SentBytes)/float64(s.Sent.Events), 0.01, "bytes of protobuf")
		stored := float64(s.Stored.Events)
		assert.InEpsilon(t, 1345, float64(s.RawBytes)/stored, 0.01, "bytes of content")
		assert.InDelta(t, 5.4, float64(s.RawBytes)/float64(s.CompressedBytes), 0.2, "times by LZ4")
		assert.InEpsilon(t, 105, float64(s.LinkBytes)/stored, 0.05, "bytes of links: ids are shorter at first")
		assert.InEpsilon(t, 354, float64(s.CompressedBytes+s.LinkBytes)/stored, 0.02, "bytes of content and links")
	}
	var rows, batches int64 // a row may count in the step after that of its batch
	for _, s := range f.Steps {
		rows, batches = rows+s.Rows, batches+s.Stored.Batches
	}
	assert.Equal(t, batches, rows, "one row for each batch")
	assert.Equal(t, f.Ledger.Sent, f.Ledger.Acked)
	assert.Equal(t, "15s", f.Config["counterPersistenceInterval"])
}

// The preset of both documented steps, in seconds for hours: each step has its ticks to
// the event, and what comes after is the drain's.
func TestThePresetRunsBothDocumentedStepsAndTheDrain(t *testing.T) {
	t.Parallel()
	c := caseOf("null:")
	c.Preset = "documented"
	p, err := c.Prepare(t.Context(), t)
	require.NoError(t, err)
	assert.Equal(t, time.Hour, p.Inputs.Duration)
	assert.Equal(t, []string{"at 30m: batch = 400"}, p.Preview().Timetable)
	start := p.Plan.Tracks()[0].Start
	assert.Equal(t, []float64{2, 300, 100_000}, []float64{float64(start.Threads), float64(start.Batch), start.Rate})

	c = c.With("duration=4s", "rate=10000", "query=off")
	c.Timetable = []string{"2s:batch=400"} // by hand, in place of the preset's
	o := c.Run(t)
	require.NoError(t, o.Err)
	f := profiletest.Facts[report.Facts](t, o)
	require.Len(t, f.Steps, 3)
	assert.Equal(t, []string{"1", "2", "drain"}, []string{f.Steps[0].Name, f.Steps[1].Name, f.Steps[2].Name})
	// A tick that a busy machine sends late counts where it was sent.
	first, second := f.Steps[0].Sent, f.Steps[1].Sent
	assert.Zero(t, f.Steps[2].Sent.Events)
	if first.Events+second.Events < 40_002 { // the machine had no time for the last ticks, and the run says so
		assert.NotEqual(t, verdict.Valid, o.Run.Verdict.State)
		return
	}
	assert.EqualValues(t, 40_002, first.Events+second.Events, "eight ticks of 5,000, and two roots")
	assert.Zero(t, second.Events%5_000, "whole ticks: %d events", second.Events)
	assert.Greater(t, first.Events, int64(2), "the first step has ticks of its own")
	assert.Positive(t, second.Events, "and so has the second")
	assert.Equal(t, second.Events, f.Steps[1].Offered.Events, "nothing is due after the end")
	assert.True(t, slices.ContainsFunc(f.Processes[0].Points, func(x report.ResourcePoint) bool { return x.RSS != nil && x.CPU != nil }), "our own process is seen")
	assert.EqualValues(t, 40_002, f.Ledger.Acked)
	assert.Equal(t, 300, f.Steps[0].MaxBatch)
	assert.Equal(t, second.Events/5_000*13, second.Batches, "ticks of 5,000 in batches of 400")
}

// Ticks whose number of events is no multiple of anything lose neither a tick nor a
// remainder: 1001 events a second in three ticks of each of two generators.
func TestTicksLoseNoRemainders(t *testing.T) {
	t.Parallel()
	o, f := run(t, "null:", "pacing=ticked", "rate=20020", "threads=2", "batch=300", "events=30030", "tickRate=3", "payload=100", "query=off")
	require.NoError(t, o.Err)
	n, _ := operation(&o.Run, "events", "publish")
	assert.EqualValues(t, 30030, n)
	assert.EqualValues(t, 30032, f.Ledger.Acked)
	elapsed := float64(f.Steps[0].ToNs-f.Steps[0].FromNs) / 1e9
	assert.GreaterOrEqual(t, elapsed, 1.3, "nine ticks of a third of a second are not sent at once")
}

// Rate and batch size may be turned while it runs: each change is a step of its own.
func TestRateAndBatchAreLive(t *testing.T) {
	t.Parallel()
	l, err := start(t, "null:", "rate=3000", "threads=2", "batch=100", "duration=2m", "payload=100", "query=off")
	require.NoError(t, err)
	published := func(step int) { // what was due before a change belongs to the step before it
		require.Eventually(t, func() bool {
			s := l.Snapshot().Segments
			return len(s) > step && s[step].Ops[0].Count >= 10
		}, 5*time.Minute, 5*time.Millisecond)
	}
	published(0)
	l.Change("test", 0, func(s workload.Settings) workload.Settings { s.Batch = 30; return s })
	published(1)
	l.Change("test", 0, func(s workload.Settings) workload.Settings { s.Rate = 30_000; return s })
	published(2)
	l.Stop(nil)
	_, f := finish(t, l)
	require.GreaterOrEqual(t, len(f.Steps), 3)
	for i, want := range []struct {
		batch int
		rate  float64
	}{{100, 3000}, {30, 3000}, {30, 30_000}} {
		s := f.Steps[i]
		assert.Equal(t, want.batch, s.Batch)
		assert.Equal(t, want.rate, s.Rate)
		assert.LessOrEqual(t, s.MaxBatch, 100)
		assert.InEpsilon(t, want.batch, float64(s.Sent.Events)/float64(s.Sent.Batches), 0.2)
	}
	assert.Equal(t, f.Ledger.Sent, f.Ledger.Acked)
}
