package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestTypingAValueTurnsTheSelectedKnob(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "t", "down", "4", "K", "i", "B")
	assert.Regexp(t, "▸ Payload +1 KiB → 4KiB ", picture(t, a))
	assert.Contains(t, picture(t, a), "enter set payload")
	assert.Equal(t, 1024, run.Settings(screen.All).Payload, "nothing turns before enter")
	send(t, a, "enter")
	assert.Equal(t, 4096, run.Settings(screen.All).Payload)
	send(t, a, "9", "q", "esc")
	assert.Equal(t, 4096, run.Settings(screen.All).Payload, "esc leaves the value")
	assert.False(t, a.quit, "q is text while a value is typed")
	send(t, a, "9", "q", "enter")
	assert.Contains(t, picture(t, a), `"9q" is not a size`)
	assert.Equal(t, 4096, run.Settings(screen.All).Payload)
}

// A number typed for another knob than the selected one goes along to that one.
func TestWhatIsTypedGoesAlongToAnotherKnob(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	before := run.Settings(screen.All)
	send(t, a, "t")
	assert.Contains(t, picture(t, a), "0–9 type threads")
	send(t, a, "5", "0", "0")
	assert.Regexp(t, `▸ Threads +\d+ → 500 `, picture(t, a))
	send(t, a, "down", "down", "down", "down", "down", "up")
	assert.Regexp(t, `▸ Batch +\S+ → 500 `, picture(t, a))
	assert.Equal(t, before, run.Settings(screen.All))
	send(t, a, "enter")
	assert.Equal(t, 500, run.Settings(screen.All).Batch)
	send(t, a, "enter", "up")
	assert.Regexp(t, `▸ Payload .* → 1024 `, picture(t, a), "a value that nobody typed stays where it was")
	send(t, a, "esc", "up", "up", "up", "up", "7")
	assert.Contains(t, picture(t, a), "no knob is selected: ↓ selects one")
	send(t, a, "enter")
	after := run.Settings(screen.All)
	after.Batch = before.Batch
	assert.Equal(t, before, after)
}

// What is pasted goes into the value that is being typed.
func TestAValueIsPasted(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "t", "enter")
	a.Update(tea.PasteMsg{Content: "24"})
	send(t, a, "enter")
	assert.Equal(t, 24, run.Settings(screen.All).Threads)
}

// The panel begins at its first knob each time, so that a number typed goes where it is seen.
func TestThePanelForgetsItsRow(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	payload := run.Settings(screen.All).Payload
	send(t, a, "t", "down", "esc", "t", "7", "enter")
	assert.Equal(t, 7, run.Settings(screen.All).Threads)
	send(t, a, "down", "t", "t", "9", "enter")
	assert.Equal(t, 9, run.Settings(screen.All).Threads)
	assert.Equal(t, payload, run.Settings(screen.All).Payload)
}

func TestThereAreNoPartsOfThreads(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	before := run.Settings(screen.All).Threads
	send(t, a, "t", "5", ".", "7", "enter")
	assert.Contains(t, picture(t, a), `"5.7" is not a whole number`)
	assert.Equal(t, before, run.Settings(screen.All).Threads)
}

func TestARateIsTypedOverAndMadeUnlimitedByItsWord(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "}", "{", "}", "}")
	limit := run.Settings(screen.All).Rate
	require.NotZero(t, limit, "the first notch down gave it one")
	send(t, a, "}", "}", "}", "}", "}", "}", "}", "}", "}", "}")
	assert.Greater(t, run.Settings(screen.All).Rate, limit, "no turn takes it away")
	send(t, a, "t", "down", "down", "down", "enter", "5", "0", "enter")
	require.Equal(t, 50, int(run.Settings(screen.All).Rate))
	send(t, a, "enter", "end", "0", "enter")
	require.Equal(t, 500, int(run.Settings(screen.All).Rate), "keys that edit keep what was there")
	send(t, a, "enter", "m", "a", "x", "enter")
	assert.Zero(t, run.Settings(screen.All).Rate)
}

