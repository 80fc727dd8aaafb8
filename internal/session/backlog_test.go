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

// What waits when the rate is changed or the run ends is given up and waits no more: no backlog of it
// was worked off, and of two segments the one with the larger backlog is told.
func TestABacklogThatIsGivenUpWasNotWorkedOff(t *testing.T) {
	b := &backlog{operations: operations{list: []measure.Operation{{Track: "profile", Op: "put"}}}}
	course := func(from, to int, segment int, rate float64, never int64, changes ...measure.Change) {
		for at := from; at < to; at++ {
			row := measure.Row{Gauge: measure.Gauge{Rate: rate, Segment: segment, Backlog: int64(at-from) * 5000}}
			if at+1 == 20 { // the end: nothing is asked for any more
				row.Backlog, never = 0, never+60_000
			}
			b.add(&measure.Second{T: at, Length: 1, Rows: []measure.Row{row}, Result: &measure.Result{Changes: changes, Ops: []measure.Totals{{Unstarted: never}}}})
		}
	}
	course(0, 6, 0, 9000, 0)
	change := measure.Change{At: 6400 * time.Millisecond, Name: "rate", Segment: 1}
	course(6, 19, 1, 8000, 27_000, change)
	g := b.growth()
	require.NotNil(t, g)
	assert.Equal(t, []float64{19, 60_000}, []float64{g.ToS, g.End}, "the larger one, which goes on")
	course(19, 20, 1, 8000, 27_000, change)
	g = b.growth()
	assert.Equal(t, []float64{20, 60_000, 60_000}, []float64{g.ToS, g.End, g.Units})
	assert.Empty(t, g.Until)
	caughtUp, gaveUp := b.behind()
	assert.Nil(t, caughtUp)
	assert.Equal(t, []float64{7, 20, 60_000}, []float64{gaveUp.FromS, gaveUp.ToS, gaveUp.Units})
	first := b.past[0]
	assert.Equal(t, []float64{6.4, 27_000}, []float64{first.ToS, first.Units})
	assert.Equal(t, "rate", first.Until)
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
