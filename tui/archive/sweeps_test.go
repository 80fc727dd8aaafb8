package archive

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

var sizes = [][2]int{{120, 40}, {80, 24}, {60, 16}}

// asking is the form of a sweep on a stage.
func asking(t *testing.T, w, h int) (*tuitest.Stage, *Screen, *tuitest.Bench) {
	t.Helper()
	b := tuitest.NewDemo()
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(0), Began: tuitest.Day.Add(12 * time.Hour)})
	s := Ask(b, screen.AskSweep{Request: request.Request{Profile: "ingestion", Target: "redis://127.0.0.1", Values: workload.Values{"feed.threads": {Name: "feed.threads", Text: "3"}, "seed": {Name: "seed", Text: "7"}}}})
	return tuitest.NewStage(t, s, w, h), s, b
}

// going is a sweep of which five runs are done, each in 12 s, with the sixth under way.
func going(t *testing.T, w, h int) (*tuitest.Stage, *Screen, *tuitest.Bench) {
	t.Helper()
	a, s, b := asking(t, w, h)
	a.Send(t, "enter")
	run := tuitest.NewRun(1)
	run.Tick(tuitest.Warmup + 7*time.Second)
	b.NextSweep.Set(screen.SweepNow{Result: tuitest.NewSweep(9), ID: "260503-120000-ingestion-sweep", What: "run 10 of 14 (threads=64)", Run: run, Point: 6, Began: a.Env.Now})
	a.Send(t, screen.FrameMsg{At: a.Env.Now.Add(9 * 12 * time.Second)})
	return a, s, b
}

// past is a complete sweep of the past.
func past(t *testing.T, w, h int) (*tuitest.Stage, *Screen) {
	t.Helper()
	b := tuitest.NewDemo()
	r := tuitest.NewSweep(14, b.Past[0].ID, b.Past[1].ID)
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &r}}
	s := NewSweeps(b, b.PastSweeps[0].ID)
	return tuitest.NewStage(t, s, w, h), s
}

// rates is a complete sweep over rates on two stores, of which one keeps up to 2,000/s and the other
// to 4,000/s.
func rates(t *testing.T, w, h int) *tuitest.Stage {
	t.Helper()
	b := tuitest.NewDemo()
	r := sweep.Result{
		Schema: sweep.Schema, Profile: "ingestion", Unit: "entries", Rounds: 2, Open: true,
		Axes: []sweep.Axis{{Name: "rate", Values: []string{"1k", "2k", "3k", "4k", "5k"}}, {Name: "target", Values: []string{"redis://a", "redis://b"}}},
	}
	for round := range r.Rounds {
		for i, rate := range []float64{1000, 2000, 3000, 4000, 5000} {
			for at, most := range []float64{2000, 4000} {
				p99 := int64(5e5 / (1 - min(rate/most, 0.99)) * float64(1+round))
				r.Runs = append(r.Runs, sweep.Run{Round: round, Point: 2*i + at, ID: b.Past[0].ID, Done: new(min(rate, most)), P50: p99 / 8, P99: p99, Verdict: "VALID"})
			}
		}
	}
	require.NoError(t, r.Settle())
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &r}}
	return tuitest.NewStage(t, NewSweeps(b, b.PastSweeps[0].ID), w, h)
}

// Both sides of a sweep over rates are in one picture, with bands and an axis for each knee.
func TestASweepOverRatesShowsLatency(t *testing.T) {
	picture := rates(t, 120, 40).Picture(t)
	assert.Contains(t, picture, "Latency over rate")
	assert.Contains(t, picture, "p99 a  p50 a  p99 b  p50 b")
	assert.Contains(t, picture, "░")
	assert.Regexp(t, ` a +50 % .* 100 % .* 250 %`, picture)
	assert.Regexp(t, ` b .* 100 % +120 %`, picture)
	assert.NotContains(t, picture, "Throughput")
}

// Figures of a point with several runs are what the title of the table says: means, and not one of the runs.
func TestPointsOfSeveralRunsAreSaidToBeMeans(t *testing.T) {
	for _, size := range sizes {
		picture := rates(t, size[0], size[1]).Picture(t)
		assert.Regexp(t, "Points ─+ several runs: "+stat.Mean+" · 1 of 10 ─|"+stat.OfRuns, picture)
		assert.Regexp(t, `▸ +1k +a .* 1\.41 ms `, picture, "of 1 and 2 ms")
	}
}

