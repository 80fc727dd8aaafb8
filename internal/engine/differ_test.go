package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// A value for all tracks that the first has already is news to those that differ, and
// the log has what each had before.
func TestTracksThatDifferAllGetTheValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := func(context.Context, *workload.Iteration) error { return nil }
		r := start(t, onePhase(4*time.Second,
			pool("a", workload.Settings{Threads: 1, Rate: 10, Payload: 64}, idle),
			pool("b", workload.Settings{Threads: 1, Rate: 10, Payload: 4096}, idle)))
		payload := func(n int) func(workload.Settings) workload.Settings {
			return func(s workload.Settings) workload.Settings { s.Payload = n; return s }
		}
		time.Sleep(time.Second)
		r.Change("test", workload.AllTracks, threads(4))
		assert.Equal(t, 4096, r.Settings(1).Payload, "nobody spoke of it")
		time.Sleep(time.Second)
		r.Change("test", workload.AllTracks, payload(64))
		assert.Equal(t, 64, r.Settings(0).Payload)
		assert.Equal(t, 64, r.Settings(1).Payload)
		time.Sleep(time.Second)
		r.Change("test", workload.AllTracks, payload(128))
		var log []measure.Change
		for _, c := range result(t, r).Changes {
			log = append(log, measure.Change{Name: c.Name, From: c.From, To: c.To})
		}
		assert.Equal(t, []measure.Change{{Name: "threads", From: 2, To: 4}, {Name: "b.payload", From: 4096, To: 64}, {Name: "payload", From: 64, To: 128}}, log)
	})
}

// A run of ten calls has never more than ten of them due.
func TestTheBacklogEndsWithTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool("p", workload.Settings{Threads: 1, Rate: 1000}, takes(time.Second))
		p.Iterations, p.Total = 10, 10
		r := start(t, onePhase(0, p))
		for left := int64(9); left > 0; left-- {
			time.Sleep(time.Second)
			assert.LessOrEqual(t, r.Snapshot().Gauges[0].Backlog, left+1, "one is under way")
			assert.Positive(t, r.Snapshot().Gauges[0].Backlog)
		}
		result(t, r)
	})
}
