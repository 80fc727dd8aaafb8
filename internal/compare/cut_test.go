package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Seconds that drift tell little of the error of their mean, but it lies among them: what is shown of 15 such
// seconds, of a real run, is no wider than they are, and nor is the change.
func TestNoRangeIsWiderThanTheSecondsOfARun(t *testing.T) {
	rates := []float64{195.3e3, 119.2e3, 94.7e3, 212.7e3, 205.2e3, 193.8e3, 213.6e3, 209.7e3, 263.9e3, 247.7e3, 209.5e3, 251.9e3, 227.8e3, 238.8e3, 240.7e3}
	drifts := seconded(rates...)
	other := seconded(104e3, 98e3, 110e3, 91e3, 103e3, 107e3, 95e3, 101e3, 99e3, 108e3, 94e3, 105e3, 97e3, 102e3, 100e3)
	f := throughputOf(drifts, other)
	assert.Equal(t, 94.7e3, f.A.Lo)
	assert.Equal(t, 263.9e3, f.A.Hi)
	assert.Equal(t, Unsure, f.Verdict, "their seconds touch")
	assert.LessOrEqual(t, f.Hi, f.B.Hi/f.A.Lo-1)
	assert.GreaterOrEqual(t, f.Lo, f.B.Lo/f.A.Hi-1)
	assert.Less(t, f.Lo, f.Change)
	assert.GreaterOrEqual(t, f.Hi, 0.0, "what is unsure may be no change")
	f = throughputOf(drifts, other, 200e3, 20e3, 900e3, 50e3)
	assert.Less(t, f.Lo, 90e3/264e3-1, "how much earlier runs differed is no matter of seconds")
	f = throughputOf(seconded(100e3, 101e3, 99e3, 100e3, 102e3, 98e3, 100e3, 101e3), other)
	assert.Greater(t, f.A.Lo, 98e3)
	assert.Less(t, f.A.Hi, 102e3, "seconds of their own tell their error")
}

// Sides that do not touch are not called unsure with a range that ends at no change: where their seconds are too much
// alike for a verdict, there is none, nor a range, and it is said why.
func TestSidesThatDoNotTouchAreNotJudgedWhereTheirSecondsAreAlike(t *testing.T) {
	f := throughputOf(seconded(100, 101, 103, 104, 106), seconded(118, 117, 115, 114, 112))
	assert.Greater(t, f.B.Lo, f.A.Hi)
	assert.Equal(t, Unsure, f.Verdict)
	assert.Equal(t, "not judged", f.Words())
	assert.Empty(t, f.RangeText())
	const why = "so few seconds may drift this far apart by chance"
	assert.Equal(t, why, f.NotJudged())
	assert.Contains(t, Pair{Findings: []Finding{f}}.Answer("ops"), why)
	close := throughputOf(seconded(100, 100.4, 101, 101.5, 102, 102.7, 103, 103.6, 104, 106), seconded(118, 117.6, 117, 116.5, 116, 115.3, 115, 114.2, 113, 112))
	assert.Equal(t, "seconds so close to the one before that they say little of the scatter", close.NotJudged())
	assert.Contains(t, blurred(Estimate{Least: 1, Few: true}, Estimate{Least: 1}), "on one side, and on the other seconds so close")
	cpu := Finding{Figure: ClientCPU, Verdict: Unsure, single: true, alone: true, one: "one run a side", change: stat.Unknown(), Power: &Power{More: -1}}
	f.Figure = P50
	assert.Equal(t, "client CPU/op: not judged, one run a side.", Pair{Findings: []Finding{f, cpu}}.Powers("ops"), "the answer says why p50 is not")
}

// A percentile that alone is unsure goes with two others that have changed, if the ranges of both sides are apart.
func TestAPercentileGoesAlongWithTwoThatHaveChanged(t *testing.T) {
	percentile := func(f Figure, v Verdict, a, b float64) Finding {
		return Finding{
			Figure: f, Verdict: v, single: true, alone: true, Change: b/a - 1, Lo: -0.5, Hi: 90, Power: &Power{},
			A: Range{Value: a, Lo: a / 2, Hi: a * 2}, B: Range{Value: b, Lo: b / 2, Hi: b * 2},
		}
	}
	fs := []Finding{percentile(P90, Worse, 1, 15), percentile(P99, Unsure, 4, 40), percentile(P999, Worse, 9, 150)}
	alongWith(fs)
	assert.Equal(t, Worse, fs[1].Verdict)
	assert.True(t, fs[1].Along)
	assert.Nil(t, fs[1].Power)
	assert.InDelta(t, 20.0/8-1, fs[1].Lo, 1e-9)
	assert.InDelta(t, 80.0/2-1, fs[1].Hi, 1e-9)
	assert.Contains(t, along(&Comparison{Parts: []Pair{{Findings: fs}}}), "Taken alone, p99 would be unsure.")
	for name, fs := range map[string][]Finding{
		"the ranges touch":    {percentile(P90, Worse, 1, 15), percentile(P99, Unsure, 10, 40), percentile(P999, Worse, 9, 150)},
		"only one changed":    {percentile(P90, Unsure, 1, 1.2), percentile(P99, Unsure, 4, 40), percentile(P999, Worse, 9, 150)},
		"the other direction": {percentile(P90, Better, 15, 1), percentile(P99, Unsure, 4, 40), percentile(P999, Better, 150, 9)},
		"several runs":        {percentile(P90, Worse, 1, 15), {Figure: P99, Verdict: Unsure, Change: 9, A: Range{Value: 4, Hi: 5}, B: Range{Value: 40, Lo: 30, Hi: math.Inf(1)}}, percentile(P999, Worse, 9, 150)},
	} {
		alongWith(fs)
		assert.Equal(t, Unsure, fs[1].Verdict, name)
	}
	fs = []Finding{percentile(P50, Unsure, 40, 4), percentile(P90, Better, 60, 4), percentile(P99, Better, 90, 9)}
	alongWith(fs)
	assert.Equal(t, Better, fs[0].Verdict)
}
