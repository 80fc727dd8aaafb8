package tx

import "fmt"

// of is the kind of a stored transaction.
func (s *stored) of() *kind {
	if s.kind == nil {
		return kindSaga
	}
	return s.kind
}

// broken says what makes a finished transaction neither done nor undone, or "".
func (r *sagaRun) broken(s *stored) string {
	k := s.of()
	if k == kindSaga {
		return whole(s, r.spec.accounts > 0)
	}
	if !final(s.status) {
		return ""
	}
	if why := k.rows(s); why != "" {
		return why
	}
	if r.spec.accounts == 0 {
		return ""
	}
	if why := k.deeds(s); why != "" {
		return why
	}
	var sum, frozen int64
	for _, e := range s.ledger {
		sum += e.Amount
		frozen += e.frozen
	}
	if sum != 0 || frozen != 0 {
		return fmt.Sprintf("has made or lost money: %d, and left %d frozen", sum, frozen)
	}
	return ""
}

// rows says which row of a finished transaction is not as its end wants it, or "".
func (k *kind) rows(s *stored) string {
	for pos, got := range s.rows {
		step, first := k.place(pos)
		op, want := k.forward, prepared
		if k != kindMsg && first {
			op = k.backward
		}
		if s.status == succeed && op == k.forward || s.status == failed && op == k.backward {
			want = succeed
		}
		if got != want {
			return fmt.Sprintf("is %s, and %s of branch %d is %s", s.status, op, step+1, got)
		}
	}
	return ""
}

// deeds says what the ledger of a finished transaction has that its end does not
// want, or lacks, or "".
func (k *kind) deeds(s *stored) string {
	did := func(branch int, op string) bool {
		e, there := s.ledger[field(branch, op)]
		return there && !e.null
	}
	done := s.status == succeed
	branches := len(s.rows)
	if k != kindMsg {
		branches /= 2
	} else if did(-1, opMsg) != done {
		return fmt.Sprintf("is %s, and the ledger says of its local transaction %t", s.status, !done)
	}
	if done && branches == 0 {
		return "is done, and has no branches"
	}
	for i := range branches {
		var good bool
		switch k {
		case kindTCC:
			try, confirm, cancel := did(i, opTry), did(i, opConfirm), did(i, opCancel)
			good = done && try && confirm && !cancel || !done && !confirm && try == cancel
		default:
			good = did(i, opAction) == done
		}
		if !good {
			return fmt.Sprintf("is %s, and the ledger of branch %d says otherwise: %v", s.status, i+1, s.ledger)
		}
	}
	return ""
}
