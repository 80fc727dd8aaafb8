package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
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
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestQuittingDuringARunAsksOnce(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "q")
	assert.False(t, a.quit)
	send(t, a, "enter")
	assert.False(t, run.Stopped, "enter stays")
	send(t, a, "q", "y")
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
	send(t, a, "x", "x", frame(a))
	assert.IsType(t, &results.Results{}, a.stack.top())
	assert.Nil(t, a.stack.run())
	send(t, a, "q")
	assert.True(t, a.quit, "nothing runs: q asks nothing")
	assert.Equal(t, []screen.Outcome{run.Came}, a.final.Outcomes)
}

func TestAStoreThatCannotBeReachedIsSaidWithWhatToDo(t *testing.T) {
	b := &tuitest.Bench{StartErr: fault.Store(errors.New("redis: dial 127.0.0.1:6379: connection refused"), "is the server running? try redis-cli ping")}
	a := newTestApp(t, b, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24}, screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion", Target: "redis://me:secret@127.0.0.1:6379"}}})
	got := picture(t, a)
	assert.Contains(t, got, "connection refused")
	assert.Contains(t, got, "try redis-cli ping")
	b.StartErr, b.Next = nil, tuitest.NewRun(1)
	send(t, a, "enter")
	assert.IsType(t, &dashboard.Dashboard{}, a.stack.top(), "enter tries again")
	assert.Len(t, b.Started, 2)
}

func TestPreparingShowsHowFarItIs(t *testing.T) {
	a, run := dashApp(t, Options{Theme: widget.ThemeDark}, 1, 0, 80, 24)
	run.Stage = screen.Progress{Stage: screen.Preparing, Step: "loading the map eligibility", Done: 40_000, Total: 100_000}
	send(t, a, frame(a))
	tuitest.Golden(t, picture(t, a))
}

// What became of what earlier runs had left is said while a run is prepared and until there is an event.
func TestWhatARunDeletedIsSaid(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	for _, stage := range []screen.Stage{screen.Preparing, screen.Measuring} {
		run.Stage = screen.Progress{Stage: stage, Notice: "deleted and loaded again with 1 KiB: perfbench:order"}
		send(t, a, frame(a))
		assert.Contains(t, picture(t, a), "! deleted and loaded again with 1 KiB: perfbench:order", "%s", stage)
	}
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
	assert.Contains(t, picture(t, a), "knobs no longer turn", "a dimmed key says why")
	for _, size := range [][2]int{{60, 16}, {120, 40}} {
		a.env.W, a.env.H = size[0], size[1]
		lines := strings.Split(strings.TrimRight(picture(t, a), "\n"), "\n")
		assert.NotRegexp(t, "tune|stop", lines[len(lines)-1], "and is not offered")
	}
}

// Who looks in the log for calls that fail is told where they are.
func TestAnEmptyLogSaysWhereErrorsAre(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {120, 40}} {
		a, _ := dashApp(t, Options{}, 1, 3*time.Second, size[0], size[1])
		a.bench.Logs = func() []string { return nil }
		send(t, a, "L")
		assert.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(picture(t, a), "│", " ")), " "), "Nothing has been logged")
	}
}

func TestAMarkIsDrawnAndKept(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 30*time.Second, 120, 40)
	send(t, a, "m", "g", "c", "space", "q", "enter")
	assert.Equal(t, []measure.Mark{{At: 30 * time.Second, Note: "gc q"}}, run.Marks)
	got := picture(t, a)
	assert.Contains(t, got, "◆gc q")
	assert.Contains(t, got, "marked at 00:30 of the run: gc q")
	send(t, a, "m", "x")
	pass(t, a, run, 3*time.Second)
	send(t, a, "enter")
	assert.Equal(t, measure.Mark{At: 30 * time.Second, Note: "x"}, run.Marks[1], "a note that took long stands where it was meant")
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
	assert.Contains(t, got, "✗ The store has not answered since 00:10 of the run (4.0 s) · the run goes on · unreachable")
	assert.Contains(t, got, "─ of answered calls, 4 s old · ")
	assert.Regexp(t, `p50 +\d`, got, "the figures of before stay")
	_, bar := a.stack.top().(screen.Titled).Outside(a.env)
	assert.Equal(t, tea.ProgressBarError, bar.State)
	run.Stage.Stage = screen.Verifying
	send(t, a, frame(a))
	assert.Contains(t, picture(t, a), "since 00:10 of the run (4.0 s) · the run has ended, and verifying waits for the store")
	run.Stage.Stage = screen.Measuring
	run.Gone = false
	pass(t, a, run, 2*time.Second)
	assert.Contains(t, picture(t, a), "─ of answered calls · ", "and not of those that failed")
	assert.Contains(t, picture(t, a), "✓ The store answers again since 00:14 of the run, after 4.07 s", "as the reports say")
	run.NoFaults = errors.New("at: it needs a proxy")
	send(t, a, "F")
	assert.Contains(t, picture(t, a), "it needs a proxy", "a key is answered whatever the store does")
	send(t, a, "esc")
	pass(t, a, run, 20*time.Second)
	assert.NotContains(t, picture(t, a), "answers again")
}

