package ingestion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/padogrid"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

var bothMaps = [2]string{"mapNames", "eligibility,profile"}

// small is a plan of both maps with a few entries.
func small(more ...[2]string) workload.Inputs {
	pairs := append([][2]string{bothMaps, {"memberSetSize", "5"}, {"totalEntryCount", "200"}, {"threadCount", "4"},
		{"batchSize", "20"}, {"payloadSize", "32"}}, more...)
	return workload.Inputs{Values: given(pairs...), Namespace: "perfbench", RunID: "run-1", Seed: 7}
}

// wrote asserts what a run came to, in its facts and on the store.
func wrote(t *testing.T, p *workload.Plan, perMap int64) {
	t.Helper()
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	for _, m := range p.Facts().(Facts).Maps {
		assert.Equal(t, perMap, m.Acknowledged)
		assert.Equal(t, perMap, m.Attempted)
		assert.Zero(t, m.Failed)
	}
}

func TestEveryCaseOnEveryStore(t *testing.T) {
	targets := map[string]func(t *testing.T) string{
		"memory":   func(*testing.T) string { return "memory:" },
		"embedded": func(*testing.T) string { return "embedded:" },
		"redis":    func(t *testing.T) string { return labtest.Redis(t).URL() },
		"cluster":  func(t *testing.T) string { return labtest.Cluster(t).URL() },
	}
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			c := open(t, target(t))
			for _, layout := range []string{"map", "group"} {
				for _, word := range []string{"put", "putall"} {
					t.Run(layout+" "+word, func(t *testing.T) {
						in := small([2]string{"layout", layout}, [2]string{"testCase", word})
						in.Namespace = layout + word
						p := bound(t, c, in)
						setUp(t, p)
						d := newDriver(t, p)
						d.run(t.Context(), 0)
						assert.Equal(t, map[string]int64{"eligibility": 200, "profile": 200}, d.units)
						wrote(t, p, 200)
						made, err := c.(store.Keeper).Made(t.Context(), in.Namespace)
						require.NoError(t, err)
						require.Len(t, made, 2)
						assert.Equal(t, "ingestion", made[0].Profile)
						assert.Equal(t, layout, made[0].Params["layout"])

						require.NoError(t, p.Teardown(t.Context()))
						for _, s := range p.Spaces {
							found, err := c.(store.Keeper).Inspect(t.Context(), s)
							require.NoError(t, err)
							assert.False(t, found.Exists, "%s is gone", s.Name)
						}
					})
				}
			}
		})
	}
}

func TestKeysAreAsDocumented(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	p := bound(t, c, in)
	setUp(t, p)
	newDriver(t, p).run(t.Context(), 0)
	base := specOf(p).base
	key := fmt.Sprintf("x11:51:%d:%d", base+50_000, base+50_000) // the first of the second thread
	val, ok, err := c.(store.Getter).Get(t.Context(), p.Spaces[0], []byte(key), nil)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Len(t, val, 32)
	require.NoError(t, checkValue(val, 1))
	require.ErrorContains(t, checkValue(val, 2), "written by loader 2 and not by 3")
	_, ok, err = c.(store.Getter).Get(t.Context(), p.Spaces[1], []byte("x200"), nil)
	require.NoError(t, err)
	assert.True(t, ok)

	in = small([2]string{"layout", "group"})
	in.Namespace = "other"
	p = bound(t, c, in)
	setUp(t, p)
	newDriver(t, p).run(t.Context(), 0)
	member := fmt.Sprintf("51:%d:%d", base+50_000, base+50_000)
	vals, err := c.(store.GroupPutter).GetGroup(t.Context(), p.Spaces[0], []byte("x11"), [][]byte{[]byte(member)})
	require.NoError(t, err)
	assert.Len(t, vals[0], 32)
	vals, err = c.(store.GroupPutter).GetGroup(t.Context(), p.Spaces[1], []byte("x11"), [][]byte{[]byte("x11")})
	require.NoError(t, err)
	assert.Len(t, vals[0], 32)
}

