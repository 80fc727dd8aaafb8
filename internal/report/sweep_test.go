package report

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/sweep"
)

// swept is a sweep over threads on two stores, twice each: one by the law, one with four
// servers.
func swept(t *testing.T) *sweep.Result {
	t.Helper()
	r := &sweep.Result{
		Schema: sweep.Schema, Asked: "digest", Profile: "ingestion", Unit: "entries", Rounds: 2, Runs: []sweep.Run{},
		Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2", "4", "8", "16"}}, {Name: "target", Values: []string{"redis://a", "memory:"}}},
	}
	for round := range r.Rounds {
		for i, n := range []float64{1, 2, 4, 8, 16} {
			off := 1 + 0.01*float64((round*7+i*3)%5-2)
			for at, x := range []float64{1000 * n / (1 + 0.1*(n-1) + 0.005*n*(n-1)) * off, min(n, 4) * 500 * off} {
				p := 2*i + at
				r.Runs = append(r.Runs, sweep.Run{Round: round, Point: p, ID: "run-" + strconv.Itoa(len(r.Runs)), Done: &x, P50: int64(1e9 * n / x), P99: measure.Hidden, Verdict: "VALID"})
			}
		}
	}
	r.Runs[3].Verdict, r.Runs[3].P99, r.Runs[3].Errors = "DEGRADED", 5e6, 2
	require.NoError(t, r.Settle())
	return r
}

func TestSweepDocuments(t *testing.T) {
	r := swept(t)
	files, err := Sweep(r)
	require.NoError(t, err)
	require.Len(t, files, 5)
	expected(t, files)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, sweep.File), files[0].Data, 0o600))
	back, err := sweep.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, r, back)
}

func TestASweepOfWordsHasNoCurve(t *testing.T) {
	x := 5.0
	r := &sweep.Result{
		Profile: "tx", Unit: "transactions", Rounds: 1, Axes: []sweep.Axis{{Name: "mode", Values: []string{"pbm", "saga"}}},
		Runs: []sweep.Run{{Point: 1, Done: &x, Verdict: "VALID"}},
	}
	require.NoError(t, r.Settle())
	files, err := Sweep(r)
	require.NoError(t, err)
	assert.Len(t, files, 4)
	text := SweepText(r)
	assert.Contains(t, text, "1 of 2 runs are done; the same command does the rest.\nThe highest throughput is 5 transactions/s, with mode=saga.\n")
	assert.NotContains(t, text, "over mode, ")
}
