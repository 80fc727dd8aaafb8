package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// serverEnv runs the profile tiny on a server too: each task does before, then stores
// a value.
func serverEnv(t *testing.T, before func(seq int64) error) session.Env {
	t.Helper()
	bind := func(ctx context.Context, b *workload.Bound, own workload.Connector) error {
		if err := own(ctx, b); err != nil {
			return err
		}
		db, err := store.As[store.Setter](b.Conn)
		if err != nil {
			return err
		}
		val := make([]byte, 64)
		for i, tr := range b.Tracks() {
			tr.NewTask = func(int) (workload.Task, error) {
				return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
					m := it.Begin(0)
					if before != nil {
						if err := before(it.Seq); err != nil {
							return it.End(m, 1, err)
						}
					}
					return it.End(m, 1, db.Set(ctx, b.Spaces[i], strconv.AppendInt(nil, it.Seq, 10), val[:it.Settings.Payload]))
				}), nil
			}
		}
		return nil
	}
	e := env(t)
	e.Profiles = []workload.Profile{boundBy(tiny, bind, "redis", "null")}
	return e
}

// Faults of the client's side, each really injected into a run against a server, are
// named. The machine may be busy with other things, so more may be.
func TestInjectedFaultsAreNamed(t *testing.T) {
	srv := labtest.Redis(t)
	for _, c := range []struct {
		fault  string
		want   []verdict.Cause
		flags  []string
		params string
		at     string
		before func(seq int64) error
		inject func(t *testing.T)
	}{
		{fault: "goroutines that hog the processor", want: []verdict.Cause{verdict.Scheduler}, flags: []string{"threads", "64", "count", "1200"}, params: "?pipelining=off", inject: hog},
		{fault: "garbage", want: []verdict.Cause{verdict.GC}, flags: []string{"threads", "2", "count", "100000000", "duration", "1s"}, inject: litter},
		{fault: "a pool of one connection", want: []verdict.Cause{verdict.Pool}, flags: []string{"threads", "8", "count", "4000"}, params: "?connections=1&pipelining=off"},
		{fault: "a pool of two connections", want: []verdict.Cause{verdict.Pool}, flags: []string{"threads", "16", "count", "4000"}, params: "?connections=2&pipelining=off"},
		{
			fault: "a rate beyond the store", want: []verdict.Cause{verdict.Backlog, verdict.Unstarted},
			flags: []string{"threads", "2", "rate", "2000", "count", "100000000", "duration", "3500ms"}, before: takes(10 * time.Millisecond),
		},
		{fault: "a panic", want: []verdict.Cause{verdict.Panic}, flags: []string{"count", "100"}, before: func(seq int64) error {
			if seq == 20 {
				panic("injected")
			}
			return nil
		}},
		{fault: "failing operations", want: []verdict.Cause{verdict.Errors}, flags: []string{"count", "400"}, before: func(seq int64) error {
			if seq%100 == 3 {
				return errors.New("injected")
			}
			return nil
		}},
		{fault: "too few calls", want: []verdict.Cause{verdict.Samples}, flags: []string{"count", "400"}},
		{fault: "lost data", want: []verdict.Cause{verdict.Verification}, flags: []string{"count", "400", "lose", "3"}},
		{fault: "harness that is nearly all of it", want: []verdict.Cause{verdict.Ceiling}, flags: []string{"threads", "8", "count", "100000000", "duration", "1700ms"}, before: takes(200 * time.Millisecond)},
	} {
		t.Run(c.fault, func(t *testing.T) {
			if c.want[0] == verdict.GC {
				tier.Full(t, "internal/verdict's rules: it takes all processors for as long as others leave none")
			}
			e := serverEnv(t, c.before)
			if c.want[0] == verdict.Ceiling {
				e.CacheDir = t.TempDir()
			}
			r := asked(t, c.flags...)
			r.Target = srv.URL() + c.params
			if c.at != "" {
				r.Timetable = []string{c.at}
			}
			p := prepare(t, e, r)
			if c.inject != nil {
				c.inject(t)
			}
			o := carryOut(t, p)
			// Where others have the processors there is no time to collect much, and the harness alone
			// does not get the share of them that the run gets; nor is it told what kept the run waiting.
			busy := func(o *session.Concluded) bool {
				seen := o.Run.Observed
				return c.want[0] == verdict.GC && seen.CPU < seen.Cores/2 && !slices.Contains(o.Run.Verdict.Causes, string(verdict.GC)) ||
					(c.want[0] == verdict.Ceiling || c.want[0] == verdict.Scheduler) && seen.Machine-seen.CPU > seen.Cores/2 && !slices.Contains(o.Run.Verdict.Causes, string(c.want[0]))
			}
			for tries := 20; tries > 0 && busy(o); tries-- {
				if c.want[0] == verdict.Ceiling {
					e.CacheDir = t.TempDir()
				}
				o = carryOut(t, prepare(t, e, r))
			}
			if c.want[0] == verdict.GC && busy(o) { // for as long as all the tries
				c.want = []verdict.Cause{verdict.Crowded}
			}
			for _, want := range c.want {
				assert.Contains(t, o.Run.Verdict.Causes, string(want), "%+v", o.Run.Observed)
			}
			assert.NotEqual(t, verdict.Valid, o.Run.Verdict.State)
		})
	}
}

