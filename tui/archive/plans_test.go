package archive

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
)

// found are plan files on a stage: one of four runs, one of a single run, and one with a mistake.
func found(t *testing.T, w, h int) *tuitest.Stage {
	t.Helper()
	b := tuitest.NewDemo()
	one := tuitest.NewSuite()
	one.Suite, one.Runs = false, one.Runs[:1]
	b.FoundPlans = []screen.PlanFile{
		{Path: "night.yaml", Changed: tuitest.Day.Add(9 * time.Hour), File: tuitest.NewSuite()},
		{Path: "one.yaml", Changed: tuitest.Day, File: one},
		{Path: "wrong.yaml", Changed: tuitest.Day, File: &request.File{}, Err: fault.Hint(errors.New(`wrong.yaml:2:1: a plan has no key "cuont"`), "did you mean count?")},
	}
	p := NewPlans(b)
	a := tuitest.NewStage(t, p, w, h)
	a.Perform(t, p.Start(a.Env))
	return a
}

func TestPlanFilesPictures(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			tuitest.Golden(t, found(t, size[0], size[1]).Picture(t))
		})
	}
}

// A plan of several runs is opened on its page, one of a single run in the form, and one with mistakes says
// which.
func TestPlanFilesAreOpened(t *testing.T) {
	a := found(t, 100, 30)
	a.Send(t, "enter")
	require.Len(t, a.Asked, 1)
	assert.Equal(t, "night.yaml", a.Asked[0].(screen.Suite).Path)
	a.Send(t, "down", "enter")
	require.Len(t, a.SetUp, 1)
	assert.Equal(t, "opened one.yaml", a.SetUp[0].Said)
	a.Send(t, "down")
	assert.Contains(t, a.Picture(t), `a plan has no key "cuont"`)
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "not opened: mend what is wrong with it")
	assert.Len(t, a.Asked, 1)
}

// The page of plans leads to the list of runs, where one is made.
func TestThePageOfPlansSaysHowOneIsMade(t *testing.T) {
	a := found(t, 80, 24)
	assert.Contains(t, a.Picture(t), "h make one of runs")
	a.Send(t, "P")
	assert.Contains(t, a.Picture(t), "P makes a plan in the list of runs")
	a.Send(t, "h")
	assert.Equal(t, []screen.Destination{screen.Runs{}}, a.Asked)
}

// A plan that was mended since it was read is opened, and stays selected where its place has changed.
func TestAMendedPlanIsReadAgain(t *testing.T) {
	b := tuitest.NewDemo()
	wrong := screen.PlanFile{Path: "wrong.yaml", Changed: tuitest.Day, File: &request.File{}, Err: errors.New("wrong.yaml: no")}
	b.FoundPlans = []screen.PlanFile{wrong}
	p := NewPlans(b)
	a := tuitest.NewStage(t, p, 100, 30)
	a.Perform(t, p.Start(a.Env))
	a.Send(t, "enter")
	assert.Empty(t, a.Asked)
	mended := screen.PlanFile{Path: "wrong.yaml", Changed: tuitest.Day, File: tuitest.NewSuite()}
	b.FoundPlans = []screen.PlanFile{{Path: "new.yaml", Changed: tuitest.Day, File: tuitest.NewSuite()}, mended}
	a.Send(t, "enter")
	require.Len(t, a.Asked, 1)
	assert.Equal(t, "wrong.yaml", a.Asked[0].(screen.Suite).Path)
	b.FoundPlans = nil
	a.Perform(t, p.Start(a.Env))
	assert.Contains(t, a.Picture(t), "There is no plan file in this folder")
}

// The end of a long path is seen, and as much of it as there is room for.
func TestPathsOfPlansAreCutAtTheirBeginning(t *testing.T) {
	for w, want := range map[int]string{170: "▸   /srv/teams/storage/benchmarks/nightly/plans/redis.yaml  4 runs", 80: "▸   …e/benchmarks/nightly/plans/redis.yaml  4 runs", 60: "▸   …"} {
		b := tuitest.NewDemo()
		b.FoundPlans = []screen.PlanFile{{Path: "/srv/teams/storage/benchmarks/nightly/plans/redis.yaml", Changed: tuitest.Day, File: tuitest.NewSuite()}}
		p := NewPlans(b)
		a := tuitest.NewStage(t, p, w, 24)
		a.Perform(t, p.Start(a.Env))
		assert.Contains(t, a.Picture(t), want)
		assert.Contains(t, a.Picture(t), "plans/redis.yaml  4 runs")
	}
}

func TestWithoutPlanFilesTheirListSaysWhatTheyAre(t *testing.T) {
	b := tuitest.NewDemo()
	p := NewPlans(b)
	a := tuitest.NewStage(t, p, 80, 24)
	a.Perform(t, p.Start(a.Env))
	assert.Contains(t, a.Picture(t), "There is no plan file in this folder")
	assert.Contains(t, a.Picture(t), "- {name: many threads, threads: 16}")
	plan, err := request.Read("example.yaml", []byte(planExample), nil)
	require.NoError(t, err)
	assert.Len(t, plan.Runs, 2)
	a.Send(t, "enter", "esc")
	assert.Equal(t, 1, a.Backs)
}
