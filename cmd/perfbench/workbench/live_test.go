package workbench

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// inBubble runs f on the virtual clock with a bench whose runs are kept in a folder of
// their own.
func inBubble(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	dir := t.TempDir()
	_, deaf := self.Resumed() // its goroutine is not of the bubble
	deaf()
	synctest.Test(t, func(t *testing.T) {
		a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
		at := &surroundings{env: a.Session(), out: dir, state: dir, soft: context.Background(), hard: context.Background()}
		at.env.CacheDir, at.env.Beside = "", false // a socket is not of the bubble
		f(t, newBench(at))
	})
}

// putting is a run on two servers that take 4 ms for a call.
func putting(values ...string) request.Request {
	r := request.Request{Profile: "ingestion", Preset: "sustained", Target: "memory:?service=4ms&servers=2", Values: workload.Values{}, Formats: []string{"json"}}
	for i := 0; i < len(values); i += 2 {
		r.Values[values[i]] = workload.Value{Name: values[i], Text: values[i+1], Origin: workload.OriginFlag}
	}
	r.Values["mapNames"] = workload.Value{Name: "mapNames", Text: "eligibility", Origin: workload.OriginFlag}
	return r
}

// until waits for something to become true on the virtual clock.
func until(is func() bool) {
	for !is() {
		time.Sleep(100 * time.Millisecond)
	}
}

// Eleven threads wait 22 ms for two servers of 4 ms, ten 20 ms.
func TestASearchOnARunOfTheWorkbench(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		of, err := b.starter.Start(t.Context(), putting("duration", "3m", "threads", "3"))
		require.NoError(t, err)
		asked := find.Asked{Under: []string{"p99<=20.5ms"}, Over: find.OverThreads}
		require.ErrorContains(t, of.Searches.CanSearch(find.Asked{}), "needs a condition")
		until(func() bool { return of.Run.Progress().Stage == screen.Measuring })
		require.NoError(t, of.Searches.Search(asked))
		require.ErrorContains(t, of.Searches.Search(asked), "already running")
		until(func() bool { return len(of.Searches.Found().Steps) > 1 })
		of.Searches.EndSearch()
		until(func() bool { return !of.Searches.Found().Going })
		assert.Equal(t, 3, of.Run.Settings(screen.All).Threads, "the run goes on as it was")
		require.NoError(t, of.Searches.Search(asked))
		<-of.Run.Done()
		out := of.Run.Outcome()
		require.NoError(t, out.Err)
		f, err := rundir.Load(out.Dir)
		require.NoError(t, err)
		assert.Equal(t, "search", f.Run.EndedBy)
		r, err := find.Load(out.Dir)
		require.NoError(t, err)
		assert.True(t, r.Complete, r.Why)
		assert.EqualValues(t, 10, r.Found)
		assert.FileExists(t, out.Dir+"/find.html")
	})
}

