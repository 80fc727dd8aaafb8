package tx

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// What killed workers had left of transactions is carried out by another, with numbers that
// none of them has used; what they had left unfinished is taken up. No money is lost.
func TestTheTransactionsOfKilledWorkersAreCarriedOut(t *testing.T) {
	t.Parallel()
	tier.Full(t, "cmd/perfbench's TestTheRestOfAKilledWorkerIsDoneByAnother, and other profiles here")
	c := profiletest.Case{Profile: Profile(), Target: labtest.Redis(t).URL(), Set: []string{
		"mode=saga", "threads=6", "transactions=1500", "rate=100", "branches=3", "accountCount=50", "failRate=0.1", "checkInterval=20ms", "retryInterval=1s", "payload=300",
	}}
	o := c.Losing(t, 3, 300, 700)
	v, f := o.Run.Verification, profiletest.Facts[saga.Facts](t, o)
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	var units, failed int64
	for _, op := range o.Run.Operations {
		if op.Op == "saga" {
			units, failed = op.Count, op.Errors
		}
	}
	assert.EqualValues(t, 1500, units+failed, "%+v", o.Run.Operations)
	assert.GreaterOrEqual(t, f.Done+f.Undone+f.Undecided+f.Unknown, int64(1500))
}

// Look-ups and transactions of a map are made as often as was asked for.
func TestTheLookUpsOfAKilledWorkerAreMade(t *testing.T) {
	tier.Full(t, "TestTheTransactionsOfKilledWorkersAreCarriedOut")
	t.Parallel()
	c := profiletest.Case{Profile: Profile(), Target: labtest.Redis(t).URL(), Set: []string{
		"mode=pbm", "mapNames=eligibility,profile", "memberSetSize=5", "eligibility.totalEntryCount=4000", "eligibility.threadCount=4",
		"profile.totalEntryCount=2000", "profile.threadCount=3", "payloadSize=100", "batchSize=7", "testCase=tx", "rate=200",
	}}
	want, err := c.Prepare(t.Context(), t)
	assert.NoError(t, err)
	o := c.Losing(t, 3, 300)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	for _, track := range want.Plan.Tracks() {
		for _, op := range o.Run.Operations {
			if op.Track == track.Name && op.Op == track.Ops[0] {
				assert.EqualValues(t, track.Total, op.Count+op.Errors, track.Name)
			}
		}
	}
}