// takes is a task that is under way that long beside the store.
func takes(d time.Duration) func(int64) error {
	return func(int64) error {
		time.Sleep(d)
		return nil
	}
}

// hog keeps the one processor that is left busy until the test ends.
func hog(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	until(t, 2, func() {
		for i := 0; i < 1e6; i++ {
			_ = i
		}
	})
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// litter keeps the collector at work until the test ends.
func litter(t *testing.T) {
	heap := make([][]*int, 2000)
	for i := range heap {
		heap[i] = make([]*int, 1000)
		for j := range heap[i] {
			heap[i][j] = new(int)
		}
	}
	until(t, 1, runtime.GC)
	t.Cleanup(func() { runtime.KeepAlive(heap) })
}

// until repeats do in n goroutines until the test ends.
func until(t *testing.T, n int, do func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					do()
				}
			}
		})
	}
	t.Cleanup(func() { close(over); all.Wait() })
}

// Runs with nothing wrong about them have no reasons but those that the machine gave
// meanwhile, by what was observed of it, and whoever judges them again finds the same.
func TestRunsWithoutFaultsRaiseNoAlarm(t *testing.T) {
	srv := labtest.Redis(t)
	e := serverEnv(t, nil)
	e.CacheDir = t.TempDir()
	for _, flags := range [][]string{
		{"threads", "2", "count", "4000"}, {"threads", "4", "count", "8000"}, {"threads", "8", "count", "8000"},
		{"threads", "4", "count", "8000", "payload", "64"},
		{"threads", "8", "count", "2400", "rate", "2000"}, {"threads", "8", "count", "2400", "rate", "3000"},
	} {
		r := asked(t, flags...)
		r.Target = srv.URL()
		o := carryOut(t, prepare(t, e, r))
		require.NoError(t, o.Err)
		f, err := rundir.Load(o.Dir)
		require.NoError(t, err)
		seen := f.Run.Observed
		require.NotNil(t, seen)
		require.Len(t, seen.Ceilings, 1, "it was measured, or read from the cache")
		assert.Positive(t, seen.Ceilings[0].PerS)
		require.Len(t, seen.Processes, 2, "perfbench, and the server beside it")
		server := seen.Processes[1]
		assert.Equal(t, "redis", server.Role)
		require.NotZero(t, server.PID, server.Note)
		assert.NotEqual(t, os.Getpid(), server.PID)
		require.NotNil(t, server.CPU)
		require.NotNil(t, server.RSSMost)
		assert.Positive(t, *server.RSSMost)
		require.NotNil(t, seen.Store)
		require.NotNil(t, seen.Store.Received)
		assert.Greater(t, *seen.Store.Received, int64(2400*64), "what was written went there")
		again := f.Run.Judge()
		assert.Equal(t, f.Run.Verdict.Causes, again.Causes, "%v", flags)
		assert.Equal(t, f.Run.Verdict.State, again.State)
		for i, cause := range f.Run.Verdict.Causes {
			assert.True(t, backed(verdict.Cause(cause), &f.Run), "%v: %s, and nothing of that was observed: %+v", flags, f.Run.Verdict.Reasons[i], seen)
		}
	}
}

