package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// ErrWaiting is returned for a transaction that is prepared and may still be submitted
// by its application.
var ErrWaiting = errors.New("prepared: its application may still submit it")

// errGone means that a prepared transaction did not exist when it was submitted.
var errGone = errors.New("what was prepared is gone")

// lostSubmit is an error that leaves a transaction undecided.
type lostSubmit struct{}

// ErrLost is returned for a transaction whose submit was lost on purpose. It is an
// ErrUndecided.
var ErrLost error = lostSubmit{}

// Error says what happened.
func (lostSubmit) Error() string {
	return "undecided: the submit was lost (lostSubmitRate), and the transaction is decided later"
}

// Is reports that the outcome is undecided.
func (lostSubmit) Is(target error) bool { return target == ErrUndecided }

// apply is the application's part of a transaction that is prepared: what is tried or
// done locally first, and then its submit or abort.
func (c *Coordinator) apply(ctx context.Context, it *stopwatch, s *model.Saga) error {
	s.Straggler = 0
	good, err := c.FirstPhase(ctx, it, s)
	if err != nil {
		return err
	}
	if good {
		return c.handIn(ctx, it, s)
	}
	late := s.Straggler
	if err := c.abort(ctx, it, s); err != nil {
		return err
	}
	return c.Late(ctx, s, late)
}

// FirstPhase is what an application does before it submits. It returns false if the
// application will not submit.
func (c *Coordinator) FirstPhase(ctx context.Context, it *stopwatch, s *model.Saga) (bool, error) {
	if s.Of() == model.KindMsg {
		return c.local(ctx, it, s)
	}
	return c.tries(ctx, it, s)
}

// Late makes the first call of a step, from 1, which had not reached its participant,
// arrive after all: it must be rejected.
func (c *Coordinator) Late(ctx context.Context, s *model.Saga, late int) error {
	if late == 0 || s.Empty {
		return nil
	}
	got, err := c.Store.Carry(ctx, s, late-1, s.Of().First)
	if err != nil {
		return fmt.Errorf("late %s of branch %d: %w", s.Of().First, late, err)
	}
	c.Counts.note(got)
	demand{name: s.Of().First, xa: s.Kind == model.KindXA}.counted(&c.Calls, got)
	return nil
}

// tries registers one branch after the other and makes its participant try. It returns
// false if one did not, or if nobody knows whether it did.
func (c *Coordinator) tries(ctx context.Context, it *stopwatch, s *model.Saga) (bool, error) {
	for step := range s.Steps {
		s.Register(step, time.Now())
		c.Calls.Register++
		if err := c.Timed(it, model.OpRegister, func() error { return c.Store.Register(ctx, s, step) }); err != nil {
			c.Counts.rejected(err)
			return false, fmt.Errorf("register branch %d: %w", step+1, err)
		}
		got, err := c.first(ctx, it, s, step)
		switch {
		case err != nil && !errors.Is(err, model.ErrParticipant):
			return false, err
		case err == nil && got == model.ReplyDone:
			continue
		case err != nil:
			c.Counts.Retries.Add(1)
			s.Reason = "a branch failed"
		case got == model.ReplyLater:
			c.Counts.Ongoing.Add(1)
			s.Reason = "a branch is not finished"
		default:
			s.Reason = refusals[step]
		}
		return false, nil
	}
	return true, nil
}

// first makes the first request of a step.
func (c *Coordinator) first(ctx context.Context, it *stopwatch, s *model.Saga, step int) (model.Reply, error) {
	d := demand{op: model.OpCall, step: step, name: s.Of().First, refuse: s.Fate.FailAt == step+1, xa: s.Kind == model.KindXA}
	if s.Kind == model.KindMsg {
		d.op = model.OpLocal
	}
	return c.ask(ctx, it, s, d, func() (model.Reply, error) { return c.Store.Carry(ctx, s, step, d.name) })
}

// local carries out a message's local transaction. If nobody knows whether that
// succeeded, the application asks, as the coordinator would.
func (c *Coordinator) local(ctx context.Context, it *stopwatch, s *model.Saga) (bool, error) {
	got, err := c.first(ctx, it, s, 0)
	switch {
	case err != nil && !errors.Is(err, model.ErrParticipant):
		return false, err
	case err == nil && got == model.ReplyDone:
		return true, nil
	case err == nil && got != model.ReplyLater:
		s.Reason = "the local transaction was refused"
		return false, nil
	}
	c.Counts.Retries.Add(1)
	done, err := c.query(ctx, it, s)
	if err != nil || !done {
		s.Reason = "the local transaction was not carried out"
		return false, err
	}
	s.Straggler = 0
	return true, nil
}

