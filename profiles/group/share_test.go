package group

import (
	"reflect"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// Three workers write what one process would, to the byte, and tell of it what one would:
// also where one group waits for another.
func TestWorkersWriteWhatOneProcessWould(t *testing.T) {
	srv := labtest.Redis(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	contents := func(namespace string) map[string]map[string]string {
		out := map[string]map[string]string{}
		keys, err := c.Keys(t.Context(), namespace+":shop*").Result()
		require.NoError(t, err)
		for _, k := range keys {
			all, err := c.HGetAll(t.Context(), k).Result()
			require.NoError(t, err)
			out[k[len(namespace):]] = all
		}
		return out
	}
	set := []string{"preset", "shop", "threads", "4"}
	one, want := runs(t, srv.URL(), nil, append(set, "namespace", "one")...)
	o := caseOf(srv.URL(), nil, append(set, "namespace", "all")...).Together(t, 3)
	got := profiletest.Facts[report.Facts](t, o)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	assert.Equal(t, one.Run.Verification.Checks, o.Run.Verification.Checks)
	written := contents("one")
	assert.Len(t, written, 3)
	assert.True(t, reflect.DeepEqual(written, contents("all")), "a difference would be too long to read")
	for _, f := range []*report.Facts{&want, &got} {
		for i := range f.Groups {
			g := &f.Groups[i]
			assert.Len(t, g.ThreadMS, 4)
			g.Started, g.Stopped, g.ThreadMS = nil, nil, nil
		}
	}
	assert.Equal(t, want, got)
}

// What two killed workers had left to invoke is invoked by the third: all keys are there, and
// each group has been invoked as often as was asked for.
func TestTheRestOfKilledWorkersIsDoneByAnother(t *testing.T) {
	tier.Full(t, "profiles/tx's TestTheTransactionsOfKilledWorkersAreCarriedOut, and cmd/perfbench's TestTheRestOfAKilledWorkerIsDoneByAnother")
	t.Parallel()
	o := caseOf(labtest.Redis(t).URL(), nil, "preset", "shop", "threads", "6", "rate", "80").Losing(t, 3, 300, 400)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	want, err := caseOf("memory:", nil, "preset", "shop", "threads", "6").Prepare(t.Context(), t)
	require.NoError(t, err)
	for _, track := range want.Plan.Tracks() {
		for _, op := range o.Run.Operations {
			if op.Track == track.Name && op.Op == track.Ops[0] {
				assert.EqualValues(t, track.Total, op.Count, track.Name)
			}
		}
	}
}

func TestWhatWorkersCannotDivide(t *testing.T) {
	for why, words := range map[string][]string{
		"deliveries of a topic":     {"preset", "topic"},
		"each needs one at least":   {"preset", "put", "threads", "2"},
		"loads before the run":      {"preset", "get", "load", "only"},
		"draws numbers of children": {"preset", "factory-er", "compat", "on"},
	} {
		p, err := caseOf("memory:", nil, words...).Prepare(t.Context(), t)
		require.NoError(t, err, words)
		assert.ErrorContains(t, p.Plan.Divide(0, 3), why)
	}
}

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	caseOf(labtest.Redis(t).URL(), nil, "preset", "shop", "threads", "4").Hostile(t)
}
