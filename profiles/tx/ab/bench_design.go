package ab

import (
	"fmt"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Driver is the driver of the server of dtm's own benchmark.
const Driver = "dtm-bench"

// Operations of a run against that server, by their index in benchOps. As with ab these
// are: the whole request; connecting; the rest; and, as part of the rest, waiting for
// the reply to begin.
const (
	OpRequest workload.Op = iota
	OpConnect
	opProcessing
	OpWaiting
)

var benchOps = []string{"saga", "connect", "processing", "waiting"}

// benchSpec is what Design worked out about a run against dtm's benchmark server.
type benchSpec struct{ keepAlive bool }

// Design works out a plan for dtm's benchmark server, which itself decides what its
// sagas are.
func Design(r *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	sp := saga.Read(r, in)
	s := &benchSpec{keepAlive: r.OnOff(saga.KeepAlive)}
	for _, p := range []struct {
		name, is, want string
		odd            bool
	}{
		{"transType", sp.Kind.Name, "saga", sp.Kind != model.KindSaga},
		{"accounts", "on", "off", sp.Accounts > 0},
		{"branches", strconv.Itoa(sp.Branches), "2", sp.Branches != 2},
		{"failRate", fmt.Sprint(sp.FailRate), "0", sp.FailRate > 0},
		{"ongoingRate", fmt.Sprint(sp.OngoingRate), "0", sp.OngoingRate > 0},
		{"errorRate", fmt.Sprint(sp.ErrorRate), "0", sp.ErrorRate > 0},
		{"duplicateRate", fmt.Sprint(sp.DuplicateRate), "0", sp.DuplicateRate > 0},
		{"delay", units.Typed(sp.Delay), "0s", sp.Delay > 0},
		{"timeout", units.Typed(sp.Timeout), "0s", sp.Timeout > 0},
	} {
		if p.odd {
			r.Fail("use --set "+p.name+"="+p.want+", or --preset dtm",
				"%s: %s does not run on dtm's benchmark server, whose sagas have two branches that call nobody", p.name, p.is)
		}
	}
	if sp.AckLog != "" {
		r.Fail("leave it out", "ackLog: dtm's benchmark server does not name its sagas, so there is nothing to write down")
	}
	common.NotLinearizable(r, "dtm's benchmark server does not name its sagas, so none can be read")
	count := saga.Count(r, in)
	r.Users("ab, which the run imitates, sends each request when it has the answer to the last", "leave it out")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	return &workload.Plan{
		Unit: "transactions", Knobs: []workload.Knob{workload.Threads(), workload.Rate("transactions")},
		Documents: []string{saga.Document}, Binder: s,
		Phases: []workload.Phase{{Name: "saga", Duration: in.Duration, NoCeiling: true, Tracks: []workload.Track{{
			Name: "saga", Ops: benchOps, OpUnits: []string{"", "connections", "requests", "requests"}, Counted: 1, Start: sp.Start, Iterations: count, Total: count,
		}}}},
		Writes:  []string{"what the server makes of each request: a saga in its own store, kept as that is set"},
		Cleanup: []string{"nothing, whatever the flags"},
	}, nil
}

// wallClock is a clock with the time of day.
type wallClock struct{}

// Now returns nanoseconds.
func (wallClock) Now() int64 { return time.Now().UnixNano() }
