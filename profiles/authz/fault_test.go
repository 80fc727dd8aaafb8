package authz_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz"
)

// start begins a run as a user would.
func start(t *testing.T, target string, set ...string) *session.Live {
	t.Helper()
	req := session.Request{Profile: authz.Name, Target: target, Out: filepath.Join(t.TempDir(), "results"), Values: workload.Values{}}
	for _, kv := range set {
		name, v, _ := strings.Cut(kv, "=")
		req.Values.Set(workload.Value{Name: name, Text: v, Origin: workload.OriginFlag})
	}
	env := session.Env{Profiles: []workload.Profile{authz.Profile()}, Formats: authz.Formats(), Version: "test"}
	req.Formats = []string{authz.FormatID, authz.HTMLFormatID}
	p, err := session.Prepare(t.Context(), env, req)
	require.NoError(t, err)
	l, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	return l
}

func finish(t *testing.T, l *session.Live) *session.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	select {
	case <-l.Done():
	case <-ctx.Done():
		l.Kill()
		<-l.Done()
		t.Error("the run did not come to its end")
	}
	return l.Finish(ctx)
}

// total sums an operation of all tracks.
func total(r *rundir.Run, op string) (count, errs int64) {
	for _, o := range r.Operations {
		if o.Op == op {
			count, errs = count+o.Count, errs+o.Errors
		}
	}
	return count, errs
}

// A Cassandra that dies and comes back in the middle of a load costs errors, which
// are counted, and loses nothing.
func TestCassandraKilledInMidRun(t *testing.T) {
	srv := labtest.Cassandra(t)
	target := srv.URL() + "?read_timeout=1s"
	l := start(t, target, "namespace=midrun", "users=60", "groups=30", "sweepLimit=100", "threads=4")
	require.Eventually(t, func() bool { return l.Snapshot().Done > 150 }, time.Minute, 5*time.Millisecond)
	srv.Kill()
	srv.Restart()
	o := finish(t, l)
	require.NoError(t, o.Err)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.NotEmpty(t, o.Run.Errors)
	count, errs := total(&o.Run, "membership")
	users, errs2 := total(&o.Run, "user")
	groups, errs3 := total(&o.Run, "group")
	assert.Positive(t, errs+errs2+errs3)
	assert.EqualValues(t, 60, users)
	assert.Positive(t, groups)
	assert.Positive(t, count)
}

// A load that was stopped goes on under the same tenants, and stores only what was
// not marked as stored.
func TestLoadGoesOnAfterAnInterruption(t *testing.T) {
	target := labtest.Redis(t).URL()
	set := []string{"users=400", "groups=200", "loadBatch=50", "tests=valid", "seed=5"}
	l := start(t, target, set...)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 700 }, time.Minute, time.Millisecond)
	l.Stop(session.ErrInterrupted)
	first := finish(t, l)
	users, _ := total(&first.Run, "user")
	groups, _ := total(&first.Run, "group")
	edges, _ := total(&first.Run, "membership")
	before := users + groups + edges

	o := finish(t, start(t, target, set...))
	require.NoError(t, o.Err)
	users, _ = total(&o.Run, "user")
	groups, _ = total(&o.Run, "group")
	edges, _ = total(&o.Run, "membership")
	whole := finish(t, start(t, target, set...))
	require.NoError(t, whole.Err)
	u, _ := total(&whole.Run, "user")
	g, _ := total(&whole.Run, "group")
	e, _ := total(&whole.Run, "membership")
	again := before + users + groups + edges - (u + g + e)
	assert.GreaterOrEqual(t, again, int64(0))
	assert.Less(t, again, int64(50), "at most one batch a worker is written again")
}

// A role taken away behind the run's back is a wrong decision, and named.
func TestWrongDecisionFailsTheRun(t *testing.T) {
	target := labtest.Redis(t).URL()
	require.NoError(t, finish(t, start(t, target, "load=only")).Err)
	spoil(t, target)
	o := finish(t, start(t, target, "load=never", "tests=valid"))
	require.ErrorContains(t, o.Err, "denied, and is allowed")
	assert.Equal(t, workload.Failed, o.Run.Verification.State)
}

func TestLoadNeverWantsALoad(t *testing.T) {
	req := session.Request{Profile: authz.Name, Target: labtest.Redis(t).URL(), Out: t.TempDir(), Values: workload.Values{}}
	req.Values.Set(workload.Value{Name: "load", Text: "never", Origin: workload.OriginFlag})
	p, err := session.Prepare(t.Context(), session.Env{Profiles: []workload.Profile{authz.Profile()}, Formats: authz.Formats()},
		session.Request{Profile: req.Profile, Target: req.Target, Out: req.Out, Values: req.Values, Formats: []string{authz.FormatID}})
	require.NoError(t, err)
	_, err = p.Start(t.Context(), nil)
	assert.ErrorContains(t, err, "no earlier run has loaded these data")
}
