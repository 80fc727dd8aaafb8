package eventstore

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// What workers use is added up second by second; what is unknown of one stays unknown, and 0 is a
// number.
func TestWhatWorkersUseIsAddedUp(t *testing.T) {
	x := newSeries(eyes{clock: &runClock{}})
	at := func(process int, second int64, cpu float64, rss int64, gcs *int64) {
		var sent bytes.Buffer
		require.NoError(t, gob.NewEncoder(&sent).Encode(look{
			SeriesPoint: report.SeriesPoint{AtNs: second * 1e9},
			Own:         &own{CPU: &cpu, RSS: &rss, OldGCs: gcs, GCTimeNs: gcs},
		}))
		var l look
		require.NoError(t, gob.NewDecoder(&sent).Decode(&l))
		assert.True(t, x.seconds.Merge(workload.Process{Number: process, Of: 2}, workload.SecondDelta[look]{Seen: &l}))
	}
	at(0, 1, 1.5, 100, new(int64(0)))
	at(1, 1, 0.25, 50, nil)
	at(0, 2, 0, 110, new(int64(3)))
	at(1, 2, 0.5, 40, new(int64(2)))
	assert.Equal(t, []report.ResourcePoint{
		{AtNs: 1e9, CPU: new(1.75), RSS: new(int64(150)), OldGCs: new(int64(0)), GCTimeNs: new(int64(0))},
		{AtNs: 2e9, CPU: new(0.5), RSS: new(int64(150)), OldGCs: new(int64(5)), GCTimeNs: new(int64(3))},
	}, x.workers())
}

// Samples of the store go on where those of another process ended.
func TestSamplesOfTheStoreGoOn(t *testing.T) {
	p := newWatched("redis")
	p.facts.Role = "redis"
	p.recall([]report.Process{
		{Role: report.RoleOwn, Points: []report.ResourcePoint{{AtNs: 5e8}}},
		{Role: "redis", Points: []report.ResourcePoint{{AtNs: 1e9}, {AtNs: 2e9}}},
	})
	p.points.Add(report.ResourcePoint{AtNs: 15e8}) // is there already
	p.points.Add(report.ResourcePoint{AtNs: 7e9})
	assert.Equal(t, []report.ResourcePoint{{AtNs: 1e9}, {AtNs: 2e9}, {AtNs: 7e9}}, p.points.Samples())
}
