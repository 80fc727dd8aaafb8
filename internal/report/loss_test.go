package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// crashing is a sweep over a setting of a server that loses its power in each run.
func crashing(t *testing.T) *sweep.Result {
	t.Helper()
	r := &sweep.Result{
		Schema: sweep.Schema, Profile: "mix", Unit: "operations", Rounds: 2, Crash: sweep.PowerCut,
		Axes: []sweep.Axis{{Name: "appendfsync", Values: []string{"always", "everysec", "no"}, Server: true}},
	}
	for round := range 2 {
		for point, done := range []float64{4000, 9000, 10_000} {
			lost := []int64{0, 800 + 200*int64(round), 24_000}[point]
			d := sweep.Run{Round: round, Point: point, ID: "run", Done: &done, P50: 1e6, P99: 8e6 / int64(point+1), Verdict: "INVALID", Causes: []string{"verification"}, Lost: &lost}
			if point == 2 && round == 1 {
				d.Lost = nil
			}
			r.Runs = append(r.Runs, d)
		}
	}
	require.NoError(t, r.Settle())
	return r
}

func TestCostAgainstLoss(t *testing.T) {
	r := crashing(t)
	text := SweepText(r)
	assert.Contains(t, text, "Cost against loss in a power cut, which each run had: figures are of the time before it.\n"+
		"Nothing that had been acknowledged was lost with appendfsync=always, in 2 runs; that does 40 % of the highest throughput.\n")
	assert.Contains(t, text, `
cost against loss in a power cut
                      operations/s                           lost
appendfsync=always            4k ███████                      0
appendfsync=everysec          9k ████████████████          1000 █
appendfsync=no               10k ██████████████████       24000 ██████████████████
`)
	assert.Regexp(t, `(?m)^everysec .* 800…1000 +2 of 2$`, text)
	assert.Regexp(t, `(?m)^no .* 24000 +1 of 2, 1 unknown$`, text)
	assert.NotContains(t, text, "not VALID: see why")

	files, err := Sweep(r)
	require.NoError(t, err)
	require.Len(t, files, 5)
	assert.Contains(t, string(files[1].Data), ",verdict,lost\n")
	assert.Contains(t, string(files[1].Data), ",INVALID,24000\nno,2,run,10000,1000000,2666666,0,INVALID,\n")
	html := string(files[3].Data)
	assert.Contains(t, html, "mix over appendfsync, cost against loss in a power cut")
	assert.Contains(t, html, "acknowledged and lost in a power cut, over operations per second")
	assert.Contains(t, string(files[4].Data), "appendfsync=everysec")
}

func TestCostAtARateIsTime(t *testing.T) {
	r := crashing(t)
	r.Open, r.Crash = true, sweep.ProcessCrash
	text := SweepText(r)
	assert.Contains(t, text, "Cost against loss in a process crash")
	assert.Contains(t, text, "a power cut may lose more")
	assert.Contains(t, text, "was lost with appendfsync=always, in 2 runs, at a p99 of 8 ms; the lowest is 2.67 ms, with appendfsync=no.\n")
	assert.Regexp(t, `(?m)^appendfsync=always +8 ms █{18} +0$`, text)
	c := lossCurve(r)
	assert.Equal(t, []float64{2666666, 4e6, 8e6}, c.At)
	assert.Equal(t, []float64{24_000, 1000, 0}, c.Lines[0].Values)
	assert.NotContains(t, SweepText(r), "is of a sample")
	r.Runs[1].Unread = 1200
	assert.Contains(t, SweepText(r), "What was lost is of a sample: in run 2, nobody looked for 1200 records that had been acknowledged.")
	for i := range r.Runs {
		r.Runs[i].Lost = nil
	}
	require.NoError(t, r.Settle())
	assert.Contains(t, SweepText(r), "At each point, something was lost that had been acknowledged, or nobody knows.")
	lossless := lossCurve(r)
	assert.True(t, lossless.Empty())
	assert.Equal(t, 3, strings.Count(SweepText(r), "0 of 2, 2 unknown"))
}

// How many units a call has is that of the calls that succeeded: those that failed were not timed, and those that timed
// out were.
func TestFailedCallsDoNotChangeWhatACallIs(t *testing.T) {
	r := &rundir.Run{Unit: "entries", Operations: []rundir.Operation{{Track: "a", Op: "putall", Count: 3_000, Calls: 310, Errors: 90}}}
	r.Errors = []rundir.Error{{Track: "a", Op: "putall", Class: "unreachable", Count: 80}, {Track: "a", Op: "putall", Class: "timeout", Count: 10}}
	assert.Equal(t, "1 call = 10 entries (a.putall)", Batches(r))
}
