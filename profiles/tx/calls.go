package tx

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/perfbench/perfbench/internal/workload"
)

// calls counts what a coordinator asks of its store, by kind.
type calls struct {
	save, branch, change, touch int64
	// actions and undos are calls of participants that were carried out or refused;
	// twice those that the barrier stopped, nothing the compensations that had nothing
	// to undo.
	actions, undos, twice, undosTwice, nothing int64
	// register is branches that were registered, bare saves of a record alone, or of one
	// that was there, recall what was read again, query what was asked about local
	// transactions.
	register, bare, recall, query int64
	// look is statements of xa branches beside those of their first phase.
	look int64
}

func (n *calls) move(undo bool, got reply) {
	switch {
	case got == replyNothing:
		n.nothing++
	case got.stopped() && undo:
		n.undosTwice++
	case got.stopped():
		n.twice++
	case undo:
		n.undos++
	default:
		n.actions++
	}
}

// prepare is move for an xa branch. What its connection is told to prepare, commit or
// roll back is no statement of data, and neither is what the database knows to be
// there already.
func (n *calls) prepare(op string, got reply) {
	switch {
	case op == opAction && got == replyTooLate:
		n.twice++
	case op == opAction && got != replyDuplicate:
		n.actions++
	case op == opRollback && got == replyDuplicate:
		n.look += 2
	case op == opRollback, op == opCommit && got == replyDuplicate:
		n.look++
	}
}

// price says how many calls a store counts for each kind: scripts on Redis,
// statements on SQL stores.
type price calls

// everyOne is the price where each is one call; what is only read is none.
var everyOne = price{
	save: 1, branch: 1, change: 1, touch: 1, actions: 1, undos: 1, twice: 1, undosTwice: 1, nothing: 1, register: 1, bare: 1, query: 1,
}

func (p price) of(n calls) int64 {
	return p.save*n.save + p.branch*n.branch + p.change*n.change + p.touch*n.touch + p.actions*n.actions + p.undos*n.undos +
		p.twice*n.twice + p.undosTwice*n.undosTwice + p.nothing*n.nothing +
		p.register*n.register + p.bare*n.bare + p.recall*n.recall + p.query*n.query + p.look*n.look
}

// lock is what looking at the index takes, and adding the money up; a store whose
// calls are dearer counts those by itself.
func (p price) lock() int64 {
	if p == everyOne {
		return 1
	}
	return 0
}

// model is the calls that a saga takes which went through in one pass, by what
// became of it: one to save it, one for each row that changed, one for each new
// status, and one for each branch call that was carried out. n is what was really
// asked; only what a model cannot know is taken from there.
func model(s *saga, n calls) calls {
	if k := s.of(); k != kindSaga {
		return k.model(s, n)
	}
	m := calls{save: 1, change: 1, touch: n.touch, twice: n.twice, undosTwice: n.undosTwice}
	var done, refused, undone int64
	for i := range s.rows {
		switch r := &s.rows[i]; {
		case r.op == opCompensate && r.status == succeed:
			undone++
		case r.op == opAction && r.status == succeed:
			done++
		case r.op == opAction && r.status == failed:
			refused++
			if s.fate.failAt != r.step+1 {
				m.actions++ // by the account, not by the participant in front of it
			}
		}
	}
	m.branch = done + refused + undone
	if s.status == failed {
		m.change++ // submitted, aborting, failed
	}
	if s.empty {
		m.actions = 0
		return m
	}
	m.actions += done
	m.undos, m.nothing = min(done, undone), undone-min(done, undone)
	return m
}

// rejected counts what a store's guards turned away.
func (t *sagaTally) rejected(err error) {
	switch {
	case errors.Is(err, errMoved):
		t.moved.Add(1)
	case errors.Is(err, errTaken):
		t.taken.Add(1)
	}
}

// account adds the calls of a saga to those that the store is expected to count.
func (k *sagaTask) account(err error) {
	t, c := k.c.tally, &k.c
	switch {
	case err == nil:
		t.expected.Add(k.run.layer.price.of(model(&k.s, c.n)))
	case errors.Is(err, errUndecided), errors.Is(err, errMoved):
		t.expected.Add(k.run.layer.price.of(c.n))
	default:
		t.uncertain.Add(1) // nobody knows how far the last call came
	}
	c.n = calls{}
}

// accountPoll is account for a look at the index and what followed from it.
func (k *sagaTask) accountPoll(err error) {
	t, c := k.c.tally, &k.c
	k.run.polls.Add(1)
	if err != nil && !errors.Is(err, errUndecided) && !errors.Is(err, errMoved) && !errors.Is(err, errNone) && !errors.Is(err, errWaiting) {
		t.uncertain.Add(1)
	}
	t.expected.Add(k.run.layer.price.of(c.n))
	c.n = calls{}
}

// Agreement says whether the store counted the calls that were predicted.
type Agreement struct {
	// Kind is what was counted: scripts or statements; empty where the store does not
	// tell.
	Kind string `json:"kind"`
	// Counted and Predicted are calls of the whole run, warm-up included.
	Counted   int64 `json:"counted"`
	Predicted int64 `json:"predicted"`
	// State is "agree", "differ" or "not compared", Why the reason of the last.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

const (
	agree       = "agree"
	differ      = "differ"
	notCompared = "not compared"

	// agreeWithin is the share by which both may differ, and agreeCalls how many calls
	// they may differ whatever the share: those that ask the server for its counters.
	agreeWithin = 0.001
	agreeCalls  = 3
)

// agreement compares the calls that the store counted with those predicted; lost is
// transactions that a database undid, which nobody can predict; slack is how many
// calls they may differ whatever the share.
func agreement(before, after usage, predicted, uncertain, lost, slack int64) Agreement {
	a := Agreement{Kind: after.Kind, Counted: after.Calls - before.Calls, Predicted: predicted, State: notCompared}
	switch {
	case after.at.IsZero():
		a.Counted, a.Why = 0, "the run is not over"
	case after.Calls < 0 || before.Calls < 0:
		a.Counted, a.Why = -1, "the store does not count its calls"
	case a.Counted < 0:
		a.Counted, a.Why = -1, "the store began to count anew in mid-run"
	case uncertain > 0:
		a.Why = fmt.Sprintf("of %d sagas it is not known how far their last call came", uncertain)
	case lost > 0:
		a.Why = fmt.Sprintf("the database undid and repeated %d transactions, whose statements cannot be predicted", lost)
	case math.Abs(float64(a.Counted-a.Predicted)) <= max(agreeWithin*float64(a.Predicted), float64(slack)):
		a.State = agree
	default:
		a.State = differ
	}
	return a
}

// checks is the comparison as a part of the verification; none where nothing was
// compared.
func (a Agreement) checks() []workload.Check {
	if a.State == notCompared {
		return nil
	}
	c := workload.Check{Name: checkCalls, OK: a.State == agree, Want: strconv.FormatInt(a.Predicted, 10), Got: strconv.FormatInt(a.Counted, 10)}
	if !c.OK {
		c.Examples = []string{a.words()}
	}
	return []workload.Check{c}
}

// words says what a difference means.
func (a Agreement) words() string {
	return fmt.Sprintf("the run is invalid: the store counted %d %s where %d were predicted; either others call it too (then --set countCalls=off), or calls were lost or repeated", a.Counted, a.Kind, a.Predicted)
}
