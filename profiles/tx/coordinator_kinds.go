package tx

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errWaiting is what becomes of a transaction that is prepared and whose
// application may still submit it.
var errWaiting = errors.New("prepared: its application may still submit it")

// errGone says that a prepared transaction was not there when it was submitted.
var errGone = errors.New("what was prepared is not there any more")

// lostSubmit is an error that leaves a transaction undecided.
type lostSubmit struct{}

var errLost error = lostSubmit{}

// Error says what happened.
func (lostSubmit) Error() string {
	return "undecided: the submit was lost (lostSubmitRate), and the transaction is decided later"
}

// Is says that nothing is decided.
func (lostSubmit) Is(target error) bool { return target == errUndecided }

// apply is the application's part of a transaction that is prepared: what is tried
// or done locally first, and then its submit, or its abort.
func (c *coordinator) apply(ctx context.Context, it *stopwatch, s *saga) error {
	s.straggler = 0
	good, err := c.firstPhase(ctx, it, s)
	if err != nil {
		return err
	}
	if good {
		return c.handIn(ctx, it, s)
	}
	late := s.straggler
	if err := c.abort(ctx, it, s); err != nil {
		return err
	}
	return c.late(ctx, s, late)
}

// firstPhase is what an application does before it submits. false: it does not then.
func (c *coordinator) firstPhase(ctx context.Context, it *stopwatch, s *saga) (bool, error) {
	if s.of() == kindMsg {
		return c.local(ctx, it, s)
	}
	return c.tries(ctx, it, s)
}

// late has the first call of a step, from 1, which nobody had heard of arrive after
// all: it must find the door shut.
func (c *coordinator) late(ctx context.Context, s *saga, late int) error {
	if late == 0 || s.empty {
		return nil
	}
	got, err := c.store.Carry(ctx, s, late-1, s.of().first)
	if err != nil {
		return fmt.Errorf("late %s of branch %d: %w", s.of().first, late, err)
	}
	c.tally.note(got)
	demand{name: s.of().first, xa: s.kind == kindXA}.counted(&c.n, got)
	return nil
}

// tries registers one branch after the other and has its participant try. false:
// one did not, or nobody knows whether it did.
func (c *coordinator) tries(ctx context.Context, it *stopwatch, s *saga) (bool, error) {
	for step := range s.steps {
		s.register(step, time.Now())
		c.n.register++
		if err := c.timed(it, opRegister, func() error { return c.store.Register(ctx, s, step) }); err != nil {
			c.tally.rejected(err)
			return false, fmt.Errorf("register branch %d: %w", step+1, err)
		}
		got, err := c.first(ctx, it, s, step)
		switch {
		case err != nil && !errors.Is(err, errParticipant):
			return false, err
		case err == nil && got == replyDone:
			continue
		case err != nil:
			c.tally.retries.Add(1)
			s.reason = "a branch failed"
		case got == replyLater:
			c.tally.ongoing.Add(1)
			s.reason = "a branch is not finished"
		default:
			s.reason = refusals[step]
		}
		return false, nil
	}
	return true, nil
}

// first asks for what a step begins with.
func (c *coordinator) first(ctx context.Context, it *stopwatch, s *saga, step int) (reply, error) {
	d := demand{op: opCall, step: step, name: s.of().first, refuse: s.fate.failAt == step+1, xa: s.kind == kindXA}
	if s.kind == kindMsg {
		d.op = opLocal
	}
	return c.ask(ctx, it, s, d, func() (reply, error) { return c.store.Carry(ctx, s, step, d.name) })
}

// local carries out a message's local transaction. Where nobody knows whether it
// was, its application asks, as the coordinator would.
func (c *coordinator) local(ctx context.Context, it *stopwatch, s *saga) (bool, error) {
	got, err := c.first(ctx, it, s, 0)
	switch {
	case err != nil && !errors.Is(err, errParticipant):
		return false, err
	case err == nil && got == replyDone:
		return true, nil
	case err == nil && got != replyLater:
		s.reason = "the local transaction was refused"
		return false, nil
	}
	c.tally.retries.Add(1)
	done, err := c.query(ctx, it, s)
	if err != nil || !done {
		s.reason = "the local transaction was not carried out"
		return false, err
	}
	s.straggler = 0
	return true, nil
}

