package tui

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/tuitest"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestQuittingDuringARunAsksOnce(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "q")
	assert.False(t, a.quit)
	send(t, a, "esc")
	assert.False(t, run.Stopped, "esc stays")
	send(t, a, "q", "enter")
	assert.True(t, run.Stopped)
	assert.False(t, a.quit, "the report has yet to be written")
	send(t, a, frame(a))
	assert.True(t, a.quit)
	assert.False(t, run.Killed)
	assert.Equal(t, []screen.Outcome{run.Came}, a.finish().Outcomes)
}

func TestASecondCtrlCStopsAtOnce(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "ctrl+c")
	assert.False(t, run.Stopped)
	send(t, a, "ctrl+c")
	assert.True(t, a.quit)
	assert.True(t, run.Killed)
	assert.Len(t, a.finish().Outcomes, 1)
}

func TestASignalStopsInOrderAndASecondAtOnce(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, stopMsg{})
	assert.True(t, run.Stopped)
	assert.False(t, run.Killed)
	send(t, a, killMsg{})
	assert.True(t, a.quit)
	assert.True(t, run.Killed)
}

func TestARunThatEndsShowsItsResults(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "x", frame(a))
	assert.IsType(t, &results{}, a.top())
	assert.Nil(t, a.run())
	send(t, a, "q")
	assert.True(t, a.quit, "nothing runs: q asks nothing")
	assert.Equal(t, []screen.Outcome{run.Came}, a.final.Outcomes)
}

func TestAStoreThatCannotBeReachedIsSaidWithWhatToDo(t *testing.T) {
	b := &tuitest.Bench{StartErr: fault.Store(errors.New("redis: dial 127.0.0.1:6379: connection refused"), "is the server running? try redis-cli ping")}
	a := newTestApp(t, b, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24}, screen.OpenMsg{To: screen.Start{Request: screen.Request{Profile: "ingestion", Target: "redis://me:secret@127.0.0.1:6379"}}})
	got := picture(t, a)
	assert.Contains(t, got, "connection refused")
	assert.Contains(t, got, "try redis-cli ping")
	b.StartErr, b.Next = nil, tuitest.NewRun(1)
	send(t, a, "enter")
	assert.IsType(t, &dashboard{}, a.top(), "enter tries again")
	assert.Len(t, b.Started, 2)
}

func TestPreparingShowsHowFarItIs(t *testing.T) {
	a, run := dashApp(t, Options{Theme: widget.ThemeDark}, 1, 0, 80, 24)
	run.Stage = screen.Progress{Stage: screen.Preparing, Step: "loading the map eligibility", Done: 40_000, Total: 100_000}
	send(t, a, frame(a))
	tuitest.Golden(t, picture(t, a))
}

func TestPausedAndFinishingAreSaid(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "space")
	assert.True(t, run.Settings(0).Paused)
	assert.Contains(t, picture(t, a), "‖ Bulk ingestion · redis · paused")
	assert.Contains(t, picture(t, a), "space resume")
	send(t, a, "space")
	assert.False(t, run.Settings(0).Paused)
	run.Stage = screen.Progress{Stage: screen.Verifying, Step: "comparing 2 472 000 entries"}
	send(t, a, frame(a))
	got := picture(t, a)
	assert.Contains(t, got, "verifying")
	assert.Contains(t, got, "comparing 2 472 000 entries")
	calls := run.Calls
	send(t, a, "+")
	assert.Equal(t, calls, run.Calls)
	assert.Contains(t, picture(t, a), "knobs are at rest", "a dimmed key says why")
}

func TestAMarkIsDrawnAndKept(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 30*time.Second, 120, 40)
	send(t, a, "m", "g", "c", "space", "q", "enter")
	assert.Equal(t, []measure.Mark{{At: 30 * time.Second, Note: "gc q"}}, run.Marks)
	got := picture(t, a)
	assert.Contains(t, got, "╎")
	assert.Contains(t, got, "◆")
	assert.Contains(t, got, "marked 00:30: gc q")
	send(t, a, "m", "x")
	pass(t, a, run, 3*time.Second)
	send(t, a, "enter")
	assert.Equal(t, measure.Mark{At: 33 * time.Second, Note: "00:30 x"}, run.Marks[1], "a note that took long says when it was meant")
}

func TestKeysOfTheBottomLineCanBeClicked(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	x := strings.Index(picture(t, a)[strings.LastIndex(picture(t, a), "\n")+1:], "t tune")
	send(t, a, tea.MouseClickMsg{X: x - 2, Y: 39, Button: tea.MouseLeft})
	assert.Contains(t, picture(t, a), "╭─ Tune")
}

