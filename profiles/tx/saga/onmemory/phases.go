package onmemory

import (
	"context"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Register stores the rows of a step.
func (m *Memory) Register(ctx context.Context, s *model.Saga, step int) error {
	return m.guarded(ctx, s.Gid, s.Status, func(old *model.Saga) {
		old.Steps = append(old.Steps[:step], s.Steps[step])
		old.Rows = append(old.Rows, copyOf(s).Rows[len(old.Rows):]...)
	})
}

// Recall checks whether the transaction exists.
func (m *Memory) Recall(ctx context.Context, s *model.Saga, _ bool) error {
	return m.locked(ctx, func() error {
		if m.sagas[s.Gid] == nil {
			return model.ErrNone
		}
		return nil
	})
}

// Carry carries out an operation, with the barrier of reserve.lua.
func (m *Memory) Carry(ctx context.Context, s *model.Saga, step int, op string) (got model.Reply, err error) {
	t, branch := s.Steps[step], s.Branch(step)
	err = m.locked(ctx, func() error {
		l := m.ledger[s.Gid]
		if l == nil {
			l = map[string]model.Entry{}
			m.ledger[s.Gid] = l
		}
		got = m.carry(l, t, branch, op)
		return nil
	})
	return got, err
}

func (m *Memory) carry(l map[string]model.Entry, t model.Transfer, branch int, op string) model.Reply {
	own := model.Field(branch, op)
	if op == model.BranchQuery {
		own = model.Field(branch, model.BranchMsg)
		e, there := l[own]
		if !there {
			e = model.Entry{Null: true}
			l[own] = e
		}
		if e.Null {
			return model.ReplyRefused
		}
		return model.ReplyDone
	}
	if e, twice := l[own]; twice {
		if e.Null && op != model.BranchCancel {
			return model.ReplyTooLate
		}
		return model.ReplyDuplicate
	}
	if first := model.Field(branch, model.BranchTry); op == model.BranchCancel {
		if _, did := l[first]; !did {
			l[first], l[own] = model.Entry{Null: true}, model.Entry{Null: true, Seq: int64(len(l) + 2)}
			return model.ReplyNothing
		}
	}
	balance, frozen := model.Effect(op, t.Amount)
	if have, there := m.accounts[t.Account]; op != model.BranchCancel && (!there || balance < 0 && have+balance < 0) {
		return model.ReplyRefused
	}
	m.accounts[t.Account] += balance
	if m.frozen[t.Account] += frozen; m.frozen[t.Account] == 0 {
		delete(m.frozen, t.Account)
	}
	l[own] = model.Entry{Transfer: model.Transfer{Account: t.Account, Amount: balance + frozen}, Frozen: frozen, Seq: int64(len(l) + 1)}
	return model.ReplyDone
}

func (Null) Register(context.Context, *model.Saga, int) error { return nil }
func (Null) Recall(context.Context, *model.Saga, bool) error  { return nil }
func (Null) Carry(context.Context, *model.Saga, int, string) (model.Reply, error) {
	return model.ReplyDone, nil
}
