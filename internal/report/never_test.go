package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
)

// An operation that was never called took no 0 ns.
func TestWhatWasNeverCalledHasNoTimes(t *testing.T) {
	f := fixture(t)
	f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "profile", Op: "sweep"})
	f.Run.Segments = nil
	for _, id := range []string{"text", "markdown", "html"} {
		doc := printed(t, f, id)
		assert.Contains(t, doc, "No call was timed for: profile sweep.", id)
	}
	assert.Contains(t, squeezed(printed(t, f, "text")), "profile sweep 0 – – – – 0 0")
}

// Where there is little room, only the operation of which lateness is the largest part is named.
func TestTheLargestLatenessIsNamed(t *testing.T) {
	op := func(name string, late, all int64) rundir.Operation {
		return rundir.Operation{Track: "map", Op: name, Calls: 5000, Response: rundir.Latency{P50: 100, P99: all, Max: all}, Lateness: rundir.Latency{P50: 50, P99: late, Max: late}, Wait: rundir.Latency{Max: late}}
	}
	r := &rundir.Run{Operations: []rundir.Operation{op("get", 20e3, 900e3), op("put", 247e3, 1e6)}}
	assert.Equal(t, []string{"Lateness, perfbench's own part: at most 247 µs of 1 ms at p99 (map.put)."}, BeneathBriefly(r))
	r.Operations[1].Calls = 50
	assert.Equal(t, []string{"Lateness, perfbench's own part: at most 50 ns of 100 ns at p50 (map.put)."}, BeneathBriefly(r))
	r.Operations = []rundir.Operation{{Track: "map", Op: "get", Calls: 5000, Response: rundir.Latency{P99: 1e6}}}
	assert.Empty(t, BeneathBriefly(r), "a closed loop has none")
}