// query asks whether a message's local transaction was carried out.
func (c *coordinator) query(ctx context.Context, it *stopwatch, s *saga) (bool, error) {
	if s.empty {
		return true, nil // nobody is asked
	}
	var got reply
	c.n.query++
	c.tally.queries.Add(1)
	err := c.timed(it, opAsk, func() error {
		var err error
		got, err = c.store.Carry(ctx, s, 0, opQuery)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	return got == replyDone, nil
}

// handIn submits what is prepared, as a coordinator takes it that has never seen it:
// it tries to save it, reads what is there, changes the status, and reads the rows.
func (c *coordinator) handIn(ctx context.Context, it *stopwatch, s *saga) error {
	if !c.calm && c.spec.lostRate > 0 && c.rnd.Float64() < c.spec.lostRate {
		c.tally.lostSubmits.Add(1)
		return errLost
	}
	if err := c.timed(it, opSubmit, func() error { return c.submitted(ctx, s) }); err != nil {
		c.tally.rejected(err)
		return fmt.Errorf("submit: %w", err)
	}
	return c.second(ctx, it, s)
}

func (c *coordinator) submitted(ctx context.Context, s *saga) error {
	c.n.bare++
	rows := s.rows
	s.status = submitted
	if s.of() != kindMsg {
		s.rows = nil // they are with the coordinator
	}
	err := c.store.Save(ctx, s)
	s.status, s.rows = prepared, rows
	if err == nil {
		return errGone
	}
	if !errors.Is(err, errTaken) {
		return err
	}
	c.n.recall++
	if err := c.store.Recall(ctx, s, false); err != nil {
		return err
	}
	if err := c.turn(ctx, s, submitted); err != nil {
		return err
	}
	c.n.recall++
	return c.store.Recall(ctx, s, true)
}

// abort ends what is prepared and will not be submitted, and undoes it.
func (c *coordinator) abort(ctx context.Context, it *stopwatch, s *saga) error {
	to := aborting
	if s.of() == kindMsg {
		to = failed
	}
	err := c.timed(it, opAbort, func() error {
		c.n.recall++
		if err := c.store.Recall(ctx, s, false); err != nil {
			return err
		}
		if err := c.turn(ctx, s, to); err != nil || to == failed {
			return err
		}
		c.n.recall++
		return c.store.Recall(ctx, s, true)
	})
	if err != nil {
		c.tally.rejected(err)
		return fmt.Errorf("abort: %w", err)
	}
	return c.second(ctx, it, s)
}

// second is the coordinator's part: what was submitted is done, what was aborted is
// undone, and what is prepared for too long is decided first.
func (c *coordinator) second(ctx context.Context, it *stopwatch, s *saga) error {
	if s.status == prepared {
		if err := c.decide(ctx, it, s); err != nil {
			return err
		}
	}
	if final(s.status) {
		return nil
	}
	k := s.of()
	d, to := demand{op: k.second, name: k.forward, xa: k == kindXA}, succeed
	if s.status == aborting {
		d, to = demand{op: opUndo, name: k.backward, undo: true, xa: k == kindXA}, failed
	}
	for i := range s.rows {
		pos := i
		if k.lastFirst {
			pos = len(s.rows) - 1 - i
		}
		if s.rows[pos].op != d.name || s.rows[pos].status == succeed {
			continue
		}
		d.step = s.rows[pos].step
		d.idle = d.name == opCancel && s.steps[d.step].Amount >= 0
		got, err := c.ask(ctx, it, s, d, func() (reply, error) { return c.store.Carry(ctx, s, d.step, d.name) })
		if err == nil && got == replyRefused {
			err = errParticipant // it may be late, but it cannot be refused
		}
		if err != nil || got == replyLater {
			return c.later(ctx, s, err)
		}
		if err := c.write(ctx, it, s, pos, succeed); err != nil {
			return err
		}
	}
	return c.change(ctx, it, s, opFinish, to)
}

// decide settles what nobody will submit any more: a message by asking whether its
// local transaction was carried out, anything else by aborting it.
func (c *coordinator) decide(ctx context.Context, it *stopwatch, s *saga) error {
	// Stores keep whole milliseconds.
	if !c.over && time.Since(s.created)+time.Millisecond < s.timeout {
		return errWaiting
	}
	if s.of() == kindMsg {
		done, err := c.query(ctx, it, s)
		if err != nil {
			return c.later(ctx, s, err)
		}
		if done {
			return c.change(ctx, it, s, opSubmit, submitted)
		}
		s.reason = "the local transaction was not carried out"
		return c.change(ctx, it, s, opAbort, failed)
	}
	s.reason = "was not submitted in time"
	if err := c.change(ctx, it, s, opAbort, aborting); err != nil {
		return err
	}
	// Branches may have been registered until now.
	now, err := c.store.Load(ctx, s.shard, s.gid)
	if err != nil {
		return fmt.Errorf("load again: %w", err)
	}
	s.steps, s.rows, s.empty = now.steps, now.rows, now.empty
	return nil
}
