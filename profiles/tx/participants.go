package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// call has a participant carry out a row of a saga.
func (c *coordinator) call(ctx context.Context, it *stopwatch, s *saga, pos int) (reply, error) {
	r := &s.rows[pos]
	d := demand{op: opCall, step: r.step, name: r.op, refuse: r.op == opAction && s.fate.failAt == r.step+1}
	if r.op == opCompensate {
		d.op, d.undo = opUndo, true
	}
	return c.ask(ctx, it, s, d, func() (reply, error) { return c.store.Move(ctx, s, pos) })
}

// demand is what a participant is asked.
type demand struct {
	op   workload.Op
	step int
	// name is the operation's.
	name string
	// refuse says that the participant will, undo that it may not, idle that nothing
	// was done to an account that could be undone, xa that a database prepares it.
	refuse, undo, idle, xa bool
}

// counted counts a call by its answer.
func (d demand) counted(n *calls, got reply) {
	if d.idle && got == replyDone {
		got = replyNothing
	}
	if d.xa {
		n.prepare(d.name, got)
		return
	}
	n.move(d.undo, got)
}

// ask has a participant carry out what is demanded, unless it is to answer late,
// badly or not at all.
func (c *coordinator) ask(ctx context.Context, it *stopwatch, s *saga, d demand, carry func() (reply, error)) (reply, error) {
	sp := c.spec
	if s.empty && c.calm || s.empty && !sp.unruly && s.fate.failAt == 0 {
		return replyDone, nil // nobody is called
	}
	lost := false
	if !c.calm && sp.unruly {
		if err := store.Rest(ctx, sp.delay); err != nil {
			return 0, err
		}
		if sp.ongoingRate > 0 && c.rnd.Float64() < sp.ongoingRate {
			return replyLater, nil
		}
		lost = sp.errorRate > 0 && c.rnd.Float64() < sp.errorRate
		if lost && c.rnd.IntN(2) == 0 {
			s.straggler = d.step + 1
			return 0, errParticipant // it never heard of it
		}
	}
	if d.refuse {
		return replyRefused, nil
	}
	if s.empty {
		if lost {
			return 0, errParticipant
		}
		return replyDone, nil
	}
	var got reply
	err := c.timed(it, d.op, func() error {
		var err error
		got, err = carry()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s of branch %d: %w", d.name, d.step+1, err)
	}
	c.tally.note(got)
	d.counted(&c.n, got)
	if lost {
		return 0, errParticipant // it was done, and nobody knows
	}
	if !c.calm && sp.duplicateRate > 0 && c.rnd.Float64() < sp.duplicateRate && got != replyRefused {
		again, err := carry()
		if err != nil {
			return 0, fmt.Errorf("%s of branch %d again: %w", d.name, d.step+1, err)
		}
		c.tally.note(again)
		d.counted(&c.n, again)
	}
	return got, nil
}
