package saga

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// Three workers carry transactions out and look after the unfinished ones, and the whole is
// told and verified as that of one process: money, payloads, outcomes and calls.
func TestWorkersCarryTransactionsOut(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	c := mode.Case(target, "threads=6", "transactions=300", "branches=3", "prefixes=2", "accountCount=50", "failRate=0.2", "duplicateRate=0.2",
		"checkInterval=5ms", "retryInterval=1m", "payload=300", "countCalls=on")
	o := c.Together(t, 3)
	v, f := o.Run.Verification, profiletest.Facts[Facts](t, o)
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.EqualValues(t, 300, f.Done+f.Undone)
	assert.Positive(t, f.Undone)
	assert.EqualValues(t, 300, f.ReadBack)
	assert.EqualValues(t, 300, asked(v, checkAcked))
	assert.EqualValues(t, 300, asked(v, checkPayload)-int(f.Sampled))
	assert.EqualValues(t, 50, asked(v, checkLedger), "accounts, each with what all of its ledgers say")
	assert.Positive(t, f.Duplicates)
	assert.Positive(t, f.Sampled, "read back mid-run, at a worker")
	assert.Equal(t, agree, f.Cost.Calls.State, "%+v", f.Cost.Calls)
	assert.Positive(t, f.Cost.ClientUS)
	for _, w := range o.Run.Workers {
		assert.GreaterOrEqual(t, w.Count, int64(100), "its part of the transactions")
	}
}

// So it is with the other kinds of transactions, with submits that never arrive among them.
func TestWorkersCarryEveryKindOfTransactionOut(t *testing.T) {
	t.Parallel()
	for kind, target := range map[string]func(t *testing.T) string{
		"tcc": func(t *testing.T) string { return labtest.Redis(t).URL() },
		"xa":  func(t *testing.T) string { return labtest.Postgres(t, "--max_prepared_transactions=64").URL() },
		"msg": func(t *testing.T) string { return labtest.Redis(t).URL() },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == "xa" {
				tier.Full(t, "the cases tcc and msg")
			}
			c := mode.Case(target(t), "transType="+kind, "threads=6", "transactions=150", "branches=3", "accountCount=50", "failRate=0.1",
				"lostSubmitRate=0.3", "timeout=2s", "checkInterval=20ms", "payload=300")
			o := c.Together(t, 3)
			v, f := o.Run.Verification, profiletest.Facts[Facts](t, o)
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			assert.EqualValues(t, 150, f.Done+f.Undone+f.Undecided+f.Unknown) // where it is slow, more than lost submits
			assert.Positive(t, f.Done)
			assert.Positive(t, f.LostSubmits)
			assert.EqualValues(t, 150, f.ReadBack)
		})
	}
}

// Whatever is unknown when a worker tells, what it tells next is taken in.
func TestTransactionsOfUnknownOutcomeAreTold(t *testing.T) {
	t.Parallel()
	const client = 3
	seconds := func() int64 { return 60 }
	there, here := clients{seconds: seconds, tallies: map[int]*tally{}}, clients{seconds: seconds, tallies: map[int]*tally{}}
	k := there.of(client)
	for seq := range int64(40) {
		k.seq = seq + 1
		if seq%13 == 0 { // of the others nobody knows
			k.set(seq, ackedDone)
		}
		require.True(t, here.Merge(workload.Process{}, there.Delta()), "after transaction %d", seq)
	}
	for seq := range int64(40) {
		assert.Equal(t, k.get(seq), here.of(client).get(seq), "transaction %d", seq)
	}
}

// What cannot be divided is refused with the reason.
func TestTransactionsThatCannotBeDivided(t *testing.T) {
	t.Parallel()
	for why, set := range map[string][]string{
		"ackLog is one file":                      {"ackLog=acks"},
		"mode=saga has 2 threads":                 {"threads=2"},
		"there are 5 transactions for 10 clients": {"transactions=5", "threads=10"},
	} {
		p, err := mode.Plan(inputs(given(append(set, "mode=saga")...)))
		require.NoError(t, err)
		assert.ErrorContains(t, p.Divide(0, 3), why)
	}
	in := inputs(given("mode=saga"))
	in.Driver = "dtm"
	p, err := mode.Plan(in)
	require.NoError(t, err)
	assert.ErrorContains(t, p.Divide(0, 3), "a dtm server calls participants")
}

// Of a worker that is lost nobody knows what its last transactions moved: balances are not
// compared with ledgers then, nor calls with those predicted, and all else is.
func TestOfALostWorkerLedgersSayTooLittle(t *testing.T) {
	t.Parallel()
	p, _ := ready(t, "memory:", inputs(given("mode=saga", "threads=2", "transactions=40", "accountCount=20")))
	profiletest.Work(t, p)
	p.Shared.Lose(workload.Process{Number: 1, Part: 1, Of: 2})
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Zero(t, asked(v, checkLedger))
	assert.Equal(t, 1, asked(v, checkMoney))
	assert.Equal(t, 40, asked(v, checkAcked))
	assert.Equal(t, NotCompared, p.Facts(nil).(*Facts).Cost.Calls.State)
}

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	mode.Case(labtest.Redis(t).URL(), "threads=6", "transactions=300", "accountCount=50", "countCalls=off").Hostile(t)
}
