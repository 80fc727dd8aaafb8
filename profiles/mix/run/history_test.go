package run_test

import (
	"cmp"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"

	"github.com/perfbench/perfbench/profiles/mix/run"
)

const registers = `
data: {product: {records: 8, size: 64}}
operations: {look: {get: product}, change: {put: product}}
mix: {look: 99, change: 1}`

// linearizable is what became of the check.
func linearizable(t *testing.T, b bound) *histories.Outcome {
	t.Helper()
	facts, ok := b.Facts(nil).(*run.Facts)
	require.True(t, ok)
	require.NotNil(t, facts.Linearizable)
	return facts.Linearizable
}

// once returns a store that answers read number at of a record with what the record had been before its last
// write, while that write is over; it has happened once hit is 1.
func once(at int, hit *atomic.Int64) watched {
	old, now := map[string]string{}, map[string]string{}
	reads := 0
	return watched{after: func(c *model.Call) {
		for i := range c.Rows {
			row := &c.Rows[i]
			key := string(row.Key)
			switch {
			case c.Do == model.Put:
				old[key], now[key] = now[key], string(row.Vals[0])
			case c.Do == model.Get:
				reads++
				if reads >= at && old[key] != "" && hit.CompareAndSwap(0, 1) {
					copy(row.Vals[0], old[key])
				}
			}
		}
	}}
}

// One stale read is found in each of twenty runs.
func TestOneStaleReadAmongMany(t *testing.T) { staleAmong(t, 5_000) }

func TestProofThatOneStaleReadIsFoundAmong100000(t *testing.T) {
	tier.Proof(t, "TestOneStaleReadAmongMany finds it among 5,000")
	staleAmong(t, 100_000)
}

func staleAmong(t *testing.T, calls int) {
	t.Helper()
	for trial := range 20 {
		var hit atomic.Int64
		w := parse(t, registers)
		b := bind(t, &run.Spec{Work: w, Seed: int64(trial), Check: histories.Check}, once(calls/2+trial*100, &hit))
		k := b.task(t, 0, settings(w))
		for i := range int64(calls) {
			_ = at(t, k, i) // what is wrong is asked below
		}
		require.EqualValues(t, 1, hit.Load(), "trial %d", trial)
		v := b.plan.Verify(t.Context())
		l := linearizable(t, b)
		assert.Equal(t, histories.Violated, l.State, "trial %d: %+v", trial, l)
		assert.EqualValues(t, 1, l.Violated, "trial %d", trial)
		assert.Equal(t, workload.Failed, v.State)
	}
}

func TestAnHonestStoreIsLinearizable(t *testing.T) {
	const clients, calls = 8, 2_000
	w := parse(t, registers)
	b := bind(t, &run.Spec{Work: w, Seed: 1, Check: histories.Check}, watched{})
	done := make(chan struct{}, clients)
	for worker := range clients {
		k := b.task(t, worker, settings(w))
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range int64(calls) {
				k.Seq = i*clients + int64(worker)
				if !assert.NoError(t, k.Do(t.Context())) {
					return
				}
			}
		}()
	}
	for range clients {
		<-done
	}
	v := b.plan.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, v.Summary)
	l := linearizable(t, b)
	assert.Equal(t, histories.OK, l.State, "%+v", l)
	assert.EqualValues(t, clients*calls, l.Calls, "each call is about one of the eight records that are followed")
	assert.Contains(t, v.Summary, "16000 calls of 8 hot records are linearizable")
}

// Values that are too short for a version say nothing, and that is said.
func TestWhatCannotBeDecidedIsUnknown(t *testing.T) {
	w := parse(t, "data: {product: {records: 8, size: 10}}\noperations: {look: {get: product}, change: {put: product}}")
	b := bind(t, &run.Spec{Work: w, Seed: 1, Check: histories.Check}, watched{})
	k := b.task(t, 0, settings(w))
	for i := range int64(100) {
		require.NoError(t, at(t, k, i))
	}
	v := b.plan.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "unknown is not wrong")
	assert.Equal(t, histories.Unknown, linearizable(t, b).State)
	assert.Contains(t, v.Summary, "unknown: there were values of less than 16 bytes")
}

// What it costs to keep histories, on a store that costs next to nothing: the difference in ns/op
// is what each call on a store pays.
func BenchmarkCalls(b *testing.B) {
	for _, check := range []string{"", histories.Check} {
		b.Run("check="+cmp.Or(check, "values"), func(b *testing.B) {
			w, err := own.Read("bench", "data: {product: {records: 10_000, size: 100}}\noperations: {look: {get: product, keys: zipf 0.99}, change: {put: product, keys: zipf 0.99}}\nmix: {look: 95, change: 5}")
			require.NoError(b, err)
			p := bind(b, &run.Spec{Work: w, Seed: 1, Check: check}, watched{atOnce: true})
			tr := p.plan.Phases[0].Tracks[0]
			tr.Start = settings(w)
			k := steps.Of(b, &tr, 0)
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				k.Seq, k.Forget = i, true
				if err := k.Do(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