// What perfbench itself did not run for is not laid to the store.
func TestAPauseOfPerfbenchIsNoOutageOfTheStore(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	run.Gone, run.Paused = true, 3500*time.Millisecond
	pass(t, a, run, 4*time.Second)
	assert.Contains(t, picture(t, a), "! Nothing done since 00:10 of the run (4.0 s): perfbench itself did not run for 3.5 s of that")
	run.Gone = false
	pass(t, a, run, 2*time.Second)
	got := picture(t, a)
	assert.Contains(t, got, "! Nothing was done for 4.07 s until 00:14 of the run: perfbench itself did not run")
	assert.NotContains(t, got, "answers again")
	send(t, a, "(")
	assert.Contains(t, picture(t, a), "perfbench did not run")
	run.Paused = 800 * time.Millisecond
	send(t, a, "esc")
	pass(t, a, run, 2*time.Second)
	assert.Contains(t, picture(t, a), "✓ The store answers again since 00:14 of the run, after 4.07 s (perfbench itself did not run for 800 ms)")
}

func TestAStoreThatComesBackEmptyIsNoGoodNews(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	run.Gone = true
	pass(t, a, run, 4*time.Second)
	run.Gone, run.Empty = false, true
	pass(t, a, run, 2*time.Second)
	got := picture(t, a)
	assert.Contains(t, got, "✗ The store answers again since 00:14 of the run, after 4.0")
	assert.Contains(t, got, " s, but it has lost records: 200 calls found none")
	assert.NotContains(t, got, "has not answered")
	assert.NotContains(t, got, "✓")
	run.Empty = false
	pass(t, a, run, 20*time.Second)
	assert.NotContains(t, picture(t, a), "lost records")
}

func TestAHangIsNoticedWithoutErrors(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	run.Hang = 2 * time.Second
	pass(t, a, run, 2*time.Second)
	assert.Contains(t, picture(t, a), "The store has not answered since 00:10")
	send(t, a, "space")
	run.Hang = 0
	pass(t, a, run, 30*time.Second)
	assert.NotContains(t, picture(t, a), "not answered since 00:14", "a pause is no silence")
}

func TestFramesSlowDownWithoutFocusAndFollowOneChain(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, time.Second, 120, 40)
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

func TestFramesAreFewWhileNothingHappens(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	var every []time.Duration
	a.tick = func(d time.Duration, _ int) tea.Cmd {
		every = append(every, d)
		return nil
	}
	pass(t, a, run, 100*time.Millisecond)
	send(t, a, "space")
	pass(t, a, run, 100*time.Millisecond)
	far := frame(a)
	send(t, a, "+", far)
	assert.Equal(t, []time.Duration{time.Second / fps, time.Second / fpsRest, time.Second / fps}, every, "a key begins frames anew, and those from before end")
	a.stack, every = a.stack[:1], nil
	send(t, a, "esc")
	pass(t, a, run, 4*time.Second) // the answer to the key has gone, too
	assert.Equal(t, time.Second/fpsRest, every[len(every)-1], "the picker, when its target has answered")
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

func TestEachTerminalGetsTheColoursThatItHas(t *testing.T) {
	all, many, few := regexp.MustCompile(`\x1b\[[0-9;]*38;2;`), regexp.MustCompile(`\x1b\[[0-9;]*38;5;`), regexp.MustCompile(`\x1b\[(1;)?(3|9)[0-7]m`)
	for _, c := range []struct {
		colours         colorprofile.Profile
		all, many, some bool
	}{
		{colorprofile.TrueColor, true, false, false},
		{colorprofile.ANSI256, false, true, false},
		{colorprofile.ANSI, false, false, true},
		{colorprofile.ASCII, false, false, false},
	} {
		a, run := changed(t, Options{Theme: widget.ThemeDark}, 1, 120, 40)
		run.Gone = true
		pass(t, a, run, 2*time.Second)
		before := picture(t, a)
		send(t, a, tea.ColorProfileMsg{Profile: c.colours})
		page := a.View().Content
		assert.Equal(t, before, ansi.Strip(page), "%v: colours change no letter", c.colours)
		assert.Equal(t, []bool{c.all, c.many, c.some}, []bool{all.MatchString(page), many.MatchString(page), few.MatchString(page)}, "%v", c.colours)
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
	app := NewApp(Options{Start: true, Request: request.Request{Profile: "ingestion"}}, partsOf(b), func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	tm := teatest.NewTestModel(t, app, teatest.WithInitialTermSize(100, 30), teatest.WithProgramOptions(tea.WithColorProfile(colorprofile.ASCII)))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(ansi.Strip(string(out)), "Throughput") }, teatest.WithDuration(10*time.Second))
	for range 20 {
		tm.Send(tuitest.KeyPress("+"))
	}
	tm.Send(tuitest.KeyPress("x"))
	tm.Send(tuitest.KeyPress("x"))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(ansi.Strip(string(out)), "Results") }, teatest.WithDuration(10*time.Second))
	tm.Send(tuitest.KeyPress("q"))
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
	final := tm.FinalModel(t).(*App).finish()
	assert.Equal(t, []screen.Outcome{run.Came}, final.Outcomes)
	assert.Equal(t, 36, run.Settings(screen.All).Threads)
	assert.Len(t, run.Snapshot().Changes, 20)
}

