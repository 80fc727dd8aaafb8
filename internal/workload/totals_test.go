package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// twoLoads are two tracks that add up, one that works apart, and one without payloads.
func twoLoads() ([]Knob, []*Track) {
	return []Knob{Threads(), Rate("entries"), Payload()}, []*Track{
		{Name: "count", Idle: map[string]string{"payload": "it counts"}, Start: Settings{Threads: 1, Rate: 10}},
		{Name: "feed", Start: Settings{Threads: 4, Rate: 100, Payload: 1024}},
		{Name: "probe", Apart: true, Start: Settings{Threads: 7, Rate: 1000, Payload: 1024}},
	}
}

func TestTotalsAddUpWhatAddsUp(t *testing.T) {
	knobs, tracks := twoLoads()
	got := Totals(knobs, tracks, Starts(tracks))
	assert.Equal(t, Settings{Threads: 5, Rate: 110, Payload: 1024}, got, "a track apart is no part of it, and one without payloads has none to tell")
	tracks[0].Start.Paused = true
	assert.True(t, Totals(knobs, tracks, Starts(tracks)).Paused)
}

func TestSettingsHaveTheNamesThatAreTyped(t *testing.T) {
	knobs, tracks := twoLoads()
	assert.Equal(t, map[string]float64{
		"threads": 5, "count.threads": 1, "feed.threads": 4, "probe.threads": 7,
		"rate": 110, "count.rate": 10, "feed.rate": 100, "probe.rate": 1000,
		"payload": 1024, "feed.payload": 1024, "probe.payload": 1024,
	}, ByName(knobs, tracks, Starts(tracks)))
	tracks[2].Start.Payload = 1
	assert.NotContains(t, ByName(knobs, tracks, Starts(tracks)), "payload", "there is no value for all")
	assert.Equal(t, map[string]float64{"threads": 1, "rate": 10}, ByName(knobs, tracks[:1], Starts(tracks)), "one track needs no prefix")
	assert.Empty(t, ByName(knobs, nil, nil))
}

// Phases that follow each other take the sum of their durations, those beside each other
// that of the longest; what has none takes no time that is known.
func TestTheLengthOfAPlan(t *testing.T) {
	p := &Plan{Phases: []Phase{
		{Name: "read", After: []string{"valid"}, Duration: 3 * time.Second},
		{Name: "valid", After: []string{"load"}, Duration: 2 * time.Second},
		{Name: "load"},
		{Name: "beside", After: []string{"load"}, Duration: 4 * time.Second},
	}}
	assert.Equal(t, 5*time.Second, p.Length())
	assert.Zero(t, (&Plan{Phases: []Phase{{Name: "load"}}}).Length())
}

// A rate that there was not before is divided evenly, since there are no proportions yet.
func TestATotalFromNothingIsDividedEvenly(t *testing.T) {
	tracks := []*Track{{Name: "a"}, {Name: "b"}, {Name: "apart", Apart: true}}
	now := Turned(tracks, make([]Settings, 3), -1, Rate(""), 900)
	assert.Equal(t, []float64{450, 450, 0}, []float64{now[0].Rate, now[1].Rate, now[2].Rate})
	now[0].Rate = 150
	now = Turned(tracks, now, -1, Rate(""), 1200)
	assert.Equal(t, []float64{300, 900, 0}, []float64{now[0].Rate, now[1].Rate, now[2].Rate}, "and then in proportion")
}
