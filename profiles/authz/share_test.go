package authz_test

import (
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// Three workers load and ask what one process would, and the whole is told and verified as
// that of one.
func TestWorkersLoadAndAskWhatOneProcessWould(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	opts, err := goredis.ParseURL(target)
	require.NoError(t, err)
	client := goredis.NewClient(opts)
	defer func() { assert.NoError(t, client.Close()) }()
	// stored is every key of a namespace and its type, with the names of tenants as they are
	// for all, but for those of probes: which client makes which is a matter of chance.
	stored := func(namespace string, f *report.Facts) map[string]string {
		keys, err := client.Keys(t.Context(), namespace+":*").Result()
		require.NoError(t, err)
		out := map[string]string{}
		for _, key := range keys {
			if strings.Contains(key, "-probe-") {
				continue
			}
			kind, err := client.Type(t.Context(), key).Result()
			require.NoError(t, err)
			for _, ph := range f.Phases {
				for _, name := range ph.Tenants {
					key = strings.ReplaceAll(key, name, "TENANT"+name[len(name)-4:])
				}
			}
			out[strings.TrimPrefix(key, namespace)] = kind
		}
		return out
	}
	for mode, set := range map[string][]string{
		"checks":       {"tests=valid,sweep,staleness", "groups=9", "probes=7", "sweepLimit=100"},
		"user-profile": {"viewer=mixed", "payload=50"},
	} {
		t.Run(mode, func(t *testing.T) {
			set = append(set, "mode="+mode, "threads=4", "users=40", "runs=4", "concurrent=2", "loadBatch=7", "seed=3")
			one := caseOf(target, append(set, "namespace=one"+mode)...).Run(t)
			all := caseOf(target, append(set, "namespace=all"+mode)...).Together(t, 3)
			require.NoError(t, one.Err)
			assert.Equal(t, workload.Passed, all.Run.Verification.State, "%+v", all.Run.Verification)
			assert.Equal(t, one.Run.Verification.Summary, all.Run.Verification.Summary)
			want, got := profiletest.Facts[report.Facts](t, one), profiletest.Facts[report.Facts](t, all)
			there := stored("one"+mode, &want)
			assert.NotEmpty(t, there)
			assert.Equal(t, there, stored("all"+mode, &got))
			assert.Equal(t, counts(&one.Run), counts(&all.Run))
			same(t, one, all)
		})
	}
}

// What a killed worker had left to load and to ask is done by another: in the load, of which no reading
// of it is missing something then, and in the middle of the tests.
func TestWhatALostWorkerLeftIsDoneByAnother(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	for name, c := range map[string]struct {
		after int64
		set   []string
	}{
		"load": {300, []string{"load=only", "users=3000", "groups=300"}},
		"test": {250, []string{"tests=valid,sweep", "users=60", "groups=9", "sweepLimit=700", "rate=50"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "load" {
				tier.Full(t, "the case test, and cmd/perfbench's TestTheRestOfAKilledWorkerIsDoneByAnother")
			}
			set := append(c.set, "threads=6", "loadBatch=7", "seed=3")
			one := caseOf(target, append(set, "namespace=whole"+name)...).Run(t)
			require.NoError(t, one.Err)
			o := caseOf(target, append(set, "namespace=lost"+name)...).Losing(t, 3, c.after)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			assert.Equal(t, one.Run.Verification.Summary, o.Run.Verification.Summary)
			total := func(r *rundir.Run) (n int64) {
				for _, o := range r.Operations {
					n += o.Count
					assert.Zero(t, o.Errors, "%s %s", o.Track, o.Op)
				}
				return n
			}
			assert.Equal(t, total(&one.Run), total(&o.Run))
		})
	}
}

// Where nobody does what a killed worker had left of the load, the verdict says how much is missing.
func TestWhatALostWorkerLeftOfALoadIsMissed(t *testing.T) {
	tier.Full(t, "TestWhatNobodyLoadedIsSaid")
	t.Parallel()
	o := caseOf(labtest.Redis(t).URL(), "users=900", "groups=300", "tests=valid", "threads=6", "rate=900", "loadBatch=7").Degrading(t, 3, 300)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	assert.Regexp(t, `^nobody stored \d+ of the \d+ items of the load that a lost worker had: `, o.Run.Verification.Undone)
	assert.Contains(t, strings.Join(o.Run.Verdict.Reasons, "; "), o.Run.Verification.Undone)
}

// same compares the facts of two runs in two phases, but for times and names.
func same(t *testing.T, one, other *session.Concluded) {
	t.Helper()
	want, got := profiletest.Facts[report.Facts](t, one), profiletest.Facts[report.Facts](t, other)
	for _, f := range []*report.Facts{&want, &got} {
		require.Len(t, f.Phases, 2)
		for i := range f.Phases {
			p := &f.Phases[i]
			p.Tenants = nil
			for _, steps := range [][]report.Step{p.Load, p.Tests} {
				require.NotEmpty(t, steps)
				for j := range steps {
					s := &steps[j]
					s.TimeMS, s.TotalMS = 0, 0
					if s.Name == "staleness" {
						s.Statements, s.Lookups, s.Hits = 0, 0, 0 // as often as there is time to ask
					}
				}
			}
		}
	}
	assert.Equal(t, want, got)
}

// counts is how often each operation was done, by track and name.
func counts(r *rundir.Run) map[string]int64 {
	out := map[string]int64{}
	for _, o := range r.Operations {
		out[o.Track+" "+o.Op] += o.Count
	}
	return out
}

func TestRequestsAreTooFewForWorkers(t *testing.T) {
	t.Parallel()
	p, err := caseOf("redis://127.0.0.1:1", "threads=2").Prepare(t.Context(), t)
	require.NoError(t, err)
	assert.ErrorContains(t, p.Plan.Divide(0, 3), "track load-0-0 has 2 threads and there are 3 workers")
}

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	for _, mode := range []string{"checks", "user-profile"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			caseOf(labtest.Redis(t).URL(), "mode="+mode, "threads=4", "users=40", "groups=9", "runs=2").Hostile(t, "runs=1")
		})
	}
}
