package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// From a run's screen: the run stops and is reported, then the sweep begins.
func TestFromARunToASweep(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	b := a.bench.Starter.(*tuitest.Bench)
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(3)})
	send(t, a, "+", "w", "enter")
	assert.True(t, run.Stopped)
	require.Len(t, b.Swept, 1)
	assert.NotContains(t, b.Started[len(b.Started)-1].Values.Names(), "threads", "they are what is swept over")
	send(t, a, frame(a))
	require.Len(t, a.stack, 3)
	assert.IsType(t, &results.Results{}, a.stack[1], "the run's results stand below")
	assert.IsType(t, &archive.Screen{}, a.stack.top())
	assert.Contains(t, picture(t, a), "3 of 14 runs done")
	send(t, a, "q")
	assert.Contains(t, picture(t, a), "Stop the run, report it and quit?")
	send(t, a, "y")
	assert.True(t, b.NextSweep.Stopped)
	send(t, a, frame(a))
	assert.True(t, a.quit)
	assert.Equal(t, []string{run.Came.Summary, "the sweep\n"}, []string{a.final.Outcomes[0].Summary, a.final.Outcomes[1].Summary})
}

// A form is a box over the screen that it was opened from, as high as it needs, where there is room for it; else, and where
// a screen is read aloud, it has the screen.
func TestAFormIsABoxOverItsScreen(t *testing.T) {
	for key, title := range map[string]string{"f": "─ Find the highest load that holds ─", "w": "─ A run at each of several values ─"} {
		for size, boxed := range map[[2]int]bool{{120, 40}: true, {80, 24}: true, {60, 16}: false} {
			a := pickApp(t, tuitest.NewDemo(), Options{}, size[0], size[1])
			send(t, a, key, frame(a))
			got := picture(t, a)
			assert.Contains(t, got, title)
			assert.Equal(t, boxed, strings.Contains(got, "╭─ Profiles ─"), "%s at %v", key, size)
			foot := got[strings.LastIndex(strings.TrimRight(got, "\n"), "\n")+1:]
			assert.Contains(t, foot, "esc cancel", "its keys, and not those of the screen below")
			send(t, a, "?", frame(a))
			assert.Contains(t, picture(t, a), "─ Keys ─")
		}
	}
	a := pickApp(t, tuitest.NewDemo(), Options{Plain: true}, 120, 40)
	send(t, a, "f", frame(a))
	assert.NotContains(t, a.page(), "Profiles")
}

func TestThePickerBeginsSearchesAndSweeps(t *testing.T) {
	b := tuitest.NewDemo()
	b.Next.Tick(tuitest.Warmup + 3*time.Second)
	a := pickApp(t, b, Options{}, 120, 40)
	send(t, a, "w")
	assert.IsType(t, &archive.Screen{}, a.stack.top())
	send(t, a, "esc", "f", frame(a))
	got := picture(t, a)
	assert.Contains(t, got, "Find the highest load that holds")
	assert.Contains(t, got, "Enter starts a run against embedded: for up to 3m; until then there is none.")
	assert.True(t, a.stack.typing())
	send(t, a, "esc", frame(a))
	require.Len(t, a.stack, 1)
	assert.Empty(t, b.Started, "nothing has started")

	send(t, a, "f", "enter", frame(a))
	require.Len(t, b.Started, 1)
	assert.Equal(t, "3m", b.Started[0].Values["duration"].Text)
	assert.Equal(t, []find.Asked{{Under: []string{"p99<10ms"}, Over: "rate", Within: "3m"}}, b.Next.Sought)
}

// The run of a search is never at full load if it is known where to begin.
func TestTheRunOfASearchBeginsWithItsFirstLevel(t *testing.T) {
	b := tuitest.NewDemo()
	b.Next.Tick(tuitest.Warmup + 3*time.Second)
	a := pickApp(t, b, Options{}, 120, 40)
	send(t, a, "f", "down", "down", "5", "0", "0")
	assert.NotContains(t, picture(t, a), "unlimited,", "there is no need to know where to begin")
	send(t, a, "enter")
	require.Len(t, b.Started, 1)
	assert.Equal(t, "500", b.Started[0].Values["rate"].Text)
}

// A value that is wrong is told beside its row as it is typed, and nothing is said of what enter would start.
func TestTheFormOfASearchSaysTheOneThingThatIsWrong(t *testing.T) {
	for _, c := range []struct{ keys, typed, says string }{
		{"up", "abc", `"abc" is not a duration such as`},
		{"up", "0s", `"0s" is no time for a search`},
		{"down down", "abc", `"abc" is not a number`},
		{"down down down", "1x", `"1x" is not a number`},
		{"", "p99<5", `"5" is not a duration such as 5ms`},
	} {
		b := tuitest.NewDemo()
		b.FindErr = errors.New("plan: this comes of it")
		a := pickApp(t, b, Options{}, 120, 40)
		send(t, a, "f")
		for k := range strings.FieldsSeq(c.keys) {
			send(t, a, k)
		}
		send(t, a, "ctrl+u")
		for _, r := range c.typed {
			send(t, a, string(r))
		}
		for range 2 {
			got := picture(t, a)
			assert.Contains(t, got, c.says)
			assert.NotContains(t, got, "Enter starts")
			assert.NotContains(t, got, "this comes of it")
			send(t, a, "enter", frame(a))
		}
		assert.Empty(t, b.Started)
		send(t, a, "ctrl+u")
		assert.Contains(t, picture(t, a), "Enter starts")
	}
}

func TestASearchThatCannotBeMadeStartsNothing(t *testing.T) {
	b := tuitest.NewDemo()
	b.FindErr = fault.Field("under", fault.Input(errors.New(`under "p99>1ms": turn it round`), ""))
	a := pickApp(t, b, Options{}, 80, 24)
	send(t, a, "f", "enter", frame(a))
	assert.Contains(t, picture(t, a), "turn it round")
	assert.Empty(t, b.Started)
	assert.True(t, a.stack.typing())
}
