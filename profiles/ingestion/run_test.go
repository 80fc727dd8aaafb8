package ingestion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

var bothMaps = [2]string{"mapNames", "eligibility,profile"}

// small is a plan of both maps with a few entries.
func small(more ...[2]string) workload.Inputs {
	pairs := append([][2]string{
		bothMaps,
		{"memberSetSize", "5"},
		{"totalEntryCount", "200"},
		{"threadCount", "4"},
		{"batchSize", "20"},
		{"payloadSize", "32"},
	}, more...)
	return workload.Inputs{Values: given(pairs...), Namespace: "perfbench", Seed: 7}
}

// wrote asserts what a run came to, in its facts and on the store.
func wrote(t *testing.T, p *workload.Plan, perMap int64) {
	t.Helper()
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	for _, m := range p.Facts(nil).(Facts).Maps {
		assert.Equal(t, perMap, m.Acknowledged)
		assert.Equal(t, perMap, m.Attempted)
		assert.Zero(t, m.Failed)
	}
}

func TestEveryCaseOnEveryStore(t *testing.T) {
	for _, name := range []string{"memory", "embedded", "redis", "cluster", "cassandra", "sqlite"} {
		t.Run(name, func(t *testing.T) { everyCase(t, profiletest.Target(t, name)) })
	}
}

// everyCase drives each layout with each case.
func everyCase(t *testing.T, target string) {
	t.Helper()
	for _, layout := range []string{"map", "group"} {
		for _, word := range []string{"put", "putall"} {
			t.Run(layout+" "+word, func(t *testing.T) {
				if far := !slices.Contains([]string{"memory", "embedded"}, strings.TrimSuffix(target, ":")); far && (layout == "map") == (word == "put") {
					tier.Full(t, "map putall and group put here, and all four in the process")
				}
				o := profiletest.Drive(t, smallCase(target).With("namespace="+layout+word, "layout="+layout, "testCase="+word))
				require.Len(t, o.Made, 2)
				assert.Equal(t, layout, o.Made[0].Params["layout"])
				f := profiletest.Facts[Facts](t, o.Concluded)
				require.Len(t, f.Maps, 2)
				units := map[string]int64{}
				for _, op := range o.Run.Operations {
					units[op.Track] += op.Count
				}
				assert.Equal(t, map[string]int64{"eligibility": 200, "profile": 200}, units)
				for _, m := range f.Maps {
					assert.Equal(t, []int64{200, 200, 0}, []int64{m.Acknowledged, m.Attempted, m.Failed}, m.Map)
				}
			})
		}
	}
}

func TestKeysAreAsDocumented(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	p := bound(t, c, in)
	setUp(t, p)
	profiletest.Work(t, p)
	base := specOf(p).base
	key := fmt.Sprintf("x11:51:%d:%d", base+50_000, base+50_000) // the first of the second thread
	val, ok, err := storetest.As[store.Getter](t, c).Get(t.Context(), p.Spaces[0], []byte(key), nil)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Len(t, val, 32)
	require.NoError(t, checkValue(val, 1))
	require.ErrorContains(t, checkValue(val, 2), "written by loader 2 and not by 3")
	_, ok, err = storetest.As[store.Getter](t, c).Get(t.Context(), p.Spaces[1], []byte("x200"), nil)
	require.NoError(t, err)
	assert.True(t, ok)

	in = small([2]string{"layout", "group"})
	in.Namespace = "other"
	p = bound(t, c, in)
	setUp(t, p)
	profiletest.Work(t, p)
	member := fmt.Sprintf("51:%d:%d", base+50_000, base+50_000)
	vals, err := storetest.As[store.GroupPutter](t, c).GetGroup(t.Context(), p.Spaces[0], []byte("x11"), [][]byte{[]byte(member)})
	require.NoError(t, err)
	assert.Len(t, vals[0], 32)
	vals, err = storetest.As[store.GroupPutter](t, c).GetGroup(t.Context(), p.Spaces[1], []byte("x11"), [][]byte{[]byte("x11")})
	require.NoError(t, err)
	assert.Len(t, vals[0], 32)
}

func TestOtherThreadCountsDoTheWholeWork(t *testing.T) {
	for _, threads := range []int{1, 3, 9} {
		p := bound(t, open(t, "memory:"), small())
		setUp(t, p)
		for _, tr := range p.Tracks() {
			tr.Start.Threads = threads
		}
		profiletest.Work(t, p)
		wrote(t, p, 200)
		f := p.Facts(nil).(Facts).Maps[0]
		assert.True(t, f.ThreadsChanged)
		assert.GreaterOrEqual(t, len(f.ThreadMS), 4)
		assert.LessOrEqual(t, len(f.ThreadMS), max(threads, 4))
	}
}

func TestWithoutAChangeNobodyHelps(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	w := steps.Of(t, p.Tracks()[0], 1)
	var err error
	for err == nil {
		err = w.Do(t.Context())
	}
	require.ErrorIs(t, err, workload.ErrDone)
	assert.Len(t, w.Samples, 3, "50 entries in batches of 20")
	assert.Equal(t, int32(10), w.Samples[2].Units)

	w.Settings.Threads = 1 // the others were sent home: now their shares are everybody's
	for err = nil; err == nil; {
		err = w.Do(t.Context())
	}
	assert.Len(t, w.Samples, 12)
}

func TestRunsAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bound(t, open(t, "memory:?latency=10ms"), small([2]string{"testCount", "3"}, [2]string{"testIntervalInMsec", "500"}))
		setUp(t, p)
		begin := time.Now()
		profiletest.Work(t, p)
		// Each thread: 3 runs of 3 calls of 10 ms, and 3 pauses of 500 ms.
		assert.Equal(t, 1590*time.Millisecond, time.Since(begin))
		f := p.Facts(nil).(Facts).Maps[0]
		assert.Equal(t, []int64{90, 90, 90, 90}, f.ThreadMS)
		assert.Equal(t, 1590*time.Millisecond, f.Stopped.Sub(*f.Started), "the last pause counts")
		wrote(t, p, 600)
	})
}

// In open loop a thread sleeps through its pause, and is woken as calls under way are.
func TestAPauseEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for rate, most := range map[string]time.Duration{"0": 1100 * time.Millisecond, "1000": time.Second + engine.DefaultGrace} {
			p := bound(t, open(t, "memory:"), small([2]string{"testIntervalInMsec", "3600000"}, [2]string{"rate", rate}))
			setUp(t, p)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			_, err := profiletest.Begin(ctx, t, p).Wait()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			assert.LessOrEqual(t, time.Since(begin), most)
		}
	})
}

// In open loop a thread's time includes waiting for work to be due, or the
// document's throughput would be that of a burst.
func TestThreadTimesOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bound(t, open(t, "memory:?latency=10ms"), small([2]string{"rate", "100"}, [2]string{"batch", "50"}))
		setUp(t, p)
		var workers []*steps.Worker
		for id := range 4 {
			workers = append(workers, steps.Of(t, p.Tracks()[0], id))
		}
		for _, w := range workers {
			require.NoError(t, w.DoDue(t.Context(), w.Now()))
			time.Sleep(490 * time.Millisecond)
		}
		assert.Equal(t, []int64{10, 510, 1010, 1510}, p.Facts(nil).(Facts).Maps[0].ThreadMS)
	})
}

func TestDurationWrapsOverTheKeys(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	in.Duration = time.Hour
	p := bound(t, c, in)
	setUp(t, p)
	w := steps.Of(t, p.Tracks()[1], 0)
	for range 100 {
		require.NoError(t, w.Do(t.Context()))
	}
	n, err := storetest.As[store.Counter](t, c).Count(t.Context(), p.Spaces[1])
	require.NoError(t, err)
	assert.Equal(t, int64(50), n, "one share, again and again")
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
}

func TestWarmupLeavesNoFacts(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	w := steps.Of(t, p.Tracks()[0], 0)
	w.Warmup = true
	for range 10 {
		require.NoError(t, w.Do(t.Context()))
	}
	assert.Zero(t, p.Facts(nil).(Facts).Maps[0].Attempted)
	assert.Nil(t, p.Facts(nil).(Facts).Maps[0].Started)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Check{Name: "eligibility: number of entries", OK: true, Want: "0 to 50", Got: "50"}, v.Checks[0])

	profiletest.Work(t, p)
	wrote(t, p, 200)
}

func TestPayloadAndBatchFollowSettings(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	tr := p.Tracks()[0]
	w := steps.Of(t, tr, 0)
	for _, c := range []struct{ batch, payload, units int }{{20, 32, 20}, {3, 0, 5}, {6, 100, 10}, {1000, 7, 15}} {
		next := tr.Start
		next.Batch, next.Payload = c.batch, c.payload
		w.Settings = &next
		require.NoError(t, w.Do(t.Context()))
		assert.Equal(t, int32(c.units), w.Samples[len(w.Samples)-1].Units)
		assert.Equal(t, min(c.units, 50), min(tr.Units(&next), c.units))
	}
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

// refusing is a connection that can do nothing.
type refusing struct{ store.Conn }

func TestMissingCapabilitiesAreNamed(t *testing.T) {
	_, err := design(t, small()).Bind(t.Context(), "", refusing{}, "")
	require.ErrorIs(t, err, store.ErrUnsupported)
	require.ErrorContains(t, err, "store.BatchPutter")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}

func TestTheHotPathAllocatesNothing(t *testing.T) {
	c := open(t, "null:")
	for _, layout := range []string{"map", "group"} {
		for _, word := range []string{"put", "putall"} {
			t.Run(layout+" "+word, func(t *testing.T) {
				in := small([2]string{"layout", layout}, [2]string{"testCase", word}, [2]string{"totalEntryCount", "100000"})
				in.Duration = time.Hour
				p := bound(t, c, in)
				for _, tr := range p.Tracks() {
					var err error
					w := steps.Of(t, tr, 0)
					w.Forget = true
					n := testing.AllocsPerRun(2000, func() { err = errors.Join(w.Do(t.Context())) })
					require.NoError(t, err)
					assert.Zero(t, n, tr.Name)
				}
			})
		}
	}
}

func BenchmarkIteration(b *testing.B) {
	for _, word := range []string{"put", "putall"} {
		b.Run(word, func(b *testing.B) {
			in := small([2]string{"testCase", word}, [2]string{"totalEntryCount", "100000"}, [2]string{"payloadSize", "1024"})
			in.Duration = time.Hour
			s, err := Design(in)
			require.NoError(b, err)
			sp := specOf(s)
			w := steps.Of(b, &workload.Track{Start: sp.maps[0].start, NewTask: func(id int) (workload.Task, error) {
				return newTask(newLoad(sp, &sp.maps[0]), nil, writer{nothing{}, nothing{}, nil}, id), nil
			}}, 0)
			w.Forget = true
			b.ReportAllocs()
			for b.Loop() {
				_ = w.Do(b.Context())
			}
		})
	}
}

type nothing struct{}

func (nothing) Put(context.Context, store.Space, []byte, []byte) error   { return nil }
func (nothing) PutAll(context.Context, store.Space, []store.Entry) error { return nil }
