package run

import (
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// groupRun is the work of one group and what has become of it. Tasks share it; all
// of it is safe for use by several goroutines.
type groupRun struct {
	*padogrid.Work[counts]
	g *model.Group
	// bulk are the positions of bulk operations in the shares' slices of keys, by the
	// operation's place in the group.
	bulk, warmBulk [][]padogrid.Cursor
	under          atomic.Int64 // invocations under way
	// done are those of each share that an earlier run has carried out, found how many
	// these are; nil when none was looked for.
	done  [][]uint64
	found atomic.Int64
}

// counts are what a caller counts beside invocations: the calls of each of the
// track's operations.
type counts struct{ ops []opTally }

// opTally is what became of one operation at one worker.
type opTally struct {
	calls, entries, misses, failed atomic.Int64
}

func newGroupRun(s *model.Spec, g *model.Group) *groupRun {
	r := &groupRun{g: g, bulk: make([][]padogrid.Cursor, len(g.Ops)), warmBulk: make([][]padogrid.Cursor, len(g.Ops))}
	for i, o := range g.Ops {
		if o.Action.Bulk() {
			r.bulk[i], r.warmBulk[i] = make([]padogrid.Cursor, len(g.Shares)), make([]padogrid.Cursor, len(g.Shares))
		}
	}
	job := padogrid.Job{Shares: g.Shares, Runs: s.Runs(g), Interval: s.Interval, From: g.From, To: g.To, Skip: r.skip}
	r.Work = padogrid.NewWork(job, func(c *counts) { c.ops = make([]opTally, len(g.Names)) })
	return r
}

// over says that every invocation has been given out and has ended.
func (r *groupRun) over() bool { return r.Over() && r.under.Load() == 0 }
