package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// hits is a part of a plan that has something to tell.
type hits struct{}

func (hits) Status() string { return "hits 97 %" }

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