// Where there is one side, its axis has whole words for a name.
func TestTheAxisInPerCentOfTheKneeIsNamedInWords(t *testing.T) {
	b := tuitest.NewDemo()
	r := sweep.Result{Schema: sweep.Schema, Profile: "ingestion", Unit: "entries", Rounds: 1, Open: true, Axes: []sweep.Axis{{Name: "rate", Values: []string{"1k", "2k", "3k"}}}}
	for i, rate := range []float64{1000, 2000, 3000} {
		r.Runs = append(r.Runs, sweep.Run{Point: i, ID: b.Past[0].ID, Done: new(min(rate, 2000)), P50: 1e6, P99: 2e6, Verdict: "VALID"})
	}
	require.NoError(t, r.Settle())
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &r}}
	assert.Regexp(t, ` the knee +60 % .* 100 % .* 140 % `, tuitest.NewStage(t, NewSweeps(b, b.PastSweeps[0].ID), 120, 40).Picture(t))
}

func TestSweepPictures(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name+" asking", func(t *testing.T) {
			a, _, _ := asking(t, size[0], size[1])
			tuitest.Golden(t, a.Picture(t))
		})
		t.Run(name+" under way", func(t *testing.T) {
			a, _, _ := going(t, size[0], size[1])
			tuitest.Golden(t, a.Picture(t))
		})
		t.Run(name+" past", func(t *testing.T) {
			a, _ := past(t, size[0], size[1])
			tuitest.Golden(t, a.Picture(t))
		})
		t.Run(name+" rates", func(t *testing.T) { tuitest.Golden(t, rates(t, size[0], size[1]).Picture(t)) })
	}
}

// On a very wide screen the picture is beside the points.
func TestASweepUsesTheWidthThatThereIs(t *testing.T) {
	a, _ := past(t, 200, 60)
	tuitest.Golden(t, a.Picture(t))
}

func TestSweepsFillEveryTerminal(t *testing.T) {
	form, _, _ := asking(t, 120, 40)
	live, _, _ := going(t, 120, 40)
	done, _ := past(t, 120, 40)
	for w := widget.MinWidth; w <= 200; w += 11 {
		for h := widget.MinHeight; h <= 60; h += 7 {
			for _, a := range []*tuitest.Stage{form, live, done, rates(t, 120, 40)} {
				a.Send(t, tea.WindowSizeMsg{Width: w, Height: h})
				a.Picture(t)
			}
		}
	}
}

func TestWhatIsSweptOverHasNoValueOfItsOwn(t *testing.T) {
	a, _, b := asking(t, 120, 40)
	a.Send(t, "down")
	a.Type(t, "payload=1KiB,4KiB")
	assert.Contains(t, a.Picture(t), "Enter starts 42 runs on redis://127.0.0.1, 3 at each of 14 points (threads 1, 2, 4 … 64; payload 1KiB, 4KiB): 8m 24s")
	a.Send(t, "enter")
	require.Len(t, b.Started, 1)
	assert.Equal(t, []sweep.Asked{{Over: []string{"threads=1,2,4,…,64", "payload=1KiB,4KiB"}, Repeat: "3"}}, b.Swept)
	assert.Equal(t, []string{"duration", "seed", "warmup"}, b.Started[0].Values.Names())
}

// What changes in each run is said before it, and can be taken out; so is which server it loads.
func TestTheFormOfASweepSaysWhatEachRunDoes(t *testing.T) {
	b := tuitest.NewDemo()
	s := Ask(b, screen.AskSweep{Request: request.Request{Profile: "ingestion", Target: "redis://me:hunter1@h", Timetable: []string{"3s:payload=4096", "5s:rate=100"}}})
	a := tuitest.NewStage(t, s, 120, 40)
	assert.Contains(t, a.Picture(t), "Enter starts 21 runs on redis://")
	assert.NotContains(t, a.Picture(t), "hunter1")
	assert.Contains(t, a.Picture(t), "In each run the timetable changes 3s:payload=4096, 5s:rate=100.")
	assert.Equal(t, []string{"3s:payload=4096", "5s:rate=100"}, s.ask.request().Timetable)
	a.Send(t, "up", "ctrl+u")
	a.Type(t, "5s:rate=100")
	assert.Equal(t, []string{"5s:rate=100"}, s.ask.request().Timetable)
	a.Send(t, "ctrl+u")
	assert.Empty(t, s.ask.request().Timetable)
	assert.NotContains(t, a.Picture(t), "the timetable changes")
}

