package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

func knobPlan() *workload.Plan {
	return &workload.Plan{
		Knobs:  []workload.Knob{workload.Threads(), workload.Rate("calls"), workload.Payload()},
		Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "left"}, {Name: "right"}}}},
	}
}

func TestRampInStepsOfAQuarterSecond(t *testing.T) {
	table, warnings, err := ParseTimetable([]string{"2s..3s:rate=1000..2000,left.threads=8..1", "3s..3250ms:payload=1KiB..2KiB", "3s:right.threads=3"}, knobPlan(), 0)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	type step struct {
		at   time.Duration
		rate float64
	}
	var got []step
	for _, at := range table {
		if at.Knob.Name == "rate" {
			got = append(got, step{at.After, at.Value})
			assert.Equal(t, 1, at.Ramp)
			assert.Equal(t, at.After == 2*time.Second, at.First)
		}
		if at.Knob.Name == "threads" {
			assert.Equal(t, float64(int(at.Value)), at.Value, "there is no half of a thread")
		}
	}
	assert.Equal(t, []step{{2 * time.Second, 1000}, {2250 * time.Millisecond, 1250}, {2500 * time.Millisecond, 1500}, {2750 * time.Millisecond, 1750}, {3 * time.Second, 2000}}, got)
	assert.Equal(t, []string{
		"from 2s to 3s: rate = 1000 to 2000", "from 2s to 3s: left.threads = 8 to 1",
		"from 3s to 3.25s: payload = 1 KiB to 2 KiB", "at 3s: right.threads = 3",
	}, TimetableInWords(table, knobPlan()))
}

func TestOneRampMayBeginWhereAnotherEnds(t *testing.T) {
	table, _, err := ParseTimetable([]string{"2s..3s:rate=20..5", "1s..2s:rate=10..20"}, knobPlan(), 0)
	require.NoError(t, err)
	assert.Equal(t, engine.At{After: 2 * time.Second, Track: workload.AllTracks, Value: 20, Ramp: 1, Last: true}, bare(table[4]))
	assert.Equal(t, engine.At{After: 2 * time.Second, Track: workload.AllTracks, Value: 20, Ramp: 2, First: true}, bare(table[5]))
}

// bare leaves out the knob, which has functions.
func bare(a engine.At) engine.At {
	a.Knob = workload.Knob{}
	return a
}

func TestBadRamps(t *testing.T) {
	for want, entries := range map[string]string{
		`at "2s..4s:rate=2..9": this ramp of rate overlaps with "1s..3s:rate=1..9"`: "1s..3s:rate=1..9 2s..4s:rate=2..9",
		`this ramp of threads overlaps with "1s..3s:left.threads=1..9"`:             "1s..3s:left.threads=1..9 2s..4s:threads=2..9",
		`at "2s:rate=5": rate is on the ramp "1s..3s:rate=1..9" then`:               "1s..3s:rate=1..9 2s:rate=5",
		`there is no live knob "raet"`:                                              "1s..3s:raet=1..9",
		`rate: 0 means unlimited`:                                                   "1s..3s:rate=0..9",
		`rate: a ramp goes from one value to another, and "9" is one`:               "1s..3s:rate=9",
		`rate: "1..9" is a ramp, and its time is a single moment`:                   "1s:rate=1..9",
		`it ends at 1s, which is not after its beginning`:                           "3s..1s:rate=1..9",
		`"x" is not a time since the start of measurement`:                          "1s..x:rate=1..9",
		`threads: "5000" is not in 1..4096`:                                         "1s..2s:threads=1..5000",
		`paused is on or off and has no ramp`:                                       "1s..2s:paused=on..off",
		`the timetable has 20401 changes, more than the 20000 that it may have`:     "0s..85m:rate=1..2",
	} {
		_, _, err := ParseTimetable(strings.Fields(entries), knobPlan(), 0)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.NotContains(t, err.Error(), "\n", "one sentence")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, _, err := ParseTimetable([]string{"0s:rate=1", "1s..3s:rate=1..9", "1s..3s:left.threads=1..9", "2s:right.threads=2", "3s:rate=1"}, knobPlan(), 0)
	assert.NoError(t, err, "side by side, and one after the other")
	_, warnings, err := ParseTimetable([]string{"1s..3s:rate=1..9"}, knobPlan(), 2*time.Second)
	require.NoError(t, err)
	assert.Equal(t, []string{"at 1s..3s:rate=1..9: the run ends after 2s, so the ramp will not reach its end"}, warnings)
	_, warnings, err = ParseTimetable([]string{"1s..3s:fault=pause"}, knobPlan(), 2*time.Second)
	require.NoError(t, err)
	assert.Equal(t, []string{"at 1s..3s:fault=pause: the run ends after 2s, so the fault will not reach its end"}, warnings)
}

// What turning a knob leaves as it was is said once, of when it is turned first, and not of what comes after
// the end of the run.
func TestWhatAKnobLeavesAsItWasIsSaidOnce(t *testing.T) {
	plan := knobPlan()
	plan.Knobs[2].Keeps = "what is stored keeps its size"
	table, warnings, err := ParseTimetable([]string{"30.09s:payload=0", "21.13s:payload=1234", "5s:threads=3"}, plan, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"at 00:21.1 of the run: what is stored keeps its size"}, warnings)
	assert.Equal(t, warnings, keeping(table, 25*time.Second))
	assert.Empty(t, keeping(table, 20*time.Second))
}