func TestOtherThreadCountsDoTheWholeWork(t *testing.T) {
	for _, threads := range []int{1, 3, 9} {
		p := bound(t, open(t, "memory:"), small())
		setUp(t, p)
		newDriver(t, p).run(t.Context(), threads)
		wrote(t, p, 200)
		f := p.Facts().(Facts).Maps[0]
		assert.True(t, f.ThreadsChanged)
		assert.GreaterOrEqual(t, len(f.ThreadMS), 4)
		assert.LessOrEqual(t, len(f.ThreadMS), max(threads, 4))
	}
}

func TestWithoutAChangeNobodyHelps(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	tr := p.Tracks()[0]
	task, err := tr.NewTask(1)
	require.NoError(t, err)
	set := tr.Start
	it, rec := newDriver(t, p).worker(0, 1, &set)
	for err == nil {
		it.Reset(math.MaxInt64)
		err = task.Do(t.Context(), it)
	}
	require.ErrorIs(t, err, workload.ErrDone)
	assert.Len(t, rec.list, 3, "50 entries in batches of 20")
	assert.Equal(t, int32(10), rec.list[2].Units)

	set.Threads = 1 // the others were sent home: now their shares are everybody's
	for err = nil; err == nil; {
		it.Reset(math.MaxInt64)
		err = task.Do(t.Context(), it)
	}
	assert.Len(t, rec.list, 12)
}

func TestRunsAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bound(t, open(t, "memory:?latency=10ms"), small([2]string{"testCount", "3"}, [2]string{"testIntervalInMsec", "500"}))
		setUp(t, p)
		begin := time.Now()
		newDriver(t, p).run(t.Context(), 0)
		// Each thread: 3 runs of 3 calls of 10 ms, and 3 pauses of 500 ms.
		assert.Equal(t, 1590*time.Millisecond, time.Since(begin))
		f := p.Facts().(Facts).Maps[0]
		assert.Equal(t, []int64{90, 90, 90, 90}, f.ThreadMS)
		assert.Equal(t, 1590*time.Millisecond, f.Stopped.Sub(*f.Started), "the last pause counts")
		wrote(t, p, 600)
	})
}

func TestAPauseEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []string{"0", "1000"} {
			p := bound(t, open(t, "memory:"), small([2]string{"testIntervalInMsec", "3600000"}, [2]string{"rate", rate}))
			setUp(t, p)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			newDriver(t, p).run(ctx, 0)
			cancel()
			assert.LessOrEqual(t, time.Since(begin), 1100*time.Millisecond)
		}
	})
}

// In open loop a thread's time includes waiting for work to be due, or the
// document's throughput would be that of a burst.
func TestThreadTimesOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bound(t, open(t, "memory:?latency=10ms"), small([2]string{"rate", "100"}, [2]string{"batch", "50"}))
		setUp(t, p)
		tr := p.Tracks()[0]
		d := newDriver(t, p)
		set := tr.Start
		for id := range 4 {
			task, err := tr.NewTask(id)
			require.NoError(t, err)
			it, _ := d.worker(0, id, &set)
			it.Reset(it.Now())
			require.NoError(t, task.Do(t.Context(), it))
			time.Sleep(490 * time.Millisecond)
		}
		assert.Equal(t, []int64{10, 510, 1010, 1510}, p.Facts().(Facts).Maps[0].ThreadMS)
	})
}

func TestDurationWrapsOverTheKeys(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	in.Duration = time.Hour
	p := bound(t, c, in)
	setUp(t, p)
	tr := p.Tracks()[1]
	task, err := tr.NewTask(0)
	require.NoError(t, err)
	set := tr.Start
	it, _ := newDriver(t, p).worker(1, 0, &set)
	for range 100 {
		it.Reset(math.MaxInt64)
		require.NoError(t, task.Do(t.Context(), it))
	}
	n, err := c.(store.Counter).Count(t.Context(), p.Spaces[1])
	require.NoError(t, err)
	assert.Equal(t, int64(50), n, "one share, again and again")
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
}

