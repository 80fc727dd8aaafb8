package run

import (
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// groupRun is the work of one group and its record. Tasks share it; all of it is safe
// for use by several goroutines.
type groupRun struct {
	*padogrid.Work[counts]
	g *model.Group
	// bulk and warmBulk are the positions of bulk operations in the shares' slices of
	// keys, by the operation's index in the group.
	bulk, warmBulk [][]padogrid.Cursor
	under          atomic.Int64 // invocations in progress
	// done marks the invocations of each share that an earlier run has carried out,
	// found is how many there are; nil if none were looked for.
	done  [][]uint64
	found atomic.Int64
}

// counts is what a caller counts in addition to invocations: the calls of each of the
// track's operations.
type counts struct{ ops []opTally }

// opTally is what one worker did of one operation.
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
	r.Work = padogrid.NewWork(job, func(c *counts) { c.ops = make([]opTally, len(g.Names)) }, (*counts).list)
	return r
}

// over reports whether every invocation has been given out and has ended.
func (r *groupRun) over() bool { return r.Over() && r.under.Load() == 0 }

// Inherit goes on with the invocations that another process has left: bulk operations go on in
// the shares' slices of keys where it left off.
func (r *groupRun) Inherit(rest padogrid.Remainder, again int) bool {
	if !r.Work.Inherit(rest, again) {
		return false
	}
	for i, o := range r.g.Ops {
		if r.bulk[i] == nil {
			continue
		}
		for share := r.g.From; share < r.g.To; share++ {
			if _, n := o.Slice(r.g, share); r.g.Shares[share] > 0 {
				r.bulk[i][share].Store(rest.Upto(share) % r.g.Shares[share] * min(int64(o.Batch), n))
			}
		}
	}
	return true
}
