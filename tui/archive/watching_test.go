package archive

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
)

// The point under way is selected until a key is pressed, and its run is opened live; the runs before it
// are reached as usual.
func TestTheRunUnderWayOfASweepIsOpenedLive(t *testing.T) {
	a, s, b := going(t, 120, 40)
	run := b.NextSweep.Now().Run
	assert.Contains(t, a.Picture(t), "▸ ▶       64")
	assert.Contains(t, a.Picture(t), "run 2 of 2 of threads=64: under way")
	assert.Contains(t, a.Picture(t), "enter watch it live")
	a.Send(t, "enter")
	require.Len(t, a.Asked, 1)
	assert.Equal(t, screen.Watched{Access: screen.Access{Run: run, Of: "sweep"}}, a.Asked[0])
	a.Send(t, "left", "enter")
	require.Len(t, a.Asked, 2)
	assert.Equal(t, screen.Results{ID: s.now.RunsOf(6)[0]}, a.Asked[1])
	a.Send(t, "right", "up", "enter")
	assert.Equal(t, screen.Results{ID: s.now.RunsOf(5)[0]}, a.Asked[2])

	now := b.NextSweep.Now()
	now.Point = 0
	b.NextSweep.Set(now)
	a.Send(t, a.Frame())
	assert.Equal(t, 5, s.at, "a key was pressed: the selection stays")
	a.Send(t, "g", "enter")
	assert.IsType(t, screen.Watched{}, a.Asked[3])
}

// Whoever is led back by the end of a run that was watched is told so.
func TestTheEndOfAWatchedRunOfASweepIsTold(t *testing.T) {
	a, _, b := going(t, 120, 40)
	a.Send(t, "enter")
	b.NextSweep.Now().Run.(*tuitest.Run).Stop()
	e := a.Env
	e.Covered = true
	a.Top.Update(a.Frame(), e)
	assert.Contains(t, a.Picture(t), "run 10 of 14 (threads=64) has ended")
}

func TestTheRunUnderWayOfAPlanIsOpenedLive(t *testing.T) {
	a, s, b := halfway(t, 80, 24)
	assert.Equal(t, 2, s.at, "it is selected")
	assert.Contains(t, a.Picture(t), "enter watch it live")
	a.Send(t, "enter")
	require.Len(t, a.Asked, 1)
	assert.Equal(t, screen.Watched{Access: screen.Access{Run: b.NextSuite.Now().Run, Of: "plan"}}, a.Asked[0])
	now := b.NextSuite.Now()
	now.Run = nil
	b.NextSuite.Set(now)
	a.Send(t, a.Frame(), "enter")
	assert.Contains(t, a.Picture(t), "it is being prepared")
	assert.Len(t, a.Asked, 1)
}
