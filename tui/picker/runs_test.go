package picker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// What the list of all runs can do, the panel of those of a profile can too.
func TestTheRunsOfAProfileAreFilteredSortedAnnotatedAndDeleted(t *testing.T) {
	b := tuitest.NewDemo()
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	a := tuitest.NewStage(t, p, 120, 40)
	a.Send(t, "shift+tab")
	assert.Len(t, p.runs.items(), 3)
	a.Send(t, "o")
	assert.Contains(t, a.Picture(t), "Earlier runs by throughput")
	a.Send(t, "/")
	a.Type(t, "mysql")
	assert.Contains(t, a.Picture(t), "/ mysql")
	a.Send(t, "enter")
	assert.Len(t, p.runs.items(), 1)
	id := p.runs.items()[0].ID()
	a.Send(t, "n")
	a.Type(t, "quiet machine")
	assert.Contains(t, a.Picture(t), ": quiet machine")
	a.Send(t, "enter")
	assert.Equal(t, "quiet machine", p.runs.items()[0].Run.Note)
	a.Send(t, "D")
	assert.Contains(t, a.Picture(t), "Delete "+id)
	a.Send(t, "y")
	assert.Len(t, b.Past, 2)
	assert.Contains(t, a.Picture(t), "No run matches.")
	a.Send(t, "esc")
	assert.Len(t, p.runs.items(), 2)
	assert.Equal(t, paneRuns, p.pane, "the first escape clears the filter")
	a.Send(t, screen.NotStartedMsg{To: screen.Start{Request: request.Request{Profile: "ingestion"}}, Err: errors.New("refused")}, "/")
	a.Type(t, "red")
	list := p.layout(120, 40).panes[paneForm]
	a.Send(t, tea.MouseClickMsg{X: list.Min.X + 5, Y: list.Min.Y + 1, Button: tea.MouseLeft})
	assert.False(t, p.Typing(), "a click elsewhere keeps the filter")
	a.Send(t, "tab", "tab", "esc")
	assert.Empty(t, p.runs.shelf.Filter.Text())
	assert.Contains(t, a.Picture(t), "not started: refused", "the filter is cleared first")
	a.Send(t, "esc")
	assert.NotContains(t, a.Picture(t), "not started: refused")
	assert.Equal(t, paneRuns, p.pane)
}

// The runs of a sweep are one row, as in the list of all runs; a filter finds each.
func TestTheRunsOfASweepAreOneRow(t *testing.T) {
	b := tuitest.NewDemo()
	done := tuitest.NewSweep(2, b.Past[0].ID, b.Past[1].ID)
	past := sweep.Kept{ID: "260503-113000-ingestion-sweep", When: tuitest.Day.Add(11*time.Hour + 30*time.Minute), Result: &done}
	b.PastSweeps = []sweep.Kept{past}
	a, p := pick(t, b, 120, 40)
	require.Len(t, p.runs.items(), 2, "the sweep, and the run that is not of it")
	assert.Contains(t, a.Picture(t), "│ + today 11:30")
	a.Send(t, "shift+tab")
	assert.Contains(t, a.Picture(t), "sweep, 2 runs · ")
	a.Send(t, "enter")
	assert.Equal(t, []screen.Destination{screen.Sweep{ID: past.ID}}, a.Asked)
	a.Send(t, "/")
	a.Type(t, "11:52")
	assert.Equal(t, b.Past[0].ID, p.runs.items()[0].ID())
}

// What is clicked is what is seen there, also in a list that is scrolled.
func TestAClickOnAListOfRunsThatIsScrolled(t *testing.T) {
	b := tuitest.NewDemo()
	one := b.Past[0]
	b.Past = nil
	for i := range 9 {
		one.ID = fmt.Sprint("run-", i)
		b.Past = append(b.Past, one)
	}
	a, p := pick(t, b, 80, 24)
	a.Send(t, "shift+tab")
	for range 8 {
		a.Send(t, "down")
	}
	a.Picture(t)
	list := p.layout(80, 24).panes[paneRuns]
	a.Send(t, tea.MouseClickMsg{X: list.Min.X + 5, Y: list.Min.Y + 1, Button: tea.MouseLeft})
	assert.Equal(t, 8-(list.Dy()-4), p.runs.at, "the first that is visible, above the verdict of the selected one")
}

