package model

// Calls counts what a coordinator requests of its store, by kind.
type Calls struct {
	Save, Branch, Change, Touch int64
	// Actions and Undos count calls of participants that were carried out or refused;
	// Twice and UndosTwice those that the barrier stopped; Nothing counts compensations
	// that had nothing to undo.
	Actions, Undos, Twice, UndosTwice, Nothing int64
	// Register counts branches that were registered; Bare saves of a record alone, or
	// of one that existed; Recall what was read again; Query questions about local
	// transactions.
	Register, Bare, Recall, Query int64
	// Look counts statements of xa branches other than those of their first phase.
	Look int64
}

// Move counts a participant's answer to a call that did or undid a branch.
func (n *Calls) Move(undo bool, got Reply) {
	switch {
	case got == ReplyNothing:
		n.Nothing++
	case got.stopped() && undo:
		n.UndosTwice++
	case got.stopped():
		n.Twice++
	case undo:
		n.Undos++
	default:
		n.Actions++
	}
}

// Prepare is Move for an xa branch. Instructions to prepare, commit or roll back are
// not statements on data, and neither are duplicates that the database detects by
// itself.
func (n *Calls) Prepare(op string, got Reply) {
	switch {
	case op == BranchAction && got == ReplyTooLate:
		n.Twice++
	case op == BranchAction && got != ReplyDuplicate:
		n.Actions++
	case op == BranchRollback && got == ReplyDuplicate:
		n.Look += 2
	case op == BranchRollback, op == BranchCommit && got == ReplyDuplicate:
		n.Look++
	}
}

// Price is how many calls a store counts for each kind: scripts on Redis, statements on
// SQL stores.
type Price Calls

// EveryOne is the price if each is one call; pure reads are free.
var EveryOne = Price{
	Save: 1, Branch: 1, Change: 1, Touch: 1, Actions: 1, Undos: 1, Twice: 1, UndosTwice: 1, Nothing: 1, Register: 1, Bare: 1, Query: 1,
}

// Of returns the total number of calls for n.
func (p Price) Of(n Calls) int64 {
	return p.Save*n.Save + p.Branch*n.Branch + p.Change*n.Change + p.Touch*n.Touch + p.Actions*n.Actions + p.Undos*n.Undos +
		p.Twice*n.Twice + p.UndosTwice*n.UndosTwice + p.Nothing*n.Nothing +
		p.Register*n.Register + p.Bare*n.Bare + p.Recall*n.Recall + p.Query*n.Query + p.Look*n.Look
}

// Lock returns the price of looking at the index, and of adding up the money; a store
// for which these are more expensive counts them itself.
func (p Price) Lock() int64 {
	if p == EveryOne {
		return 1
	}
	return 0
}

// Model returns the calls of a saga that was completed in one pass, by its outcome: one
// to save it, one for each row that changed, one for each new status, and one for each
// branch call that was carried out. n is what was really called; only what a model
// cannot know is taken from there.
func Model(s *Saga, n Calls) Calls {
	if k := s.Of(); k != KindSaga {
		return k.model(s, n)
	}
	m := Calls{Save: 1, Change: 1, Touch: n.Touch, Twice: n.Twice, UndosTwice: n.UndosTwice}
	var done, refused, undone int64
	for i := range s.Rows {
		switch r := &s.Rows[i]; {
		case r.Op == BranchCompensate && r.Status == Succeed:
			undone++
		case r.Op == BranchAction && r.Status == Succeed:
			done++
		case r.Op == BranchAction && r.Status == Failed:
			refused++
			if s.Fate.FailAt != r.Step+1 {
				m.Actions++ // by the account, not by the participant in front of it
			}
		}
	}
	m.Branch = done + refused + undone
	if s.Status == Failed {
		m.Change++ // submitted, aborting, failed
	}
	if s.Empty {
		m.Actions = 0
		return m
	}
	m.Actions += done
	m.Undos, m.Nothing = min(done, undone), undone-min(done, undone)
	return m
}
