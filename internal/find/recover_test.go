package find

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// recovering searches on a store of known capacity, on the virtual clock, with callers of a
// policy who come independently.
func recovering(t *testing.T, target string, threads int, asked Asked, c workload.Client, seed int64) Result {
	t.Helper()
	plan := putting(t, target, threads)
	o, err := Read(asked, plan)
	require.NoError(t, err)
	o.Time = 50 * time.Minute
	require.NotNil(t, o.Recovery)
	require.NoError(t, o.Recovery.Until(c.Deadline))
	r, _ := carriedOut(t, o, nil, engine.Options{
		Plan: plan, Classes: store.ClassNames, Timeout: uint8(store.Timeout),
		Classify: func(err error) uint8 {
			if errors.Is(err, context.DeadlineExceeded) {
				return uint8(store.Timeout)
			}
			return uint8(store.Other)
		},
		Client: c, Retryable: store.Retryable, Seed: seed, Arrivals: workload.Arrivals{Poisson: true},
	})
	return r
}

// Four servers of 16 ms do 250 calls a second, also those that nobody waits for any more. Callers
// who give up after 200 ms, and try twice more, make three calls of one once the queue is longer
// than that: it comes back from a third of what it can do, and never from more.
func TestAStoreComesBackFromWhatItCanDoWithRetries(t *testing.T) {
	tier.Slow(t, tier.Computes)
	assert.Equal(t, 1, comesBack(t, 0, 1))
}

func TestProofThatNineOfTenSearchesForRecoveryAreRight(t *testing.T) {
	tier.Proof(t, "TestAStoreComesBackFromWhatItCanDoWithRetries is one of them")
	assert.GreaterOrEqual(t, comesBack(t, 10, 20), 9)
}

// comesBack returns how many searches with these seeds find what is true.
func comesBack(t *testing.T, from, to int64) (right int) {
	for seed := from; seed < to; seed++ {
		synctest.Test(t, func(t *testing.T) {
			r := recovering(t, "memory:?service=16ms&servers=4", 256, Asked{Under: []string{"recovers<60s"}},
				workload.Client{Deadline: 200 * time.Millisecond, Retries: 2, Backoff: 20 * time.Millisecond}, seed)
			if r.Found > 0.9*250/3 && r.Found < 1.1*250/3 && r.Complete {
				right++
				return
			}
			t.Logf("found %v, too much %v, %s", r.Found, r.TooMuch, r.Why)
			for _, s := range r.Steps {
				t.Logf("%v %v %+v", s.Level, s.Why, s.Recovered)
			}
		})
	}
	return right
}

// Callers who try nothing again let it come back from nearly what it can do; so do those with a
// budget of a tenth.
func TestAStoreComesBackWithoutRetries(t *testing.T) {
	tier.Full(t, "TestAStoreComesBackFromWhatItCanDoWithRetries does the same search")
	for name, c := range map[string]struct {
		client workload.Client
		want   float64
	}{
		"no retries":       {workload.Client{Deadline: 200 * time.Millisecond}, 250},
		"a budget of 10 %": {workload.Client{Deadline: 200 * time.Millisecond, Retries: 2, Budget: 0.1}, 227},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := recovering(t, "memory:?service=16ms&servers=4", 256, Asked{Under: []string{"recovers<60s"}}, c.client, 3)
				assert.InDelta(t, c.want, r.Found, 0.12*c.want, "%+v", r.Steps)
				assert.Equal(t, ByStore, r.Limit.By)
			})
		})
	}
}

func TestRecoveryIsReadAsACondition(t *testing.T) {
	plan := putting(t, "memory:", 1)
	for text, want := range map[string]Recovery{
		"recovers":                {Within: 30 * time.Second},
		"recovers<1m":             {Within: time.Minute},
		"recovers < 10s after 2s": {Pulse: 2 * time.Second, Within: 10 * time.Second},
		"recovers after 500ms":    {Pulse: 500 * time.Millisecond, Within: 30 * time.Second},
	} {
		o, err := Read(Asked{Under: []string{text}}, plan)
		require.NoError(t, err)
		assert.Equal(t, &want, o.Recovery, text)
	}
	for says, a := range map[string]Asked{
		`"<1s" is not the time that it may take`:   {Under: []string{"recovers<1s"}},
		`"30s" is not the time that it may take`:   {Under: []string{"recovers 30s"}},
		`"soon" is not how long an overload lasts`: {Under: []string{"recovers after soon"}},
		`recovers is no condition beside others`:   {Under: []string{"recovers", "p99<1ms"}},
		`over: what recovers from is a rate`:       {Under: []string{"recovers"}, Over: OverThreads},
	} {
		_, err := Read(a, plan)
		assert.ErrorContains(t, err, says, fmt.Sprint(a))
	}
	assert.Equal(t, []string{"recovers"}, Recovering(nil))
	own := []string{" recovers<10s after 2s"}
	assert.Equal(t, own, Recovering(own), "asked for by the flag, too, it is not there twice")
	assert.Equal(t, []string{"p99<1ms", "recovers"}, Recovering([]string{"p99<1ms"}), "which Read refuses")
}

func TestAnOverloadLastsLongEnough(t *testing.T) {
	for _, c := range []struct{ deadline, pulse, want time.Duration }{
		{50 * time.Millisecond, 0, time.Second},
		{time.Second, 0, 5 * time.Second},
		{time.Second, 3 * time.Second, 3 * time.Second},
	} {
		r := Recovery{Pulse: c.pulse}
		require.NoError(t, r.Until(c.deadline))
		assert.Equal(t, Recovery{Pulse: c.want, Deadline: c.deadline}, r)
	}
	assert.ErrorContains(t, new(Recovery{}).Until(0), "has to know when an answer is too late")
	assert.ErrorContains(t, new(Recovery{Pulse: time.Second}).Until(time.Second), "an overload of 1s is too short for answers to be later than 1s")
}
