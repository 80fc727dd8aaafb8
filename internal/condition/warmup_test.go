package condition_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/condition"
)

// settles tells after how many seconds a warm-up has settled in which a call takes as long
// as said at a second, for four callers; 0: not within two minutes.
func settles(takes func(second int) time.Duration) int {
	var w condition.Warmup
	for i := range 120 {
		d := takes(i)
		if w.Add(4/d.Seconds(), d*3/2) {
			return i + 1
		}
	}
	return 0
}

func TestAWarmupLastsUntilTheRunIsLevel(t *testing.T) {
	falls := func(i int) time.Duration { return time.Duration(5+max(7-i, 0)*3) * time.Millisecond }
	n := settles(falls)
	assert.Greater(t, n, 7)
	assert.Less(t, n, 15)
	assert.LessOrEqual(t, settles(func(int) time.Duration { return time.Millisecond }), 5)
	assert.Zero(t, settles(func(i int) time.Duration { return time.Duration(1e6 * math.Pow(1.05, float64(i))) }), "it grows for ever")
	assert.Zero(t, settles(func(i int) time.Duration { return time.Duration(1e9 * math.Pow(0.95, float64(i))) }), "it falls for ever")
}

// Throughput of an open loop says nothing: it is what was asked for.
func TestAWarmupWaitsForTheSlowerOfThroughputAndP99(t *testing.T) {
	var w condition.Warmup
	n := 1
	for ; n < 120 && !w.Add(1000, time.Duration(5+max(12-n, 0))*time.Millisecond); n++ {
	}
	assert.Greater(t, n, 12)
	assert.Less(t, n, 24)
}

// That nothing is done is level and has not settled. What is done later is not kept waiting
// for as long as that lasted.
func TestAWarmupDoesNotSettleOnNothing(t *testing.T) {
	var w condition.Warmup
	add := func(n int, perSecond float64, p99 time.Duration) (settled int) {
		for i := range n {
			if w.Add(perSecond, p99) {
				return i + 1
			}
		}
		return 0
	}
	assert.Zero(t, add(100, 0, 0))
	assert.Equal(t, 5, add(100, 1000, time.Millisecond))
	assert.Zero(t, add(100, 0, 0))
}

// Noise is no trend: a fifth of scatter from second to second keeps hardly any run warming
// up for half a minute.
func TestNoiseDoesNotKeepARunWarmingUp(t *testing.T) {
	long := 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		if n := settles(func(int) time.Duration { return time.Duration(1e6 * math.Exp(0.2*rnd.NormFloat64())) }); n == 0 || n > 30 {
			long++
		}
	}
	assert.LessOrEqual(t, long, 4)
}

func TestTheLongestWarmup(t *testing.T) {
	for of, want := range map[time.Duration]time.Duration{
		0: 2 * time.Minute, time.Second: 15 * time.Second, 45500 * time.Millisecond: 45 * time.Second, time.Hour: 2 * time.Minute,
	} {
		assert.Equal(t, want, condition.LongestWarmup(of), of.String())
	}
}
