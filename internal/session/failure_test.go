package session

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// What a worker that was lost did not store cannot be read: the store is not to blame.
func TestTheStoreIsNotBlamedForWhatALostWorkerDidNotStore(t *testing.T) {
	run := &rundir.Run{Errors: []rundir.Error{{Class: "other", Messages: []string{"there is no user u:39"}}}}
	run.Operations = []rundir.Operation{{Op: "profile"}}
	run.Operations[0].Errors = 40
	run.Verdict = rundir.Verdict{State: verdict.Invalid, Reasons: []string{"all operations failed"}, Causes: []string{string(verdict.Errors)}}
	assert.Equal(t, fault.CodeStore, fault.CodeOf(failure(run, nil, nil, false, nil)))
	run.Verdict.Reasons = append(run.Verdict.Reasons, "worker 1 was lost")
	run.Verdict.Causes = append(run.Verdict.Causes, string(verdict.Workers))
	assert.Equal(t, fault.CodeThreshold, fault.CodeOf(failure(run, nil, nil, false, nil)))
}