// backed says whether what was observed of the machine bears a reason out.
func backed(c verdict.Cause, r *rundir.Run) bool {
	o := r.Observed
	switch c {
	case verdict.Lateness:
		for _, op := range r.Operations {
			l, all := op.Lateness, op.Response
			if 10*l.P50 >= all.P50 || 10*l.P90 >= all.P90 || 10*l.P99 >= all.P99 || 10*l.P999 >= all.P999 {
				return true
			}
		}
	case verdict.Scheduler:
		return o.SchedP99 >= 50_000 || o.WakeP90 >= 5_000_000
	case verdict.CPU:
		return o.CPU >= 0.85*o.Cores
	case verdict.Throttled:
		return o.Throttled > 0
	case verdict.Stolen:
		return o.Stolen >= 0.02
	case verdict.Crowded, verdict.Arrivals:
		return crowded(o)
	case verdict.Memory:
		return o.MajorFaults >= 50
	case verdict.GC:
		return o.GCPauses >= 0.01 || o.GCCPU >= 0.15*o.Cores
	case verdict.Suspended, verdict.Pauses:
		return len(o.Suspensions) > 0 || o.PausedS > 0
	case verdict.Unstarted, verdict.Backlog, verdict.Pool: // of a machine that stood still, or was busy
		return o.WakeP90 >= 5_000_000 || crowded(o)
	case verdict.Clock:
		return len(o.Steps) > 0 || o.ClockCost >= 500 || o.ClockTick >= 500
	}
	return false
}

// crowded says whether other programs used processors that those of the run waited for.
func crowded(o *verdict.Observed) bool {
	others, waits := o.Machine, o.Pressure
	for _, p := range o.Processes {
		if p.CPU != nil && p.Queue != nil {
			others, waits = others-*p.CPU, max(waits, *p.Queue)
		}
	}
	return others >= 0.05 && waits >= 0.01
}

var digits = regexp.MustCompile(`"all": [0-9.e+]+`)

// The ceiling is measured once, kept, and measured again only before it is held
// against a run; without a place to keep it, or on a store in perfbench itself, never.
func TestTheCeilingIsMeasuredOnce(t *testing.T) {
	srv := labtest.Redis(t)
	e := serverEnv(t, nil)
	ceiling := func(e session.Env, flags ...string) float64 {
		r := asked(t, append([]string{"count", "400"}, flags...)...)
		r.Target = srv.URL()
		o := carryOut(t, prepare(t, e, r))
		require.NotNil(t, o.Run.Observed)
		assert.NotContains(t, o.Run.Verdict.Causes, string(verdict.Ceiling))
		if len(o.Run.Observed.Ceilings) == 0 {
			return 0
		}
		assert.Equal(t, "all", o.Run.Observed.Ceilings[0].Phase)
		return o.Run.Observed.Ceilings[0].PerS
	}
	assert.Zero(t, ceiling(e), "nowhere to keep it")

	e.CacheDir = filepath.Join(t.TempDir(), "cache")
	file := filepath.Join(e.CacheDir, "ceilings.json")
	dry := asked(t, "count", "400")
	dry.Target = srv.URL()
	assert.NotEmpty(t, prepare(t, e, dry).Preview().Run)
	assert.NoFileExists(t, file, "a dry run measures nothing")
	first := ceiling(e)
	assert.Positive(t, first)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(kept), "| tiny ")
	assert.InDelta(t, first, ceiling(e), 0, "from the file")
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(kept), string(again))

	low := digits.ReplaceAll(kept, []byte(`"all": 3.5`))
	require.NotEqual(t, string(kept), string(low))
	require.NoError(t, os.WriteFile(file, low, 0o600))
	assert.Greater(t, ceiling(e, "duration", "300ms", "count", "100000000"), 3.5, "a figure that the run has passed is measured again")

	require.NoError(t, os.WriteFile(file, []byte("{half of it"), 0o600))
	assert.Positive(t, ceiling(e), "a damaged file is no obstacle")
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	e.CacheDir = blocked
	assert.Positive(t, ceiling(e), "nor is one that cannot be written")
}
