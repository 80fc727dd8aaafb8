package tx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// Operations of the saga track, by their place in sagaOps.
const (
	opSaga workload.Op = iota
	opSave
	opCall
	opBranch
	opAbort
	opUndo
	opFinish
	opRecover
	opCheck
	opSweep
	opLost
)

var sagaOps = []string{"saga", "save", "action", "branch", "abort", "compensate", "finish", "recover", "check", "sweep", "conflict"}

// sagaUnits are what they count, those of other kinds of transactions too,
// whose further operations are calls.
var sagaUnits = []string{"", "calls", "calls", "calls", "calls", "calls", "calls", "transactions", "checks", "sweeps", "conflicts", "calls", "calls", "calls"}

// errUndecided is what becomes of a saga whose participant has not answered well:
// it stays in the index and is taken up again later.
var errUndecided = errors.New("undecided: a branch has not answered, and the saga is tried again later")

// errParticipant is an injected failure of a participant.
var errParticipant = errors.New("the participant failed or its reply was lost (errorRate)")

// fate is what the participants will do with one saga.
type fate struct {
	// failAt is the step whose action is refused, from 1; 0: none.
	failAt int
}

// coordinator carries sagas through. It belongs to one goroutine.
type coordinator struct {
	spec  *sagaSpec
	store sagaStore
	rnd   *rand.Rand
	// calm says that participants do as they are told: in a recovery.
	calm  bool
	tally *sagaTally
	// n counts the calls of the saga in hand.
	n calls
	// over says that nobody will submit what is only prepared.
	over bool
}

// stopwatch records the storage operations and branch calls of a saga; nil
// records nothing.
type stopwatch = workload.Iteration

// timed runs f as an operation, which is a part of the saga. Attempts that the
// store undid are recorded too, each as long as it took.
func (c *coordinator) timed(it *stopwatch, op workload.Op, f func() error) error {
	if it == nil {
		return f()
	}
	start := it.Now()
	err := f()
	it.Record(op, 1, start, start, it.Now(), err)
	for _, d := range c.store.undone() {
		it.Record(opLost, 1, start, start, start+int64(d), nil)
	}
	return err
}

// submit stores a new saga and carries it through.
func (c *coordinator) submit(ctx context.Context, it *stopwatch, s *saga) error {
	s.interval = c.firstInterval()
	s.next = s.created.Add(s.interval)
	if len(s.rows) == 0 {
		c.n.bare++
	} else {
		c.n.save++
	}
	if err := c.timed(it, opSave, func() error { return c.store.Save(ctx, s) }); err != nil {
		c.tally.rejected(err)
		return fmt.Errorf("save: %w", err)
	}
	if s.status == prepared {
		return c.apply(ctx, it, s)
	}
	return c.process(ctx, it, s)
}

func (c *coordinator) firstInterval() time.Duration {
	if t := c.spec.timeout; t > 0 && t < c.spec.retry {
		return t
	}
	return c.spec.retry
}

// process is one pass over a saga: it ends with a final status and nil, or with
// an error, and then the saga is taken up again later.
func (c *coordinator) process(ctx context.Context, it *stopwatch, s *saga) error {
	if s.of() != kindSaga {
		return c.second(ctx, it, s)
	}
	if s.status == submitted {
		reason, err := c.forward(ctx, it, s)
		if err != nil {
			return err
		}
		if reason == "" {
			return c.change(ctx, it, s, opFinish, succeed)
		}
		s.reason = reason
		if err := c.change(ctx, it, s, opAbort, aborting); err != nil {
			return err
		}
		if c.calm {
			// Whoever had it before may have gone on until now.
			now, err := c.store.Load(ctx, s.shard, s.gid)
			if err != nil {
				return fmt.Errorf("load again: %w", err)
			}
			s.rows = now.rows
		}
	}
	if s.status == aborting {
		if err := c.back(ctx, it, s); err != nil {
			return err
		}
		return c.change(ctx, it, s, opFinish, failed)
	}
	return nil
}

func (c *coordinator) timedOut(s *saga) bool {
	return s.timeout > 0 && time.Since(s.created) >= s.timeout
}

// forward runs the actions that are not done, one after the other. A reason says
// that the saga must be undone.
func (c *coordinator) forward(ctx context.Context, it *stopwatch, s *saga) (reason string, err error) {
	for step := range s.steps {
		if c.timedOut(s) {
			return "Timeout after " + strconv.FormatFloat(s.timeout.Seconds(), 'f', -1, 64) + " seconds", nil
		}
		pos := action(step)
		switch s.rows[pos].status {
		case succeed:
			continue
		case failed:
			return "branch " + string(appendBranch(nil, step)) + " has failed", nil
		}
		got, err := c.call(ctx, it, s, pos)
		if err != nil || got == replyLater {
			return "", c.later(ctx, s, err)
		}
		status := succeed
		if got == replyRefused {
			status = failed
		}
		if err := c.write(ctx, it, s, pos, status); err != nil {
			return "", err
		}
		if status == failed {
			return refusals[step], nil
		}
	}
	return "", nil
}

