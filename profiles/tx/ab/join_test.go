package ab

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// host is a run of sagas on a client host: each second per second, from a moment on.
func host(t *testing.T, id string, began time.Time, seconds int, per int64) *rundir.Folder {
	t.Helper()
	facts, err := json.Marshal(saga.Facts{Mode: saga.Mode, Done: 3 * per, Undone: per})
	require.NoError(t, err)
	f := &rundir.Folder{Run: rundir.Run{
		ID: id, Mode: saga.Mode, Facts: facts, Started: began.Add(-time.Second), Measured: began, MeasuredS: float64(seconds),
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
	files, err := join([]*rundir.Folder{host(t, "a", at, 10, 4000), host(t, "b", at.Add(3*time.Second), 10, 6000)})
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

// Runs that were not measured at the same time stand in one table, hosts of one window
// in one column of it.
func TestRunsOneAfterTheOtherStandSideBySide(t *testing.T) {
	at := time.Date(2021, 11, 5, 8, 0, 0, 0, time.UTC)
	original := host(t, "original", at.Add(-time.Minute), 10, 500)
	original.Run.Target = "dtm+bench://bench:8083"
	files, err := join([]*rundir.Folder{original, host(t, "a", at, 10, 1000), host(t, "b", at.Add(3*time.Second), 10, 1000)})
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, "ab-table.md", files[0].Name)
	for _, line := range []string{
		"| | dtm+bench://bench:8083 | redis://store:6379 |\n", "| Concurrency Level | 10 | 20 |\n", "| Time taken for tests | 10.000 seconds | 7.000 seconds |\n",
		"| Complete requests | 2000 | 14000 |\n", "| Requests per second | 200.00 [#/sec] (mean) | 2000.00 [#/sec] (mean) |\n",
		"| Time per request | 50.000 [ms] (mean) | 10.000 [ms] (mean) |\n", "| Rate, as a multiple of the first | 1.00 | 10.00 |\n",
	} {
		assert.Contains(t, regexp.MustCompile(` +`).ReplaceAllString(string(files[0].Data), " "), line)
	}
	_, table, _ := strings.Cut(string(files[0].Data), "\n|")
	wide := strings.IndexByte(table, '\n')
	for line := range strings.Lines("|" + table) {
		assert.Equal(t, wide+2, utf8.RuneCountInString(line), "it reads as text too: %s", line)
	}
	assert.Equal(t, "column 2 of ab-table.md adds up 2 runs over the 7.0 s from 2021-11-05T08:00:03Z in which all of them were measured: a, b.\n", string(files[1].Data))
}

// Hosts that load the original's two benchmark servers are added up with what ab shows of
// HTTP.
func TestHostsOfTheOriginalAreAddedUp(t *testing.T) {
	at := time.Date(2021, 11, 5, 8, 0, 0, 0, time.UTC)
	one := func(id string, at time.Time) *rundir.Folder {
		f := host(t, id, at, 10, 100)
		f.Run.Target = "dtm+bench://" + id + ":8083"
		var err error
		f.Run.Facts, err = json.Marshal(saga.Facts{Mode: saga.Mode, Done: 1000, Bench: &saga.BenchFacts{Path: "/x", Length: 24, Connections: 1000, Bytes: 147_000, Body: 24_000}})
		require.NoError(t, err)
		return f
	}
	files, err := join([]*rundir.Folder{one("a", at), one("b", at.Add(5*time.Second))})
	require.NoError(t, err)
	text := string(files[0].Data)
	r, err := readAB(text)
	require.NoError(t, err)
	assert.Equal(t, int64(1000), r.complete, "half of each")
	assert.InDelta(t, 200, r.perSecond, 1e-9)
	assert.Contains(t, text, "Total transferred:      147000 bytes\nHTML transferred:       24000 bytes\n")
	assert.Contains(t, text, "Document Path:          /x\n")
}