// A typed value out of range is refused as the form and the command line do: nothing is set in its place.
func TestATypedValueOutOfRangeIsRefused(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "t", "9", "9", "9", "9", "9", "enter")
	assert.Equal(t, 16, run.Settings(screen.All).Threads)
	assert.Contains(t, picture(t, a), "threads: 99999 is not in 1..4096")
	send(t, a, "0", "enter")
	assert.Equal(t, 16, run.Settings(screen.All).Threads)
	assert.Contains(t, picture(t, a), "threads: 0 is not in 1..4096")
	send(t, a, "4", "0", "9", "6", "enter")
	assert.Equal(t, 4096, run.Settings(screen.All).Threads)
	send(t, a, "down", "9", "T", "i", "B", "enter")
	assert.Contains(t, picture(t, a), "payload: 9TiB is not in ")
	assert.Len(t, run.Snapshot().Changes, 1, "one change, of the value in range")
}

func TestARateFarBeyondWhatWasReachedIsAskedAbout(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "t", "down", "down", "down", "1", "e", "3", "0", "0", "enter")
	assert.Contains(t, picture(t, a), "rate: 1e300 is not in 0..1G")
	send(t, a, "esc")
	for _, answer := range []struct {
		key  string
		rate float64
	}{{"n", 0}, {"enter", 0}, {"y", 99_999_999}} {
		send(t, a, "t", "down", "down", "down")
		for _, digit := range "99999999" {
			send(t, a, string(digit))
		}
		send(t, a, "enter")
		assert.Contains(t, picture(t, a), "times what was reached. Set it? [y/N]")
		assert.Zero(t, run.Settings(screen.All).Rate)
		assert.Contains(t, picture(t, a), "y set it all the same  enter leave it")
		send(t, a, "q", answer.key, "esc")
		assert.InDelta(t, answer.rate, run.Settings(screen.All).Rate, 0)
	}
	run.Behind = 1000
	pass(t, a, run, 6*time.Second) // the message about the rate has gone
	assert.NotContains(t, picture(t, a), "of work")
	run.Behind = 10_000_000_000
	pass(t, a, run, time.Second)
	assert.Contains(t, picture(t, a), "10G behind: u drops it")
	run.Behind = 1000
	pass(t, a, run, time.Second)
	send(t, a, "u")
	assert.Zero(t, run.Settings(screen.All).Rate)
	assert.Contains(t, picture(t, a), "1\u2009000 calls that were due but not yet sent are dropped: they count as never sent")
}

// A backlog that was worked off is in the verdict as one of before, with the time until which there was one.
func TestABacklogThatIsOverSaysUntilWhen(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	run.Change("test", 0, func(s workload.Settings) workload.Settings { s.Rate = 1000; return s })
	run.Judged = rundir.Verdict{State: verdict.Degraded, Causes: []string{string(verdict.Backlog)}}
	run.Behind = 1000
	pass(t, a, run, 2*time.Second)
	assert.Contains(t, picture(t, a), "DEGRADED: backlog ")
	run.Behind = 0
	pass(t, a, run, 5*time.Second)
	assert.Regexp(t, `DEGRADED: backlog until 00:0[45]`, picture(t, a))
}

func TestACallThatDoesNotEndIsNoticed(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}} {
		a, run := dashApp(t, Options{}, 1, 3*time.Second, size[0], size[1])
		assert.NotContains(t, picture(t, a), "under way for")
		run.Hang = 1300 * time.Millisecond
		pass(t, a, run, 200*time.Millisecond)
		assert.Contains(t, picture(t, a), "! The oldest of 16 calls has been under way for 1.3 s", "%v", size)
		assert.Contains(t, picture(t, a), "oldest 1.3 s")
	}
}