// refusals are what is said of a transaction of which a branch refused, by step.
var refusals = func() (out [maxBranches]string) {
	for step := range out {
		out[step] = "branch " + string(appendBranch(nil, step)) + " was refused"
	}
	return out
}()

// back undoes, from the last to the first, every step that was done, that failed,
// or that may have been under way.
func (c *coordinator) back(ctx context.Context, it *stopwatch, s *saga) error {
	last := -1
	for step := range s.steps {
		last = step
		if s.rows[action(step)].status != succeed {
			break // failed, or its outcome is unknown; what follows never began
		}
	}
	for step := last; step >= 0; step-- {
		pos := compensation(step)
		if s.rows[pos].status == succeed {
			continue
		}
		got, err := c.call(ctx, it, s, pos)
		if err == nil && got == replyRefused {
			err = errParticipant // an undoing may be late, but it cannot be refused
		}
		if err != nil || got == replyLater {
			return c.later(ctx, s, err)
		}
		if err := c.write(ctx, it, s, pos, succeed); err != nil {
			return err
		}
	}
	return nil
}

// touchAfter is how long a saga may be under way before the time to look at it
// next is moved on, so that nobody takes up what somebody is at work on.
const touchAfter = 1500 * time.Millisecond

// write stores what became of a row. A branch that went well after others did not
// sets the back-off to its beginning.
func (c *coordinator) write(ctx context.Context, it *stopwatch, s *saga, pos int, status string) error {
	r := &s.rows[pos]
	now := time.Now()
	r.status, r.updated = status, now
	if status == succeed {
		r.ended = now
	} else {
		r.rolledBack = now
	}
	c.n.branch++
	if err := c.timed(it, opBranch, func() error { return c.store.Branch(ctx, s, pos) }); err != nil {
		c.tally.rejected(err)
		return fmt.Errorf("branch %d: %w", r.step+1, err)
	}
	if first := c.firstInterval(); s.interval > first || now.Sub(s.next) > touchAfter-s.interval {
		s.interval, s.next = first, now.Add(first)
		c.n.touch++
		if err := c.store.Touch(ctx, s); err != nil {
			c.tally.rejected(err)
			return fmt.Errorf("touch: %w", err)
		}
	}
	return nil
}

// change stores a new status.
func (c *coordinator) change(ctx context.Context, it *stopwatch, s *saga, op workload.Op, to string) error {
	if err := c.timed(it, op, func() error { return c.turn(ctx, s, to) }); err != nil {
		c.tally.rejected(err)
		return fmt.Errorf("%s: %w", s.of().ops[op], err)
	}
	return nil
}

// turn stores a new status as a part of an operation.
func (c *coordinator) turn(ctx context.Context, s *saga, to string) error {
	from, now := s.status, time.Now()
	s.status, s.updated = to, now
	switch to {
	case succeed:
		s.ended = now
	case failed:
		s.rolledBack = now
	}
	c.n.change++
	return c.store.Change(ctx, s, from)
}

// later leaves a saga to be taken up again: after the same time when the branch
// is under way, after twice the time when it failed.
func (c *coordinator) later(ctx context.Context, s *saga, cause error) error {
	if cause != nil {
		s.interval *= 2
		c.tally.retries.Add(1)
	} else {
		c.tally.ongoing.Add(1)
	}
	s.next = time.Now().Add(s.interval)
	s.updated = time.Now()
	c.n.touch++
	if err := c.store.Touch(ctx, s); err != nil {
		c.tally.rejected(err)
		return errors.Join(cause, fmt.Errorf("touch: %w", err))
	}
	if cause != nil && !errors.Is(cause, errParticipant) {
		return cause
	}
	return errUndecided
}

// recoverOne takes up the transaction of a shard that is due longest. false: none
// was due.
func (c *coordinator) recoverOne(ctx context.Context, shard int) (*saga, bool, error) {
	now := time.Now()
	gid, err := c.store.Lock(ctx, shard, now, now.Add(c.spec.retry))
	if errors.Is(err, errNone) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for unfinished transactions: %w", err)
	}
	s, err := c.resume(ctx, shard, gid)
	return s, true, err
}

// resume carries a stored saga on.
func (c *coordinator) resume(ctx context.Context, shard int, gid string) (*saga, error) {
	s, err := c.store.Load(ctx, shard, gid)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", gid, err)
	}
	if final(s.status) {
		return s, nil
	}
	defer func() { _ = c.store.undone() }() // nobody timed it
	if err := c.process(ctx, nil, s); err != nil {
		return s, fmt.Errorf("recover %s: %w", gid, err)
	}
	return s, nil
}
