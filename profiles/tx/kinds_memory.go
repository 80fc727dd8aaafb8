package tx

import "context"

// effect is what an operation of a branch does to the balance of its account, and
// to what is frozen on it.
func effect(op string, amount int64) (balance, frozen int64) {
	switch {
	case op == opTry && amount < 0:
		return amount, -amount
	case op == opConfirm && amount < 0:
		return 0, amount
	case op == opCancel && amount < 0:
		return -amount, amount
	case op == opTry, op == opCancel:
		return 0, 0
	}
	return amount, 0
}

// Register stores the rows of a step.
func (m *memorySagas) Register(ctx context.Context, s *saga, step int) error {
	return m.guarded(ctx, s.gid, s.status, func(old *saga) {
		old.steps = append(old.steps[:step], s.steps[step])
		old.rows = append(old.rows, s.copyOf().rows[len(old.rows):]...)
	})
}

// Recall looks whether the transaction is there.
func (m *memorySagas) Recall(ctx context.Context, s *saga, _ bool) error {
	return m.locked(ctx, func() error {
		if m.sagas[s.gid] == nil {
			return errNone
		}
		return nil
	})
}

// Carry carries out an operation, with the barrier of reserve.lua.
func (m *memorySagas) Carry(ctx context.Context, s *saga, step int, op string) (got reply, err error) {
	t, branch := s.steps[step], s.branch(step)
	err = m.locked(ctx, func() error {
		l := m.ledger[s.gid]
		if l == nil {
			l = map[string]entry{}
			m.ledger[s.gid] = l
		}
		got = m.carry(l, t, branch, op)
		return nil
	})
	return got, err
}

func (m *memorySagas) carry(l map[string]entry, t transfer, branch int, op string) reply {
	own := field(branch, op)
	if op == opQuery {
		own = field(branch, opMsg)
		e, there := l[own]
		if !there {
			e = entry{null: true}
			l[own] = e
		}
		if e.null {
			return replyRefused
		}
		return replyDone
	}
	if e, twice := l[own]; twice {
		if e.null && op != opCancel {
			return replyTooLate
		}
		return replyDuplicate
	}
	if first := field(branch, opTry); op == opCancel {
		if _, did := l[first]; !did {
			l[first], l[own] = entry{null: true}, entry{null: true, seq: int64(len(l) + 2)}
			return replyNothing
		}
	}
	balance, frozen := effect(op, t.Amount)
	if have, there := m.accounts[t.Account]; op != opCancel && (!there || balance < 0 && have+balance < 0) {
		return replyRefused
	}
	m.accounts[t.Account] += balance
	if m.frozen[t.Account] += frozen; m.frozen[t.Account] == 0 {
		delete(m.frozen, t.Account)
	}
	l[own] = entry{transfer: transfer{t.Account, balance + frozen}, frozen: frozen, seq: int64(len(l) + 1)}
	return replyDone
}

func (nullSagas) Register(context.Context, *saga, int) error { return nil }
func (nullSagas) Recall(context.Context, *saga, bool) error  { return nil }
func (nullSagas) Carry(context.Context, *saga, int, string) (reply, error) {
	return replyDone, nil
}