// How old the oldest call is counts from when it was due; that it is stuck, from when it began.
func TestTheOldestCallIsAsOldAsItsDueTime(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	run.Late = 3 * time.Second
	pass(t, a, run, 200*time.Millisecond)
	assert.Contains(t, picture(t, a), "oldest 3.0 s")
	assert.NotContains(t, picture(t, a), "under way for")
	send(t, a, "tab")
	assert.Regexp(t, `feed .* 3\.0 s`, picture(t, a))
}

func TestAKnobIsNotTurnedWhereThereIsNoRoom(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	run.NoRoom = errors.New("payload: the data would come to 2 TiB")
	send(t, a, "]")
	assert.Contains(t, picture(t, a), "not turned: payload: the data would come to 2 TiB")
	assert.Equal(t, 1<<10, run.Settings(screen.All).Payload)
	send(t, a, "+")
	assert.Equal(t, 17, run.Settings(screen.All).Threads)
}

func TestATrackIsTurnedAlone(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "t", "up", "right", "right", "down", "right", "right", "esc")
	assert.Equal(t, 16, run.Settings(0).Threads)
	assert.Equal(t, 18, run.Settings(1).Threads)
	assert.Equal(t, "profile.threads", run.Snapshot().Changes[0].Name)
	assert.Contains(t, picture(t, a), "profile: threads ◂ 18 ▸")
}

func TestTracksWithPayloadsOfTheirOwnEachDoubleIt(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "t", "up", "right", "right", "down", "down", "right", "esc")
	require.Equal(t, []int{1 << 10, 2 << 10}, []int{run.Settings(0).Payload, run.Settings(1).Payload})
	send(t, a, "t", "up", "up", "left", "left", "esc", "]") // all tracks again
	assert.Equal(t, []int{2 << 10, 4 << 10}, []int{run.Settings(0).Payload, run.Settings(1).Payload})
}

func TestResetBringsEveryKnobBack(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "+", "]", "}", "{", "t", "r")
	for i, tr := range run.Designed.Tracks() {
		assert.Equal(t, tr.Start, run.Settings(i))
	}
}

func TestUndoTakesChangesBackOneByOne(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "+")
	pass(t, a, run, 2*time.Second)
	send(t, a, "]")
	send(t, a, "u")
	assert.Equal(t, workload.Settings{Threads: 17, Payload: 1 << 10, Batch: 100}, run.Settings(0))
	send(t, a, "u")
	assert.Equal(t, workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100}, run.Settings(0))
	n := len(run.Snapshot().Changes)
	assert.Equal(t, "undo", run.Snapshot().Changes[n-1].By)
	send(t, a, "u")
	assert.Contains(t, picture(t, a), "nothing to undo")
	assert.Len(t, run.Snapshot().Changes, n)
}

func TestSavingAPresetKeepsTheRunAndWhatTheKnobsSay(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "+", "t", "s")
	send(t, a, "h", "o", "t", "enter")
	bench := a.bench.Starter.(*tuitest.Bench)
	var got []string
	saved := bench.Saved["ingestion/hot"]
	for _, name := range saved.Values.Names() {
		got = append(got, name+"="+saved.Values[name].Text)
	}
	assert.Equal(t, []string{"feed.threads=17", "profile.threads=16"}, got, "knobs that were not turned are as the preset has them")
	assert.Equal(t, "small", saved.Preset)
	assert.Contains(t, picture(t, a), "saved as preset: ~/.config")
	require.NotNil(t, run)
}