func TestTheStoreGoesAndComesBack(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	run.Gone = true
	pass(t, a, run, 4*time.Second)
	got := picture(t, a)
	assert.Contains(t, got, "✗ The store has not answered since 00:10 (4 s) · the run goes on · unreachable")
	_, bar := a.top().(screen.Titled).Outside(a.env)
	assert.Equal(t, tea.ProgressBarError, bar.State)
	run.Gone = false
	pass(t, a, run, 2*time.Second)
	assert.Contains(t, picture(t, a), "✓ The store answers again since 00:14, after 4 s")
	pass(t, a, run, 20*time.Second)
	assert.NotContains(t, picture(t, a), "answers again")
}

func TestAHangIsNoticedWithoutErrors(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	run.Hang = 2 * time.Second
	pass(t, a, run, 4*time.Second)
	assert.Contains(t, picture(t, a), "The store has not answered since 00:10")
	send(t, a, "space")
	run.Hang = 0
	pass(t, a, run, 30*time.Second)
	assert.NotContains(t, picture(t, a), "not answered since 00:14", "a pause is no silence")
}

func TestEffectComparesTenSecondsBeforeWithThoseSince(t *testing.T) {
	row := func(t int, count int64, p99 int64) measure.Row {
		return measure.Row{T: t, Count: count, Seconds: 1, ResponseP99: p99}
	}
	s := &measure.Snapshot{
		Recent: [][]measure.Row{{row(0, 9999, 1), row(5, 100, 10), row(14, 200, 30), row(15, 150, 20), row(16, 300, 50), row(17, 500, 70)}},
		Changes: []measure.Change{
			{At: 2 * time.Second, Name: "threads", From: 1, To: 16},
			{At: 15200 * time.Millisecond, Name: "threads", From: 16, To: 17},
			{At: 15900 * time.Millisecond, Name: "threads", From: 17, To: 18},
		},
	}
	e, ok := lastEffect(s)
	require.True(t, ok)
	assert.InDelta(t, 16, e.from, 0, "presses close together are one change")
	assert.InDelta(t, 18, e.to, 0)
	assert.Equal(t, stretch{2, 150, 30}, e.before, "whole seconds only, at most ten of them")
	assert.Equal(t, stretch{2, 400, 70}, e.after)
}

// What is left of a run after its last whole second is drawn and told by no screen.
func TestARestOfASecondHasNoRateOnScreens(t *testing.T) {
	s := &measure.Snapshot{
		At: 2050 * time.Millisecond, Tracks: []string{"p"}, Gauges: make([]measure.Gauge, 1), Bucket: 1,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "p", Op: "put"}}},
		Recent:   [][]measure.Row{{{T: 0, Count: 500, Seconds: 1}, {T: 1, Count: 510, Seconds: 1}, {T: 2, Count: 580, Seconds: 0.05}}},
		Timeline: [][]measure.Point{{{T: 0, Count: 500, Seconds: 1}, {T: 1, Count: 510, Seconds: 1}, {T: 2, Count: 580, Seconds: 0.05}}},
	}
	line := newAxis(100, 0, 3, 3, 1).rate(s, -1)
	assert.InDelta(t, 510, chart.Peak(line.vals), 0)
	f := digest(s, -1)
	assert.Equal(t, 1, f.second)
	assert.InDelta(t, 510, f.rate, 0)
	assert.InDelta(t, 510, chart.Peak(recentRates(s, 0, 2, 3)), 0)
	assert.InDelta(t, 505, between(s, 0, math.Inf(1)).rate, 0)
}

// Phases that share a second share its rate: it is no sum of two.
func TestPhasesOfOneSecondMakeOneRate(t *testing.T) {
	half := 500 * time.Millisecond
	s := &measure.Snapshot{
		At: time.Second, Tracks: []string{"a", "b"}, Bucket: 1,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "a", Op: "put"}}, {Operation: measure.Operation{Track: "b", Op: "get"}}},
		Ran:      []measure.Phase{{Name: "a", Tracks: []string{"a"}, To: half}, {Name: "b", Tracks: []string{"b"}, From: half, To: time.Second}},
		Timeline: [][]measure.Point{{{Count: 250, Seconds: 0.5}}, {{Count: 250, Seconds: 0.5}}},
	}
	assert.Equal(t, []float64{500}, newAxis(1, 0, 1, 1, 1).rate(s, -1).vals)
}