// A value that is wrong is told beside its row as it is typed, and nothing is said of what enter would start.
func TestTheFormOfASweepSaysTheOneThingThatIsWrong(t *testing.T) {
	for row, c := range map[int]struct{ typed, says string }{
		0: {"threads", `"threads" is not NAME=LIST`},
		1: {"payload=", "over payload: its list is empty"},
		4: {"x", `"x" is not in 1..`},
		5: {"abc", `"abc" is not a duration such as`},
		6: {"abc", `"abc" is not a duration such as`},
	} {
		a, _, b := asking(t, 120, 40)
		for range row {
			a.Send(t, "down")
		}
		a.Send(t, "ctrl+u")
		a.Type(t, c.typed)
		for range 2 {
			assert.Contains(t, a.Picture(t), c.says)
			assert.Equal(t, 1, strings.Count(a.Picture(t), " is not ")+strings.Count(a.Picture(t), "is empty"), c.typed)
			assert.NotContains(t, a.Picture(t), "Enter starts")
			a.Send(t, "enter")
		}
		assert.Empty(t, b.Swept)
		a.Send(t, "ctrl+u")
		assert.NotContains(t, a.Picture(t), c.says)
	}
	a, s, _ := asking(t, 120, 40)
	a.Send(t, "ctrl+u")
	a.Type(t, "redis://me:hunter1@h")
	assert.Contains(t, a.Picture(t), "is not NAME=LIST")
	assert.NotContains(t, a.Picture(t), "hunter1")
	a, s, _ = asking(t, 120, 40)
	s.ask.blame(fault.Field("threads", errors.New(`threads: "0" (flag --over) is not in 1..8`)))
	assert.Regexp(t, `over +threads=1.*\n│ +threads: "0" is not in 1\.\.8 +│`, a.Picture(t), "beside the row that has it")
	s.ask.form.Blame(errors.Join(fault.Field("rate", errors.New("rate: no")), errors.New("plan: this comes of it")))
	assert.NotContains(t, a.Picture(t), "this comes of it")
	assert.NotContains(t, a.Picture(t), "Enter starts")
}

// A sweep that takes long is begun by a second key, which says how many runs there are, and for how long.
func TestALongSweepIsAskedFor(t *testing.T) {
	a, s, b := asking(t, 80, 24)
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(3)})
	a.Send(t, "down", "down", "down", "down", "down")
	a.Type(t, "30s")
	assert.Contains(t, a.Picture(t), "11m 12s")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "Start 21 runs on redis://127.0.0.1, for 11m 12s and more? [y/N]")
	assert.Contains(t, a.Picture(t), "y start them")
	a.Send(t, "enter")
	assert.Empty(t, b.Swept)
	assert.NotContains(t, a.Picture(t), "[y/N]")
	a.Send(t, "enter", "y")
	assert.Len(t, b.Swept, 1)
	assert.NotNil(t, s.Running())
	a, _, b = asking(t, 80, 24)
	a.Send(t, "up")
	a.Type(t, "auto")
	assert.Contains(t, a.Picture(t), "plus warm-ups and the time")
	a.Send(t, "enter")
	assert.Len(t, b.Swept, 1)
}

func TestASweepThatIsRefusedStaysInItsForm(t *testing.T) {
	a, s, b := asking(t, 120, 40)
	b.SweepErr = fault.Field("over", fault.Input(errors.New(`over threads: "1,2,…,5" does not come to 5`), ""))
	run := tuitest.NewRun(1)
	s.ask.after = run
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "does not come to 5")
	a.Type(t, "threads=1,2")
	assert.NotContains(t, a.Picture(t), "does not come to 5", "it is another value")
	assert.Empty(t, b.Swept)
	assert.False(t, run.Stopped, "the run under way goes on")
	b.SweepErr = nil
	a.Send(t, "enter")
	assert.True(t, run.Stopped)
	assert.Len(t, b.Swept, 1)
	assert.NotNil(t, s.Running())
}

// What makes no sweep is said at its row while it is typed, and nothing is promised then.
func TestWhatMakesNoSweepIsSaidAsItIsTyped(t *testing.T) {
	a, _, b := asking(t, 120, 40)
	b.Unswept = func(asked sweep.Asked) error {
		if strings.Contains(asked.Over[0], "bad") {
			return fault.Field("threads", fault.Input(errors.New(`threads: "bad" is not a whole number`), ""))
		}
		return nil
	}
	a.Type(t, "threads=2,bad")
	assert.Contains(t, a.Picture(t), `"bad" is not a whole number`)
	assert.NotContains(t, a.Picture(t), "Enter starts")
	a.Send(t, "backspace", "backspace", "backspace", "4")
	assert.NotContains(t, a.Picture(t), "is not a whole number")
	assert.Contains(t, a.Picture(t), "Enter starts 6 runs")
}

