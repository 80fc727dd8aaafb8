package archive

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// planned are the runs of a plan on a stage.
func planned(t *testing.T, w, h int) (*tuitest.Stage, *Suite, *tuitest.Bench) {
	t.Helper()
	b := tuitest.NewDemo()
	b.NextSuite = tuitest.NewSuiteRun(screen.SuiteNow{Turns: make([]screen.SuiteTurn, 4)})
	s := NewSuite(b, screen.Suite{Path: "plans/night.yaml", File: tuitest.NewSuite()})
	return tuitest.NewStage(t, s, w, h), s, b
}

// halfway are those of which one is done, one failed and one is under way.
func halfway(t *testing.T, w, h int) (*tuitest.Stage, *Suite, *tuitest.Bench) {
	t.Helper()
	a, s, b := planned(t, w, h)
	a.Send(t, "S")
	run := tuitest.NewRun(1)
	run.Tick(tuitest.Warmup + 7*time.Second)
	b.NextSuite.Set(screen.SuiteNow{Run: run, Turns: []screen.SuiteTurn{
		{State: screen.Done, Figures: []string{"12.3k entries/s", "4.1 ms", "0", "VALID"}, To: screen.Results{ID: b.Past[0].ID}},
		{State: screen.Failed, Err: fault.Hint(errors.New("redis: the server wants a password"), "add --ask-password")},
		{State: screen.UnderWay}, {},
	}})
	a.Send(t, a.Frame())
	return a, s, b
}