// The runs of a plan follow each other: a plain one, a search, a sweep and a run that is done twice. One
// that fails does not keep the others from it, and none begins after x.
func TestTheRunsOfAPlanInTheWorkbench(t *testing.T) {
	tier.Slow(t, tier.Computes)
	inBubble(t, func(t *testing.T, b *bench) {
		named := func(name string, values ...string) request.Run {
			return request.Run{Name: name, Request: putting(values...)}
		}
		file := &request.File{Suite: true, Runs: []request.Run{
			named("plain", "duration", "2s", "warmup", "0s", "threads", "1"), named("limit", "duration", "3m"), named("knee", "duration", "2s", "warmup", "0s"), named("twice", "duration", "2s", "warmup", "0s"),
		}}
		file.Runs[0].Request.Thresholds = []string{"p99<1us"}
		file.Runs[1].Find = &find.Asked{Under: []string{"p99<=20.5ms"}, Over: find.OverThreads}
		file.Runs[2].Sweep = &request.Sweep{Over: []string{"threads=1,2"}, Repeat: "1"}
		file.Runs[3].Repeat.Times = "2"
		of, err := b.sweeper.Suite(screen.Suite{Path: "night.yaml", File: file})
		require.NoError(t, err)
		until(func() bool { return of.Now().Turns[0].State == screen.Failed })
		assert.Equal(t, screen.ToCome, of.Now().Turns[3].State)
		<-of.Done()
		now, out := of.Now(), of.Outcome()
		assert.Equal(t, fault.CodeThreshold, out.Code)
		require.EqualError(t, out.Err, "1 of 4 runs failed")
		assert.Equal(t, "250 entries/s", now.Turns[0].Figures[0])
		assert.Equal(t, "up to 500 entries/s", now.Turns[1].Figures[0])
		assert.Equal(t, "up to 500 entries/s", now.Turns[2].Figures[0])
		for i, is := range []screen.SuiteState{screen.Failed, screen.Done, screen.Done, screen.Done} {
			assert.Equal(t, is, now.Turns[i].State, "%v", now.Turns[i].Err)
			assert.NotNil(t, now.Turns[i].To)
		}
		assert.Len(t, now.Turns[3].To.(screen.Noise).Runs, 2)
		assert.InDelta(t, 250, now.Turns[0].Rate, 1)
		assert.InDelta(t, 500, now.Turns[1].Rate, 1)
		history, err := b.kept.History()
		require.NoError(t, err)
		var names []string
		for _, r := range history {
			names = append(names, r.Name)
		}
		assert.ElementsMatch(t, []string{"plain", "limit", "knee", "knee", "twice", "twice"}, names, "each is found by its name in the plan")
		assert.Regexp(t, `(?m)^limit +up to 500 entries/s .* 0$`, out.Summary)

		file.Runs[0].Request.Thresholds = nil
		again, err := b.sweeper.Suite(screen.Suite{Path: "night.yaml", File: file})
		require.NoError(t, err)
		until(func() bool { r := again.Now().Run; return r != nil && r.Progress().Stage == screen.Measuring })
		again.Stop()
		<-again.Done()
		require.NoError(t, again.Outcome().Err)
		assert.Equal(t, []int{1, 3}, []int{again.Now().All(screen.Cut), again.Now().All(screen.NotBegun)}, "the run that was stopped has a report")
		assert.Regexp(t, `(?m)^plain .*, ended by hand after .* of 2 s `, again.Outcome().Summary)

		file.Runs[0].Request.Values["threads"] = workload.Value{Name: "threads", Text: "many"}
		_, err = b.sweeper.Suite(screen.Suite{Path: "night.yaml", File: file})
		require.ErrorContains(t, err, "plain: ")
	})
}

func TestASweepOfTheWorkbench(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		asked := sweep.Asked{Over: []string{"threads=1,2,4"}, Repeat: "1"}
		require.ErrorContains(t, b.sweeper.CanSweep(putting(), sweep.Asked{Repeat: "1"}), "a knob and its values")
		first, err := b.sweeper.Sweep(putting("duration", "2s", "warmup", "0s"), asked)
		require.NoError(t, err)
		until(func() bool {
			now := first.Now()
			return len(now.Runs) == 1 && now.Run != nil && now.Run.Progress().Stage == screen.Measuring
		})
		first.Stop()
		<-first.Done()
		require.NoError(t, first.Outcome().Err)
		assert.Contains(t, first.Outcome().Summary, "1 of 3 runs are done")
		assert.Len(t, first.Now().Runs, 1, "the run that was stopped does not count")

		path, plan, err := b.sweeper.SweepPlan(first.Now().ID)
		require.NoError(t, err)
		assert.FileExists(t, path)
		second, err := b.sweeper.Sweep(plan.Request, plan.Sweep.Asked())
		require.NoError(t, err)
		assert.Equal(t, 1, second.Now().Before, "what the plan file of the first asks for goes on where that was")
		<-second.Done()
		require.NoError(t, second.Outcome().Err)
		kept := b.kept.Sweeps()
		require.Len(t, kept, 1)
		require.True(t, kept[0].Complete())
		begun, err := b.kept.Load(kept[0].Runs[0].ID)
		require.NoError(t, err)
		assert.Equal(t, begun.Run.Started.Local().Truncate(time.Second), kept[0].When, "the sweep began with its first run")
		for i, want := range []float64{250, 500, 500} {
			assert.InEpsilon(t, want, *kept[0].Points[i].Done, 0.02)
		}
		again, err := b.sweeper.LoadSweep(kept[0].ID)
		require.NoError(t, err)
		assert.Equal(t, kept[0].Result, again.Result)
		history, err := b.kept.History()
		require.NoError(t, err)
		assert.Equal(t, 4, len(history), "each run has a folder, the one that was stopped too") //nolint:testifylint // they are long
	})
}