// The first notch down from an unlimited rate asks each track for a little less than it has just done, although
// the tracks are not equally fast; what follows keeps their proportions.
func TestALowerRateThanUnlimitedOverloadsNoTrack(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	run.Change("test", 1, func(s workload.Settings) workload.Settings { s.Threads = 1; return s })
	pass(t, a, run, 3*time.Second)
	did := func(track int) (n float64) {
		for _, rows := range run.Snapshot().Recent[2*track : 2*track+2] {
			n += float64(rows[len(rows)-1].Count)
		}
		return n
	}
	require.Greater(t, did(0), 3*did(1))
	send(t, a, "{")
	for track := range 2 {
		assert.LessOrEqual(t, run.Settings(track).Rate, did(track))
		assert.Greater(t, run.Settings(track).Rate, did(track)/2, "it is the next notch of what this one does")
	}
	assert.Contains(t, picture(t, a), ", each track a notch below its last 10 s")
	part := run.Settings(0).Rate / run.Settings(1).Rate
	send(t, a, "{")
	assert.InEpsilon(t, part, run.Settings(0).Rate/run.Settings(1).Rate, 1e-3, "to within a fraction")
	send(t, a, "u")
	assert.Zero(t, run.Settings(screen.All).Rate, "both presses were one turn")
	assert.Zero(t, run.Settings(0).Rate+run.Settings(1).Rate)
	send(t, a, "u", "t", "up", "right", "{")
	assert.LessOrEqual(t, run.Settings(0).Rate, did(0))
	assert.Regexp(t, "a notch below .*, the median of the last 10 s", picture(t, a))
	assert.Greater(t, run.Settings(0).Rate, did(0)/2, "a track by itself comes down from what it does")
	assert.Zero(t, run.Settings(1).Rate)
	send(t, a, "right", "{")
	assert.LessOrEqual(t, run.Settings(1).Rate, did(1))
	assert.Greater(t, run.Settings(1).Rate, did(1)/2)
}

// A typed rate of several tracks says how it is divided: evenly where none has a rate, then as it was.
func TestATypedRateSaysHowItIsDivided(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "t")
	for range 3 {
		send(t, a, "down")
	}
	require.Contains(t, picture(t, a), "▸ Rate")
	set := func(digits ...any) {
		send(t, a, append(digits, "enter", frame(a))...)
	}
	set("1", "0", "0")
	assert.Contains(t, picture(t, a), "rate 100, divided evenly over 2 tracks")
	assert.InDelta(t, 50, run.Settings(1).Rate, 0)
	run.Change("test", 0, func(s workload.Settings) workload.Settings { s.Rate = 150; return s })
	set("4", "0", "0")
	assert.Contains(t, picture(t, a), "rate 400, of which feed 300, profile 100")
	assert.InDelta(t, 100, run.Settings(1).Rate, 0)
}

func TestTracksThatDifferAreEachTurnedFromWhereTheyStand(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 20*time.Second, 120, 40)
	payload := func() []int {
		return []int{run.Settings(0).Payload, run.Settings(1).Payload}
	}
	run.Change("test", 0, func(s workload.Settings) workload.Settings { s.Payload = 1024; return s })
	run.Change("test", 1, func(s workload.Settings) workload.Settings { s.Payload = 10240; return s })
	pass(t, a, run, 5*time.Second)
	send(t, a, "]", "]")
	assert.Equal(t, []int{4096, 40960}, payload(), "double is double for both")
	assert.Contains(t, picture(t, a), "00:25  payload 1 KiB–10 KiB → 4 KiB–40 KiB", "presses close together are one change, for each track")
	send(t, a, "u")
	assert.Equal(t, []int{1024, 10240}, payload(), "undo takes both back at once")
}

func TestHelpSaysWhereCtrlZHasNoShellToReturnTo(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	a.suspend = false
	send(t, a, "?")
	got := picture(t, a)
	assert.Contains(t, got, "ctrl+z  off: no shell here")
	_, cmd := a.Update(tuitest.KeyPress("ctrl+z"))
	assert.Nil(t, cmd)
	a.suspend = true
	_, cmd = a.Update(tuitest.KeyPress("ctrl+z"))
	require.NotNil(t, cmd)
	assert.Equal(t, tea.SuspendMsg{}, cmd())
}

