package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

// What counts up is told by its growth per second, what is a state as it is.
func TestSumsBecomeRates(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	told := func(calls, memory float64) []store.Reading {
		return []store.Reading{{Name: "calls_per_s", Value: calls, Sum: true}, {Node: "b:1", Name: "calls_per_s", Value: 2 * calls, Sum: true}, {Name: "memory_bytes", Value: memory}}
	}
	row := func(s int, node, name string, v float64) rundir.Sample {
		return rundir.Sample{T: s, Source: rundir.OfStore, Node: node, Name: name, Value: v}
	}
	var c counters
	assert.Equal(t, []rundir.Sample{row(-1, "", "memory_bytes", 7)}, c.add(-1, at(0), told(100, 7)), "of a sum nothing is known yet")
	assert.Equal(t, []rundir.Sample{row(0, "", "calls_per_s", 50), row(0, "b:1", "calls_per_s", 100), row(0, "", "memory_bytes", 8)}, c.add(0, at(2000), told(200, 8)))
	assert.Empty(t, c.add(1, at(2100), told(900, 8)), "a moment is no second")
	assert.Equal(t, []rundir.Sample{row(2, "", "calls_per_s", 800), row(2, "b:1", "calls_per_s", 1600), row(2, "", "memory_bytes", 9)}, c.add(2, at(3000), told(1000, 9)))
	assert.Equal(t, []rundir.Sample{row(3, "", "memory_bytes", 1)}, c.add(3, at(4000), told(10, 1)), "it was started again")
	assert.Equal(t, []rundir.Sample{row(4, "", "calls_per_s", 10), row(4, "b:1", "calls_per_s", 20), row(4, "", "memory_bytes", 1)}, c.add(4, at(5000), told(20, 1)))
}

// silent is a server that has stopped answering.
type silent struct{}

func (silent) Usage(ctx context.Context) store.Usage {
	<-ctx.Done()
	return store.Untold()
}

func (silent) Readings(ctx context.Context) ([]store.Reading, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A store that is being asked when the run ends, has another second to tell of, and is
// to say at the end what it has used, is waited for once.
func TestASilentStoreHoldsUpTheEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Sampler{o: Options{Server: silent{}}, seconds: make(chan int, 1), anew: make(chan struct{}, 1), over: make(chan struct{}), reports: true}
		done := make(chan struct{})
		go s.Run(done, func([]rundir.Sample) {}, func(time.Time, string) {})
		s.Second(1)
		synctest.Wait()
		s.Second(2)
		close(done)
		ended := time.Now()
		<-s.Over()
		assert.Equal(t, patience, time.Since(ended))
	})
}

// Keys are told by their form, and only those of the run.
func TestOnlyKeysOfTheRunAreTold(t *testing.T) {
	t.Parallel()
	n := notes{own: "perfbench:"}
	for key, want := range map[string]string{
		"perfbench:profile":              "perfbench:profile",
		"perfbench:eligibility:{x17}":    "perfbench:eligibility:{*}",
		"perfbench:user-12:größe7é:a:0b": "perfbench:user-*:*:a:*",
		"perfbench:":                     "perfbench:",
		"session:4711":                   "",
		"perfbenches:1":                  "",
		"":                               "",
	} {
		assert.Equal(t, want, n.pattern(key), key)
	}
	assert.Empty(t, (&notes{}).pattern("profile"), "without a namespace it cannot be told whose they are")
}

// The longest are kept.
func TestTheLongestNotesAreKept(t *testing.T) {
	t.Parallel()
	var n notes
	for i := range mostNoted + 3 {
		n.keep([]verdict.Noted{{AtS: i, ForMs: float64(1000 - i%150)}})
	}
	assert.Len(t, n.list, mostNoted)
	assert.EqualValues(t, 3, n.more)
	for _, x := range n.list {
		assert.NotContains(t, []int{147, 148, 149}, x.AtS, "these were the shortest")
	}
}

// What works beside the store is sampled under its role, and one that tells nothing is named
// and keeps nobody from telling.
func TestWhatWorksBesideTheStoreIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Sampler{}
		sent := 0.0
		s.set.Counts("rabbitmq", func(context.Context) ([]watch.Count, error) {
			sent += 500
			return []watch.Count{{Name: "published_per_s", Value: sent, Sum: true}, {Name: "ready_messages", Value: 7}}, nil
		})
		s.set.Counts("proxy", func(context.Context) ([]watch.Count, error) { return nil, errors.New("it refuses") })
		require.EqualError(t, s.BeginOthers(t.Context()), "it refuses")
		time.Sleep(time.Second)
		rows := s.sample(t.Context(), 3)
		assert.Equal(t, []rundir.Sample{
			{T: 3, Source: rundir.OfOther, Node: "rabbitmq", Name: "published_per_s", Value: 500},
			{T: 3, Source: rundir.OfOther, Node: "rabbitmq", Name: "ready_messages", Value: 7},
		}, rows)
	})
}

// What a process waited for a processor is averaged over the time that it was watched.
func TestTheQueueOfAProcessIsItsMean(t *testing.T) {
	t.Parallel()
	var p process
	at := time.Unix(100, 0)
	add := func(after time.Duration, queue *float64) {
		at = at.Add(after)
		p.add(watch.Point{Usage: watch.Usage{At: at, Queue: queue}})
	}
	add(0, nil)
	assert.Nil(t, p.report().Queue, "nothing is known yet")
	add(time.Second, new(0.5))
	add(time.Second, nil)
	add(3*time.Second, new(0.1))
	require.NotNil(t, p.report().Queue)
	assert.InDelta(t, 0.2, *p.report().Queue, 1e-9)
}

// What the system did not count of a machine in one second hides nothing of what others used in another.
func TestOthersAreCountedSecondBySecond(t *testing.T) {
	t.Parallel()
	var c company
	own, redis := &watch.Member{Watched: &watch.Watched{}, Role: rundir.OfClient}, &watch.Member{Watched: &watch.Watched{}, Role: "redis"}
	second := func(machine, client float64, store *float64, seconds float64) {
		x := watch.Point{Usage: watch.Usage{CPU: &client}}
		x.Machine = &watch.MachineUse{CPU: &machine}
		c.add(own, x, seconds)
		x.CPU, x.Machine = store, nil
		c.add(redis, x, seconds)
		c.close()
	}
	mean, most := c.report()
	assert.Nil(t, mean)
	assert.Nil(t, most)
	for range 3 {
		second(0.5, 0.4, new(0.3), 1)
	}
	second(1.5, 0.4, new(0.3), 1)
	second(9, 0.4, nil, 1)
	second(9, 0.4, new(0.3), 0.1)
	mean, most = c.report()
	require.NotNil(t, mean)
	assert.InDelta(t, 0.2, *mean, 1e-9, "neither a second of which not all is known counts, nor a moment")
	assert.InDelta(t, 0.8, *most, 1e-9)
}
