package onredis

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Register runs register.lua.
func (r *client) Register(ctx context.Context, s *model.Saga, step int) error {
	from := len(s.Rows)
	for from > 0 && s.Rows[from-1].Step == step {
		from--
	}
	q := r.Begin(s, registerScript)
	q.Add(s.Status)
	q.Num(int64(from))
	for pos := from; pos < len(s.Rows); pos++ {
		rowTo(q, s, pos)
	}
	return Word(r.Run.Finish(ctx, &r.caller, registerScript))
}

// Recall reads the record or the rows.
func (r *client) Recall(ctx context.Context, s *model.Saga, rows bool) error {
	q, b := &r.caller.Request, r.Base[s.Shard]
	q.Reset()
	if rows {
		q.Add("LRANGE")
		q.Add(b, "b:", s.Gid)
		q.Add("0")
		q.Add("-1")
	} else {
		q.Add("GET")
		q.Add(b, "g:", s.Gid)
	}
	n, err := r.Run.Do(ctx, &r.caller)
	switch {
	case err != nil:
		return err
	case rows && n != int64(len(s.Rows)):
		return fmt.Errorf("%d rows are stored instead of %d", n, len(s.Rows))
	case !rows && n <= 0:
		return model.ErrNone
	}
	return nil
}

// Carry runs reserve.lua, move.lua or query.lua on the server of the account.
func (r *client) Carry(ctx context.Context, s *model.Saga, step int, op string) (model.Reply, error) {
	t := s.Steps[step]
	q := &r.caller.Request
	b := r.Base[r.shardOf(t.Account)]
	branch := s.Branch(step)
	var of link.Script
	switch op {
	case model.BranchQuery:
		of = queryScript
		r.Run.Begin(q, of, 1)
		q.Add(b, "l:", s.Gid)
		q.Text = append(model.AppendBranch(q.Text, branch), model.BranchMsg...)
		q.End()
	case model.BranchMsg, model.BranchAction:
		of = MoveScript
		r.account(q, of, s.Gid, t)
		q.Text = append(model.AppendBranch(q.Text, branch), op...)
		q.End()
		q.End() // what was added later has no counterpart
	default:
		of = reserveScript
		r.account(q, of, s.Gid, t)
		q.Text = append(model.AppendBranch(q.Text, branch), op...)
		q.End()
		q.Add(op)
		q.Text = append(model.AppendBranch(q.Text, branch), model.BranchTry...)
		q.End()
	}
	q.Add(r.LedgerTTL)
	n, err := r.Run.Finish(ctx, &r.caller, of)
	return model.Reply(n), err
}

// account begins the call of a script on the accounts and a ledger.
func (r *client) account(q *link.Request, of link.Script, gid string, t model.Transfer) {
	b := r.Base[r.shardOf(t.Account)]
	r.Run.Begin(q, of, 2)
	q.Add(b, "a")
	q.Add(b, "l:", gid)
	q.Num(t.Account)
	q.Num(t.Amount)
}