// A value that the runs of another have is left out before the sweep begins, and why is said.
func TestAValueThatIsLeftOutIsNotPromised(t *testing.T) {
	a, _, b := asking(t, 120, 40)
	b.Foreseen = &sweep.Result{Axes: []sweep.Axis{{Name: "threads", Values: []string{"2", "4"}}}, LeftOut: []string{"threads=1 is left out: so it is"}}
	a.Type(t, "threads=1,2,4")
	assert.Contains(t, a.Picture(t), "Enter starts 6 runs on redis://127.0.0.1, 3 at each of 2 points (threads 2, 4)")
	assert.Contains(t, a.Picture(t), "Threads=1 is left out: so it is.")
}

func TestASweepIsStoppedAndStays(t *testing.T) {
	a, s, b := going(t, 120, 40)
	a.Send(t, "esc")
	assert.Contains(t, a.Picture(t), "x stops it")
	assert.Zero(t, a.Backs)
	a.Send(t, "x")
	assert.True(t, b.NextSweep.Stopped)
	a.Send(t, a.Frame())
	assert.Nil(t, s.Running())
	assert.Len(t, a.Ended, 1)
	assert.Contains(t, a.Picture(t), "9 of 14 runs done")
	a.Send(t, "esc")
	assert.Equal(t, 1, a.Backs)
}

// What was said of a sweep under way goes when it ends.
func TestASweepThatHasEndedIsNotSaidToBeUnderWay(t *testing.T) {
	a, s, b := going(t, 120, 40)
	a.Send(t, "esc")
	assert.Contains(t, a.Picture(t), "the sweep is under way")
	b.NextSweep.Stop()
	a.Send(t, a.Frame())
	assert.Nil(t, s.Running())
	assert.NotContains(t, a.Picture(t), "the sweep is under way")
}

func TestThePointsOfASweepLeadToTheirRuns(t *testing.T) {
	a, s := past(t, 120, 40)
	a.Send(t, "enter", "right", "enter")
	assert.Equal(t, []screen.Destination{screen.Results{ID: s.now.RunsOf(0)[0]}, screen.Results{ID: s.now.RunsOf(0)[1]}}, a.Asked)
	a.Asked = nil
	a.Send(t, "c")
	assert.Contains(t, a.Picture(t), "choose two points")
	a.Send(t, "space", "G", "c")
	assert.Equal(t, []screen.Destination{screen.Compare{A: s.now.RunsOf(0), B: s.now.RunsOf(6)}}, a.Asked)
	a.Send(t, "space", "k", "space")
	assert.Equal(t, []int{6, 5}, s.chosen, "of three the first goes")
	a.Asked = nil
	a.Send(t, tea.MouseClickMsg{X: 10, Y: s.drawn.Line + 2, Button: tea.MouseLeft}, tea.MouseClickMsg{X: 10, Y: s.drawn.Line + 2, Button: tea.MouseLeft})
	assert.Equal(t, []screen.Destination{screen.Results{ID: s.now.RunsOf(2)[0]}}, a.Asked)
}

// From the pages of sweeps and comparisons, h leads to the list of runs as it does elsewhere; there it says that this is it.
func TestTheListOfRunsIsReachedFromEveryPage(t *testing.T) {
	swept, _ := past(t, 80, 24)
	compared, _ := beside(t, 80, 24)
	for _, a := range []*tuitest.Stage{swept, compared} {
		a.Send(t, "h")
		assert.Equal(t, []screen.Destination{screen.Runs{}}, a.Asked)
	}
	listed, _ := list(t, tuitest.NewDemo(), 80, 24)
	listed.Send(t, "h")
	assert.Contains(t, listed.Picture(t), "this is the list of runs")
}

func TestASweepThatCannotBeReadSaysWhy(t *testing.T) {
	a := tuitest.NewStage(t, NewSweeps(tuitest.NewDemo(), "gone"), 80, 24)
	assert.Contains(t, a.Picture(t), "sweep gone: not found")
	a.Send(t, "enter", "space", "c", "right", "esc")
	assert.Equal(t, 1, a.Backs)
}

func TestPasswordsOfTargetsAreNotShown(t *testing.T) {
	b := tuitest.NewDemo()
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(2)})
	a := tuitest.NewStage(t, Ask(b, screen.AskSweep{Request: request.Request{Target: "redis://a?sentinel_password=hunter1"}, Targets: true}), 120, 40)
	for _, r := range "redis://me:hunter2@b" {
		a.Type(t, string(r))
		require.NotContains(t, a.Picture(t), "hunt")
	}
	a.Send(t, "down")
	require.NotContains(t, a.Picture(t), "hunt")
	a.Send(t, "enter")
	require.Len(t, b.Swept, 1)
	assert.Equal(t, []string{"target=redis://a?sentinel_password=hunter1,redis://me:hunter2@b"}, b.Swept[0].Over)
}