// A fault by hand is one as those of the timetable are, and heals itself.
func TestAFaultByHand(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		of, err := b.starter.Start(t.Context(), putting("duration", "20s", "threads", "2", "rate", "100", "breakable", "on"))
		require.NoError(t, err)
		until(func() bool { return of.Run.Progress().Stage == screen.Measuring })
		list, later, err := of.Control.Faults()
		require.NoError(t, err)
		assert.Equal(t, []string{"delay:5ms", "jitter:5ms", "loss:1%", "half-open", "refused", "pause"}, list)
		assert.Empty(t, later)
		for text, want := range map[string]string{
			"dely:5ms": `"dely" is not one of`, "kill:primary": "is for servers of the lab", "bandwidth:1MB/s": "needs a connection", "exec:true": "takes --allow-exec", "pause,heal=exec:true": "heal is for exec",
		} {
			require.ErrorContains(t, of.Control.CanBreak(text, time.Second), want, text)
		}
		require.ErrorContains(t, of.Control.CanBreak("pause", 0), "not a time up to 1h")
		until(func() bool { return of.Run.Snapshot().At > 8*time.Second })
		require.NoError(t, of.Control.Break("workbench", "pause", 2*time.Second))
		require.ErrorContains(t, of.Control.CanBreak("pause", time.Second), "is in force")
		<-of.Run.Done()
		out := of.Run.Outcome()
		require.NoError(t, out.Err)
		f, err := rundir.Load(out.Dir)
		require.NoError(t, err)
		require.Len(t, f.Run.Faults, 1)
		a := f.Run.Faults[0]
		assert.Equal(t, "pause", a.Kind)
		assert.True(t, a.Healed)
		assert.InDelta(t, 2, a.To-a.From, 0.01)
		assert.NotNil(t, a.Recovered, a.Why)
		assert.Equal(t, "workbench", f.Run.Changes[0].By)

		direct, err := b.starter.Start(t.Context(), putting("duration", "5s"))
		require.NoError(t, err)
		until(func() bool { return direct.Run.Progress().Stage == screen.Measuring })
		list, later, err = direct.Control.Faults()
		require.NoError(t, err)
		assert.Empty(t, list)
		assert.Equal(t, "delay:5ms", later[0])
		require.ErrorIs(t, direct.Control.CanBreak("delay:5ms", time.Second), workload.ErrDirect)
		direct.Ending.Stop()
		<-direct.Run.Done()
	})
}

// Each target of a sweep has its own password: the one that was typed into it, or that of
// an earlier run on it.
func TestASweepOverTargetsWithPasswords(t *testing.T) {
	host := labtest.Redis(t, "--requirepass", "hunter2").Addr()
	dir := t.TempDir()
	a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
	b := newBench(&surroundings{env: a.Session(), out: dir, state: dir, soft: context.Background(), hard: context.Background()})
	r := putting("count", "10", "warmup", "0s")
	r.Target, r.Password = "", ""
	one, two := "redis://"+host, "redis://default@"+host
	err := b.sweeper.CanSweep(r, sweep.Asked{Over: []string{"target=memory:," + one}, Repeat: "1"})
	require.ErrorContains(t, err, one+" wants a password")
	assert.Equal(t, "over", fault.FieldOf(err))
	assert.Contains(t, fault.HintOf(err), "redis://user:password@"+host)

	known := putting("count", "10", "warmup", "0s")
	known.Target, known.Password = one, "hunter2"
	_, err = b.requests.Preview(known)
	require.NoError(t, err)
	require.ErrorContains(t, b.sweeper.CanSweep(r, sweep.Asked{Over: []string{"target=memory:," + one}, Repeat: "1"}), "wants a password", "nothing was run with it")
	of, err := b.starter.Start(t.Context(), known)
	require.NoError(t, err)
	<-of.Run.Done()
	folder, err := b.kept.Load(of.Run.Outcome().ID)
	require.NoError(t, err)
	again := report.Asked(&folder.Run)
	require.Contains(t, again.Target, store.Masked)
	assert.Equal(t, known.Password, b.requests.request(again).Password)
	b.requests.Settle(one, "")
	assert.Equal(t, []string{one, ""}, []string{b.requests.request(again).Target, b.requests.request(again).Password}, "it was taken back")
	b.requests.Settle(one, known.Password)
	asked := sweep.Asked{Over: []string{"target=" + one + ",redis://default:hunter2@" + host}, Repeat: "1"}
	require.NoError(t, b.sweeper.CanSweep(r, asked))
	run, err := b.sweeper.Sweep(r, asked)
	require.NoError(t, err)
	<-run.Done()
	require.NoError(t, run.Outcome().Err)
	assert.Len(t, run.Now().Runs, 2)
	assert.Equal(t, []string{one, two}, run.Now().Axes[0].Values)
	assert.NotContains(t, run.Outcome().Summary, "hunter2")
}

