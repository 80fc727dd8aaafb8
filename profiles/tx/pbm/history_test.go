package pbm

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// watched are transactions on few groups whose histories are kept.
var watched = []string{
	"mode=pbm", "mapNames=eligibility", "memberSetSize=5", "eligibility.threadCount=4", "profile.totalEntryCount=200",
	"payloadSize=10", "payload=64", "zipf=0.9", "testCase=tx", "check=linearizable",
}

// stale is a store that answers one read of a summary, the first from that one on, with what it had been
// before its last two writes.
type stale struct {
	adapter
	from  int64
	reads *atomic.Int64
	done  *atomic.Bool
	old   map[string][]kept
}

func (s *stale) Summarize(ctx context.Context, group, filling []byte) (summary, bool, error) {
	sum, found, err := s.adapter.Summarize(ctx, group, filling)
	if err == nil && found && !s.done.Load() {
		s.old[string(group)] = append(s.old[string(group)], kept{sum, string(filling)})
	}
	return sum, found, err
}

func (s *stale) Summary(ctx context.Context, group []byte) (kept, bool, error) {
	if old := s.old[string(group)]; s.reads.Add(1) >= s.from && len(old) > 2 && s.done.CompareAndSwap(false, true) {
		return old[len(old)-3], true, nil
	}
	return s.adapter.Summary(ctx, group)
}

// One stale read of a summary is found in each of twenty runs.
func TestOneStaleReadOfASummary(t *testing.T) {
	staleAmong(t, 4_000)
}

func TestProofThatOneStaleReadOfASummaryIsFoundAmong100000(t *testing.T) {
	tier.Proof(t, "TestOneStaleReadOfASummary finds it among 4,000")
	staleAmong(t, 100_000)
}

func staleAmong(t *testing.T, transactions int64) {
	t.Helper()
	for trial := range int64(20) {
		in := inputs(given(append(watched, "eligibility.threadCount=1")...))
		in.Count = transactions
		p, _ := ready(t, "memory:", in)
		client, err := p.Phases[0].Tracks[0].NewTask(0)
		require.NoError(t, err)
		w := client.(*task).w
		one := &stale{w.layer, transactions/lookEvery/4 + trial, new(atomic.Int64), new(atomic.Bool), map[string][]kept{}}
		w.layer = one
		profiletest.Work(t, p)
		require.True(t, one.done.Load())
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State, "trial %d: %+v", trial, v)
		l := p.Facts(nil).(*Facts).Linearizable
		require.NotNil(t, l)
		assert.Equal(t, histories.Violated, l.State, "trial %d", trial)
		assert.EqualValues(t, 1, l.Violated, "trial %d", trial)
	}
}

// Honest stores are linearizable, and the fillings with versions are read back.
func TestSummariesAreLinearizable(t *testing.T) {
	for _, name := range []string{"memory", "embedded", "redis", "postgres", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" || name == "mariadb" {
				tier.Full(t, "the same on Redis")
			}
			p, _ := ready(t, pbmTargets[name](t), alone(given(append(watched, "eligibility.totalEntryCount=2000")...)))
			profiletest.Work(t, p)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			l := p.Facts(nil).(*Facts).Linearizable
			assert.Equal(t, histories.OK, l.State, "%+v", l)
			assert.Equal(t, hotGroups, l.Records)
			assert.Greater(t, l.Calls, int64(hotGroups))
			assert.Contains(t, v.Summary, "8 hot summaries are linearizable")
		})
	}
}

func TestHistoriesThatCannotBeAreRefused(t *testing.T) {
	for why, words := range map[string][]string{
		"nothing is written here":       {"mode=pbm", "testCase=getall", "check=linearizable"},
		"a summary that carries 8 byte": {"mode=pbm", "testCase=tx", "payload=8", "check=linearizable"},
	} {
		_, err := mode.Plan(inputs(given(words...)))
		require.ErrorContains(t, err, why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
