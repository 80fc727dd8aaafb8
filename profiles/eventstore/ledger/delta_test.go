package ledger

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"

	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// What one process tells, bit by bit, is what another then knows.
func TestWhatIsToldIsKnownElsewhere(t *testing.T) {
	t.Parallel()
	here, there := New(0), New(0)
	here.Record()
	batch := func(g uint32, first int64) transport.Meta {
		return transport.Meta{Generator: g, First: first, Count: 10}
	}
	for k := range int64(4) {
		for _, g := range []uint32{0, 5} {
			m := batch(g, 1+10*k)
			here.Generated(m)
			here.Sent(m)
			here.Confirmed(m)
			if k == 2 && g == 5 {
				here.Refused(m)
			} else if k < 3 {
				here.Acked(m)
			}
		}
		assert.True(t, there.Merge(workload.Process{}, here.Delta()))
	}
	here.Unsent(batch(0, 31))
	told := here.Delta()
	assert.Len(t, told, 2)
	for _, b := range told {
		assert.Empty(t, b.Acked, "it was told before")
	}
	assert.True(t, there.Merge(workload.Process{}, told))
	var want, got report.Ledger
	here.Sums(&want)
	there.Sums(&got)
	assert.Equal(t, report.Ledger{Generated: 80, Sent: 70, Confirmed: 80, Acked: 50, DeadLettered: 10}, want)
	assert.Equal(t, want, got)
	assert.EqualValues(t, 10, there.Left())
	there.Lose(5)
	assert.True(t, there.Settled(), "nothing of a process that is gone is on its way")
	assert.EqualValues(t, 40, there.highest(0))
	assert.Greater(t, there.highest(5), int64(1e9), "it may have sent more than it told")
}

// What no process can have seen of its events is not taken in: it would take all memory.
func TestWhatNobodyCanHaveSeenIsNotTakenIn(t *testing.T) {
	assert.True(t, sound([]BookDelta{{Generator: 3, Generated: 7, Acked: []Stretch{{1, 7}}}}))
	for name, bad := range map[string]BookDelta{
		"generators without end": {Generator: math.MaxUint32},
		"events without end":     {Acked: []Stretch{{0, math.MaxInt64}}},
		"many stretches":         {Confirmed: []Stretch{{0, mostNews}, {0, mostNews}}},
		"before the first":       {Refused: []Stretch{{-1, 1}}},
		"fewer than none":        {Acked: []Stretch{{1, -1}}},
		"a negative count":       {Generated: -1},
	} {
		assert.False(t, sound([]BookDelta{bad}), name)
	}
}
