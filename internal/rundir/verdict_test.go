package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// Seconds in which others had the processors are told with the doubt about them, before what else that explains.
func TestADoubtShowsItsSeconds(t *testing.T) {
	w := &Why{Coincidences: []Coincidence{{Text: "nothing was done"}, {Text: "p99 rose 48×", Crowded: true}}}
	late := verdict.Doubt{Cause: verdict.Lateness, Text: "late"}
	v := Verdict{Doubts: []verdict.Doubt{{Cause: verdict.Errors}, {Cause: verdict.Crowded, Shows: []verdict.Doubt{late}}}}
	v.showing(w)
	assert.Equal(t, []verdict.Doubt{{Cause: verdict.Crowded, Text: "p99 rose 48×"}, late}, v.Doubts[1].Shows)
	assert.True(t, v.Shows("p99 rose 48×"))
	assert.False(t, v.Shows("nothing was done"))

	v = Verdict{Doubts: []verdict.Doubt{{Cause: verdict.Lateness}}}
	v.showing(w)
	assert.Empty(t, v.Doubts[0].Shows)
	v.showing(nil)
}

// How long half of the calls waited for a thread is that of the operation that waited least, and not known where
// perfbench itself was late.
func TestHowLongHalfOfTheCallsWaited(t *testing.T) {
	op := func(track string, wait, late int64) Operation {
		o := Operation{Track: track, Calls: 10}
		o.Wait.P50, o.Lateness.P50 = wait, late
		return o
	}
	ops := []Operation{op("mix", 9e8, 1e3), op("mix", 6e8, 1e3), op("other", 1e6, 0), {Track: "mix"}}
	assert.InDelta(t, 0.6, waited(ops, "mix"), 1e-9)
	assert.Zero(t, waited(append(ops, op("mix", 0, 0)), "mix"), "half of those of one did not wait")
	assert.Zero(t, waited(append(ops, op("mix", 8e8, 2e8)), "mix"))
	assert.Zero(t, waited(nil, "mix"))
}

// More threads do not help in a segment most of which something held back that does no more for them.
func TestWhatMoreThreadsDoNotHelpIsThatOfTheSegment(t *testing.T) {
	r := Run{}
	assert.Empty(t, r.full(0, 10))
	r.Why = &Why{Parts: []WhyPart{{From: 0, To: 20, Limit: "the number of threads"}, {From: 20, To: 40, Limit: "locks", Full: true}}}
	assert.Equal(t, "locks", r.full(25, 50))
	assert.Empty(t, r.full(0, 30))
	assert.Empty(t, r.full(10, 20))
}

// A track is over once the run has gone on to other phases, and not while its own goes on beside another.
func TestATrackIsOverWithItsPhases(t *testing.T) {
	t.Parallel()
	r := Run{EndedBy: StillRunning, MeasuredS: 20, Operations: []Operation{{Track: "a", Op: "get"}, {Track: "b", Op: "get"}, {Track: "c", Op: "get"}}}
	over := func(phases ...Phase) (out []bool) {
		r.Phases = phases
		for _, o := range recordOf(&r).Ops {
			out = append(out, o.Over)
		}
		return out
	}
	one, two := Phase{From: 0, To: 10, Tracks: []string{"a"}}, Phase{From: 10, To: 20, Tracks: []string{"b"}}
	assert.Equal(t, []bool{false, false, false}, over())
	assert.Equal(t, []bool{false, false, false}, over(one), "nothing has begun since")
	assert.Equal(t, []bool{true, false, false}, over(one, two))
	one.To = 20
	assert.Equal(t, []bool{false, false, false}, over(one, two), "beside each other")
}
