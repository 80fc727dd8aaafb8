package sweep

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Points of several payloads say how many bytes they moved; those of anything else do not.
func TestPointsOfPayloadsHaveBytes(t *testing.T) {
	few, many := 71.3e3, 493e3
	for axis, want := range map[string][]string{"payload": {"241 MiB/s", "1.09 GiB/s"}, "feed.payload": {"241 MiB/s", "1.09 GiB/s"}, "batch": {"–", "–"}} {
		r := &Result{Unit: "entries", Axes: []Axis{{Name: axis, Values: []string{"512", "16384"}}}, Rounds: 1, Runs: []Run{
			{Point: 0, Done: &many, UnitBytes: 512}, {Point: 1, Done: &few, UnitBytes: 16 << 10},
		}}
		require.NoError(t, r.Settle())
		assert.Equal(t, want, []string{r.Points[0].BytesText(), r.Points[1].BytesText()}, axis)
		assert.Equal(t, axis != "batch", r.Sized(), axis)
		r.Runs[0].UnitBytes, r.Runs[1].UnitBytes = 0, 0
		require.NoError(t, r.Settle())
		assert.False(t, r.Sized(), "of runs that do not say")
	}
}
