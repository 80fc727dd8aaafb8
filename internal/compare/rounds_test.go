package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// inTurns is a side of runs of one series with these rounds and throughputs.
func inTurns(series string, rounds []int, rates ...float64) Set {
	var s Set
	for i, v := range rates {
		r := &Run{Conditions: Conditions{Profile: "p", Unit: "entries", State: "VALID"}, Parts: []Measured{{Figures: map[Figure]Estimate{
			Throughput: {Value: v, SE: math.NaN()}, P50: {Value: 1e6, SE: math.NaN()},
		}}}}
		if series != "" {
			r.Conditions.Turn = &rundir.Turn{Series: series, Round: rounds[i]}
		}
		s.Runs = append(s.Runs, r)
	}
	return s
}

func TestDifferencesWithinRoundsCountWhereRoundsDiffer(t *testing.T) {
	drifts := []float64{1000, 1300, 900, 1500, 1100}
	slower := []float64{951, 1234, 856, 1424, 1046} // by 5 %
	all := []int{1, 2, 3, 4, 5}
	throughput := func(a, b Set) Finding { return Sets(a, b, Options{}).Parts[0].Findings[0] }

	c := Sets(inTurns("s", all, drifts...), inTurns("s", all, slower...), Options{})
	f := c.Parts[0].Findings[0]
	assert.Equal(t, Worse, f.Verdict)
	assert.True(t, f.Paired)
	assert.InDelta(t, -0.05, f.Change, 0.001)
	assert.Contains(t, c.Notes, "The runs took turns in rounds, which are many or differ by more than chance: for throughput, the differences within each round count.")
	assert.False(t, c.Parts[0].Findings[1].Paired, "p50 is the same in all of them")

	// The order of the runs says nothing, nor does one that is left over.
	assert.Equal(t, Worse, throughput(inTurns("s", []int{5, 4, 3, 2, 1}, 1100, 1500, 900, 1300, 1000), inTurns("s", all[:4], slower[:4]...)).Verdict)
	for name, b := range map[string]Set{
		"no rounds":                   inTurns("", nil, slower...),
		"another series":              inTurns("other", all, slower...),
		"too few rounds in common":    inTurns("s", []int{1, 2, 7, 8, 9}, slower...),
		"two of one side in a round":  inTurns("s", []int{1, 2, 3, 4, 4}, slower...),
		"it does not drift, it is so": inTurns("s", []int{2, 3, 4, 5, 1}, slower...), // none goes with the other of its round
	} {
		f := throughput(inTurns("s", all, drifts...), b)
		assert.Equal(t, Unsure, f.Verdict, name)
		assert.False(t, f.Paired, name)
	}
}

func TestABaselineKeepsTheRounds(t *testing.T) {
	data, err := Baseline(inTurns("s", []int{4}, 1000).Runs)
	require.NoError(t, err)
	runs, err := ReadBaseline(data)
	require.NoError(t, err)
	assert.Equal(t, &rundir.Turn{Series: "s", Round: 4}, runs[0].Conditions.Turn)
}