// query asks whether a message's local transaction was carried out.
func (c *Coordinator) query(ctx context.Context, it *stopwatch, s *model.Saga) (bool, error) {
	if s.Empty {
		return true, nil // nobody is asked
	}
	var got model.Reply
	c.Calls.Query++
	c.Counts.Queries.Add(1)
	err := c.Timed(it, model.OpAsk, func() error {
		var err error
		got, err = c.Store.Carry(ctx, s, 0, model.BranchQuery)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	return got == model.ReplyDone, nil
}

// handIn submits what is prepared, in the way of a coordinator that has never seen it:
// it tries to save it, reads what exists, changes the status, and reads the rows.
func (c *Coordinator) handIn(ctx context.Context, it *stopwatch, s *model.Saga) error {
	if !c.Calm && c.Spec.LostRate > 0 && c.Rand.Float64() < c.Spec.LostRate {
		c.Counts.LostSubmits.Add(1)
		return ErrLost
	}
	if err := c.Timed(it, model.OpSubmit, func() error { return c.submitted(ctx, s) }); err != nil {
		c.Counts.rejected(err)
		return fmt.Errorf("submit: %w", err)
	}
	return c.second(ctx, it, s)
}

func (c *Coordinator) submitted(ctx context.Context, s *model.Saga) error {
	c.Calls.Bare++
	rows := s.Rows
	s.Status = model.Submitted
	if s.Of() != model.KindMsg {
		s.Rows = nil // the coordinator has them
	}
	err := c.Store.Save(ctx, s)
	s.Status, s.Rows = model.Prepared, rows
	if err == nil {
		return errGone
	}
	if !errors.Is(err, model.ErrTaken) {
		return err
	}
	c.Calls.Recall++
	if err := c.Store.Recall(ctx, s, false); err != nil {
		return err
	}
	if err := c.turn(ctx, s, model.Submitted); err != nil {
		return err
	}
	c.Calls.Recall++
	return c.Store.Recall(ctx, s, true)
}

// abort ends what is prepared and will not be submitted, and undoes it.
func (c *Coordinator) abort(ctx context.Context, it *stopwatch, s *model.Saga) error {
	to := model.Aborting
	if s.Of() == model.KindMsg {
		to = model.Failed
	}
	err := c.Timed(it, model.OpAbort, func() error {
		c.Calls.Recall++
		if err := c.Store.Recall(ctx, s, false); err != nil {
			return err
		}
		if err := c.turn(ctx, s, to); err != nil || to == model.Failed {
			return err
		}
		c.Calls.Recall++
		return c.Store.Recall(ctx, s, true)
	})
	if err != nil {
		c.Counts.rejected(err)
		return fmt.Errorf("abort: %w", err)
	}
	return c.second(ctx, it, s)
}

// second is the coordinator's part: what was submitted is done, what was aborted is
// undone, and what has been prepared for too long is decided first.
func (c *Coordinator) second(ctx context.Context, it *stopwatch, s *model.Saga) error {
	if s.Status == model.Prepared {
		if err := c.decide(ctx, it, s); err != nil {
			return err
		}
	}
	if model.Final(s.Status) {
		return nil
	}
	k := s.Of()
	d, to := demand{op: k.Second, name: k.Forward, xa: k == model.KindXA}, model.Succeed
	if s.Status == model.Aborting {
		d, to = demand{op: model.OpUndo, name: k.Backward, undo: true, xa: k == model.KindXA}, model.Failed
	}
	for i := range s.Rows {
		pos := i
		if k.LastFirst {
			pos = len(s.Rows) - 1 - i
		}
		if s.Rows[pos].Op != d.name || s.Rows[pos].Status == model.Succeed {
			continue
		}
		d.step = s.Rows[pos].Step
		d.idle = d.name == model.BranchCancel && s.Steps[d.step].Amount >= 0
		got, err := c.ask(ctx, it, s, d, func() (model.Reply, error) { return c.Store.Carry(ctx, s, d.step, d.name) })
		if err == nil && got == model.ReplyRefused {
			err = model.ErrParticipant // it may be late, but cannot be refused
		}
		if err != nil || got == model.ReplyLater {
			return c.later(ctx, s, err)
		}
		if err := c.write(ctx, it, s, pos, model.Succeed); err != nil {
			return err
		}
	}
	return c.change(ctx, it, s, model.OpFinish, to)
}

// decide settles what nobody will submit any more: a message by asking whether its
// local transaction was carried out, anything else by aborting it.
func (c *Coordinator) decide(ctx context.Context, it *stopwatch, s *model.Saga) error {
	// Stores keep whole milliseconds.
	if !c.Over && time.Since(s.Created)+time.Millisecond < s.Timeout {
		return ErrWaiting
	}
	if s.Of() == model.KindMsg {
		done, err := c.query(ctx, it, s)
		if err != nil {
			return c.later(ctx, s, err)
		}
		if done {
			return c.change(ctx, it, s, model.OpSubmit, model.Submitted)
		}
		s.Reason = "the local transaction was not carried out"
		return c.change(ctx, it, s, model.OpAbort, model.Failed)
	}
	s.Reason = "was not submitted in time"
	if err := c.change(ctx, it, s, model.OpAbort, model.Aborting); err != nil {
		return err
	}
	// Branches may have been registered until now.
	now, err := c.Store.Load(ctx, s.Shard, s.Gid)
	if err != nil {
		return fmt.Errorf("load again: %w", err)
	}
	s.Steps, s.Rows, s.Empty = now.Steps, now.Rows, now.Empty
	return nil
}