func TestWarmupLeavesNoFacts(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	tr := p.Tracks()[0]
	task, err := tr.NewTask(0)
	require.NoError(t, err)
	set := tr.Start
	it, _ := newDriver(t, p).worker(0, 0, &set)
	it.Warmup = true
	for range 10 {
		it.Reset(math.MaxInt64)
		require.NoError(t, task.Do(t.Context(), it))
	}
	assert.Zero(t, p.Facts().(Facts).Maps[0].Attempted)
	assert.Nil(t, p.Facts().(Facts).Maps[0].Started)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Check{Name: "eligibility: number of entries", OK: true, Want: "0 to 50", Got: "50"}, v.Checks[0])

	newDriver(t, p).run(t.Context(), 0)
	wrote(t, p, 200)
}

func TestPayloadAndBatchFollowSettings(t *testing.T) {
	p := bound(t, open(t, "memory:"), small())
	setUp(t, p)
	tr := p.Tracks()[0]
	task, err := tr.NewTask(0)
	require.NoError(t, err)
	set := tr.Start
	it, rec := newDriver(t, p).worker(0, 0, &set)
	for _, c := range []struct{ batch, payload, units int }{{20, 32, 20}, {3, 0, 5}, {6, 100, 10}, {1000, 7, 15}} {
		next := set
		next.Batch, next.Payload = c.batch, c.payload
		it.Settings = &next
		it.Reset(math.MaxInt64)
		require.NoError(t, task.Do(t.Context(), it))
		assert.Equal(t, int32(c.units), rec.list[len(rec.list)-1].Units)
		assert.Equal(t, min(c.units, 50), min(tr.Units(&next), c.units))
	}
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

func TestVerificationFindsWhatIsWrong(t *testing.T) {
	c := open(t, "memory:")
	for _, w := range []struct {
		name  string
		spoil func(t *testing.T, p *workload.Plan)
		want  string
	}{
		{"a changed byte", func(t *testing.T, p *workload.Plan) {
			val, _, err := c.(store.Getter).Get(t.Context(), p.Spaces[1], []byte("x7"), nil)
			require.NoError(t, err)
			bad := append([]byte(nil), val...)
			bad[20] ^= 1
			require.NoError(t, c.(store.Setter).Set(t.Context(), p.Spaces[1], []byte("x7"), bad))
		}, "x7: its checksum does not match"},
		{"a value of another length", func(t *testing.T, p *workload.Plan) {
			require.NoError(t, c.(store.Setter).Set(t.Context(), p.Spaces[1], []byte("x8"), []byte("short")))
		}, "x8: has 5 bytes, and values of [32] were written"},
		{"another loader's value", func(t *testing.T, p *workload.Plan) {
			val := newGenerator(1, "profile").fill(nil, 3, 0, 32)
			require.NoError(t, c.(store.Setter).Set(t.Context(), p.Spaces[1], []byte("x9"), val))
		}, "x9: it was written by loader 4 and not by 1"},
		{"an entry too many", func(t *testing.T, p *workload.Plan) {
			require.NoError(t, c.(store.Setter).Set(t.Context(), p.Spaces[1], []byte("strange"), []byte("v")))
		}, ""},
		{"a lost map", func(t *testing.T, p *workload.Plan) {
			_, err := c.(store.Keeper).Drop(t.Context(), p.Spaces[1], nil)
			require.NoError(t, err)
		}, "x1: acknowledged and not there"},
	} {
		t.Run(w.name, func(t *testing.T) {
			in := small()
			in.Namespace = t.Name()
			p := bound(t, c, in)
			setUp(t, p)
			newDriver(t, p).run(t.Context(), 0)
			w.spoil(t, p)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Failed, v.State)
			require.Len(t, v.Checks, 4)
			assert.True(t, v.Checks[0].OK && v.Checks[1].OK, "eligibility is untouched")
			if w.want == "" {
				assert.Equal(t, workload.Check{Name: "profile: number of entries", Want: "200", Got: "201"}, v.Checks[2])
				return
			}
			assert.False(t, v.Checks[3].OK)
			assert.Equal(t, w.want, v.Checks[3].Examples[0])
			assert.LessOrEqual(t, len(v.Checks[3].Examples), 10)
		})
	}
}

