package saga

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Names of checks, as in run.json.
const (
	checkAcked   = "acknowledged sagas are there with their outcome"
	checkWhole   = "every saga is fully done or fully undone"
	checkOrder   = "what was compensated was so in reverse order"
	checkStates  = "both copies of a status agree, and it is final"
	checkMoney   = "money is conserved"
	checkLedger  = "balances are what the ledgers say"
	checkIndex   = "the index of unfinished sagas is empty"
	checkFrozen  = "nothing is frozen but what is under way"
	checkEarlier = "sagas acknowledged by runs that were killed are there"
	checkCalls   = "the store counted the calls that were predicted"
	checkSampled = "sagas read back mid-run have their outcome"
	checkPayload = "payloads carry what they were given"
)

// findings collects problems, by check. Its owner guards it.
type findings struct {
	bad      map[string]int64
	examples map[string][]string
	asked    map[string]int64
	sampled  int64
	moneys   int64
}

func (f *findings) ask(check string, n int64) {
	if f.asked == nil {
		f.asked, f.bad, f.examples = map[string]int64{}, map[string]int64{}, map[string][]string{}
	}
	f.asked[check] += n
}

func (f *findings) offend(check, format string, args ...any) {
	f.ask(check, 0)
	f.bad[check]++
	if len(f.examples[check]) < maxExamples {
		f.examples[check] = append(f.examples[check], fmt.Sprintf(format, args...))
	}
}

// comparison compares what is stored of sagas with what their clients were told.
type comparison struct {
	spec  *model.Spec
	sizes *datagen.Sizes
}

func (r *Run) comparison() *comparison { return &comparison{r.spec, &r.sizes} }

// judge compares what is stored of a saga with what its client was told, and records
// violations. For an unfinished saga it only records that it is unfinished.
func (j *comparison) judge(f *findings, s *model.Stored, told outcome, check string) {
	f.ask(check, 1)
	if s.Status == "" && s.Inner == "" && len(s.Ledger) == 0 {
		if told != unknown {
			f.offend(check, "%s: acknowledged as %s but missing", s.Gid, told)
		}
		return
	}
	want := map[outcome]string{ackedDone: model.Succeed, ackedUndone: model.Failed}[told]
	switch {
	case s.Status == "" && told != unknown:
		f.offend(check, "%s: acknowledged as %s, and its record is gone while its ledger is there", s.Gid, told)
	case want != "" && s.Status != want:
		f.offend(check, "%s: acknowledged as %s and stored as %s", s.Gid, told, s.Status)
	}
	f.ask(checkStates, 1)
	if s.Status != s.Inner {
		f.offend(checkStates, "%s: the status is %q and the record says %q", s.Gid, s.Status, s.Inner)
	} else if !model.Final(s.Status) {
		f.offend(checkStates, "%s: is %s", s.Gid, s.Status)
	}
	j.carried(f, s, check != checkEarlier)
	f.ask(checkWhole, 1)
	if why := j.broken(s); why != "" {
		f.offend(checkWhole, "%s: %s", s.Gid, why)
	}
	if k := s.Of(); j.spec.Accounts > 0 && s.Status == model.Failed && (k == model.KindSaga || k == model.KindTCC) {
		f.ask(checkOrder, 1)
		if why := order(s); why != "" {
			f.offend(checkOrder, "%s: %s", s.Gid, why)
		}
	}
}

// carried compares the fillings in the payloads of a transaction with what they should
// be: each has its own filling, all have one size, and that is one set in this run
// unless the transaction belongs to another.
func (j *comparison) carried(f *findings, s *model.Stored, own bool) {
	if j.sizes.Most() == 0 && !slices.ContainsFunc(s.Fillings, func(t string) bool { return t != "" }) {
		return // nothing, as in the original
	}
	for i, text := range s.Fillings {
		if i == 0 {
			f.ask(checkPayload, 1)
		}
		step, _ := s.Of().Place(i)
		err := datagen.Check(text, datagen.Of(s.Gid, step))
		if err == nil && own {
			err = j.sizes.Check(len(text))
		}
		if err == nil && len(text) != len(s.Fillings[0]) {
			err = fmt.Errorf("it carries %d bytes, and that of row 1 %d", len(text), len(s.Fillings[0]))
		}
		if err != nil {
			f.offend(checkPayload, "%s: payload of row %d: %v", s.Gid, i+1, err)
			return
		}
	}
}

