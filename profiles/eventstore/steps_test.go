package eventstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// loaded is the result of a run whose load had these segments, each a second long.
func loaded(settings ...map[string]float64) *measure.Result {
	r := &measure.Result{Phases: []measure.Phase{{Name: phaseLoad, To: time.Duration(len(settings)) * time.Second}}}
	for i, s := range settings {
		from := time.Duration(i) * time.Second
		r.Segments = append(r.Segments, measure.Segment{From: from, To: from + time.Second, Settings: s})
	}
	return r
}

// What is due after the end of the load, because that is noticed late, was not offered.
func TestNothingIsOfferedAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := loaded(map[string]float64{"events.batch": 400, "events.rate": 100_000, "events.threads": 2})
	r.Phases[0].From, r.Phases[0].To, r.Segments[0].To = 2*time.Second, 5*time.Second, 5*time.Second
	s := stepsOf(r, &stage.Counts{}, nil, 4e9)
	require.Len(t, s, 1)
	assert.EqualValues(t, 200_000, s[0].Offered.Events)
	assert.Equal(t, report.Step{Name: "1", FromNs: 2e9, ToNs: 5e9, Batch: 400, Rate: 100_000, Generators: 2, Offered: s[0].Offered, Failed: new(int64(0)), DeadBatches: new(int64(0)), Latency: []report.StageLatency{}}, s[0])
	assert.EqualValues(t, 300_000, stepsOf(r, &stage.Counts{}, nil, 0)[0].Offered.Events, "of a load without an end")
	assert.Empty(t, stepsOf(nil, &stage.Counts{}, nil, 0))
}

// A change while nothing is generated any more is no step, and what comes after the last step that
// is told apart counts in it.
func TestSegmentsAreSteps(t *testing.T) {
	t.Parallel()
	r := loaded(make([]map[string]float64, stage.Steps+3)...)
	r.Segments = append(r.Segments, measure.Segment{From: r.Phases[0].To, To: r.Phases[0].To + time.Second})
	r.Stages = [][]measure.Summary{make([]measure.Summary, 2*stage.Count), make([]measure.Summary, 2*stage.Count)}
	r.Stages[1][stage.Work] = measure.Summary{Count: 3, Mean: 2.5, P50: 2, P95: 3, P99: 4, P999: 5, Max: 6}
	r.Stages[0][stage.Count+stage.Durable] = measure.Summary{Count: 1, Max: 9}
	c := &stage.Counts{}
	for _, segment := range []uint16{0, 1, stage.Steps - 1, stage.Steps, stage.Steps + 2} {
		c.Made(&transport.Meta{Step: segment, Count: 10})
	}
	s := stepsOf(r, c, &report.Drain{FromNs: 4, ToNs: 5}, 0)
	require.Len(t, s, stage.Steps+1)
	assert.EqualValues(t, 10, s[1].Offered.Events)
	assert.Equal(t, []report.StageLatency{{Stage: report.StageWork, Count: 3, Mean: 2, P50: 2, P95: 3, P99: 4, P999: 5, Max: 6}}, s[1].Latency)
	last, drain := s[stage.Steps-1], s[stage.Steps]
	assert.EqualValues(t, 30, last.Offered.Events)
	assert.Equal(t, int64(r.Phases[0].To), last.ToNs)
	assert.Equal(t, []any{report.DrainStep, int64(4), int64(5)}, []any{drain.Name, drain.FromNs, drain.ToNs})
	assert.Equal(t, []report.StageLatency{{Stage: report.StageDurable, Count: 1, Max: 9}}, drain.Latency)
}
