package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Register runs register.lua.
func (r *redisClient) Register(ctx context.Context, s *saga, step int) error {
	from := len(s.rows)
	for from > 0 && s.rows[from-1].step == step {
		from--
	}
	q := r.begin(s, registerScript)
	q.Add(s.status)
	q.Num(int64(from))
	for pos := from; pos < len(s.rows); pos++ {
		s.rowTo(q, pos)
	}
	return word(r.run.Finish(ctx, &r.caller, registerScript))
}

// Recall asks for the record or the rows.
func (r *redisClient) Recall(ctx context.Context, s *saga, rows bool) error {
	q, b := &r.caller.Request, r.base[s.shard]
	q.Reset()
	if rows {
		q.Add("LRANGE")
		q.Add(b, "b:", s.gid)
		q.Add("0")
		q.Add("-1")
	} else {
		q.Add("GET")
		q.Add(b, "g:", s.gid)
	}
	n, err := r.run.Do(ctx, &r.caller)
	switch {
	case err != nil:
		return err
	case rows && n != int64(len(s.rows)):
		return fmt.Errorf("%d rows are stored instead of %d", n, len(s.rows))
	case !rows && n <= 0:
		return errNone
	}
	return nil
}

// Carry runs reserve.lua, move.lua or query.lua where the account is.
func (r *redisClient) Carry(ctx context.Context, s *saga, step int, op string) (reply, error) {
	t := s.steps[step]
	q := &r.caller.Request
	b := r.base[r.shardOf(t.Account)]
	branch := s.branch(step)
	var of link.Script
	switch op {
	case opQuery:
		of = queryScript
		r.run.Begin(q, of, 1)
		q.Add(b, "l:", s.gid)
		q.Text = append(appendBranch(q.Text, branch), opMsg...)
		q.End()
	case opMsg, opAction:
		of = moveScript
		r.account(q, of, s.gid, t)
		q.Text = append(appendBranch(q.Text, branch), op...)
		q.End()
		q.End() // what came later has no counterpart
	default:
		of = reserveScript
		r.account(q, of, s.gid, t)
		q.Text = append(appendBranch(q.Text, branch), op...)
		q.End()
		q.Add(op)
		q.Text = append(appendBranch(q.Text, branch), opTry...)
		q.End()
	}
	q.Add(r.ledgerTTL)
	n, err := r.run.Finish(ctx, &r.caller, of)
	return reply(n), err
}

// account begins the call of a script on the accounts and a ledger.
func (r *redisClient) account(q *link.Request, of link.Script, gid string, t transfer) {
	b := r.base[r.shardOf(t.Account)]
	r.run.Begin(q, of, 2)
	q.Add(b, "a")
	q.Add(b, "l:", gid)
	q.Num(t.Account)
	q.Num(t.Amount)
}
