package tx

import (
	"context"
	"fmt"
)

// Register runs register.lua.
func (r *redisSagas) Register(ctx context.Context, s *saga, step int) error {
	from := len(s.rows)
	for from > 0 && s.rows[from-1].step == step {
		from--
	}
	q := r.begin(s, registerScript)
	q.add(s.status)
	q.num(int64(from))
	for pos := from; pos < len(s.rows); pos++ {
		s.rowTo(q, pos)
	}
	return word(r.run.finish(ctx, &s.caller, registerScript))
}

// Recall asks for the record or the rows.
func (r *redisSagas) Recall(ctx context.Context, s *saga, rows bool) error {
	q, b := &s.caller.request, r.base[s.shard]
	s.caller.shard = s.shard
	q.reset()
	if rows {
		q.add("LRANGE")
		q.add(b, "b:", s.gid)
		q.add("0")
		q.add("-1")
	} else {
		q.add("GET")
		q.add(b, "g:", s.gid)
	}
	n, err := r.run.exchange(ctx, &s.caller)
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
func (r *redisSagas) Carry(ctx context.Context, s *saga, step int, op string) (reply, error) {
	t := s.steps[step]
	q := &s.caller.request
	s.caller.shard = r.shardOf(t.Account)
	b := r.base[s.caller.shard]
	branch := s.branch(step)
	var of script
	switch op {
	case opQuery:
		of = queryScript
		r.run.begin(q, of, 1)
		q.add(b, "l:", s.gid)
		q.text = append(appendBranch(q.text, branch), opMsg...)
		q.end()
	case opMsg, opAction:
		of = moveScript
		r.account(q, of, s, t)
		q.text = append(appendBranch(q.text, branch), op...)
		q.end()
		q.end() // what came later has no counterpart
	default:
		of = reserveScript
		r.account(q, of, s, t)
		q.text = append(appendBranch(q.text, branch), op...)
		q.end()
		q.add(op)
		q.text = append(appendBranch(q.text, branch), opTry...)
		q.end()
	}
	q.add(r.ledgerTTL)
	n, err := r.run.finish(ctx, &s.caller, of)
	return reply(n), err
}

// account begins the call of a script on the accounts and a ledger.
func (r *redisSagas) account(q *request, of script, s *saga, t transfer) {
	b := r.base[s.caller.shard]
	r.run.begin(q, of, 2)
	q.add(b, "a")
	q.add(b, "l:", s.gid)
	q.num(t.Account)
	q.num(t.Amount)
}
