package coordinator

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// call makes a participant carry out a row of a saga.
func (c *Coordinator) call(ctx context.Context, it *stopwatch, s *model.Saga, pos int) (model.Reply, error) {
	r := &s.Rows[pos]
	d := demand{op: model.OpCall, step: r.Step, name: r.Op, refuse: r.Op == model.BranchAction && s.Fate.FailAt == r.Step+1}
	if r.Op == model.BranchCompensate {
		d.op, d.undo = model.OpUndo, true
	}
	return c.ask(ctx, it, s, d, func() (model.Reply, error) { return c.Store.Move(ctx, s, pos) })
}

// demand is a request to a participant.
type demand struct {
	op   workload.Op
	step int
	// name is the name of the operation.
	name string
	// refuse means that the participant will refuse, undo that it must not, idle that
	// nothing was done to an account that could be undone, and xa that a database
	// prepares it.
	refuse, undo, idle, xa bool
}

// counted counts a call by its answer.
func (d demand) counted(n *model.Calls, got model.Reply) {
	if d.idle && got == model.ReplyDone {
		got = model.ReplyNothing
	}
	if d.xa {
		n.Prepare(d.name, got)
		return
	}
	n.Move(d.undo, got)
}

// ask makes a participant carry out what is requested, unless it is to answer late,
// badly or not at all.
func (c *Coordinator) ask(ctx context.Context, it *stopwatch, s *model.Saga, d demand, carry func() (model.Reply, error)) (model.Reply, error) {
	sp := c.Spec
	if s.Empty && c.Calm || s.Empty && !sp.Unruly && s.Fate.FailAt == 0 {
		return model.ReplyDone, nil // nobody is called
	}
	lost := false
	if !c.Calm && sp.Unruly {
		if err := store.Pause(ctx, sp.Delay); err != nil {
			return 0, err
		}
		if sp.OngoingRate > 0 && c.Rand.Float64() < sp.OngoingRate {
			return model.ReplyLater, nil
		}
		lost = sp.ErrorRate > 0 && c.Rand.Float64() < sp.ErrorRate
		if lost && c.Rand.IntN(2) == 0 {
			s.Straggler = d.step + 1
			return 0, model.ErrParticipant // the request never reached it
		}
	}
	if d.refuse {
		return model.ReplyRefused, nil
	}
	if s.Empty {
		if lost {
			return 0, model.ErrParticipant
		}
		return model.ReplyDone, nil
	}
	var got model.Reply
	err := c.Timed(it, d.op, func() error {
		var err error
		got, err = carry()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s of branch %d: %w", d.name, d.step+1, err)
	}
	c.Counts.note(got)
	d.counted(&c.Calls, got)
	if lost {
		return 0, model.ErrParticipant // it was done, but nobody knows
	}
	if !c.Calm && sp.DuplicateRate > 0 && c.Rand.Float64() < sp.DuplicateRate && got != model.ReplyRefused {
		again, err := carry()
		if err != nil {
			return 0, fmt.Errorf("%s of branch %d again: %w", d.name, d.step+1, err)
		}
		c.Counts.note(again)
		d.counted(&c.Calls, again)
	}
	return got, nil
}
