package measure

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// came feeds n calls of one segment with gaps of 1 ms on average; begins says when one begins
// that is due at a time, and how much of its wait is lateness.
func came(n int, gap func() float64, begins func(due int64) (start, late int64)) *arrivals {
	a := &arrivals{}
	due := 0.0
	for range n {
		due += gap() * float64(time.Millisecond)
		start, late := begins(int64(due))
		a.add(&Call{Due: int64(due), Start: start, Late: late})
	}
	return a
}

// How calls come is told by the variance of their numbers, and what moves them by how many
// are elsewhere. A few moments are nothing.
func TestHowCallsCame(t *testing.T) {
	const second = int64(time.Second)
	even := func() float64 { return 1 }
	random := func() func() float64 { return rand.New(rand.NewPCG(1, 2)).ExpFloat64 }
	prompt := func(due int64) (int64, int64) { return due + 30_000, 30_000 }
	for name, c := range map[string]struct {
		gap          func() float64
		begins       func(due int64) (start, late int64)
		asked, begun float64
		moved, late  float64
	}{
		"evenly":        {even, prompt, 0, 0, 0, 0},
		"independently": {random(), prompt, 1, 1, 0, 0},
		"sent 20 at a time, by us": {random(), func(due int64) (int64, int64) {
			at := (due/(20e6) + 1) * 20e6
			return at, at - due
		}, 1, 10, 0.5, 0.5},
		"one stop of 100 ms": {random(), func(due int64) (int64, int64) {
			if in := due % (100 * second); due > 5*second && in < 5*second+second/10 && in > 5*second {
				return due - in + 5*second + second/10, 5*second + second/10 - in
			}
			return due, 0
		}, 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			how, ok := came(60_000, c.gap, c.begins).summary()
			require.True(t, ok)
			assert.Equal(t, 10*time.Millisecond, how.Span)
			assert.InDelta(t, 10, how.Mean, 0.2)
			assert.InDelta(t, c.asked, how.Asked, 0.12)
			assert.InDelta(t, c.begun, how.Begun, max(0.25, c.begun/5))
			assert.InDelta(t, c.moved, how.Moved, 0.05)
			assert.InDelta(t, c.late, how.Late, 0.05)
		})
	}
	_, ok := came(100, even, prompt).summary()
	assert.False(t, ok, "too few")
	slow := came(60_000, even, func(due int64) (int64, int64) { return 50 * due, 0 })
	how, ok := slow.summary()
	assert.True(t, !ok || how.Spans < 6_000, "what waits for too long is left out")
}

// Each segment is told apart, and calls of one that is over are left out.
func TestHowCallsCameInEachSegment(t *testing.T) {
	a := &arrivals{}
	for i := range int64(20_000) {
		segment := uint16(i / 10_000)
		a.add(&Call{Due: i * 1e6, Start: i*1e6 + int64(segment)*3e6, Segment: segment})
		a.add(&Call{Due: i * 1e6, Start: i * 1e6}) // of the first
	}
	first, ok := a.in(0)
	require.True(t, ok)
	second, ok := a.in(1)
	require.True(t, ok)
	assert.InDelta(t, 20, first.Mean, 0.1)
	assert.InDelta(t, 10, second.Mean, 0.1)
	assert.Less(t, first.Spans, int64(1001))
	_, ok = a.in(2)
	assert.False(t, ok)
}
