// Package coordinator carries out distributed transactions, as the dtm server that it
// stands for does: it keeps their records and calls their participants.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// ErrUndecided is returned for a saga whose participant has not given a usable answer:
// it stays in the index and is taken up again later.
var ErrUndecided = errors.New("undecided: a branch has not answered, and the saga is tried again later")

// Coordinator carries out sagas. It belongs to one goroutine.
type Coordinator struct {
	Spec  *model.Spec
	Store model.Store
	// Rand decides what goes wrong. A Calm Coordinator does not need it.
	Rand *rand.Rand
	// Calm means that participants behave, as in a recovery.
	Calm bool
	// Counts counts what happened. It is never nil.
	Counts *Counts
	// Calls counts the calls of the current saga.
	Calls model.Calls
	// Over means that nobody will submit what is only prepared.
	Over bool
}

// Recovery returns a Coordinator that takes up what others have left. Nothing goes
// wrong on purpose, and what happens is not reported.
func Recovery(sp *model.Spec, st model.Store) *Coordinator {
	return &Coordinator{Spec: sp, Store: st, Calm: true, Counts: &Counts{}}
}

// stopwatch records the storage operations and branch calls of a saga; nil records
// nothing.
type stopwatch = workload.Iteration

// Timed runs f as an operation that is part of the saga. Attempts that the store rolled
// back are recorded too, each with its own duration.
func (c *Coordinator) Timed(it *stopwatch, op workload.Op, f func() error) error {
	if it == nil {
		return f()
	}
	start := it.Now()
	err := f()
	it.Record(op, 1, start, start, it.Now(), err)
	for _, d := range c.Store.Undone() {
		it.Record(model.OpLost, 1, start, start, start+int64(d), nil)
	}
	return err
}

// Submit stores a new saga and carries it out.
func (c *Coordinator) Submit(ctx context.Context, it *stopwatch, s *model.Saga) error {
	s.Interval = c.firstInterval()
	s.Next = s.Created.Add(s.Interval)
	if len(s.Rows) == 0 {
		c.Calls.Bare++
	} else {
		c.Calls.Save++
	}
	if err := c.Timed(it, model.OpSave, func() error { return c.Store.Save(ctx, s) }); err != nil {
		c.Counts.rejected(err)
		return fmt.Errorf("save: %w", err)
	}
	if s.Status == model.Prepared {
		return c.apply(ctx, it, s)
	}
	return c.process(ctx, it, s)
}

func (c *Coordinator) firstInterval() time.Duration {
	if t := c.Spec.Timeout; t > 0 && t < c.Spec.Retry {
		return t
	}
	return c.Spec.Retry
}

// process makes one pass over a saga. It ends either with a final status and nil, or
// with an error, in which case the saga is taken up again later.
func (c *Coordinator) process(ctx context.Context, it *stopwatch, s *model.Saga) error {
	if s.Of() != model.KindSaga {
		return c.second(ctx, it, s)
	}
	if s.Status == model.Submitted {
		reason, err := c.forward(ctx, it, s)
		if err != nil {
			return err
		}
		if reason == "" {
			return c.change(ctx, it, s, model.OpFinish, model.Succeed)
		}
		s.Reason = reason
		if err := c.change(ctx, it, s, model.OpAbort, model.Aborting); err != nil {
			return err
		}
		s.Late = s.Late || !time.Now().Before(s.Next)
	}
	if s.Status == model.Aborting {
		if err := c.back(ctx, it, s); err != nil {
			return err
		}
		return c.change(ctx, it, s, model.OpFinish, model.Failed)
	}
	return nil
}

func (c *Coordinator) timedOut(s *model.Saga) bool {
	return s.Timeout > 0 && time.Since(s.Created) >= s.Timeout
}

// forward runs the actions that are not done, one after the other. A reason means that
// the saga must be undone.
func (c *Coordinator) forward(ctx context.Context, it *stopwatch, s *model.Saga) (reason string, err error) {
	for step := range s.Steps {
		if c.timedOut(s) {
			return "Timeout after " + strconv.FormatFloat(s.Timeout.Seconds(), 'f', -1, 64) + " seconds", nil
		}
		pos := model.Action(step)
		switch s.Rows[pos].Status {
		case model.Succeed:
			continue
		case model.Failed:
			return "branch " + string(model.AppendBranch(nil, step)) + " has failed", nil
		}
		got, err := c.call(ctx, it, s, pos)
		if err != nil || got == model.ReplyLater {
			return "", c.later(ctx, s, err)
		}
		status := model.Succeed
		if got == model.ReplyRefused {
			status = model.Failed
		}
		if err := c.write(ctx, it, s, pos, status); err != nil {
			return "", err
		}
		if s.Rows[pos].Status == model.Failed {
			return refusals[step], nil
		}
	}
	return "", nil
}

// refusals are the reasons for undoing a transaction of which a branch refused, by
// step.
var refusals = func() (out [model.MaxBranches]string) {
	for step := range out {
		out[step] = "branch " + string(model.AppendBranch(nil, step)) + " was refused"
	}
	return out
}()

