package compare

import (
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// A percentile that is mostly perfbench's own lateness on one side tells nothing of the stores, however
// far the two are apart.
func TestAPercentileOfLatenessIsNotJudged(t *testing.T) {
	times := func(ms int64) *hdrhistogram.Histogram {
		h := hdrhistogram.New(1, 1e12, 3)
		require.NoError(t, h.RecordValues(ms*1e6, 5000))
		return h
	}
	of := func(p99, late int64) Measured {
		m := Measured{Response: times(p99), Figures: map[Figure]Estimate{P99: {Value: float64(p99) * 1e6, SE: float64(p99) * 1e4, DF: 20}}}
		m.lateness(times(late))
		return m
	}
	judged := func(a, b Measured) Finding {
		for _, f := range findings(P99, []Measured{a}, []Measured{b}, nil, nil, 0.05) {
			if f.Figure == P99 {
				return f
			}
		}
		return Finding{change: stat.Unknown()}
	}
	f := judged(of(458, 100), of(40, 10))
	assert.Equal(t, Better, f.Verdict)
	f = judged(of(458, 345), of(40, 10))
	assert.Equal(t, Unsure, f.Verdict)
	assert.False(t, f.Moved())
	assert.True(t, math.IsInf(f.Lo, -1))
	assert.Equal(t, "75 % of it is perfbench's own lateness in A", f.PowerText())
	f = judged(of(40, 10), of(458, 345))
	assert.Contains(t, f.PowerText(), "75 % of it is perfbench's own lateness in B")
}