func TestEarlierRunsAreRemembered(t *testing.T) {
	c := open(t, "memory:")
	run := func(more ...[2]string) *workload.Plan {
		p := bound(t, c, small(more...))
		setUp(t, p)
		newDriver(t, p).run(t.Context(), 0)
		return p
	}
	wrote(t, run(), 200)
	again := run([2]string{"payloadSize", "64"})
	wrote(t, again, 200)
	fewer := run([2]string{"totalEntryCount", "100"})
	wrote(t, fewer, 100)
	v := fewer.Verify(t.Context())
	assert.Equal(t, "100 to 300", v.Checks[0].Want, "other dates: other keys")
	assert.Equal(t, "250", v.Checks[0].Got, "two of four loaders began at the same dates")
	assert.Equal(t, "100 to 200", v.Checks[2].Want, "the same profiles")
	assert.True(t, again.Facts().(Facts).Maps[0].Existed)

	require.NoError(t, fewer.Teardown(t.Context()))
	n, err := c.(store.Counter).Count(t.Context(), fewer.Spaces[1])
	require.NoError(t, err)
	assert.Equal(t, int64(200), n, "an earlier run made it, so it stays")
}

func TestSpacesOfOthersAreRefused(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	p := bound(t, c, in)
	require.NoError(t, c.(store.Setter).Set(t.Context(), p.Spaces[1], []byte("k"), []byte("v")))
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "perfbench:profile is there with 1 entries and was not made by perfbench")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	made, err := c.(store.Keeper).Made(t.Context(), "perfbench")
	require.NoError(t, err)
	assert.Empty(t, made, "nothing is recorded when one of the maps is refused")

	in.AllowExisting = true
	p = bound(t, c, in)
	setUp(t, p)
	newDriver(t, p).run(t.Context(), 0)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Equal(t, "200 to 201", v.Checks[2].Want)
}

func TestWrongTypesAreNamed(t *testing.T) {
	srv := labtest.Redis(t)
	c := open(t, srv.URL())
	p := bound(t, c, small())
	raw := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer func() { _ = raw.Close() }()
	require.NoError(t, raw.Set(t.Context(), "perfbench:profile", "text", 0).Err())
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "perfbench:profile is there and is a string, not a map")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestAnotherLayoutIsRefused(t *testing.T) {
	c := open(t, "memory:")
	p := bound(t, c, small())
	setUp(t, p)
	newDriver(t, p).run(t.Context(), 0)
	err := bound(t, c, small([2]string{"layout", "group"})).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "map eligibility is there in the other layout: an earlier run made it with layout=map")
	assert.Contains(t, fault.HintOf(err), "perfbench data delete")
	require.NoError(t, p.Teardown(t.Context()))
	setUp(t, bound(t, c, small([2]string{"layout", "group"})))
}

func TestNothingIsVerifiedOnNull(t *testing.T) {
	p := bound(t, open(t, "null:"), small())
	setUp(t, p)
	newDriver(t, p).run(t.Context(), 0)
	assert.Equal(t, workload.Skipped, p.Verify(t.Context()).State)
}

func TestFailedEntriesAreCounted(t *testing.T) {
	c := open(t, "memory:")
	p := bound(t, c, small())
	setUp(t, p)
	require.NoError(t, c.Close())
	newDriver(t, p).run(t.Context(), 0)
	f := p.Facts().(Facts).Maps[0]
	assert.Equal(t, int64(200), f.Failed)
	assert.Zero(t, f.Acknowledged)
	assert.Equal(t, workload.Incomplete, p.Verify(t.Context()).State)
}

