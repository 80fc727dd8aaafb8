package tui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// sought is a run without an end on which a search is asked for.
func sought(t *testing.T, w, h int) (*testApp, *tuitest.Run) {
	t.Helper()
	run := tuitest.NewRun(1)
	run.Known.Duration = 0
	a := dashAppOf(t, Options{}, run, 3*time.Second, w, h)
	send(t, a, "f")
	return a, run
}

// tried is a search some of whose steps have ended.
func tried(t *testing.T, w, h int) (*testApp, *tuitest.Run) {
	t.Helper()
	a, run := sought(t, w, h)
	send(t, a, "enter")
	for _, level := range []float64{2000, 4000, 8000, 16000, 11000, 13400} {
		pass(t, a, run, 3*time.Second)
		run.Tried(level)
	}
	pass(t, a, run, 2*time.Second)
	return a, run
}

func TestSearchPictures(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name+" asking", func(t *testing.T) {
			a, _ := sought(t, size[0], size[1])
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(name+" under way", func(t *testing.T) {
			a, _ := tried(t, size[0], size[1])
			tuitest.Golden(t, picture(t, a))
		})
	}
}

func TestASearchTurnsTheKnobsAlone(t *testing.T) {
	a, run := tried(t, 120, 40)
	require.Equal(t, []find.Asked{{Under: []string{"p99<10ms"}, Over: "rate", Within: "3m"}}, run.Sought)
	got := picture(t, a)
	assert.Contains(t, got, "trying 13.4k entries/s · 3 s, up to 12 s")
	assert.Contains(t, got, "holds 11k · too much 13.4k")
	send(t, a, "+", "t", "space")
	assert.Equal(t, 16, run.Settings(screen.All).Threads)
	assert.False(t, run.Settings(screen.All).Paused)
	assert.Contains(t, picture(t, a), "the search turns the knobs; E ends it")
	send(t, a, "E", "esc")
	assert.True(t, run.Found().Going, "it asks first")
	send(t, a, "E", "y", frame(a))
	assert.False(t, run.Found().Going)
	assert.Contains(t, picture(t, a), "the search has ended; the run goes on")
	send(t, a, "+")
	assert.Equal(t, 17, run.Settings(screen.All).Threads, "the knobs are the user's again")
}

// While a search goes on, f hides and shows it and never ends it, and each hint says what its key does.
func TestFHidesAndShowsASearch(t *testing.T) {
	a, run := tried(t, 120, 40)
	assert.Contains(t, picture(t, a), "f hides · E ends the search")
	assert.Contains(t, picture(t, a), " f hide search  E end search ")
	for range 2 {
		send(t, a, "f")
		assert.NotContains(t, picture(t, a), "trying")
		assert.Contains(t, picture(t, a), " f show search  E end search ")
		send(t, a, "f")
		assert.Contains(t, picture(t, a), "trying")
	}
	send(t, a, "esc")
	assert.NotContains(t, picture(t, a), "trying")
	assert.True(t, run.Found().Going)
}

// Levels stand newest first with the number of their try, and the arrows choose the one that is told in full.
func TestEachLevelOfASearchIsToldInFull(t *testing.T) {
	a, _ := tried(t, 80, 24)
	got := picture(t, a)
	assert.Contains(t, got, "│ ▸ 13.4k too much ")
	assert.Regexp(t, `│ try +rate .*came out`, got)
	assert.Regexp(t, `│  ▸6 +13.4k .* too much `, got)
	assert.Regexp(t, `│   5 +11k .* holds `, got)
	send(t, a, "down", "down")
	got = picture(t, a)
	assert.Contains(t, got, "│ ▸ 16k too much ")
	assert.Regexp(t, `│  ▸4 +16k .* too much `, got)
	send(t, a, "down", "down", "down", "down", "down")
	assert.Regexp(t, `│  ▸1 +2k .* holds `, picture(t, a), "it comes into view")
	send(t, a, "up", "up", "up", "up", "up", "up")
	assert.Contains(t, picture(t, a), "│ ▸ 13.4k too much ")
}

// A search that raises the threads, to have room for its rate, says how many there are.
func TestASearchSaysThatItRaisedTheThreads(t *testing.T) {
	a, run := tried(t, 80, 24)
	assert.NotContains(t, picture(t, a), " · 64 threads ─")
	run.Change("search", screen.All, func(s workload.Settings) workload.Settings {
		s.Threads = 64
		return s
	})
	pass(t, a, run, time.Second)
	assert.Contains(t, picture(t, a), "─ Search · p99<10ms · 64 threads ─")
}

// A search that its user has ended says so first, with what is known, and nothing of what it did to try more.
func TestASearchThatWasEndedSaysWhatIsKnown(t *testing.T) {
	a, run := tried(t, 120, 40)
	run.Change("search", screen.All, func(s workload.Settings) workload.Settings {
		s.Threads = 64
		return s
	})
	send(t, a, "E", "y", frame(a))
	pass(t, a, run, time.Second)
	got := picture(t, a)
	assert.Contains(t, got, "│ ended by you after 6 levels ")
	assert.Contains(t, got, "holds 11k · too much 13.4k")
	assert.NotContains(t, got, "64 threads ─")
	assert.NotContains(t, got, find.Interrupted)
}