// cancelling cancels as soon as a screen looks at the run that it has started: before
// that there is none to end in order.
type cancelling struct {
	*tuitest.Bench
	cancel func()
}

func (c cancelling) Start(ctx context.Context, r request.Request) (screen.Access, error) {
	a, err := c.Bench.Start(ctx, r)
	a.Run = lookedAt{a.Run, c.cancel}
	return a, err
}

type lookedAt struct {
	screen.Run
	cancel func()
}

func (l lookedAt) Snapshot() *measure.Snapshot {
	l.cancel()
	return l.Run.Snapshot()
}

func TestShowEndsInOrderWhenItsContextDoes(t *testing.T) {
	run := tuitest.NewRun(1)
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	b := startedBy(cancelling{&tuitest.Bench{Next: run}, cancel})
	final, err := Show(ctx, Options{Start: true, In: in, Out: io.Discard, Environ: []string{"TERM=xterm"}}, b)
	require.NoError(t, err)
	assert.True(t, run.Stopped)
	assert.Equal(t, []screen.Outcome{run.Came}, final.Outcomes)
}

// Who is to ignore a hangup is not told that the terminal has gone, but nobody could stop
// its run any more.
func TestShowEndsInOrderWhenItsTerminalHasGone(t *testing.T) {
	run := tuitest.NewRun(1)
	in, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	b := startedBy(cancelling{&tuitest.Bench{Next: run}, func() { _ = w.Close() }})
	final, err := Show(t.Context(), Options{Start: true, In: in, Out: io.Discard, Environ: []string{"TERM=xterm"}}, b)
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

// F lists in one dialog what can be broken, and says what enter will do; nothing breaks before.
func TestAFaultIsChosenInOneDialog(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}} {
		a, run := dashApp(t, Options{}, 1, 10*time.Second, size[0], size[1])
		words := func() string { return strings.Join(strings.Fields(strings.ReplaceAll(picture(t, a), "│", " ")), " ") }
		shows := func(text string) {
			t.Helper()
			assert.Contains(t, words(), text)
		}
		send(t, a, "F")
		shows("Break something")
		shows("fault ◂ delay:5ms ▸")
		shows("▸ delay:5ms")
		shows("Enter breaks it at once; it heals by itself after 10s.")
		send(t, a, "right", "right", "right", "left")
		shows("▸ kill:primary")
		send(t, a, "down", "3", "x")
		shows(`"3x" is not a time such as 10s`)
		send(t, a, "enter")
		shows("Break something")
		assert.Empty(t, run.Broken, "it is told what is wrong, and can be mended")
		send(t, a, "backspace", "s")
		shows("it heals by itself after 3s.")
		send(t, a, "left", "2", "up")
		shows("fault ◂ kill:primary ▸")
		shows("for 32s")
		send(t, a, "down", "backspace")
		shows("it heals by itself after 3s.")
		send(t, a, "esc")
		assert.Empty(t, run.Broken)
		assert.NotContains(t, picture(t, a), "Break something")
		send(t, a, "F", "enter")
		assert.Equal(t, []string{"kill:primary 3s"}, run.Broken)
		send(t, a, "F", "backspace")
		shows("kill:primar")
		assert.NotContains(t, words(), "Enter breaks it")
		send(t, a, "esc")
		run.NoFaults = errors.New("at: it needs a proxy")
		send(t, a, "F")
		shows("it needs a proxy")
		send(t, a, "esc", "+")
		assert.NotContains(t, picture(t, a), "it needs a proxy")
	}
}

// Where the connections of a run cannot be broken, the dialog says so in full, and enter does the
// same run with some that can.
func TestAFaultOffersARunThatIsBreakable(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}} {
		run := tuitest.NewRun(1)
		b := &tuitest.Bench{Next: run}
		a := newTestApp(t, b, Options{})
		send(t, a, tea.WindowSizeMsg{Width: size[0], Height: size[1]}, screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion"}}})
		pass(t, a, run, tuitest.Warmup+10*time.Second)
		run.Direct, b.Next = true, tuitest.NewRun(1)
		send(t, a, "F")
		shown := strings.Join(strings.Fields(strings.ReplaceAll(picture(t, a), "│", " ")), " ")
		assert.Contains(t, shown, "Enter breaks it at once", "what can be broken comes first")
		send(t, a, "right")
		shown = strings.Join(strings.Fields(strings.ReplaceAll(picture(t, a), "│", " ")), " ")
		assert.Contains(t, shown, "The connections of this run are direct")
		assert.Contains(t, shown, "F breaks them then.")
		send(t, a, "enter")
		assert.Empty(t, run.Broken)
		assert.True(t, run.Stopped)
		send(t, a, frame(a))
		require.Len(t, b.Started, 2)
		assert.Equal(t, "on", b.Started[1].Values["breakable"].Text)
	}
}