// What the form was set to, and its target, are kept for the next time by what has begun, be it a run or
// the first of a sweep: not by a start that was refused, and not as what came of it, such as a swept point.
func TestOnlyWhatHasBegunIsRemembered(t *testing.T) {
	dir := t.TempDir()
	a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
	b := newBench(&surroundings{env: a.Session(), out: dir, state: dir, soft: t.Context(), hard: t.Context()})
	of := func(target string, values ...string) request.Request {
		form := putting(values...)
		form.Target = target
		r := form
		r.Form = &form
		return r
	}
	recalled := func() (target, threads string) {
		last, err := b.memory.Last()
		require.NoError(t, err)
		return last["ingestion"].Target, last["ingestion"].Values["threads"].Text
	}
	_, err := b.starter.Start(t.Context(), of("redis://127.0.0.1:1", "threads", "3"))
	require.Error(t, err)
	target, _ := recalled()
	assert.Empty(t, target)
	assert.Empty(t, b.memory.Recent())

	run, err := b.starter.Start(t.Context(), of("memory:", "threads", "2", "count", "10", "warmup", "0s"))
	require.NoError(t, err)
	assert.Nil(t, run.Run.Info().Request.Form, "what is made of the run is none of the form")
	<-run.Run.Done()
	target, threads := recalled()
	assert.Equal(t, []string{"memory:", "2"}, []string{target, threads})
	assert.Equal(t, []string{"memory:"}, b.memory.Recent())

	swept, err := b.sweeper.Sweep(of("memory:?service=1us", "threads", "2", "count", "10", "warmup", "0s"), sweep.Asked{Over: []string{"rate=1000,2000"}, Repeat: "1"})
	require.NoError(t, err)
	<-swept.Done()
	require.NoError(t, swept.Outcome().Err)
	target, threads = recalled()
	assert.Equal(t, []string{"memory:?service=1us", "2"}, []string{target, threads})

	swept, err = b.sweeper.Sweep(of("redis://127.0.0.1:1", "threads", "2", "count", "10"), sweep.Asked{Over: []string{"rate=1000,2000"}, Repeat: "1"})
	require.NoError(t, err)
	<-swept.Done()
	require.Error(t, swept.Outcome().Err)
	target, _ = recalled()
	assert.Equal(t, "memory:?service=1us", target)
}

// No shell replaces the ~ of a path that is typed into a screen.
func TestPathsBelowTheHomeOfTheUser(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "one.properties"), []byte("eligibility.totalEntryCount=40\n"), 0o600))
	inBubble(t, func(t *testing.T, b *bench) {
		b.requests.home = home
		r := putting("duration", "once")
		r.Preset, r.Files = "", []string{"~/one.properties"}
		delete(r.Values, "mapNames")
		of, err := b.starter.Start(t.Context(), r)
		require.NoError(t, err)
		<-of.Run.Done()
		out := of.Run.Outcome()
		require.NoError(t, out.Err)
		paths, err := b.kept.Export(out.ID, []string{"json", "plan"}, "~/exp")
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			assert.Equal(t, filepath.Join(home, "exp"), filepath.Dir(path))
			assert.FileExists(t, path)
		}
		plans := b.requests.PlanFiles()
		require.Len(t, plans, 1, "the one exported")
		assert.Equal(t, filepath.Join(home, "exp", report.PlanName), plans[0].Path)
	})
	assert.NoDirExists(t, "~")
}

// Rates that are left to a sweep lie around the knee, which a search finds once: a sweep
// that goes on has the same rates.
func TestASweepChoosesItsRatesInTheWorkbench(t *testing.T) {
	tier.Slow(t, tier.Computes)
	inBubble(t, func(t *testing.T, b *bench) {
		asked := sweep.Asked{Over: []string{"rate=auto"}, Repeat: "1"}
		first, err := b.sweeper.Sweep(putting("duration", "2s", "warmup", "0s"), asked)
		require.NoError(t, err)
		before := first.Now()
		assert.Equal(t, 10, before.All())
		until(func() bool { now := first.Now(); return len(now.Runs) == 1 && now.Run != nil })
		first.Stop()
		<-first.Done()
		require.NoError(t, first.Outcome().Err)
		knees := first.Now().Knees
		require.Len(t, knees, 1)
		assert.Greater(t, knees[0].Rate, 0.0)
		second, err := b.sweeper.Sweep(putting("duration", "2s", "warmup", "0s"), asked)
		require.NoError(t, err)
		assert.Equal(t, 1, second.Now().Before, "it goes on where it was")
		<-second.Done()
		require.NoError(t, second.Outcome().Err)
		now := second.Now()
		assert.Equal(t, knees, now.Knees)
		assert.True(t, now.Complete())
		rates := now.Axes[0].Numbers()
		assert.InEpsilon(t, 0.2*knees[0].Rate, rates[0], 0.01)
		assert.InEpsilon(t, 1.25*knees[0].Rate, rates[9], 0.01)
		assert.Less(t, *now.Points[9].Done, 0.98*rates[9], "the highest is beyond the knee")
	})
}
