// Package saga runs distributed transactions as dtm does: sagas, tcc, xa and messages
// with several branches, the records that their coordinator keeps, and accounts between
// which they move money, so that it can be checked that none is lost.
package saga

import (
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Mode is the name of the mode, Document the id of its document.
const (
	Mode     = "saga"
	Document = "ab"
)

// Design makes the plan of mode=saga from values alone. The error names every invalid
// value.
func Design(r *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	s := Read(r, in)
	s.Count = Count(r, in)
	s.Linearizable = common.Linearizable(r)
	if v, ok := r.Values[KeepAlive.Name]; ok && v.Origin > workload.OriginFile {
		r.Warn("keepAlive (%s) has no effect on this target: it is for dtm+bench:// only", v.From())
	}
	payload := workload.Filling("branch's payload")
	payload.Max = model.MaxPayload
	s.Start.Payload = r.Payload(payload, 0, "payload")
	users := r.Users("", "")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	p := &workload.Plan{
		Unit: "transactions", Knobs: []workload.Knob{workload.Threads(), workload.Rate("transactions"), payload},
		Documents: []string{Document},
		Binder:    Binding{Spec: s}, Spaces: []store.Space{s.Space()}, Bytes: s.Count * bytesOf(s),
		Phases: []workload.Phase{{Name: "saga", Duration: in.Duration, Tracks: []workload.Track{{
			Name: "saga", Ops: s.Kind.Ops, OpUnits: model.SagaUnits, Counted: 1, Start: s.Start, Iterations: s.Count, Total: s.Count,
		}}}},
		Writes:  []string{Writes(s)},
		Deletes: []string{"finished " + s.Kind.Noun + " " + units.Typed(s.FinishedExpire) + " after their end"},
		Cleanup: []string{"at the end everything that this run made (--cleanup)"},
	}
	return p, users.In(p, func(*workload.Track) bool { return true })
}

// Read reads the parameters of mode=saga, some of which mode=baseline uses too.
func Read(r *values.Reader, in workload.Inputs) *model.Spec {
	g := &parameters{Spec: &model.Spec{
		Namespace: in.Namespace, Driver: in.Driver, Seed: in.Seed, Allow: in.AllowExisting,
		Zipf: r.Number(common.Zipf),
	}}
	g.declare().Read(r)
	s := g.Spec
	s.Kind = model.KindOf(g.transType)
	s.Unruly = s.OngoingRate > 0 || s.ErrorRate > 0 || s.Delay > 0
	s.Start = r.Settings(10)
	judge(s, r, g.accounts)
	return s
}

func judge(s *model.Spec, r *values.Reader, accounts bool) {
	if !accounts {
		s.Accounts = 0
	}
	if s.FailAt > s.Branches {
		r.Blame("failAt", "use 0 for any step", "failAt: step %d is more than the %d branches", s.FailAt, s.Branches)
	}
	if accounts && s.Branches < 2 {
		r.Blame("branches", "use branches=2 or more, or accounts=off", "branches: one branch cannot move money from one account to another")
	}
	if accounts && s.Accounts < int64(s.Branches) {
		r.Blame("accountCount", "use more accounts", "accountCount: %d accounts are fewer than the %d that one saga needs", s.Accounts, s.Branches)
	}
	judgeKind(s, r)
	if s.FinishedExpire%time.Second != 0 || s.DataExpire%time.Second != 0 {
		r.Blame("finishedExpire", "use whole seconds", "finishedExpire, dataExpire: stores count expiry in whole seconds")
	}
}

// judgeKind rejects what a kind of transaction does not support, and sets what is
// specific to it.
func judgeKind(s *model.Spec, r *values.Reader) {
	if s.Kind == model.KindSaga {
		if s.LostRate > 0 {
			r.Blame("lostSubmitRate", "use transType=tcc, xa or msg, or lostSubmitRate=0", "lostSubmitRate: a saga is stored by its submit, so a lost one leaves nothing")
		}
		return
	}
	if why := s.Kind.Lacks(s.Driver); why != "" {
		hint := "use transType=tcc, which reserves instead; or mysql: or postgres:, which have transactions of two phases"
		if s.Driver == "dtm" {
			hint = "use transType=saga, tcc or msg there, or mysql: or postgres:, which have transactions of two phases"
		}
		r.Blame("transType", hint, "transType=%s: %s", s.Kind.Name, why)
	}
	if s.Timeout == 0 {
		s.Timeout = model.Patience
	}
	if s.Kind == model.KindMsg && s.Branches < 2 {
		r.Blame("branches", "use branches=2 or more", "branches: a message with one branch is a local transaction that tells nobody")
	}
	if s.Kind == model.KindMsg && s.FailAt > 1 {
		r.Blame("failAt", "use failAt=0", "failAt: only the local transaction of a message can be refused, not branch %d", s.FailAt)
	}
}

// bytesOf returns the approximate size of what one saga leaves behind.
func bytesOf(s *model.Spec) int64 {
	n := int64(600 + (700+3*s.Start.Payload)*s.Branches) // two rows per branch, as base64
	if s.Accounts > 0 {
		n += 300
	}
	return n
}

// Writes describes what a run of s writes.
func Writes(s *model.Spec) string {
	n, until := s.Kind.Noun, " until the run ends"
	if s.Count > 0 {
		n, until = s.Kind.Some(s.Count), ""
	}
	text := fmt.Sprintf("%s: %s of %s by %s%s, kept for %s",
		ownership.Name(s.Space()), n, units.Plural(s.Branches, "branch"), units.Plural(s.Start.Threads, "client"), until, units.Typed(s.FinishedExpire))
	if n := s.Start.Payload; n > 0 {
		text += ", each payload with " + units.Size(int64(n)) + " beside"
	}
	if s.Accounts > 0 {
		text += fmt.Sprintf(", and %d accounts", s.Accounts)
	}
	return text
}

// Count reads and shows how many transactions to run; 0: until time is up.
func Count(r *values.Reader, in workload.Inputs) int64 {
	if in.Wraps() {
		return 0
	}
	return common.Count(r, transactions)
}
