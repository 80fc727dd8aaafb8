package tx

import (
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// Names of the kinds of global transaction, as dtm has them.
const (
	transSaga = "saga"
	transTCC  = "tcc"
	transXA   = "xa"
	transMsg  = "msg"
)

var transTypes = []string{transSaga, transTCC, transXA, transMsg}

// Operations of branches beside those of sagas: of tcc, of xa, whose first is
// opAction, and of messages, whose stored rows have opAction too.
const (
	opTry     = "try"
	opConfirm = "confirm"
	opCancel  = "cancel"

	opCommit   = "commit"
	opRollback = "rollback"

	opMsg   = "msg"   // the local transaction
	opQuery = "query" // asks whether that was carried out
)

// Operations of the saga track that the other kinds have, by their place in the
// lists of kinds. A message has its local transaction where the others register
// branches, and its query where they undo.
const (
	opRegister workload.Op = opLost + 1 + iota
	opSubmit
	opSecond

	opLocal = opRegister
	opAsk   = opUndo
)

// kind is a kind of global transaction.
type kind struct {
	// name is dtm's word for it, noun what several are called.
	name, noun string
	// status is that of a new one.
	status string
	// first is what the application has a participant do before it submits.
	first string
	// forward and backward are the operations of stored rows that do and undo a
	// branch; a message has none that undoes.
	forward, backward string
	// second is the operation that forward is timed as.
	second workload.Op
	// lastFirst says that branches are done and undone from the last to the first.
	lastFirst bool
	ops       []string
}

// opsOf are the operations of a kind: those of sagas with other names for what is
// called otherwise, and more at the end.
func opsOf(call, undo string, more ...string) []string {
	ops := append([]string(nil), sagaOps...)
	ops[opCall], ops[opUndo] = call, undo
	return append(ops, more...)
}

var (
	kindSaga = &kind{
		name: transSaga, noun: "sagas", status: submitted, forward: opAction, backward: opCompensate, second: opCall, ops: sagaOps,
	}
	kindTCC = &kind{
		name: transTCC, noun: "tcc transactions", status: prepared, first: opTry, forward: opConfirm, backward: opCancel, second: opSecond, lastFirst: true,
		ops: opsOf(opTry, opCancel, "register", "submit", opConfirm),
	}
	kindXA = &kind{
		name: transXA, noun: "xa transactions", status: prepared, first: opAction, forward: opCommit, backward: opRollback, second: opSecond,
		ops: opsOf(opAction, opRollback, "register", "submit", opCommit),
	}
	kindMsg = &kind{
		name: transMsg, noun: "messages", status: prepared, first: opMsg, forward: opAction, second: opCall,
		ops: opsOf(opAction, opQuery, "local", "submit"),
	}
)

// kindOf returns the kind of a name: sagas for one that is not known.
func kindOf(name string) *kind {
	for _, k := range []*kind{kindTCC, kindXA, kindMsg} {
		if k.name == name {
			return k
		}
	}
	return kindSaga
}

// words is a text about sagas as one about this kind.
func (k *kind) words(text string) string {
	if k == kindSaga {
		return text
	}
	return strings.NewReplacer("sagas", k.noun, "saga", "transaction").Replace(text)
}

// patience is how long a transaction may be prepared where nothing else is said: as
// with dtm.
const patience = 35 * time.Second

// of is the transaction's kind.
func (s *saga) of() *kind {
	if s.kind == nil {
		return kindSaga
	}
	return s.kind
}

// as makes a new saga a transaction of another kind. What is registered while it is
// under way has no rows yet; a message has one for each step but the first, which is
// the local transaction.
func (s *saga) as(k *kind) {
	s.kind, s.status = k, k.status
	if k == kindSaga {
		return
	}
	s.rows = s.rows[:0]
	if k != kindMsg {
		return
	}
	for i := 1; i < len(s.steps); i++ {
		s.rows = append(s.rows, row{op: k.forward, status: prepared, created: s.created, updated: s.created, step: i})
	}
}

// register adds the rows of a step.
func (s *saga) register(step int, now time.Time) {
	k := s.of()
	s.rows = append(s.rows, row{op: k.backward, status: prepared, created: now, updated: now, step: step},
		row{op: k.forward, status: prepared, created: now, updated: now, step: step})
}

// place tells the step of a stored row by its position, and whether it is the first
// of its step.
func (k *kind) place(pos int) (step int, first bool) {
	if k == kindMsg {
		return pos + 1, true
	}
	return pos / 2, pos%2 == 0
}

// branch is the number of a step's branch, from 0: a message's local transaction
// comes before its branches.
func (s *saga) branch(step int) int {
	if s.kind == kindMsg {
		return step - 1
	}
	return step
}

// model is the calls of a transaction that is prepared first: one to save it and one
// to save it again, what is read again, one for each branch that was registered, each
// row that changed and each new status, and one for each call of a participant. What
// became of its first calls when it was undone is taken from what was asked.
func (k *kind) model(s *saga, n calls) calls {
	m := calls{bare: 1, change: 2, recall: 2, touch: n.touch, twice: n.twice, undosTwice: n.undosTwice, query: n.query}
	if s.status == succeed {
		m.bare++
	}
	if k == kindMsg {
		m.save, m.bare = 1, m.bare-1
		if s.status == failed {
			m.change, m.recall = 1, 1
		}
	} else {
		m.register = int64(len(s.rows) / 2)
	}
	for i := range s.rows {
		if s.rows[i].status == succeed {
			m.branch++
		}
	}
	if s.empty {
		return m
	}
	m.actions, m.undos, m.nothing = n.actions, n.undos, n.nothing
	if k == kindXA {
		m.look = n.look
		return m
	}
	if s.status == succeed {
		m.actions = m.branch + int64(len(s.steps))
		if k == kindMsg {
			m.actions = int64(len(s.steps))
		}
	}
	return m
}

// formula is the mean number of scripts of a transaction that is prepared first, by
// the parameters alone.
func (s *sagaSpec) formula() float64 {
	n, p := float64(s.branches), s.failRate
	on := 0.0
	if s.accounts > 0 {
		on = 1
	}
	if s.kind == kindMsg {
		return (1-p)*(4+n-1+on*n) + 2*p
	}
	step := (n + 1) / 2
	if s.failAt > 0 {
		step = float64(s.failAt)
	}
	return (1-p)*(4+2*n+on*2*n) + p*(3+2*step+on*(2*step-1))
}

// lacks says why a store cannot have a kind of transaction, or "".
func (k *kind) lacks(driver string) string {
	if k != kindXA {
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
