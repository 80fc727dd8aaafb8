package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// VerificationFailed is how the error of a run begins whose verification failed.
const VerificationFailed = "verification failed"

// failure returns the error of the outcome. The first of these decides its code:
// interrupted, fault, verification, store gone, void, threshold, not valid, documents.
func failure(run *rundir.Run, cause error, missed []string, requireValid bool, rest error) error {
	var err error
	switch {
	case run.EndedBy == "interrupt":
		err = fault.Code(errors.New("interrupted; what was measured until then is reported"), fault.CodeInterrupted)
	case strings.HasPrefix(run.EndedBy, "fault: "):
		err = cause
	}
	var problems []error
	add := func(e error, code int) {
		if e != nil {
			problems = append(problems, fault.Code(e, code))
		}
	}
	add(err, fault.CodeOther)
	if run.Verification.State == workload.Failed {
		add(fmt.Errorf("%s: %s", VerificationFailed, run.Verification.Brief()), fault.CodeVerification)
	}
	if run.Verification.State == workload.Incomplete && err == nil {
		add(fault.Hint(fmt.Errorf("the run could not be verified: %s", run.Verification.Summary),
			"what was measured is reported; check the store and run again"), fault.CodeStore)
	}
	if err == nil && !lostWorkers(run) {
		add(nothingWorked(run), fault.CodeStore)
	}
	if len(problems) == 0 {
		add(void(run), fault.CodeThreshold)
	}
	for _, m := range missed {
		add(errors.New(m), fault.CodeThreshold)
	}
	if requireValid && !run.Verdict.Valid() && void(run) == nil {
		add(fault.Hint(fmt.Errorf("the run is %s: %s", run.Verdict.State, strings.Join(run.Verdict.Why(), "; ")),
			"--require-valid accepts a run only when nothing casts doubt on its figures"), fault.CodeThreshold)
	}
	add(rest, fault.CodeOther)
	if len(problems) == 0 {
		return nil
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return fault.Code(errors.Join(problems...), fault.CodeOf(problems[0]))
}

// nothingWorked returns the error of a run in which not one operation succeeded: the
// store refused all of them. Individual failures are only counted.
func nothingWorked(run *rundir.Run) error {
	failed := run.Failures()
	if slices.ContainsFunc(run.Operations, func(o rundir.Operation) bool { return o.Count > 0 }) || failed == 0 {
		return nil
	}
	why := run.Errors[0].Class
	if m := run.Errors[0].Messages; len(m) > 0 {
		why += ": " + m[0]
	}
	return fault.Hint(fmt.Errorf("not one of %s succeeded (%s)", units.Many(failed, "operation"), why), "what was counted is reported; check the store and run again")
}

// lostWorkers reports whether the run is invalid because of its workers: what they were to store is
// missing, for which the store is not to blame.
func lostWorkers(run *rundir.Run) bool {
	return run.Verdict.State == verdict.Invalid && slices.Contains(run.Verdict.Causes, string(verdict.Workers))
}

// void returns the error of a run that ended by itself and whose figures nobody may use: most
// of its calls failed, or nothing was measured. A user who stopped it, and a search, which
// goes beyond what a store can do on purpose, know better.
func void(run *rundir.Run) error {
	if run.Verdict.State != verdict.Invalid || run.EndedBy == "user" || run.EndedBy == "search" || run.EndedBy == "threshold" {
		return nil
	}
	why := run.Void()
	if why == "" {
		return nil
	}
	return fault.Hint(fmt.Errorf("the run is %s: %s", run.Verdict.State, why), "what was counted is reported, and is no figure of the store")
}

func codeOfCause(cause error) int {
	if errors.Is(cause, ErrInterrupted) {
		return fault.CodeInterrupted
	}
	return fault.CodeOf(cause)
}
