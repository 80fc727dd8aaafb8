package onsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// branches are the prepared branches of a transaction that keep a connection, by step.
type branches []*sqlstore.Branch

// at returns the branch of a step; nil if there is none.
func (b branches) at(step int) *sqlstore.Branch {
	if step < len(b) {
		return b[step]
	}
	return nil
}

func (b *branches) set(step int, to *sqlstore.Branch) {
	for len(*b) <= step {
		*b = append(*b, nil)
	}
	(*b)[step] = to
}

// xa carries out branches that are prepared in the database itself, for one client, which it
// belongs to. A branch that it has prepared keeps its connection until it is committed, rolled
// back or detached.
type xa struct {
	*Tables
	held branches
	lost *common.Lost // the client's
}

// detach leaves what is still prepared to whoever takes up the transaction.
func (s *xa) detach() {
	for _, b := range s.held {
		b.Detach()
	}
	s.held = s.held[:0]
}

// carry carries out an operation of an xa branch.
func (s *xa) carry(ctx context.Context, g *model.Saga, step int, op string) (model.Reply, error) {
	id := string(model.AppendBranch(nil, step))
	switch op {
	case model.BranchCommit:
		return s.commit(ctx, g, step, id)
	case model.BranchRollback:
		return s.rollback(ctx, g, step, id)
	}
	for try := 1; ; try++ {
		began := time.Now()
		got, err := s.prepare(ctx, g, step, id)
		if err == nil || s.Conn.Classify(err) != store.Conflict {
			return got, err
		}
		s.CountUndone(s.lost, time.Since(began))
		if sqlstore.LockTimeout(err) || try == sqlstore.Tries {
			s.waited.Add(1)
			return model.ReplyRefused, nil
		}
	}
}

// prepare is the first phase of a branch: the barrier's row and the account, in a
// transaction that is prepared.
func (s *xa) prepare(ctx context.Context, g *model.Saga, step int, id string) (model.Reply, error) {
	b, err := s.phases.Begin(ctx, g.Gid, id, s.spec.LockTimeout)
	if errors.Is(err, sqlstore.ErrBranchThere) {
		return model.ReplyDuplicate, nil
	}
	if err != nil {
		return 0, err
	}
	got, err := s.inBranch(ctx, b.Conn, g, g.Steps[step], id)
	if err != nil || got != model.ReplyDone {
		if undone := b.Undo(ctx); err == nil {
			err = undone
		}
		return got, err
	}
	if err := b.Prepare(ctx); err != nil {
		return 0, err
	}
	s.held.set(step, b)
	return model.ReplyDone, nil
}

// inBranch makes a branch's changes. While an earlier call is prepared, its barrier row
// keeps this call waiting; after that it is a duplicate.
func (s *xa) inBranch(ctx context.Context, conn *sql.Conn, g *model.Saga, t model.Transfer, id string) (model.Reply, error) {
	n, err := common.Affected(ctx, conn, s.Texts.carry, g.Gid, id, model.BranchAction, model.BranchAction, t.Account, t.Amount, time.Now().UnixMilli(), 0)
	if sqlstore.LockTimeout(err) {
		return model.ReplyDuplicate, nil
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		reason, err := s.reason(ctx, conn, g.Gid, id)
		if reason == model.BranchAction {
			return model.ReplyDuplicate, err
		}
		return model.ReplyTooLate, err
	}
	least := int64(math.MinInt64)
	if t.Amount < 0 {
		least = -t.Amount
	}
	n, err = common.Affected(ctx, conn, s.Texts.adjust, t.Amount, 0, t.Account, least)
	if err == nil && n == 0 {
		return model.ReplyRefused, nil
	}
	return model.ReplyDone, err
}

// reason returns what the barrier's row of a branch's action says; empty if no such row
// is committed.
func (s *xa) reason(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, gid, id string,
) (reason string, err error) {
	err = db.QueryRowContext(ctx, s.Texts.reason, gid, id, model.BranchAction).Scan(&reason)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return reason, err
}

// A connection that ends leaves its branch to others, but not at once: detachTries is
// how often such a branch is looked for again, detachRest the interval.
const (
	detachTries = 50
	detachRest  = 20 * time.Millisecond
)

// errHeld leaves a transaction to be tried again later.
var errHeld = fmt.Errorf("a branch is neither prepared for others to finish, nor committed: %w", model.ErrParticipant)

// commit commits a branch. If it does not exist but its row does, it was committed
// before.
func (s *xa) commit(ctx context.Context, g *model.Saga, step int, id string) (model.Reply, error) {
	for try := 1; ; try++ {
		err := s.phases.Commit(ctx, g.Gid, id, s.held.at(step))
		if !errors.Is(err, sqlstore.ErrNoBranch) {
			return model.ReplyDone, err
		}
		reason, err := s.reason(ctx, s.DB, g.Gid, id)
		switch {
		case err != nil:
			return 0, err
		case reason == model.BranchAction:
			return model.ReplyDuplicate, nil
		case reason != "":
			return 0, fmt.Errorf("branch %s is to be committed and was rolled back", id)
		case try == detachTries:
			return 0, errHeld
		}
		s.Extra.Add(1)
		if err := store.Pause(ctx, detachRest); err != nil {
			return 0, err
		}
	}
}

// rollback rolls back a branch, and leaves a row that keeps it from being prepared
// later.
func (s *xa) rollback(ctx context.Context, g *model.Saga, step int, id string) (model.Reply, error) {
	for try := 1; ; try++ {
		got := model.ReplyDone
		err := s.phases.Rollback(ctx, g.Gid, id, s.held.at(step))
		if errors.Is(err, sqlstore.ErrNoBranch) {
			got, err = model.ReplyNothing, nil
		}
		if err != nil {
			return 0, err
		}
		n, err := s.phases.Exec(ctx, s.spec.LockTimeout, s.Texts.void, g.Gid, id, model.BranchAction, model.BranchRollback, nil, nil, time.Now().UnixMilli())
		if err == nil && n == 0 {
			return s.rolledBack(ctx, g.Gid, id)
		}
		switch {
		case err == nil || s.Conn.Classify(err) != store.Conflict:
			return got, err
		case try == detachTries:
			return 0, errHeld
		}
		// Somebody has locked the row: the branch itself, on a connection that is
		// ending.
		s.CountUndone(s.lost, 0)
		if err := store.Pause(ctx, detachRest); err != nil {
			return 0, err
		}
	}
}

// rolledBack interprets that a branch's row existed when the branch was rolled back.
func (s *xa) rolledBack(ctx context.Context, gid, id string) (model.Reply, error) {
	reason, err := s.reason(ctx, s.DB, gid, id)
	if err == nil && reason == model.BranchAction {
		err = fmt.Errorf("branch %s is to be rolled back and was committed", id)
	}
	return model.ReplyDuplicate, err
}

// Ready checks whether the store can do what a run needs; each of its processes calls
// it.
func (s *Tables) Ready(ctx context.Context) error {
	if s.Dialect != sqltext.SQLite {
		var err error
		if s.phases, err = sqlstore.New(ctx, s.DB, s.Dialect, s.spec.Namespace); err != nil {
			return err
		}
	}
	if s.spec.Kind != model.KindXA {
		return nil
	}
	most := s.spec.Start.Threads * s.spec.Branches
	if s.Dialect == sqltext.MySQL {
		most += s.spec.Start.Threads // each branch has a connection, and each client one for the coordinator
	}
	return sqlstore.CanPrepare(ctx, s.DB, s.Dialect, most)
}
