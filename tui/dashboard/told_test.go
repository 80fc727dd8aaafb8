package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// hits is a part of a plan that has something to tell.
type hits struct{}

func (hits) Status() string { return "hits 97 %" }

// relay is a part of a plan that stores later what workers hand over.
type relay struct{}

func (relay) Calls() (worked, failed int64) { return 0, 0 }
func (relay) OnTheWay() int64               { return 4240 }

// Calls that only hand over are none of the store: what is on its way to it stands in their place.
func TestWhatIsOnItsWayStandsForCallsInFlight(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		a, d, run := live(t, time.Second, size[0], size[1])
		assert.Contains(t, a.Picture(t), "in flight 16")
		for _, track := range run.Designed.Tracks() {
			track.Relays = true
		}
		run.Designed.Parts = workload.Parts{relay{}}
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
		assert.Contains(t, a.Picture(t), " 4.24k entries on their way · errors 0")
		d.lower.tab = tabTracks
		assert.NotContains(t, a.Picture(t), "in flight 16")
	}
}

// A run of which perfbench starts calls late is not on schedule.
func TestWhatIsLateIsNotOnSchedule(t *testing.T) {
	a, _, run := live(t, time.Second, 120, 40)
	run.Change("workbench", 0, func(s workload.Settings) workload.Settings { s.Rate = 1000; return s })
	run.Tick(100 * time.Millisecond)
	a.Send(t, a.Frame())
	assert.Contains(t, a.Picture(t), "on schedule")
	run.Judged = rundir.Verdict{State: verdict.Degraded, Causes: []string{string(verdict.Lateness)}, Reasons: []string{"perfbench started operations late"}}
	run.Tick(2 * time.Second)
	a.Send(t, a.Frame())
	assert.NotContains(t, a.Picture(t), "on schedule")
}

// What only a profile knows of its run stands beside what all runs show.
func TestWhatAProfileTellsOfItsRun(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a, _, run := live(t, time.Second, size[0], size[1])
		assert.NotContains(t, a.Picture(t), "hits 97 %")
		run.Designed.Parts = workload.Parts{hits{}}
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
		assert.Contains(t, a.Picture(t), "hits 97 %")
	}
}

// compared is a part of a plan that compares answers.
type compared struct{}

func (compared) Answers() *workload.Answers {
	return &workload.Answers{Server: "Redis 6", Compared: 40, Differ: 1, Commands: []workload.AnswersTo{{Command: "GET", Compared: 40, Differ: 1}}, Examples: []string{"call 7, GET k: nothing"}}
}

// Answers that differ from those of an earlier replay stand with the errors.
func TestAnswersThatDifferAreShown(t *testing.T) {
	a, d, run := live(t, time.Second, 120, 40)
	run.Designed.Parts = workload.Parts{compared{}}
	d.lower.tab = tabErrors
	run.Tick(100 * time.Millisecond)
	a.Send(t, a.Frame())
	got := a.Picture(t)
	assert.Contains(t, got, "Answers: 1 of 40 answers differ from those of Redis 6 (GET 1)")
	assert.Contains(t, got, "call 7, GET k: nothing")
}