func (o outcome) String() string { return [...]string{"unknown", "done", "undone"}[o] }

// whole says what makes a finished saga neither done nor undone; "" if nothing does.
func whole(s *model.Stored, accounts bool) string {
	if !model.Final(s.Status) {
		return ""
	}
	for i := 1; i < len(s.Rows); i += 2 {
		if s.Status == model.Succeed && (s.Rows[i] != model.Succeed || s.Rows[i-1] != model.Prepared) {
			return fmt.Sprintf("is done, and branch %d is %s and its compensation %s", i/2+1, s.Rows[i], s.Rows[i-1])
		}
		if s.Status == model.Failed && s.Rows[i] != model.Prepared && s.Rows[i-1] != model.Succeed {
			return fmt.Sprintf("is undone, and branch %d is %s and not compensated", i/2+1, s.Rows[i])
		}
	}
	if !accounts {
		return ""
	}
	var sum int64
	for i := range len(s.Rows) / 2 {
		did, d := s.Ledger[model.Field(i, model.BranchAction)]
		undid, u := s.Ledger[model.Field(i, model.BranchCompensate)]
		d, u = d && !did.Null, u && !undid.Null
		switch {
		case s.Status == model.Succeed && (!d || u):
			return fmt.Sprintf("is done, and the ledger of branch %d says action %t, compensation %t", i+1, d, u)
		case s.Status == model.Failed && d != u:
			return fmt.Sprintf("is undone, and the ledger of branch %d says action %t, compensation %t", i+1, d, u)
		case s.Status == model.Failed && d && did.Amount != -undid.Amount:
			return fmt.Sprintf("is undone, and branch %d moved %d and back %d", i+1, did.Amount, undid.Amount)
		}
		if d {
			sum += did.Amount
		}
		if u {
			sum += undid.Amount
		}
	}
	if sum != 0 {
		return fmt.Sprintf("has made or lost money: %d", sum)
	}
	return ""
}

// order says which part of a saga was carried out in the wrong order; "" if none was:
// compensations go from the last branch to the first, and no action comes after one. Those that
// found nothing to undo have no order.
// Entries of different ledgers cannot be compared.
func order(s *model.Stored) string {
	type turn struct{ first, before int64 } // for the compensations: its own, and that of the next branch
	turns := map[int]turn{}
	k := s.Of()
	act := model.BranchAction
	if k == model.KindTCC {
		act = model.BranchTry
	}
	for i := len(s.Rows)/2 - 1; i >= 0; i-- {
		e := s.Ledger[model.Field(i, k.Backward)]
		if e.Seq == 0 || e.Null {
			continue
		}
		t, later := turns[e.Ledger]
		switch {
		case !later:
			t.first = e.Seq
		case e.Seq < t.before:
			return fmt.Sprintf("branch %d was compensated before a later one", i+1)
		}
		t.before = e.Seq
		turns[e.Ledger] = t
	}
	for i := range len(s.Rows) / 2 {
		e := s.Ledger[model.Field(i, act)]
		if t, undone := turns[e.Ledger]; undone && !e.Null && e.Seq > t.first {
			return fmt.Sprintf("branch %d was carried out after a compensation", i+1)
		}
	}
	return ""
}

func (f *findings) merge(g *findings) {
	for name, n := range g.asked {
		f.ask(name, n)
		f.bad[name] += g.bad[name]
		f.examples[name] = append(f.examples[name], g.examples[name]...)
		f.examples[name] = f.examples[name][:min(len(f.examples[name]), maxExamples)]
	}
}
