package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// A segment in which the store did not keep up is remembered when the next is fine, unless a
// search made it to find that out.
func TestTheBacklogOfASegmentIsRemembered(t *testing.T) {
	course := func(by string) *backlog {
		b := &backlog{operations: operations{list: []measure.Operation{{Track: "profile", Op: "put"}}}}
		for at := range 18 {
			row := measure.Row{Gauge: measure.Gauge{Rate: 1000, Segment: at / 6}}
			if row.Segment == 1 {
				row.Rate, row.Backlog = 9000, int64(at-5)*5000
			}
			b.add(&measure.Second{T: at, Length: 1, Rows: []measure.Row{row}, Result: &measure.Result{Changes: []measure.Change{{By: by, Segment: 1}, {By: by, Segment: 2}}}})
		}
		return b
	}
	g := course("workbench").growth()
	require.NotNil(t, g)
	assert.Equal(t, []float64{8, 12, 9000}, []float64{g.FromS, g.ToS, g.Rate})
	assert.InDelta(t, 13, g.CaughtUpS, 0, "at the end of second 12")
	assert.Nil(t, course(measure.BySearch).growth())
}

// Threads that are changed at the same rate begin a segment, too: the backlog before says
// nothing about the one after.
func TestABacklogIsOfOneSegment(t *testing.T) {
	b := &backlog{operations: operations{list: []measure.Operation{{Track: "profile", Op: "put"}}}}
	for at := range 12 {
		row := measure.Row{Gauge: measure.Gauge{Rate: 1000, Segment: at / 6, Backlog: 100}}
		if at >= 6 {
			row.Backlog = 2000 // more, and no longer growing
		}
		b.add(&measure.Second{T: at, Length: 1, Rows: []measure.Row{row}})
	}
	assert.Nil(t, b.growth())
}

// Only pauses while the backlog grew may have caused it: not one of long before.
func TestPausesCountWhereTheBacklogGrew(t *testing.T) {
	for at, want := range map[int]float64{1: 0, 4: 0.4, 8: 0.4} {
		paused, second := time.Duration(0), 0
		b := &backlog{operations: operations{list: []measure.Operation{{Track: "profile", Op: "put"}}}, pauses: func() (int64, time.Duration) { return 1, paused }}
		for ; second < 9; second++ {
			if second == at {
				paused = 400 * time.Millisecond
			}
			b.add(&measure.Second{T: second, Length: 1, Rows: []measure.Row{{Gauge: measure.Gauge{Rate: 1000, Backlog: int64(second * 500)}}}})
		}
		g := b.growth()
		require.NotNil(t, g)
		assert.InDelta(t, want, g.PausedS, 1e-9, "a pause in second %d", at)
	}
}