// One run on several targets is a sweep over them, and is drawn side by side.
func TestTheSameRunOnSeveralTargets(t *testing.T) {
	b := tuitest.NewDemo()
	two := tuitest.NewSweep(2)
	two.Target, two.Axes = "", []sweep.Axis{{Name: sweep.Target, Values: []string{"memory:", "null:"}}}
	two.Runs[1].Point = 1
	require.NoError(t, two.Settle())
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: two})
	a := tuitest.NewStage(t, Ask(b, screen.AskSweep{Request: request.Request{Profile: "ingestion", Target: "memory:"}, Targets: true}), 80, 24)
	assert.Contains(t, a.Picture(t), "The same run on several targets")
	a.Type(t, "null:")
	a.Send(t, "enter")
	require.Len(t, b.Swept, 1)
	assert.Equal(t, []string{"target=memory:,null:"}, b.Swept[0].Over)
	assert.Empty(t, b.Started[0].Target)
	assert.Contains(t, a.Picture(t), "Side by side")
	assert.Regexp(t, `memory +[0-9.k]+ +█.* ms`, a.Picture(t))
	assert.Regexp(t, `null +[0-9.k]+ +█.* ms`, a.Picture(t))
}

// Over threads, the rate of the form before is left out unless it is typed, which is said first.
func TestASweepOfThreadsGoesAtFullLoadUnlessARateIsGiven(t *testing.T) {
	b := tuitest.NewDemo()
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(2)})
	s := Ask(b, screen.AskSweep{Request: request.Request{Profile: "ingestion", Target: "memory:", Values: workload.Values{"rate": {Name: "rate", Text: "2000"}, "feed.rate": {Name: "feed.rate", Text: "500"}}}})
	a := tuitest.NewStage(t, s, 60, 16)
	assert.Contains(t, a.Picture(t), "Each run goes as fast as it can, without the rate of")
	assert.NotContains(t, s.ask.request().Values, "rate")
	assert.NotContains(t, s.ask.request().Values, "feed.rate")
	a.Send(t, "down", "down", "down")
	a.Type(t, "3000")
	assert.Contains(t, a.Picture(t), "Each run holds 3000/s")
	assert.Equal(t, "3000", s.ask.request().Values["rate"].Text)
}

// A sweep of the past is asked for again in the form, as it was, or by a command.
func TestASweepIsDoneAgain(t *testing.T) {
	b := tuitest.NewDemo()
	r := tuitest.NewSweep(14, b.Past[0].ID, b.Past[1].ID)
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &r}}
	s := NewSweeps(b, b.PastSweeps[0].ID)
	a := tuitest.NewStage(t, s, 120, 40)
	asks := func() (opened screen.AskSweep) {
		cmd := s.press(tuitest.KeyPress("R"), a.Env)
		require.NotNil(t, cmd)
		_, next := s.Update(cmd(), a.Env)
		if next == nil {
			return screen.AskSweep{}
		}
		return next().(screen.OpenMsg).To.(screen.AskSweep)
	}
	assert.Zero(t, asks())
	assert.Contains(t, a.Picture(t), "made before perfbench kept what asks for it again")

	b.Again = &request.Run{
		Request: request.Request{Profile: "ingestion", Target: "memory:", Values: workload.Values{"rate": {Name: "rate", Text: "700"}, "duration": {Name: "duration", Text: "3s"}}},
		Sweep:   &request.Sweep{Over: []string{"payload=1KiB,4KiB", "threads=2,4"}, Repeat: "3", Fault: "pause"},
	}
	again := asks()
	assert.False(t, again.Targets)
	form := newAsker(again)
	assert.Equal(t, sweep.Asked{Over: b.Again.Sweep.Over, Repeat: "3", Fault: "pause"}, form.asked())
	assert.Equal(t, map[string]string{"rate": "700", "duration": "3s", "warmup": ""},
		map[string]string{"rate": form.form.Value("rate"), "duration": form.form.Value("duration"), "warmup": form.form.Value("warmup")})

	cmd := s.press(tuitest.KeyPress("y"), a.Env)
	_, next := s.Update(cmd(), a.Env)
	assert.Equal(t, screen.CommandMsg{Does: "does this sweep again", Text: "perfbench sweep results/260503-120000-ingestion-sweep/plan.yaml"}, next())
}
