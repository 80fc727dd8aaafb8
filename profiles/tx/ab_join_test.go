package tx

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// host is a run of sagas on a client host: each second per second, from a moment on.
func host(t *testing.T, id string, began time.Time, seconds int, per int64) *rundir.Folder {
	t.Helper()
	facts, err := json.Marshal(SagaFacts{Mode: modeSaga, Done: 3 * per, Undone: per})
	require.NoError(t, err)
	f := &rundir.Folder{Run: rundir.Run{
		ID: id, Mode: modeSaga, Facts: facts, Started: began.Add(-time.Second), Measured: began, MeasuredS: float64(seconds),
		Target: "redis://store:6379", Settings: map[string]float64{"threads": 10}, Store: rundir.Store{Name: "redis", Version: "7"},
	}}
	for s := range seconds {
		f.Series = append(f.Series, rundir.SeriesRow{T: s, Track: "saga", Op: "saga", Count: per}, rundir.SeriesRow{T: s, Track: "saga", Op: "other", Count: 99})
	}
	return f
}

// Two hosts began three seconds apart: only the seven seconds that they share count.
func TestHostsAreAddedUpOverTheWindowTheyShare(t *testing.T) {
	at := time.Date(2021, 11, 5, 8, 0, 0, 0, time.UTC)
	files, err := joinAB([]*rundir.Folder{host(t, "a", at, 10, 4000), host(t, "b", at.Add(3*time.Second), 10, 6000)})
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, line := range []string{
		"Concurrency Level:      20\n", "Time taken for tests:   7.000 seconds\n", "Complete requests:      70000\n",
		"Failed requests:        17500\n", "Requests per second:    10000.00 [#/sec] (mean)\n", "Server Hostname:        store\n",
	} {
		assert.Contains(t, string(files[0].Data), line)
	}
	assert.Equal(t, "ab.txt adds up 2 runs over the 7.0 s from 2021-11-05T08:00:03Z in which all of them were measured: a, b.\n", string(files[1].Data))
	_, err = readAB(string(files[0].Data))
	require.NoError(t, err, "what reads ab reads this")
}

func TestRunsOneAfterTheOtherAreNotAddedUp(t *testing.T) {
	at := time.Date(2021, 11, 5, 8, 0, 0, 0, time.UTC)
	_, err := joinAB([]*rundir.Folder{host(t, "a", at, 10, 1), host(t, "b", at.Add(20*time.Second), 10, 1)})
	require.ErrorContains(t, err, "not measured at the same time")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
