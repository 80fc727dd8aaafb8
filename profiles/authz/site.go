package authz

import (
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// site is the tenants of a run, and which of the requests to them are this process's. It connects the
// plan to stores.
type site struct {
	s       *spec
	tenants [][]*tenant // of each phase
	threads int         // requests at once within each tenant, of all processes
	runID   string      // once the run has begun
	// stake is which of the requests within each tenant belong to this process; tells
	// means that it reports to another process what it does.
	stake workload.Stake
	tells bool
	// shared is what processes share of the plan; nil: it is not bound.
	shared *workload.Shared
}

// begin names what the run with that id will create.
func (x *site) begin(runID string) {
	x.runID = runID
	x.name(epochOf(runID))
}

// name names the tenants.
func (x *site) name(epoch string) {
	for k, ph := range x.tenants {
		for i, t := range ph {
			t.name = x.s.rounds.tenantName(epoch, k, i)
		}
	}
}

// epochOf returns the beginning of the names of a run's tenants: the time in the run's
// id, or the current time.
func epochOf(id string) string {
	at := time.Now()
	if len(id) >= 13 {
		if t, err := time.ParseInLocation("060102-150405", id[:13], time.Local); err == nil {
			at = t
		}
	}
	return "perf-test-" + strconv.FormatInt(at.UnixMilli(), 10)
}

// Passes says that any process can do what another has left.
func (x *site) Passes() error { return nil }

// Share gives process i of n some of the concurrent requests within each tenant, those
// that follow those of the processes before it, and the corresponding part of the
// batches of its load and of the items of each test.
func (x *site) Share(p *workload.Plan, i, n int) error {
	q := &site{s: x.s, threads: x.threads}
	for k, ts := range x.tenants {
		q.tenants = append(q.tenants, nil)
		for _, t := range ts {
			q.tenants[k] = append(q.tenants[k], &tenant{s: x.s, site: q, phase: t.phase, number: t.number})
		}
	}
	workload.Own(p)
	for k := range p.Phases {
		for j := range p.Phases[k].Tracks {
			t := &p.Phases[k].Tracks[j]
			all := t.Start.Threads
			from, to, err := workload.Divide(t, "track "+t.Name, all, i, n, n)
			if err != nil {
				return err
			}
			q.stake = workload.Stake{Process: i, Of: n, From: from, To: to, All: all}
		}
	}
	p.Binder = q
	return nil
}

// stretch returns the range of n things that this process has to do, with to excluded.
func (x *site) stretch(n int64) (from, to int64) {
	if x.stake.Of == 0 {
		return 0, n
	}
	all := int64(x.stake.All)
	return n * int64(x.stake.From) / all, n * int64(x.stake.To) / all
}
