package tx

import (
	"fmt"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// driverBench is the driver of the server of dtm's own benchmark.
const driverBench = "dtm-bench"

// Operations of a run against that server, by their place in benchOps. As ab has them:
// the whole, and of it making the connection, what follows, and of that waiting for the
// reply to begin.
const (
	opRequest workload.Op = iota
	opConnect
	opProcessing
	opWaiting
)

var benchOps = []string{"saga", "connect", "processing", "waiting"}

// benchSpec is what Design found out about a run against dtm's benchmark server.
type benchSpec struct{ keepAlive bool }

// designBench works out a plan for dtm's benchmark server, which decides itself what its
// sagas are.
func designBench(r *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	sp := readSaga(r, in)
	s := &benchSpec{keepAlive: r.OnOff("keepAlive")}
	for _, p := range []struct {
		name, is, want string
		odd            bool
	}{
		{"transType", sp.kind.name, "saga", sp.kind != kindSaga},
		{"accounts", "on", "off", sp.accounts > 0},
		{"branches", strconv.Itoa(sp.branches), "2", sp.branches != 2},
		{"failRate", fmt.Sprint(sp.failRate), "0", sp.failRate > 0},
		{"ongoingRate", fmt.Sprint(sp.ongoingRate), "0", sp.ongoingRate > 0},
		{"errorRate", fmt.Sprint(sp.errorRate), "0", sp.errorRate > 0},
		{"duplicateRate", fmt.Sprint(sp.duplicateRate), "0", sp.duplicateRate > 0},
		{"delay", brief(sp.delay), "0s", sp.delay > 0},
		{"timeout", brief(sp.timeout), "0s", sp.timeout > 0},
	} {
		if p.odd {
			r.Fail("use --set "+p.name+"="+p.want+", or --preset dtm",
				"%s: %s does not run on dtm's benchmark server, whose sagas have two branches that call nobody", p.name, p.is)
		}
	}
	if sp.ackLog != "" {
		r.Fail("leave it away", "ackLog: dtm's benchmark server names no saga, so that none could be written down")
	}
	count := sagaCount(r, in)
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	return &workload.Plan{
		Unit: "transactions", Knobs: []workload.Knob{workload.Threads(), workload.Rate("transactions")},
		Documents: []string{formatAB}, Binder: s,
		Phases: []workload.Phase{{Name: "saga", Duration: in.Duration, NoCeiling: true, Tracks: []workload.Track{{
			Name: "saga", Ops: benchOps, OpUnits: []string{"", "connections", "requests", "requests"}, Counted: 1, Start: sp.start, Iterations: count, Total: count,
		}}}},
		Writes:  []string{"what the server makes of each request: a saga in its own store, kept as that is set"},
		Deletes: []string{"nothing, whatever the flags"},
	}, nil
}

// sagaCount reads and shows how many transactions to run; 0: until the time is up.
func sagaCount(r *values.Reader, in workload.Inputs) int64 {
	if in.Duration > 0 && in.Count == 0 {
		return 0
	}
	v := r.Pick(r.Param("transactions"), "count", "transactions")
	n, err := v.Int(1, 1<<53)
	r.Problems.Add(err)
	r.Show("transactions", strconv.FormatInt(n, 10), v)
	return n
}

// wallClock tells the time of day.
type wallClock struct{}

// Now is in nanoseconds.
func (wallClock) Now() int64 { return time.Now().UnixNano() }