// back undoes, from the last to the first, every step that was done, that failed, or
// that may have been in progress. If others may have worked on the saga, too, that is every
// step: one of them may have gone beyond what failed here, and be in progress still.
func (c *Coordinator) back(ctx context.Context, it *stopwatch, s *model.Saga) error {
	last, shared := -1, c.Calm || s.Late
	for step := range s.Steps {
		last = step
		if !shared && s.Rows[model.Action(step)].Status != model.Succeed {
			break // failed, or of unknown outcome; later steps never began
		}
	}
	for step := last; step >= 0; step-- {
		pos := model.Compensation(step)
		if s.Rows[pos].Status == model.Succeed {
			continue
		}
		got, err := c.call(ctx, it, s, pos)
		if err == nil && got == model.ReplyRefused {
			err = model.ErrParticipant // undoing may be late, but cannot be refused
		}
		if err != nil || got == model.ReplyLater {
			return c.later(ctx, s, err)
		}
		if err := c.write(ctx, it, s, pos, model.Succeed); err != nil {
			return err
		}
	}
	return nil
}

// touchAfter is how long a saga may be in progress before the time at which to look at
// it again is postponed, so that nobody takes it up while somebody is working on it.
const touchAfter = 1500 * time.Millisecond

// write stores the result of a row, which is then the one that stands: somebody else may have
// stored another before. A branch that succeeds after others did not resets the back-off.
func (c *Coordinator) write(ctx context.Context, it *stopwatch, s *model.Saga, pos int, status string) error {
	r := &s.Rows[pos]
	now := time.Now()
	r.Decide(status, now)
	c.Calls.Branch++
	if err := c.Timed(it, model.OpBranch, func() error { return c.Store.Branch(ctx, s, pos) }); err != nil {
		c.Counts.rejected(err)
		return fmt.Errorf("branch %d: %w", r.Step+1, err)
	}
	if first := c.firstInterval(); s.Interval > first || now.Sub(s.Next) > touchAfter-s.Interval {
		s.Late = s.Late || !now.Before(s.Next)
		s.Interval, s.Next = first, now.Add(first)
		c.Calls.Touch++
		if err := c.Store.Touch(ctx, s); err != nil {
			c.Counts.rejected(err)
			return fmt.Errorf("touch: %w", err)
		}
	}
	return nil
}

// change stores a new status.
func (c *Coordinator) change(ctx context.Context, it *stopwatch, s *model.Saga, op workload.Op, to string) error {
	if err := c.Timed(it, op, func() error { return c.turn(ctx, s, to) }); err != nil {
		c.Counts.rejected(err)
		return fmt.Errorf("%s: %w", s.Of().Ops[op], err)
	}
	return nil
}

// turn stores a new status as part of an operation.
func (c *Coordinator) turn(ctx context.Context, s *model.Saga, to string) error {
	from, now := s.Status, time.Now()
	s.Status, s.Updated = to, now
	switch to {
	case model.Succeed:
		s.Ended = now
	case model.Failed:
		s.RolledBack = now
	}
	c.Calls.Change++
	return c.Store.Change(ctx, s, from)
}

// later leaves a saga to be taken up again: after the same interval if the branch is in
// progress, after twice the interval if it failed.
func (c *Coordinator) later(ctx context.Context, s *model.Saga, cause error) error {
	if cause != nil {
		s.Interval *= 2
		c.Counts.Retries.Add(1)
	} else {
		c.Counts.Ongoing.Add(1)
	}
	s.Next = time.Now().Add(s.Interval)
	s.Updated = time.Now()
	c.Calls.Touch++
	if err := c.Store.Touch(ctx, s); err != nil {
		c.Counts.rejected(err)
		return errors.Join(cause, fmt.Errorf("touch: %w", err))
	}
	if cause != nil && !errors.Is(cause, model.ErrParticipant) {
		return cause
	}
	return ErrUndecided
}

// Recover takes up the transaction of a shard that has been due longest; false if none
// was due.
func (c *Coordinator) Recover(ctx context.Context, shard int) (*model.Saga, bool, error) {
	now := time.Now()
	gid, err := c.Store.Lock(ctx, shard, now, now.Add(c.Spec.Retry))
	if errors.Is(err, model.ErrNone) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for unfinished transactions: %w", err)
	}
	s, err := c.Resume(ctx, shard, gid)
	return s, true, err
}

// Resume continues a stored saga.
func (c *Coordinator) Resume(ctx context.Context, shard int, gid string) (*model.Saga, error) {
	s, err := c.Store.Load(ctx, shard, gid)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", gid, err)
	}
	if model.Final(s.Status) {
		return s, nil
	}
	defer func() { _ = c.Store.Undone() }() // nobody timed it
	if err := c.process(ctx, nil, s); err != nil {
		return s, fmt.Errorf("recover %s: %w", gid, err)
	}
	return s, nil
}
