package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Folders of versions that knew other verdicts are judged by what is in them.
func TestFoldersWithOldVerdictsAreJudgedAnew(t *testing.T) {
	j := start(t, options(t))
	f := newFakeRun(1)
	for s := range 3 {
		require.NoError(t, j.Second(f.second(s)))
	}
	finish(t, j, f)
	path := filepath.Join(j.Dir(), RunFile)
	for _, old := range []string{"ok", "failed", "interrupted"} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var raw map[string]any
		require.NoError(t, json.Unmarshal(data, &raw))
		raw["verdict"] = map[string]any{
			"state": old, "reasons": []string{"threshold p99<1ms missed"},
			"thresholds": []any{map[string]any{"expr": "p99<1ms", "ok": false, "got": "2 ms"}},
		}
		data, err = json.Marshal(raw)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err := Load(j.Dir())
		require.NoError(t, err)
		assert.True(t, verdict.Known(got.Run.Verdict.State), old)
		assert.NotContains(t, got.Run.Verdict.Reasons, "threshold p99<1ms missed")
		assert.Len(t, got.Run.Verdict.Missed(), 1, "thresholds stand beside the verdict")
	}
}

// What was known of a run does not vanish with its files, and lists and documents agree.
func TestADamagedFolderIsNoBetterThanItWas(t *testing.T) {
	for _, state := range []string{verdict.Valid, verdict.Degraded, verdict.Invalid} {
		for _, name := range []string{HlogFile, SeriesFile} {
			j := start(t, options(t))
			f := newFakeRun(1)
			for s := range 3 {
				require.NoError(t, j.Second(f.second(s)))
			}
			r := j.Run()
			SetResult(&r, &f.total)
			r.EndedBy = "count"
			r.Verdict = Verdict{State: state}
			if state != verdict.Valid {
				r.Verdict.Causes, r.Verdict.Reasons = []string{string(verdict.Stolen)}, []string{"the hypervisor gave time to others"}
			}
			r.Verification = workload.Verification{State: workload.Passed}
			require.NoError(t, j.Finish(r))
			require.NoError(t, os.Truncate(filepath.Join(j.Dir(), name), 0))
			got, err := Load(j.Dir())
			require.NoError(t, err)
			v := got.Run.Verdict
			assert.Equal(t, verdict.Invalid, v.State, "there are no figures left")
			assert.Contains(t, v.Causes, string(verdict.Unmeasured))
			assert.Len(t, v.Causes, len(v.Reasons))
			if state != verdict.Valid {
				assert.Contains(t, v.Reasons, "the hypervisor gave time to others")
			}
			list, _, err := List(filepath.Dir(j.Dir()))
			require.NoError(t, err)
			require.Len(t, list, 1)
			assert.Equal(t, v, list[0].Run.Verdict)
		}
	}
}

// Nothing was done for the seconds in which a store was dead, and not in pauses, at low rates, between
// calls that take as long, or in phases whose work does not count.
func TestOutagesOfARun(t *testing.T) {
	dead := func() *Run {
		return &Run{
			MeasuredS: 26, Operations: []Operation{{Track: "map", Op: "put", Count: 50_000, Calls: 50_000, Errors: 4000, Response: Latency{P50: 1e6}}},
			Segments: []Segment{{From: 0, To: 26, Settings: map[string]float64{}}}, Phases: []Phase{{From: 0, To: 26, Tracks: []string{"map"}}},
			Silences: []measure.Silence{{From: 2 * time.Second, To: 2300 * time.Millisecond}, {From: 10 * time.Second, To: 24 * time.Second}},
			Changes:  []Change{{At: 10, Name: "fault-pause", To: 1}},
		}
	}
	assert.Equal(t, []verdict.Outage{{From: 10, To: 24}}, outages(dead()))
	assert.Equal(t, []verdict.Broken{{Name: "pause", From: 10, To: 26}}, recordOf(dead()).Broken)
	assert.Contains(t, dead().Judge().Reasons[0], "nothing was done from 00:10 to 00:24 (14 s of 26 s), and 4")
	for name, spoil := range map[string]func(r *Run){
		"paused":       func(r *Run) { r.Segments[0].Settings["paused"] = 1 },
		"a low rate":   func(r *Run) { r.Operations[0].Count = 10 },
		"as long":      func(r *Run) { r.Operations[0].Response.P50 = 8e9 },
		"other phases": func(r *Run) { r.Phases[0].Tracks = []string{"queries"} },
	} {
		r := dead()
		spoil(r)
		assert.Empty(t, outages(r), name)
	}
}
