package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/tui/screen"
)

// startSlowly opens a starting screen whose connection is under way.
func startSlowly(t *testing.T, w, h int) (*testApp, *starting) {
	t.Helper()
	a := newTestApp(t, newDemoBench(), Options{})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	a.Update(screen.OpenMsg{To: screen.Start{Request: screen.Request{Profile: "ingestion", Target: "redis://me:secret@10.0.0.7:6379"}}})
	s, ok := a.top().(*starting)
	require.True(t, ok)
	a.env.Now = a.env.Now.Add(time.Second)
	s.since = a.env.Now.Add(-4 * time.Second)
	t.Cleanup(func() { a.env.Starts.Done() }) // its command never runs
	return a, s
}

func TestStartingPictures(t *testing.T) {
	t.Run("connecting 80x24", func(t *testing.T) {
		a, _ := startSlowly(t, 80, 24)
		requireGolden(t, picture(t, a))
	})
	t.Run("cancelling 60x16", func(t *testing.T) {
		a, _ := startSlowly(t, 60, 16)
		send(t, a, "esc")
		requireGolden(t, picture(t, a))
	})
	t.Run("failed 80x24", func(t *testing.T) {
		a, s := startSlowly(t, 80, 24)
		err := errors.Join(errors.New("redis: AUTH failed: WRONGPASS invalid username-password pair or user is disabled"), errors.New("threads: 5000 is not in 1..4096"))
		send(t, a, startedMsg{&s.req, nil, fault.Store(err, "give the password with --password-file, or in the row below the target")})
		requireGolden(t, picture(t, a))
	})
}

func TestEscapeCancelsConnecting(t *testing.T) {
	a, s := startSlowly(t, 80, 24)
	send(t, a, "esc")
	assert.Equal(t, s, a.top(), "the store has yet to notice")
	send(t, a, startedMsg{&s.req, nil, context.Canceled})
	assert.IsType(t, &picker{}, a.top())
}

func TestARunThatComesTooLateIsEnded(t *testing.T) {
	a, s := startSlowly(t, 80, 24)
	run := newFakeRun(1)
	send(t, a, "esc", startedMsg{&s.req, run, nil})
	assert.True(t, run.killed)
	assert.IsType(t, &picker{}, a.top())

	a, s = startSlowly(t, 80, 24)
	run = newFakeRun(1)
	send(t, a, "esc", "esc")
	assert.IsType(t, &picker{}, a.top(), "a second escape does not wait")
	send(t, a, startedMsg{&s.req, run, nil})
	assert.True(t, run.killed)
}
