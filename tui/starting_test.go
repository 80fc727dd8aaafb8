package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/screen"
)

// startSlowly opens a starting screen; come lets the store answer.
func startSlowly(t *testing.T, b *tuitest.Bench, w, h int) (a *testApp, come func()) {
	t.Helper()
	a = newTestApp(t, b, Options{})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	_, start := a.Update(screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion", Target: "redis://me:secret@10.0.0.7:6379"}}})
	began := a.env.Now
	for _, at := range []time.Duration{0, 4 * time.Second} {
		send(t, a, screen.FrameMsg{At: began.Add(at), Gen: a.gen})
	}
	came := start()
	return a, func() { send(t, a, came) }
}

func TestStartingPictures(t *testing.T) {
	t.Run("connecting 80x24", func(t *testing.T) {
		a, _ := startSlowly(t, tuitest.NewDemo(), 80, 24)
		tuitest.Golden(t, picture(t, a))
	})
	t.Run("cancelling 60x16", func(t *testing.T) {
		a, _ := startSlowly(t, tuitest.NewDemo(), 60, 16)
		send(t, a, "esc")
		tuitest.Golden(t, picture(t, a))
	})
	t.Run("failed 80x24", func(t *testing.T) {
		b := tuitest.NewDemo()
		err := errors.Join(errors.New("redis: AUTH failed: WRONGPASS invalid username-password pair or user is disabled"), errors.New("threads: 5000 is not in 1..4096"))
		b.StartErr = fault.Store(err, "give the password with --password-file, or in the row below the target")
		a, come := startSlowly(t, b, 80, 24)
		come()
		tuitest.Golden(t, picture(t, a))
	})
}

// A run that could not start stays in the list of runs with its reason while the workbench is open, once
// however often it was tried, until it starts or is dismissed.
func TestARunThatCouldNotStartIsListed(t *testing.T) {
	b := tuitest.NewDemo()
	b.StartErr = fault.Store(errors.New("redis: connection refused"), "start the server")
	a, come := startSlowly(t, b, 120, 40)
	come()
	send(t, a, "esc")
	assert.Contains(t, picture(t, a), "not started: redis: connection")
	assert.Contains(t, picture(t, a), "refused")
	send(t, a, "shift+tab") // to the last runs
	assert.Contains(t, picture(t, a), "R try again")
	send(t, a, "R")
	assert.IsType(t, &dashboard.Screen{}, a.stack.top(), "it is tried again")
	send(t, a, "esc")
	assert.Equal(t, 1, strings.Count(picture(t, a), "not started:"))
	send(t, a, "esc")
	assert.NotContains(t, picture(t, a), "not started:")
}

// A run that starts takes those off the list that could not; of those, the newest is shown, in two lines.
func TestARunThatStartsTakesThoseThatCouldNotOffTheList(t *testing.T) {
	b := tuitest.NewDemo()
	b.StartErr = errors.New("refused for a reason that is so long that no panel of eighty by twenty-four cells has room for all of it")
	a := pickApp(t, b, Options{}, 80, 24)
	start := func(threads, target string) {
		r := request.Request{Profile: "ingestion", Target: target, Values: workload.Values{"threads": {Name: "threads", Text: threads}}}
		send(t, a, screen.OpenMsg{To: screen.Start{Request: r}})
	}
	failed := func() int { return strings.Count(picture(t, a), "not started:") }
	start("2000", "redis://me:wrong@10.0.0.7")
	send(t, a, "esc")
	start("4", "redis://10.0.0.8")
	send(t, a, "esc")
	assert.Equal(t, 1, failed())
	assert.Contains(t, picture(t, a), "│   refused for a reason that i…  │")
	b.StartErr, b.Next = nil, tuitest.NewRun(1)
	start("8", "redis://me:right@10.0.0.7")
	assert.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	send(t, a, screen.BackMsg{})
	assert.Zero(t, failed())
}

func TestEscapeCancelsConnecting(t *testing.T) {
	b := tuitest.NewDemo()
	b.StartErr = context.Canceled
	a, come := startSlowly(t, b, 80, 24)
	before := a.stack.top()
	send(t, a, "esc")
	assert.Equal(t, before, a.stack.top(), "the store has yet to notice")
	come()
	assert.IsType(t, &picker.Picker{}, a.stack.top())
}

func TestARunThatComesTooLateIsEnded(t *testing.T) {
	b := tuitest.NewDemo()
	a, come := startSlowly(t, b, 80, 24)
	send(t, a, "esc")
	come()
	assert.True(t, b.Next.Killed)
	assert.IsType(t, &picker.Picker{}, a.stack.top())

	b = tuitest.NewDemo()
	a, come = startSlowly(t, b, 80, 24)
	send(t, a, "esc", "esc")
	assert.IsType(t, &picker.Picker{}, a.stack.top(), "a second escape does not wait")
	come()
	assert.True(t, b.Next.Killed)
}