func TestAChangeOfSeveralTracksIsToldWhole(t *testing.T) {
	plan := tuitest.NewPlan(3) // feed, profile, claims
	at := func(ms int, name string, from, to float64, by string) measure.Change {
		return measure.Change{At: time.Duration(ms) * time.Millisecond, Name: name, From: from, To: to, By: by}
	}
	for _, c := range []struct {
		name    string
		changes []measure.Change
		want    string
	}{
		{"one track", []measure.Change{at(0, "feed.payload", 1024, 2048, "workbench")}, "feed payload 1 KiB → 2 KiB"},
		{
			"all tracks, each from where it stands",
			[]measure.Change{at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, "")},
			"payload 1 KiB–10 KiB → 2 KiB–20 KiB",
		},
		{
			"twice",
			[]measure.Change{
				at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, ""),
				at(300, "feed.payload", 2048, 4096, ""), at(300, "profile.payload", 20480, 40960, ""), at(300, "claims.payload", 8192, 16384, ""),
			},
			"payload 1 KiB–10 KiB → 4 KiB–40 KiB",
		},
		{
			"two of three",
			[]measure.Change{at(0, "profile.threads", 16, 20, ""), at(100, "feed.threads", 16, 8, "")},
			"feed, profile threads 16 → 8–20",
		},
		{
			"a total after a track",
			[]measure.Change{at(0, "feed.threads", 16, 8, ""), at(100, "threads", 40, 41, "")},
			"threads 40 → 41",
		},
		{
			"no limit is the highest rate",
			[]measure.Change{at(0, "feed.rate", 0, 500, ""), at(0, "profile.rate", 100, 500, ""), at(0, "claims.rate", 100, 500, "")},
			"rate 100–max → 500",
		},
		{
			"a reset",
			[]measure.Change{at(0, "feed.threads", 20, 16, "reset"), at(0, "feed.batch", 5, 100, "reset"), at(0, "profile.batch", 5, 100, "reset")},
			"every knob reset",
		},
		{
			"another knob before",
			[]measure.Change{at(0, "threads", 20, 16, ""), at(100, "feed.batch", 5, 100, ""), at(100, "profile.batch", 5, 100, ""), at(100, "claims.batch", 5, 100, "")},
			"batch 5 → 100",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, ok := lastEffect(&measure.Snapshot{Changes: c.changes})
			require.True(t, ok)
			assert.Equal(t, c.want, e.what(plan))
		})
	}
}

func TestAxisLeapsAndNeverRedrawsThePast(t *testing.T) {
	for _, c := range []struct {
		name                   string
		warmup, elapsed, total int
		span                   int
	}{
		{"a short run is known whole", 0, 1, 15, 15},
		{"warm-up belongs to it", 5, 1, 60, 65},
		{"a long run begins with thirty seconds", 0, 1, 600, 30},
		{"and doubles", 0, 31, 600, 60},
		{"until its end is near", 0, 250, 600, 600},
		{"an unknown end doubles", 0, 100, 0, 120},
		{"a run beyond its end doubles", 0, 61, 60, 120},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.span, newAxis(60, c.warmup, c.elapsed, c.total, 1).span) })
	}
	run := tuitest.NewRun(1)
	var before []float64
	for range 60 {
		run.Tick(time.Second)
		a := newAxis(100, 5, widget.Seconds(run.At)+1, 60, 1)
		dots := a.dots(a.rate(run.Snapshot(), -1))
		for i, v := range before {
			if v == v {
				require.InDelta(t, v, dots[i], 1e-9, "column %d at %v", i, run.At)
			}
		}
		before = dots
	}
}

func TestFramesSlowDownWithoutFocusAndFollowOneChain(t *testing.T) {
	a := newTestApp(t, &tuitest.Bench{}, Options{})
	var every []time.Duration
	a.tick = func(d time.Duration, _ int) tea.Cmd {
		every = append(every, d)
		return nil
	}
	old := frame(a)
	send(t, a, frame(a), tea.BlurMsg{}, frame(a), tea.FocusMsg{}, old)
	send(t, a, frame(a))
	assert.Equal(t, []time.Duration{time.Second / fps, time.Second / fpsBlur, time.Second / fps, time.Second / fps}, every, "the frame of the old chain starts no other")
}

func TestFloodsOfMouseMessagesAreThinned(t *testing.T) {
	now := time.Unix(0, 0)
	filter := calmBy(func() time.Time { return now })
	assert.NotNil(t, filter(nil, tea.MouseMotionMsg{}))
	assert.Nil(t, filter(nil, tea.MouseMotionMsg{}))
	assert.NotNil(t, filter(nil, tea.MouseClickMsg{}))
	assert.NotNil(t, filter(nil, tea.MouseReleaseMsg{}))
	assert.NotNil(t, filter(nil, tuitest.KeyPress("+")))
	now = now.Add(calm)
	assert.NotNil(t, filter(nil, tea.MouseMotionMsg{}))
}

