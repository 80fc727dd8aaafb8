package saga

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// account adds the calls of a saga to those that the store is expected to count.
func (k *Task) account(err error) {
	t, c := k.t, &k.c
	switch {
	case err == nil:
		t.expected.Add(k.run.layer.Price.Of(model.Model(&k.s, c.Calls)))
	case errors.Is(err, coordinator.ErrUndecided), errors.Is(err, model.ErrMoved):
		t.expected.Add(k.run.layer.Price.Of(c.Calls))
	default:
		t.uncertain.Add(1) // nobody knows how far the last call got
	}
	k.accountMoved(err)
	c.Calls = model.Calls{}
}

// accountMoved is account for a saga that another client has taken over: a script is
// one call whatever it finds, but a database only gets those statements of a
// transaction that precede the one that notices.
func (k *Task) accountMoved(err error) {
	if errors.Is(err, model.ErrMoved) && k.run.layer.Saw().Repeats {
		k.t.uncertain.Add(1)
	}
}

// accountPoll is account for a look at the index and what followed from it.
func (k *Task) accountPoll(err error) {
	t, c := k.t, &k.c
	k.run.beside.polls.Add(1)
	if err != nil && !errors.Is(err, coordinator.ErrUndecided) && !errors.Is(err, model.ErrMoved) && !errors.Is(err, model.ErrNone) && !errors.Is(err, coordinator.ErrWaiting) {
		t.uncertain.Add(1)
	}
	k.accountMoved(err)
	t.expected.Add(k.run.layer.Price.Of(c.Calls))
	c.Calls = model.Calls{}
}

// Agreement says whether the store counted the calls that were predicted.
type Agreement struct {
	// Kind is what was counted: scripts or statements; empty if the store does not
	// report it.
	Kind string `json:"kind"`
	// Counted and Predicted are calls of the whole run, warm-up included.
	Counted   int64 `json:"counted"`
	Predicted int64 `json:"predicted"`
	// State is "agree", "differ" or "not compared"; Why is the reason for the latter.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// NotCompared is the state of an Agreement for which nothing was compared, for the
// reason in Why.
const NotCompared = "not compared"

const (
	agree  = "agree"
	differ = "differ"

	// agreeWithin is the fraction by which the two may differ, and agreeCalls the
	// number of calls by which they may always differ: those that query the server for
	// its counters.
	agreeWithin = 0.001
	agreeCalls  = 3
)

// agreement compares the calls that the store counted with those predicted. lost is the
// number of transactions that a database rolled back, which nobody can predict; slack
// is the number of calls by which they may always differ.
func agreement(before, after common.Usage, predicted, uncertain, lost, slack int64) Agreement {
	a := Agreement{Kind: after.Kind, Counted: after.Calls - before.Calls, Predicted: predicted, State: NotCompared}
	switch {
	case after.At.IsZero():
		a.Counted, a.Why = 0, "the run is not over"
	case after.Calls < 0 || before.Calls < 0:
		a.Counted, a.Why = -1, "the store does not count its calls"
	case a.Counted < 0:
		a.Counted, a.Why = -1, "the store began to count anew mid-run"
	case uncertain > 0:
		a.Why = fmt.Sprintf("it is not known of %d sagas how far their last call got", uncertain)
	case lost > 0:
		a.Why = fmt.Sprintf("the database undid and repeated %d transactions, whose statements cannot be predicted", lost)
	case math.Abs(float64(a.Counted-a.Predicted)) <= max(agreeWithin*float64(a.Predicted), float64(slack)):
		a.State = agree
	default:
		a.State = differ
	}
	return a
}

// checks returns the comparison as part of the verification, or nothing if nothing was
// compared.
func (a Agreement) checks() []workload.Check {
	if a.State == NotCompared {
		return nil
	}
	c := workload.Check{Name: checkCalls, OK: a.State == agree, Want: strconv.FormatInt(a.Predicted, 10), Got: strconv.FormatInt(a.Counted, 10)}
	if !c.OK {
		c.Examples = []string{a.Words()}
	}
	return []workload.Check{c}
}

// Words says what a difference means.
func (a Agreement) Words() string {
	return fmt.Sprintf("the run is invalid: the store counted %d %s where %d were predicted; either others call it too (then --set countCalls=off), or calls were lost or repeated", a.Counted, a.Kind, a.Predicted)
}