func TestSuitePictures(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name+" before", func(t *testing.T) {
			a, _, _ := planned(t, size[0], size[1])
			tuitest.Golden(t, a.Picture(t))
		})
		t.Run(name+" under way", func(t *testing.T) {
			a, _, _ := halfway(t, size[0], size[1])
			a.Send(t, "up")
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

// A run of a plan is picked for the form, where what a plan gave is still marked as such.
func TestARunOfAPlanIsOpenedInTheForm(t *testing.T) {
	a, s, b := planned(t, 80, 24)
	assert.NotContains(t, a.Picture(t), "secret")
	a.Send(t, "down")
	a.Send(t, "enter")
	require.Len(t, a.SetUp, 1)
	assert.Equal(t, "64", a.SetUp[0].Request.Values["threads"].Text)
	assert.Equal(t, "many threads of plans/night.yaml", a.SetUp[0].Said)
	assert.Same(t, s, a.SetUp[0].From, "the form leads back")
	assert.Empty(t, b.Started)
}

// All runs of a plan are started at once, and each is opened when it is done; a plan that goes on is
// not left.
func TestTheRunsOfAPlanFollowEachOther(t *testing.T) {
	a, s, b := halfway(t, 120, 40)
	require.Len(t, b.Started, 4)
	picture := a.Picture(t)
	assert.Contains(t, picture, "1 of 4 runs done, 1 failed")
	assert.Contains(t, picture, "▶ limit · 00:07")
	a.Send(t, "g", "enter")
	assert.Equal(t, []screen.Destination{screen.Results{ID: b.Past[0].ID}}, a.Asked)
	a.Send(t, "esc")
	assert.Contains(t, a.Picture(t), "x stops them")
	assert.Zero(t, a.Backs)
	a.Send(t, "G", "enter")
	assert.Empty(t, a.SetUp, "no form while others run")
	a.Send(t, "x")
	assert.True(t, b.NextSuite.Stopped)
	b.NextSuite.Set(screen.SuiteNow{Turns: []screen.SuiteTurn{
		{State: screen.Done}, {State: screen.Failed},
		{State: screen.Cut, Figures: []string{"9k entries/s", "4 ms", "0", "VALID, ended by hand after 12 s of 60 s"}}, {State: screen.NotBegun},
	}})
	a.Send(t, a.Frame())
	assert.Nil(t, s.Running())
	a.Send(t, "up")
	picture = a.Picture(t)
	assert.Contains(t, picture, "1 of 4 runs done, 1 ended by hand, 1 failed, 1 not started")
	a.Env.Now = a.Env.Now.Add(time.Minute)
	a.Send(t, a.Frame())
	assert.Contains(t, a.Picture(t), "1 run ended by hand: the answer is about what there is; S does all again")
	assert.Contains(t, picture, "VALID, ended by hand after 12 s of 60 s: its figures are of what there is")
}

// A plan whose runs cannot begin says why, and none has.
func TestAPlanThatCannotBeginSaysWhy(t *testing.T) {
	a, s, b := planned(t, 80, 24)
	b.SuiteErr = fault.Input(errors.New("few threads: rate: fast is not a number"), "write it like 500")
	a.Send(t, "S")
	picture := a.Picture(t)
	assert.Contains(t, picture, "few threads: rate: fast is not a number")
	assert.Contains(t, picture, "write it like 500")
	assert.Nil(t, s.Running())
}

// What all runs of a plan have is said once, and the rest of the width is for what tells them apart.
func TestASuiteSaysOnceWhatAllRunsHave(t *testing.T) {
	a, _, _ := planned(t, 100, 24)
	picture := a.Picture(t)
	assert.Contains(t, picture, "all ingestion on redis://me@127.0.0.1:6379")
	assert.Contains(t, picture, "threads 64 · duration 30s · seed 7")
	assert.Contains(t, picture, "sweep threads=1,2,4 · duration 5s")
	assert.NotContains(t, picture, "throughput")
}

// The runs of a plan that have figures stand side by side, the one under way with those of its last second,
// and why the selected one is in doubt is said.
func TestTheRunsOfAPlanStandSideBySide(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 30}} {
		a, _, b := halfway(t, size[0], size[1])
		assert.NotContains(t, a.Picture(t), "Side by side", "one has figures")
		now := b.NextSuite.Now()
		now.Turns[0].Rate, now.Turns[0].P99, now.Turns[0].Unit, now.Turns[0].Why = 12_300, 4_100_000, now.Run.Info().Unit, []string{"the machine was crowded"}
		now.Turns[0].Doubt = "DEGRADED: crowded"
		b.NextSuite.Set(now)
		a.Send(t, a.Frame(), "g")
		picture := a.Picture(t)
		assert.Contains(t, picture, "Side by side")
		assert.Regexp(t, `few threads +12.3k [^ ]+ +4.1 ms [^ ]+`, picture)
		assert.Regexp(t, `limit +[0-9.]+k? [^ ]+ +[0-9.]+ .?s [^ ]+`, picture)
		assert.Contains(t, picture, "The machine was crowded.")
		assert.Equal(t, size[0] >= 120, strings.Contains(picture, "DEGRADED: crowded"), "the cause, where there is room")
		now.Turns[0].Unit = "apples"
		b.NextSuite.Set(now)
		a.Send(t, a.Frame())
		picture = a.Picture(t)
		assert.Regexp(t, `few threads +12.3k apples/s +4.1 ms ▏?█`, picture, "they are not compared with pears, but their times are")
	}
}

// The selected run of a plan is drawn over its seconds, also while it is under way, where there is room.
func TestTheSelectedRunOfAPlanIsDrawn(t *testing.T) {
	a, _, b := halfway(t, 120, 40)
	picture := a.Picture(t)
	assert.Contains(t, picture, "Latency  p99 of each second", "the one under way is selected")
	assert.Contains(t, picture, " 00:00 ")
	assert.NotContains(t, picture, "−00:02", "without its warm-up")
	a.Send(t, "g")
	assert.NotContains(t, a.Picture(t), "p99 of each second", "nobody knows its seconds")
	now := b.NextSuite.Now()
	now.Turns[0].Rate, now.Turns[0].Unit = 300, "entries"
	now.Turns[0].Rates, now.Turns[0].P99s = []float64{100, 300, 500}, []float64{1e6, math.NaN(), 4e6}
	b.NextSuite.Set(now)
	a.Send(t, a.Frame())
	picture = a.Picture(t)
	assert.Contains(t, picture, "Throughput  entries/s")
	assert.Contains(t, picture, "400 ┤")
	assert.Contains(t, picture, "4 ms ┤")
	small, _, b := halfway(t, 60, 16)
	b.NextSuite.Set(now)
	small.Send(t, small.Frame(), "g")
	assert.NotContains(t, small.Picture(t), "p99 of each second")
}

