package dashboard

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// What a track keeps up is what it did in the median of the last ten seconds since the last change of settings.
func TestWhatATrackKeepsUpIsTheMedianOfItsSeconds(t *testing.T) {
	_, d, _ := live(t, 15*time.Second, 120, 40)
	usual := d.now.kept(0)
	require.Greater(t, usual, 10.0)
	last := d.now.snap.Together[len(d.now.snap.Together)-1].T
	slow := func(second int, by int64) {
		snap := *d.now.snap
		snap.Recent = nil
		for _, rows := range d.now.snap.Recent {
			rows = slices.Clone(rows)
			for i := range rows {
				if rows[i].T == second {
					rows[i].Count /= by
				}
			}
			snap.Recent = append(snap.Recent, rows)
		}
		d.now.snap = &snap
	}
	slow(last-11, 2)
	assert.InDelta(t, usual, d.now.kept(0), 0, "that was before")
	slow(last-8, 10)
	slow(last-9, 10)
	assert.InEpsilon(t, usual, d.now.kept(0), 0.1, "two seconds that were slow")
	for i := 4; i < 8; i++ {
		slow(last-i, 10)
	}
	assert.InEpsilon(t, usual/10, d.now.kept(0), 0.1, "six of ten")
	snap := *d.now.snap
	snap.Segments = append(slices.Clone(snap.Segments), measure.Segment{From: time.Duration(last-5) * time.Second})
	d.now.snap = &snap
	assert.InDelta(t, usual, d.now.kept(0), usual*0.1, "a second of other settings does not count")
}
