package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// The first two minutes of somebody who has never seen the workbench, with each profile: choose it,
// start what is proposed, turn a knob, look at what its figures are called, ask for help, stop, look
// at the result, and find it among the earlier runs.
func TestTheFirstTwoMinutesOfEachProfile(t *testing.T) {
	tier.Full(t, "TestWorkbenchFromPickerToReport has them for one profile")
	bin := binary(t)
	for i, c := range []struct{ profile, title, unit, operation, threads string }{
		{"ingestion", "Bulk ingestion", "entries", "eligibility.putall", "8 → 9"},
		{"group", "Groups of operations", "invocations", "g1.invocation", "4 → 5 per track"},
		{"tx", "Transactions", "transactions", "eligibility.tx", "8 → 9"},
		{"authz", "Authorisation checks", "checks", "membership", "1 → 2 per track"},
		{"event-store", "Event storage", "events", "events.publish", "2 → 3"},
		{"mix", "Any mix of calls", "operations", "browse", "8 → 9"},
	} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			s := inTerminal(t, bin, 120, 40, "tui")
			s.shows("choose a profile, press enter, watch", "▸ Bulk ingestion", "What will happen")
			for range i {
				s.press("Down")
			}
			s.shows("▸ "+c.title, "enter start")
			s.press("Enter")
			s.shows("▶ "+c.title, "Throughput", c.unit+"/s", c.operation, "x stop", "+− threads")
			s.press("+")
			s.shows("threads " + c.threads)
			s.press("?")
			s.shows("put a mark with a note", "tuning panel")
			s.press("?")
			s.shows("x stop", c.operation)
			s.press("x", "x")
			s.shows("Results · "+c.profile, "[Summary]", "R run again", "written to results/")
			folder := s.matches(`written to (results/[-a-z0-9]+)`)[1]
			s.press("e")
			s.shows("Export", "html")
			s.press("Escape")
			s.shows("R run again")
			s.press("h")
			s.shows("Earlier runs", "1 of 1", c.profile)
			s.press("q")
			s.shows("exit code 0")

			data, err := os.ReadFile(filepath.Join(s.dir, folder, "run.json"))
			require.NoError(t, err)
			var run rundir.Run
			require.NoError(t, json.Unmarshal(data, &run))
			assert.Equal(t, c.profile, run.Profile)
			done := int64(0)
			for _, o := range run.Operations {
				done += o.Count
			}
			assert.Positive(t, done)
			assert.NotEmpty(t, run.Changes, "a knob was turned")
		})
	}
}