// The first run that is done is compared with the selected one, or with the next where that is the first.
func TestTwoRunsOfAPlanAreCompared(t *testing.T) {
	a, s, b := halfway(t, 120, 40)
	a.Send(t, "c")
	assert.Empty(t, a.Asked, "one run alone")
	turns := s.now.Turns
	for i := range turns[1:] {
		turns[i+1] = screen.SuiteTurn{State: screen.Done, To: screen.Results{ID: fmt.Sprint("run ", i+1)}}
	}
	turns[2].To = screen.Sweep{ID: "sweep"}
	b.NextSuite.Set(screen.SuiteNow{Turns: turns})
	first := b.Past[0].ID
	for _, c := range []struct{ at, with int }{{0, 1}, {1, 1}, {3, 3}} {
		a.Send(t, a.Frame(), "g")
		for range c.at {
			a.Send(t, "down")
		}
		other := c.with
		if c.at == c.with {
			other = 0
		}
		assert.Contains(t, a.Picture(t), "c compare with "+s.plan.File.Runs[other].Name)
		a.Send(t, "c")
		assert.Equal(t, screen.Compare{A: []string{first}, B: []string{fmt.Sprint("run ", c.with)}}, a.Asked[len(a.Asked)-1])
	}
	a.Send(t, "up")
	assert.False(t, s.bindings().Compare.Enabled(), "a sweep is no side")
}

// The settings of a run say that it has a timetable, and what must hold.
func TestTheSettingsOfARunSayHowTheyChange(t *testing.T) {
	r := request.Run{Request: request.Request{Preset: "small", Timetable: []string{"5s:threads=3", "9s:threads=1"}, Thresholds: []string{"p99<5ms"}}}
	assert.Equal(t, "preset small · 2 timed changes · threshold p99<5ms", settingsOf([]request.Run{r}, 0))
	other := r
	other.Request.Thresholds = []string{"p99<9ms"}
	assert.Equal(t, "threshold p99<9ms · preset small · 2 timed changes", settingsOf([]request.Run{r, other}, 1), "first what sets it apart")
}

// The verdict of a run of a plan has the colour that it has elsewhere.
func TestAVerdictInAPlanHasItsColour(t *testing.T) {
	st := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	for text, want := range map[string]widget.Ink{"VALID": st.OK, "VALID, ended by hand after 1 s": st.OK, "DEGRADED": st.Warn, "INVALID": st.Bad} {
		k, judged := worth(st, []string{"1k", "2 ms", "0", text})
		assert.True(t, judged)
		assert.Equal(t, want, k, text)
	}
	for _, none := range [][]string{nil, {"–"}} {
		_, judged := worth(st, none)
		assert.False(t, judged)
	}
}

// What the selected run of a plan will do is told before it begins, and not of a search or a sweep, which are several.
func TestAPlanTellsWhatItsRunsWillDo(t *testing.T) {
	a, _, _ := planned(t, 120, 40)
	assert.Contains(t, a.Picture(t), "Deletes     nothing: the data stays")
	assert.Contains(t, a.Picture(t), "Set         threads 4 · duration 30s")
	a.Send(t, "end")
	assert.NotContains(t, a.Picture(t), "Deletes")
	a, _, _ = halfway(t, 120, 40)
	a.Send(t, "home")
	assert.NotContains(t, a.Picture(t), "Deletes", "it has happened")
	a, _, b := halfway(t, 120, 40)
	now := b.NextSuite.Now()
	now.Turns[0].Rate, now.Turns[0].Unit = 300, "entries"
	b.NextSuite.Set(now)
	a.Send(t, a.Frame(), "g")
	assert.Contains(t, a.Picture(t), "What it does", "below the figures of all")
}
