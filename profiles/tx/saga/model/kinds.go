package model

import (
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Names of the kinds of global transaction, as dtm has them.
const (
	TransSaga = "saga"
	TransTCC  = "tcc"
	TransXA   = "xa"
	TransMsg  = "msg"
)

// TransTypes are the names of all kinds.
var TransTypes = []string{TransSaga, TransTCC, TransXA, TransMsg}

// Operations of branches other than those of sagas: of tcc; of xa, whose first is
// BranchAction; and of messages, whose stored rows have BranchAction too.
const (
	BranchTry     = "try"
	BranchConfirm = "confirm"
	BranchCancel  = "cancel"

	BranchCommit   = "commit"
	BranchRollback = "rollback"

	BranchMsg   = "msg"   // the local transaction
	BranchQuery = "query" // asks whether that was carried out
)

// Operations of the saga track, by their index in SagaOps.
const (
	OpSaga workload.Op = iota
	OpSave
	OpCall
	OpBranch
	OpAbort
	OpUndo
	OpFinish
	OpRecover
	OpCheck
	OpSweep
	OpLost
)

// SagaOps are the names of the operations of the saga track in reports.
var SagaOps = []string{"saga", "save", "action", "branch", "abort", "compensate", "finish", "recover", "check", "sweep", "conflict"}

// SagaUnits are the units of these operations, also for other kinds of transactions,
// whose additional operations are calls.
var SagaUnits = []string{"", "calls", "calls", "calls", "calls", "calls", "calls", "transactions", "checks", "sweeps", "conflicts", "calls", "calls", "calls"}

// Operations of the saga track for the other kinds, by their index in the lists of the
// kinds. A message has its local transaction where the others register branches, and
// its query where they undo.
const (
	OpRegister workload.Op = OpLost + 1 + iota
	OpSubmit
	opSecond

	OpLocal = OpRegister
	OpAsk   = OpUndo
)

// Kind is a kind of global transaction.
type Kind struct {
	// Name is dtm's word for it, Noun the plural for use in sentences.
	Name, Noun string
	// status is the status of a new one.
	status string
	// First is what the application makes a participant do before it submits.
	First string
	// Forward and Backward are the operations of stored rows that do and undo a branch;
	// a message has none for undoing.
	Forward, Backward string
	// Second is the operation under which Forward is timed.
	Second workload.Op
	// LastFirst means that branches are done and undone from the last to the first.
	LastFirst bool
	// Ops are the names of its operations, by workload.Op.
	Ops []string
}

// opsOf returns the operations of a kind: those of sagas, with other names where they
// differ, and more at the end.
func opsOf(call, undo string, more ...string) []string {
	ops := append([]string(nil), SagaOps...)
	ops[OpCall], ops[OpUndo] = call, undo
	return append(ops, more...)
}

// The kinds. They are never modified.
var (
	KindSaga = &Kind{
		Name: TransSaga, Noun: "sagas", status: Submitted, Forward: BranchAction, Backward: BranchCompensate, Second: OpCall, Ops: SagaOps,
	}
	KindTCC = &Kind{
		Name: TransTCC, Noun: "tcc transactions", status: Prepared, First: BranchTry, Forward: BranchConfirm, Backward: BranchCancel, Second: opSecond, LastFirst: true,
		Ops: opsOf(BranchTry, BranchCancel, "register", "submit", BranchConfirm),
	}
	KindXA = &Kind{
		Name: TransXA, Noun: "xa transactions", status: Prepared, First: BranchAction, Forward: BranchCommit, Backward: BranchRollback, Second: opSecond,
		Ops: opsOf(BranchAction, BranchRollback, "register", "submit", BranchCommit),
	}
	KindMsg = &Kind{
		Name: TransMsg, Noun: "messages", status: Prepared, First: BranchMsg, Forward: BranchAction, Second: OpCall,
		Ops: opsOf(BranchAction, BranchQuery, "local", "submit"),
	}
)

// KindOf returns the kind with a name, or sagas if it is unknown.
func KindOf(name string) *Kind {
	for _, k := range []*Kind{KindTCC, KindXA, KindMsg} {
		if k.Name == name {
			return k
		}
	}
	return KindSaga
}

// Some formats a number of transactions of this kind: "1 saga", "2 sagas".
func (k *Kind) Some(n int64) string { return units.Plural(n, strings.TrimSuffix(k.Noun, "s")) }

// Words adapts a text about sagas to this kind.
func (k *Kind) Words(text string) string {
	if k == KindSaga {
		return text
	}
	return strings.NewReplacer("sagas", k.Noun, "saga", "transaction").Replace(text)
}

// Patience is how long a transaction may stay prepared by default, as in dtm.
const Patience = 35 * time.Second

// Of returns the transaction's kind.
func (s *Saga) Of() *Kind {
	if s.Kind == nil {
		return KindSaga
	}
	return s.Kind
}

// As turns a new saga into a transaction of another kind. Branches that are registered
// along the way have no rows yet; a message has a row for each step but the first,
// which is the local transaction.
func (s *Saga) As(k *Kind) {
	s.Kind, s.Status = k, k.status
	if k == KindSaga {
		return
	}
	s.Rows = s.Rows[:0]
	if k != KindMsg {
		return
	}
	for i := 1; i < len(s.Steps); i++ {
		s.Rows = append(s.Rows, Row{Op: k.Forward, Status: Prepared, Created: s.Created, Updated: s.Created, Step: i})
	}
}

// Register adds the rows of a step.
func (s *Saga) Register(step int, now time.Time) {
	k := s.Of()
	s.Rows = append(s.Rows, Row{Op: k.Backward, Status: Prepared, Created: now, Updated: now, Step: step},
		Row{Op: k.Forward, Status: Prepared, Created: now, Updated: now, Step: step})
}

// Place returns the step of a stored row by its position, and whether it is the first
// row of its step.
func (k *Kind) Place(pos int) (step int, first bool) {
	if k == KindMsg {
		return pos + 1, true
	}
	return pos / 2, pos%2 == 0
}

// Branch returns the number of a step's branch, from 0: a message's local transaction
// precedes its branches.
func (s *Saga) Branch(step int) int {
	if s.Kind == KindMsg {
		return step - 1
	}
	return step
}

// model returns the calls of a transaction that is prepared first: one to save it and
// one to save it again, what is read again, one for each branch registered, each row
// that changed and each new status, and one for each call of a participant. The results
// of its first calls, if it was undone, are taken from what was called.
func (k *Kind) model(s *Saga, n Calls) Calls {
	m := Calls{Bare: 1, Change: 2, Recall: 2, Touch: n.Touch, Twice: n.Twice, UndosTwice: n.UndosTwice, Query: n.Query}
	if s.Status == Succeed {
		m.Bare++
	}
	if k == KindMsg {
		m.Save, m.Bare = 1, m.Bare-1
		if s.Status == Failed {
			m.Change, m.Recall = 1, 1
		}
	} else {
		m.Register = int64(len(s.Rows) / 2)
	}
	for i := range s.Rows {
		if s.Rows[i].Status == Succeed {
			m.Branch++
		}
	}
	if s.Empty {
		return m
	}
	m.Actions, m.Undos, m.Nothing = n.Actions, n.Undos, n.Nothing
	if k == KindXA {
		m.Look = n.Look
		return m
	}
	if s.Status == Succeed {
		m.Actions = m.Branch + int64(len(s.Steps))
		if k == KindMsg {
			m.Actions = int64(len(s.Steps))
		}
	}
	return m
}

// Lacks says why a store does not support a kind of transaction; "" if it does.
func (k *Kind) Lacks(driver string) string {
	if k != KindXA {
		return ""
	}
	switch driver {
	case "redis", "embedded":
		return "Redis carries a script out at once and for good, and cannot prepare it"
	case "sqlite":
		return "SQLite cannot prepare a transaction and commit it later"
	case "dtm":
		return "on a dtm server the accounts are in perfbench's own memory, which cannot prepare anything"
	case "memory", "null":
		return "this store has no transactions that could be prepared"
	}
	return ""
}

// Effect returns what an operation of a branch does to the balance of its account, and
// to the amount frozen on it.
func Effect(op string, amount int64) (balance, frozen int64) {
	switch {
	case op == BranchTry && amount < 0:
		return amount, -amount
	case op == BranchConfirm && amount < 0:
		return 0, amount
	case op == BranchCancel && amount < 0:
		return -amount, amount
	case op == BranchTry, op == BranchCancel:
		return 0, 0
	}
	return amount, 0
}
