package saga

import (
	"fmt"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// broken says what makes a finished transaction neither done nor undone; "" if nothing
// does.
func (j *comparison) broken(s *model.Stored) string {
	k := s.Of()
	if k == model.KindSaga {
		return whole(s, j.spec.Accounts > 0)
	}
	if !model.Final(s.Status) {
		return ""
	}
	if why := rowsAmiss(k, s); why != "" {
		return why
	}
	if j.spec.Accounts == 0 {
		return ""
	}
	if why := deedsAmiss(k, s); why != "" {
		return why
	}
	var sum, frozen int64
	for _, e := range s.Ledger {
		sum += e.Amount
		frozen += e.Frozen
	}
	if sum != 0 || frozen != 0 {
		return fmt.Sprintf("has made or lost money: %d, and left %d frozen", sum, frozen)
	}
	return ""
}

// rowsAmiss says which row of a finished transaction does not match its outcome; "" if
// all do.
func rowsAmiss(k *model.Kind, s *model.Stored) string {
	for pos, got := range s.Rows {
		step, first := k.Place(pos)
		op, want := k.Forward, model.Prepared
		if k != model.KindMsg && first {
			op = k.Backward
		}
		if s.Status == model.Succeed && op == k.Forward || s.Status == model.Failed && op == k.Backward {
			want = model.Succeed
		}
		if got != want {
			return fmt.Sprintf("is %s, and %s of branch %d is %s", s.Status, op, step+1, got)
		}
	}
	return ""
}

// deedsAmiss says which entry in the ledger of a finished transaction is missing or
// excessive given its outcome; "" if none is.
func deedsAmiss(k *model.Kind, s *model.Stored) string {
	did := func(branch int, op string) bool {
		e, there := s.Ledger[model.Field(branch, op)]
		return there && !e.Null
	}
	done := s.Status == model.Succeed
	branches := len(s.Rows)
	if k != model.KindMsg {
		branches /= 2
	} else if did(-1, model.BranchMsg) != done {
		return fmt.Sprintf("is %s, and the ledger says of its local transaction %t", s.Status, !done)
	}
	if done && branches == 0 {
		return "is done, and has no branches"
	}
	for i := range branches {
		var good bool
		switch k {
		case model.KindTCC:
			try, confirm, cancel := did(i, model.BranchTry), did(i, model.BranchConfirm), did(i, model.BranchCancel)
			good = done && try && confirm && !cancel || !done && !confirm && try == cancel
		default:
			good = did(i, model.BranchAction) == done
		}
		if !good {
			return fmt.Sprintf("is %s, and the ledger of branch %d says otherwise: %v", s.Status, i+1, s.Ledger)
		}
	}
	return ""
}
