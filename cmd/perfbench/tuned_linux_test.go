package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Each profile is started as it stands, draws its first points, has every knob turned, and
// reports a segment for what was turned. The store takes a millisecond for a call: what is
// looked at is the workbench, not the machine.
func TestWorkbenchTurnsEveryKnobOfEveryProfile(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"ingestion", "group", "tx", "authz", "event-store"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			if profile != "ingestion" {
				tier.Full(t, "the case ingestion")
			}
			s := inTerminal(t, binary(t), 120, 40, "tui", "--profile", profile, "--target", "memory:?service=1ms&servers=2")
			s.shows("choose a profile", "until you stop it")
			s.press("S")
			s.until("three points of the chart", func(screen string) bool { return columns(screen) > 3 })

			s.press("t")
			s.shows("╭─ Tune")
			for range 8 { // more than any profile has; the last stays selected
				s.press("Right", "Left", "Left", "Down")
			}
			s.shows("╭─ Tune", "Last change")
			s.press("Escape")
			s.until("the panel closed", func(screen string) bool { return !strings.Contains(screen, "╭─ Tune") })
			s.press("x", "x")
			s.shows("Results", "written to results")
			s.press("q")
			s.shows("exit code 0")

			run := s.written().Run
			assert.Equal(t, "user", run.EndedBy)
			requireEveryKnobTurned(t, &run)
		})
	}
}

// columns counts the columns of a screen in which charts show anything.
func columns(screen string) int {
	found := map[int]bool{}
	for line := range strings.Lines(screen) {
		for x, r := range []rune(line) {
			if r > '⠀' && r <= '⣿' || r >= '▁' && r <= '█' {
				found[x] = true
			}
		}
	}
	return len(found)
}

// requireEveryKnobTurned wants a change of every setting that a run has, the last of them
// in force in the last segment, and operations that add up over the segments.
func requireEveryKnobTurned(t *testing.T, run *rundir.Run) {
	t.Helper()
	turned, last := map[string]bool{}, run.Segments[len(run.Segments)-1]
	for _, c := range run.Changes {
		_, base := rundir.TrackOf(c.Name)
		turned[base] = true
		assert.Less(t, c.Segment, len(run.Segments))
	}
	for name := range run.Settings {
		_, base := rundir.TrackOf(name)
		assert.True(t, turned[base], "%s was not turned: %v", name, turned)
	}
	require.NotEmpty(t, run.Changes)
	c := run.Changes[len(run.Changes)-1]
	assert.InDelta(t, c.To, last.Settings[c.Name], 0, c.Name)
	for i, whole := range run.Operations {
		sum := int64(0)
		for _, seg := range run.Segments {
			sum += seg.Operations[i].Count
		}
		assert.Equal(t, whole.Count, sum, "segments of %s.%s add up to the whole", whole.Track, whole.Op)
	}
}