// refusing is a connection that can do nothing.
type refusing struct{ store.Conn }

func TestMissingCapabilitiesAreNamed(t *testing.T) {
	err := bind(t.Context(), refusing{}, design(t, small()))
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
				for i, tr := range p.Tracks() {
					task, err := tr.NewTask(0)
					require.NoError(t, err)
					set := tr.Start
					it, rec := newDriver(t, p).worker(i, 0, &set)
					rec.keep = false
					n := testing.AllocsPerRun(2000, func() {
						it.Reset(math.MaxInt64)
						err = errors.Join(task.Do(t.Context(), it))
					})
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
			k := newTask(newLoad(sp, &sp.maps[0]), writer{nothing{}, nothing{}, nil}, 0)
			it := &workload.Iteration{Settings: &sp.maps[0].start}
			epoch := time.Now()
			it.Bind(func() int64 { return int64(time.Since(epoch)) }, &samples{}, 0)
			b.ReportAllocs()
			for b.Loop() {
				it.Reset(math.MaxInt64)
				_ = k.Do(b.Context(), it)
			}
		})
	}
}

type nothing struct{}

func (nothing) Put(context.Context, store.Space, []byte, []byte) error   { return nil }
func (nothing) PutAll(context.Context, store.Space, []store.Entry) error { return nil }

func TestPayloads(t *testing.T) {
	g := newGenerator(1, "profile")
	one := append([]byte(nil), g.fill(nil, 2, 1, 1000)...)
	require.NoError(t, checkValue(one, 2))
	assert.Equal(t, one, newGenerator(1, "profile").fill(nil, 2, 1, 1000), "the same seed, the same value")
	assert.NotEqual(t, one[8:996], g.fill(nil, 2, 2, 1000)[8:996], "another run")
	assert.NotEqual(t, one[8:996], newGenerator(2, "profile").fill(nil, 2, 1, 1000)[8:996], "another seed")
	assert.NotEqual(t, one[8:996], newGenerator(1, "eligibility").fill(nil, 2, 1, 1000)[8:996], "another map")
	for _, size := range []int{0, 1, 15, 16, 17} {
		assert.Len(t, g.fill(nil, 0, 0, size), size)
		require.NoError(t, checkValue(g.fill(nil, 4, 0, size), 4))
	}
}

func TestMarks(t *testing.T) {
	for _, stride := range []int64{1, 3} {
		m := &mapSpec{shares: []padogrid.Share{{Entries: 1000}, {Entries: 0}, {Entries: 130}}}
		k := newMarks(m)
		k.stride = stride
		want := map[[2]int64]bool{}
		for _, r := range [][3]int64{{0, 0, 1}, {0, 60, 10}, {0, 190, 700}, {2, 0, 130}} {
			k.set(int(r[0]), r[1], r[2])
			for e := r[1]; e < r[1]+r[2]; e++ {
				if e%stride == 0 {
					want[[2]int64{r[0], e}] = true
				}
			}
		}
		assert.Equal(t, int64(len(want)), k.count())
		got := 0
		k.spread(1<<40, func(share int, entry int64) {
			got++
			assert.True(t, want[[2]int64{int64(share), entry}], "%d %d", share, entry)
		})
		assert.Len(t, want, got)
		got = 0
		k.spread(50, func(int, int64) { got++ })
		assert.Equal(t, 50, got)
	}
}

func TestKeySets(t *testing.T) {
	k := parseKeySets("")
	for i := range 40 {
		k.add(fmt.Sprint("set", i), 10)
	}
	k.add("set39", 15)
	k.add("set39", 5)
	assert.Equal(t, int64(405), k.total())
	back := parseKeySets(k.String())
	assert.Equal(t, k, back)
	assert.LessOrEqual(t, len(k.names), maxKeySets)
	assert.Empty(t, parseKeySets("bad;worse=x;=").names)
}
