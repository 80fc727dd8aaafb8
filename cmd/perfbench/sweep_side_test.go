package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Somebody who compares with a sweep is told which of its runs could be named.
func TestASweepIsNoSideOfAComparison(t *testing.T) {
	runs := t.TempDir()
	r := sweep.Result{
		Schema: sweep.Schema, Rounds: 1, Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2"}}},
		Points: []sweep.Point{{Values: []string{"1"}}, {Values: []string{"2"}}}, Runs: []sweep.Run{{Point: 1, ID: "second"}},
	}
	data, err := r.Encode()
	require.NoError(t, err)
	dir := filepath.Join(runs, "one-sweep")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, sweep.File), data, 0o644))
	for _, ref := range []string{"one-sweep", dir} {
		err := isSweep(runs, ref)
		require.ErrorContains(t, err, "is a sweep")
		assert.Contains(t, fault.HintOf(err), "such as second (threads=2)")
	}
	assert.NoError(t, isSweep(runs, "another"))
}