func TestTheCommandOfARunIsCopiedAsItsKnobsStand(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "+")
	_, cmd := a.Update(tuitest.KeyPress("y"))
	require.NotNil(t, cmd)
	_, cmd = a.Update(cmd())
	assert.Contains(t, tuitest.Sprint(cmd()), "--threads 17")
	shown := picture(t, a)
	assert.Contains(t, shown, "This command does a run with the settings that this one has now")
	assert.Contains(t, shown, "--threads 17")
	assert.Contains(t, shown, "sent to the terminal's clipboard")
	send(t, a, "y")
	assert.NotContains(t, picture(t, a), "This command")
}

// A command is shown in full, in lines that a shell takes for one, without anything beside it.
func TestACommandIsShownInFull(t *testing.T) {
	const text = "perfbench run --profile ingestion --target redis://some-host.example.org:6379 --set 'a=b c d' --at '10s..20s:rate=1000..20000' --threshold 'p99<10ms'"
	for _, w := range []int{60, 80, 120} {
		lines := commandLines(screen.Env{W: w, H: 24, Styles: widget.NewStyles(widget.ThemeMono, true, 0)}, text)
		joined := ""
		for _, l := range lines[1:] {
			if l == "" {
				break
			}
			assert.LessOrEqual(t, len(l), w)
			part, goes := strings.CutSuffix(l, " \\")
			joined += " " + strings.TrimSpace(part)
			if !goes {
				break
			}
		}
		assert.Equal(t, text, strings.TrimSpace(joined), "%d cells", w)
	}
}

// Where a knob turns nothing, neither the footer nor the line of knobs offers it.
func TestAKnobIsOfferedWhereItTurnsSomething(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	footer := func() string {
		lines := strings.Split(strings.TrimRight(picture(t, a), "\n "), "\n")
		return lines[len(lines)-1]
	}
	tracks := run.Designed.Tracks()
	tracks[1].Rest("payload", "it reads")
	send(t, a, "]")
	assert.Equal(t, []int{2 << 10, 1 << 10}, []int{run.Settings(0).Payload, run.Settings(1).Payload}, "the other track is left alone")
	assert.Contains(t, footer(), "payload", "one track has it")
	send(t, a, "t", "up", "right", "right", "esc")
	assert.NotContains(t, footer(), "payload", "the chosen track has none")
	assert.NotContains(t, picture(t, a), "payload ◂")
	send(t, a, "]")
	assert.Contains(t, picture(t, a), "payload has no effect in profile: it reads")
	send(t, a, "t", "up", "right", "esc")
	assert.Contains(t, footer(), "payload", "all tracks again")
	tracks[0].Rest("payload", "it reads")
	send(t, a, "]")
	assert.Contains(t, picture(t, a), "payload has no effect in this run: it reads")
	assert.NotContains(t, footer(), "payload")
	assert.Equal(t, 2<<10, run.Settings(0).Payload)
}

// Threads and rate of all tracks are totals; where a profile sets them for each track, the
// screen says so.
func TestAValueThatIsNoTotalSaysSo(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	assert.NotContains(t, picture(t, a), "per track")
	for i := range run.Designed.Knobs {
		run.Designed.Knobs[i].Sum = false
	}
	assert.Contains(t, picture(t, a), "threads ◂ 16 per track ▸")
	assert.NotRegexp(t, `payload ◂[^▸]*per track`, picture(t, a))
	send(t, a, "+")
	assert.Regexp(t, `threads \d+ → \d+ per track`, picture(t, a))
	send(t, a, "t", "up", "right", "right", "esc")
	assert.NotContains(t, picture(t, a), "17 per track ▸", "a track has its own")
}

// Beside the panel of knobs no figure is cut: of the times the maximum is left out, of a change what it was before.
func TestNoFigureIsCutBesideTheKnobs(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {96, 25}} {
		a, run := dashApp(t, Options{}, 3, 45*time.Second, size[0], size[1])
		send(t, a, "t", "down", "right")
		pass(t, a, run, 5*time.Second)
		assert.NotRegexp(t, `\d\S* ?\S{0,2}…`, picture(t, a), "%v", size)
	}
}
