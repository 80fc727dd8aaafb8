package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repeated makes up so many runs, of which throughput differs by 2 % from one to the next.
func repeated(n int, first int64) Set {
	rnd := rand.New(rand.NewPCG(32, uint64(first)))
	s := Set{Name: "same"}
	for i := range n {
		s.Runs = append(s.Runs, short(30, first+int64(i), map[Figure]Estimate{Throughput: {Value: 1e4 * math.Exp(0.02*rnd.NormFloat64()), SE: math.NaN()}}))
	}
	return s
}

func TestRunsOfOneSideTellTheNoise(t *testing.T) {
	n, err := AA(repeated(40, 1), 0)
	require.NoError(t, err)
	require.Len(t, n.Figures, 1)
	f := n.Figures[0]
	assert.InDelta(t, 0.02, f.Next, 0.004)
	assert.Equal(t, []int{1, 3, 5, 10}, NoiseSides)
	assert.InDelta(t, 0.042, f.Shows[2], 0.01, "2 % × √(2/5) × (2.31 + 0.89)")
	assert.InDelta(t, 4, f.Need, 1)
	assert.Equal(t, 39, n.Pairs)
	pairs, alarms := 0, 0
	for i := range 60 {
		few, err := AA(repeated(10, int64(100*i)), 0)
		require.NoError(t, err)
		pairs, alarms = pairs+few.Pairs, alarms+few.Alarms
	}
	assert.Equal(t, 540, pairs)
	assert.LessOrEqual(t, alarms, pairs*6/100)
	assert.NotContains(t, []Verdict{Better, Worse}, n.Halves.Parts[0].Findings[0].Verdict)

	_, err = AA(repeated(2, 1), 0)
	assert.ErrorContains(t, err, "has 2 of the 3 runs")
	mixed := repeated(3, 1)
	mixed.Runs[1].Conditions.Profile = "tx"
	_, err = AA(mixed, 0)
	assert.ErrorContains(t, err, "are not repeats of the same run")
}

// What was kept of the noise serves the next comparison of single runs of that plan there.
func TestNoiseIsKeptByPlanAndMachine(t *testing.T) {
	out := t.TempDir()
	file, err := KeepNoise(out, repeated(5, 1))
	require.NoError(t, err)
	again, err := KeepNoise(out, repeated(30, 4))
	require.NoError(t, err)
	assert.Equal(t, file, again)
	a, b := repeated(1, 50), repeated(1, 51)
	b.Runs[0].Parts[0].Figures[Throughput] = Estimate{Value: 1.3e4, SE: math.NaN()}
	assert.Len(t, Earlier(out, a, b), MostEarlier)
	require.Equal(t, Unsure, Sets(a, b, Options{}).Parts[0].Findings[0].Verdict)
	assert.Equal(t, Better, Sets(a, b, Options{Earlier: Earlier(out, a, b)}).Parts[0].Findings[0].Verdict)
	a.Runs[0].Conditions.Machine = map[string]string{"host": "another"}
	assert.Empty(t, Earlier(out, a, b))
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	assert.InDelta(t, 0.02, Throughput.noise(of(Throughput, repeated(20, 1).part(nil))).SE, 0.01)
}