func TestEveryThemeSaysTheSame(t *testing.T) {
	want := ""
	for _, theme := range widget.Themes {
		a, run := changed(t, Options{Theme: theme}, 1, 120, 40)
		run.Gone = true
		pass(t, a, run, 3*time.Second)
		send(t, a, "t")
		if want == "" {
			want = picture(t, a)
		}
		assert.Equal(t, want, picture(t, a), theme)
		if theme == widget.ThemeMono {
			assert.NotRegexp(t, `\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]`, a.View().Content, "mono writes no colour")
		}
	}
}

func TestColours(t *testing.T) {
	for _, theme := range []string{widget.ThemeLight, widget.ThemeDark, widget.ThemeMono} {
		t.Run(theme, func(t *testing.T) {
			a, _ := changed(t, Options{Theme: theme}, 1, 80, 24)
			send(t, a, "t")
			golden.RequireEqual(t, []byte(a.View().Content+"\n"))
		})
	}
}

func TestNoColorIsMono(t *testing.T) {
	a := newTestApp(t, &tuitest.Bench{}, Options{NoColor: true, Theme: widget.ThemeDark})
	assert.Equal(t, "mono", a.env.Styles.Name)
}

func TestNoScreenIsLargerThanTheTerminal(t *testing.T) {
	for _, tracks := range []int{1, 3} {
		a, run := changed(t, Options{}, tracks, 120, 40)
		run.Gone = true
		pass(t, a, run, 3*time.Second)
		for _, keys := range [][]string{{}, {"down"}, {"tab"}, {"tab"}, {"tab"}, {"tab"}, {"l"}, {"t"}, {"up", "up", "right"}, {"down", "5"}, {"esc"}, {"?"}, {"?"}, {"L"}, {"L"}, {"q"}, {"esc"}, {"esc"}, {"m"}} {
			for _, k := range keys {
				send(t, a, k)
			}
			for _, size := range [][2]int{{200, 60}, {120, 40}, {96, 25}, {97, 28}, {80, 24}, {79, 50}, {60, 16}, {61, 23}, {59, 16}, {20, 5}, {1, 1}} {
				send(t, a, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				picture(t, a)
			}
		}
	}
}

func TestAProgramFromStartToEnd(t *testing.T) {
	run := tuitest.NewRun(1)
	run.Tick(8 * time.Second)
	b := &tuitest.Bench{Next: run}
	app := NewApp(Options{Start: true, Request: screen.Request{Profile: "ingestion"}}, b, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	tm := teatest.NewTestModel(t, app, teatest.WithInitialTermSize(100, 30), teatest.WithProgramOptions(tea.WithColorProfile(colorprofile.ASCII)))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(ansi.Strip(string(out)), "Throughput") }, teatest.WithDuration(10*time.Second))
	for range 20 {
		tm.Send(tuitest.KeyPress("+"))
	}
	tm.Send(tuitest.KeyPress("x"))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(ansi.Strip(string(out)), "Results") }, teatest.WithDuration(10*time.Second))
	tm.Send(tuitest.KeyPress("q"))
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
	final := tm.FinalModel(t).(*App).finish()
	assert.Equal(t, []screen.Outcome{run.Came}, final.Outcomes)
	assert.Equal(t, 36, run.Settings(screen.All).Threads)
	assert.Len(t, run.Snapshot().Changes, 20)
}

func TestShowEndsInOrderWhenItsContextDoes(t *testing.T) {
	run := tuitest.NewRun(1)
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	b := &tuitest.Bench{Next: run}
	go func() { // ends once the run has started
		for {
			b.Mu.Lock()
			n := len(b.Started)
			b.Mu.Unlock()
			if n > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	final, err := Show(ctx, Options{Start: true, In: in, Out: io.Discard, Environ: []string{"TERM=xterm"}}, b)
	require.NoError(t, err)
	assert.True(t, run.Stopped)
	assert.Equal(t, []screen.Outcome{run.Came}, final.Outcomes)
}

func BenchmarkDashboardView(b *testing.B) {
	for name, keys := range map[string][]string{"dashboard": {}, "tuning": {"t"}, "help": {"?"}} {
		b.Run(name, func(b *testing.B) {
			a, run := changed(b, Options{Theme: widget.ThemeDark}, 1, 120, 40)
			for _, k := range keys {
				send(b, a, k)
			}
			b.ReportAllocs()
			for b.Loop() {
				run.Mu.Lock()
				run.Publish()
				run.Mu.Unlock()
				a.Update(frame(a))
				_ = a.View()
			}
		})
	}
}