// A search that measures perfbench and not the store says so in its rows, and after two such tries names the way out; f
// then begins the form with that.
func TestASearchThatMeasuresPerfbenchNamesTheWayOut(t *testing.T) {
	a, run := sought(t, 200, 60)
	send(t, a, "enter")
	for _, level := range []float64{38000, 19000} {
		assert.NotContains(t, picture(t, a), "f searches under")
		pass(t, a, run, 3*time.Second)
		run.Tried(level)
		steps := run.Found().Steps
		steps[len(steps)-1].Ours = []string{"lateness"}
	}
	pass(t, a, run, 2*time.Second)
	got := picture(t, a)
	assert.Contains(t, got, "perfbench was late, so this does not measure the store. ")
	assert.Contains(t, got, "E ends it; f searches under p99.service<10ms. ")
	assert.Regexp(t, `▸2 +19k .* too much · perfbench was late `, got)
	send(t, a, "E", "y", frame(a))
	pass(t, a, run, time.Second)
	assert.Contains(t, picture(t, a), "│ f searches under p99.service<10ms. ")
	send(t, a, "f")
	assert.Regexp(t, `must hold +p99\.service<10ms `, picture(t, a))
}

func TestWhyThereIsNoSearchIsSaidInItsForm(t *testing.T) {
	a, run := sought(t, 120, 40)
	run.Refused = fault.Field("under", fault.Input(errors.New(`under "p99>1ms": a level is too high when a figure gets too high`), "turn it round"))
	send(t, a, "ctrl+u", "p", "9", "9", ">", "1", "m", "s", "down", "right", "enter")
	assert.Contains(t, picture(t, a), "a level is")
	assert.Empty(t, run.Sought)
	assert.True(t, a.stack.typing())
	send(t, a, "esc", "q")
	assert.NotNil(t, a.asking(), "letters are keys again")
}

// A question mark is help while a value of a form is as it was, which stays, and a letter of it once
// something has been typed.
func TestAQuestionMarkInAFormIsHelpAndLosesNothing(t *testing.T) {
	a, _ := sought(t, 120, 40)
	send(t, a, "?")
	assert.Equal(t, help, a.overlay)
	send(t, a, "esc")
	assert.Equal(t, none, a.overlay)
	assert.Contains(t, picture(t, a), "must hold   p99<10ms ")
	send(t, a, "end", "?")
	assert.Equal(t, none, a.overlay)
	assert.Contains(t, picture(t, a), "must hold   p99<10ms? ")
	send(t, a, "down", "?")
	assert.Equal(t, help, a.overlay, "no choice begins like that")
	send(t, a, "esc", "t")
	assert.Contains(t, picture(t, a), "◂ threads ▸", "a letter goes to the choice that begins with it")
}

// A run that ends before a search can come to anything gives way to one that is long enough.
func TestARunThatEndsGivesWayToOneForTheSearch(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	b := a.bench.Starter.(*tuitest.Bench)
	send(t, a, "+", "f")
	assert.Contains(t, picture(t, a), "The search gets a")
	next := tuitest.NewRun(1)
	next.Known.Duration = 3 * time.Minute
	b.Next = next
	send(t, a, "down", "right", "enter")
	assert.True(t, run.Stopped)
	send(t, a, frame(a))
	require.Len(t, a.stack, 3)
	assert.IsType(t, &results.Results{}, a.stack[1])
	asked := b.Started[len(b.Started)-1]
	assert.Equal(t, "3m", asked.Values["duration"].Text)
	assert.Equal(t, "17", asked.Values["threads"].Text, "it begins with what was set")
	send(t, a, frame(a))
	assert.Equal(t, []find.Asked{{Under: []string{"p99<10ms"}, Over: "threads", Within: "3m"}}, next.Sought)
	assert.Contains(t, picture(t, a), "nothing is known yet")
}

// A search that has come to its end ends its run: f, pressed meanwhile, asks for no other.
func TestFAfterASearchHasEndedByItselfAsksForNoOther(t *testing.T) {
	a, run := tried(t, 120, 40)
	run.SearchOver("")
	send(t, a, frame(a), "f")
	got := picture(t, a)
	assert.Contains(t, got, "the search has come to its end")
	assert.NotContains(t, got, "Find the highest load that holds")
	assert.Len(t, run.Sought, 1)
}

// A run that ends while it is asked whether to end its search takes the question with it.
func TestAQuestionGoesWithTheRun(t *testing.T) {
	a, run := tried(t, 80, 24)
	send(t, a, "E")
	require.Contains(t, picture(t, a), "End the search?")
	run.Stage.Stage = screen.Finishing
	send(t, a, frame(a))
	assert.NotContains(t, picture(t, a), "End the search?")
}