// What a target answers is renewed while the form is shown, and not where it refused the user.
func TestTheAnswerOfATargetIsRenewed(t *testing.T) {
	g := &pinger{target: "redis://h", number: 1}
	now := time.Unix(100, 0)
	env := screen.Env{Now: now, Connecting: func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }}
	g.answered(pongMsg{number: 1, err: errors.New("connection refused")}, now)
	assert.Nil(t, g.frame(request.Request{Target: "redis://h"}, env))
	g.err = fault.Hint(errors.New("the server wants a password"), store.PasswordHint)
	assert.Contains(t, strings.Join(g.lines(&widget.Styles{}, "", 80), "\n"), "fill in password below")
	env.Now = now.Add(renewBad)
	env.Covered = true
	assert.Nil(t, g.frame(request.Request{Target: "redis://h"}, env), "not below a run")
	env.Covered = false
	assert.NotNil(t, g.frame(request.Request{Target: "redis://h"}, env))
	assert.False(t, g.busy, "the last answer stands meanwhile")
	require.Error(t, g.err)
	g.answered(pongMsg{number: g.number}, env.Now)
	require.NoError(t, g.err)
	assert.Equal(t, env.Now.Add(renewGood), g.due)
	g.due = time.Time{}
	g.answered(pongMsg{number: g.number, err: errors.New("WRONGPASS invalid username-password pair")}, env.Now)
	assert.Zero(t, g.due, "it might lock the user out")
}

// A recording has an end, so no search is offered; a sweep of it begins with speeds.
func TestARecordingOffersNoSearch(t *testing.T) {
	b := tuitest.NewDemo()
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	a := tuitest.NewStage(t, p, 120, 40)
	p.forecast.preview.Plan = &workload.Plan{Replays: true}
	k := p.bindings()
	assert.False(t, k.Search.Enabled())
	a.Send(t, "f")
	assert.Contains(t, a.Picture(t), "a recording has an end: w replays it at several speeds")
}

// Where there is little room, rows say what is worst about their runs, and first of all in a word.
func TestTheLastRunsKeepAWordForTheirVerdict(t *testing.T) {
	b := tuitest.NewDemo()
	for i, ended := range []string{rundir.CutShort, "count", "count"} {
		b.Past[i].EndedBy, b.Past[i].Verdict = ended, rundir.Verdict{State: "DEGRADED"}
	}
	b.Past[1].Verdict.Causes = []string{string(verdict.Errors)}
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	for w, words := range map[int][]string{80: {"! cut short", "! DEGRADED"}, 200: {"! DEGRADED · cut short", "! DEGRADED: errors"}} {
		a := tuitest.NewStage(t, p, w, 24)
		a.Perform(t, p.Start(a.Env))
		for _, word := range words {
			assert.Contains(t, a.Picture(t), word, "%d", w)
		}
		assert.NotContains(t, a.Picture(t), "failed", "a cause has one word")
	}
}

// At 120 columns and more, the last runs have store, p99 and the first cause of a doubt.
func TestTheLastRunsHaveTheirCauses(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[0].Verdict = rundir.Verdict{State: "DEGRADED", Causes: []string{string(verdict.Backlog)}}
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	for _, w := range []int{120, 170, 200} {
		a := tuitest.NewStage(t, p, w, 40)
		a.Perform(t, p.Start(a.Env))
		assert.Regexp(t, `11:52 +redis  ~38.4k/s +~19 ms  ! DEGRADED: backlog +│`, a.Picture(t), "%d", w)
	}
}

// Room for more words of a row is not taken from its store.
func TestTheLastRunsDoNotCutTheirStore(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past = b.Past[:1]
	b.Past[0].Store.Name, b.Past[0].Started = "embedded", tuitest.Day.Add(4*time.Hour+44*time.Minute)
	b.Past[0].Verdict = rundir.Verdict{State: "DEGRADED", Causes: []string{string(verdict.Crowded)}}
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	for _, w := range []int{120, 140, 170, 200} {
		a := tuitest.NewStage(t, p, w, 45)
		a.Perform(t, p.Start(a.Env))
		assert.Regexp(t, `04:44 +embedded +\S+ +~?\d+ ms  ! DEGRADED: crowded`, a.Picture(t), "%d", w)
	}
}

// One long row takes the store, which says whose the figures are, away from no row.
func TestTheLastRunsKeepTheirStore(t *testing.T) {
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(14)
	for i := range past.Lines {
		past.Lines[i] = sweep.Line{Doubt: "the runs differ"}
	}
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", When: tuitest.Day.Add(12 * time.Hour), Result: &past}}
	b.Past[0].Verdict, b.Past[1].EndedBy = rundir.Verdict{State: "DEGRADED"}, rundir.CutShort
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	for _, w := range []int{120, 140, 170, 200} {
		a := tuitest.NewStage(t, p, w, 40)
		a.Perform(t, p.Start(a.Env))
		_, lines, _ := strings.Cut(a.Picture(t), "Last runs")
		assert.Contains(t, lines, "knee unsure", w)
		for _, name := range []string{"embedded", "mysql"} {
			assert.Contains(t, lines, name, "%d\n%s", w, a.Picture(t))
		}
	}
}

// c says why it does nothing where there are no two runs to compare.
func TestToCompareTakesTwoRuns(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past = nil
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	a := tuitest.NewStage(t, p, 120, 40)
	a.Send(t, "c")
	assert.Contains(t, a.Picture(t), "c (compare) does nothing here: it takes two runs")
	assert.Empty(t, a.Asked)
}
