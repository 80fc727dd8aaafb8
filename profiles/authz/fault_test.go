package authz_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

func caseOf(target string, set ...string) profiletest.Case {
	return profiletest.Case{Profile: authz.Profile(), Formats: authz.Formats(), Target: target, Set: set}
}

// Each mode is driven where the command's own tests do not go, and on one server.
func TestDriven(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "embedded", "redis"} {
		target := profiletest.Target(t, store)
		for _, mode := range []string{"checks", "user-profile"} {
			t.Run(store+" "+mode, func(t *testing.T) {
				o := profiletest.Drive(t, caseOf(target, "mode="+mode, "users=20", "groups=6", "namespace="+mode))
				assert.Positive(t, sum(&o.Run, "user"))
			})
		}
	}
}

// start begins a run as a user would.
func start(t *testing.T, target string, set ...string) *session.Driven {
	t.Helper()
	l, err := tryStart(t, target, set...)
	require.NoError(t, err)
	return l
}

// startAtLast starts on a node that may be too slow at first: one that has just
// been started, on a machine that has much to do.
func startAtLast(t *testing.T, target string, set ...string) *session.Driven {
	t.Helper()
	return atLast(t, caseOf(target, set...))
}

func atLast(t *testing.T, c profiletest.Case) (l *session.Driven) {
	t.Helper()
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		var err error
		l, err = c.Start(t.Context(), t)
		require.NoError(check, err)
	}, 5*time.Minute, 10*time.Millisecond)
	return l
}

func tryStart(t *testing.T, target string, set ...string) (*session.Driven, error) {
	t.Helper()
	return caseOf(target, set...).Start(t.Context(), t)
}

func finish(t *testing.T, l *session.Driven) *session.Concluded {
	t.Helper()
	return profiletest.Finish(t, l)
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

// classes counts the errors of a run by their class.
func classes(r *rundir.Run) map[string]int64 {
	out := map[string]int64{}
	for _, e := range r.Errors {
		out[e.Class] += e.Count
	}
	return out
}

// wentOn checks that a run did all of its work and lost nothing. How many of its calls
// failed on the way is up to the machine: if most did, the run says that its figures are
// no use, and nothing else.
func wentOn(t *testing.T, o *session.Concluded) {
	t.Helper()
	if o.Err != nil {
		require.Equal(t, fault.CodeThreshold, fault.CodeOf(o.Err), "%v", o.Err)
	}
	require.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
}

// A Cassandra that falls silent, and one that dies and comes back, in the middle of
// a load cost errors, which are counted by their kind, and lose nothing.
func TestCassandraSilentAndKilledInMidRun(t *testing.T) {
	tier.Full(t, "TestAllStoresDecideAlike on Cassandra, and event-store on one that is killed")
	t.Parallel()
	srv := labtest.ToKill(t, "cassandra")
	c := caseOf(srv.URL()+"?dial_timeout=2m&read_timeout=2s", "namespace=midrun", "users=60", "groups=30", "sweepLimit=100", "threads=4", "drain=10m")
	c, middle := c.Amid(t, "load-0-0", 250, 350) // amid the memberships
	l := atLast(t, c)
	seen := func(class, what string) {
		t.Helper()
		require.Eventually(t, func() bool {
			return slices.ContainsFunc(l.Snapshot().Errors, func(e measure.ErrorCount) bool { return e.Class == class })
		}, 5*time.Minute, 5*time.Millisecond, what)
	}
	middle.Do(t, func() { srv.Pause() })
	seen("timeout", "calls to a silent node time out")
	srv.Resume()
	middle.Do(t, func() { srv.Kill() })
	seen("unreachable", "calls to a dead node fail")
	srv.Restart()
	o := finish(t, l)
	wentOn(t, o)
	count := classes(&o.Run)
	assert.Positive(t, count["timeout"], "%v", count)
	assert.Positive(t, count["unreachable"], "%v", count)
	assert.EqualValues(t, 60, sum(&o.Run, "user"))
	f := profiletest.Facts[report.Facts](t, o)
	assert.EqualValues(t, f.Dataset.Groups, sum(&o.Run, "group"))
	assert.EqualValues(t, f.Dataset.Memberships, sum(&o.Run, "membership"))
	_, errs := total(&o.Run, "membership")
	for _, op := range []string{"user", "group", "valid", "allow", "deny"} {
		_, n := total(&o.Run, op)
		errs += n
	}
	var all int64
	for _, n := range count {
		all += n
	}
	assert.Equal(t, all, errs, "every error is counted once, by its kind and by its operation")
}

// A node with more to do than it can in time turns calls away, which is counted as
// what it is; the load goes on until everything is stored.
func TestOverloadedCassandra(t *testing.T) {
	tier.Full(t, "TestAllStoresDecideAlike on Cassandra, and event-store on one that is killed")
	t.Parallel()
	srv := labtest.Cassandra(t, "--native_transport_max_threads", "1", "--native_transport_timeout", "40ms")
	l := startAtLast(t, srv.Patient(), "threads=384", "users=60", "groups=20", "variant=v2", "tests=valid")
	o := finish(t, l)
	wentOn(t, o)
	count := classes(&o.Run)
	assert.Positive(t, count["overloaded"], "%v", count)
	assert.Positive(t, sum(&o.Run, "membership"))
}

// What cannot work is said before anything is done.
func TestCassandrasThatCannotServe(t *testing.T) {
	t.Parallel()
	srv := labtest.Cassandra(t)
	for target, want := range map[string]string{
		srv.URL() + "/nosuch?" + labtest.Patience: "there is no keyspace nosuch",
		srv.Patient() + "&dc=mars":                `there is no data centre "mars"`,
		"cassandra://127.0.0.1:1?dial_timeout=2s": "cannot be reached",
	} {
		_, err := tryStart(t, target, "namespace=cannot")
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	}
	_, err := tryStart(t, srv.URL(), "namespace=a-namespace-that-is-much-too-long-for-any-table")
	require.ErrorContains(t, err, "more than 48 characters")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// A load that was stopped goes on under the same tenants, and stores only what was
// not marked as stored.
func TestLoadGoesOnAfterAnInterruption(t *testing.T) {
	tier.Full(t, "TestKilledLoadGoesOn")
	t.Parallel()
	target := labtest.Redis(t).URL()
	set := []string{"users=400", "groups=200", "loadBatch=50", "tests=valid", "seed=5"}
	c, middle := caseOf(target, set...).Amid(t, "load-0-0", 700)
	l, err := c.Start(t.Context(), t)
	require.NoError(t, err)
	middle.Do(t, func() { l.Stop(session.ErrInterrupted) })
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
	t.Parallel()
	target := labtest.Redis(t).URL()
	require.NoError(t, finish(t, start(t, target, "load=only")).Err)
	spoil(t, target)
	o := finish(t, start(t, target, "load=never", "tests=valid"))
	require.ErrorContains(t, o.Err, "verification failed: ")
	assert.Equal(t, workload.Failed, o.Run.Verification.State)
	var found []string
	for _, c := range o.Run.Verification.Checks {
		found = append(found, c.Examples...)
	}
	assert.Contains(t, strings.Join(found, "\n"), "denied, and is allowed")
}

// A load does not try for ever to write where somebody else keeps something.
func TestLoadEndsWhereOthersAreInTheWay(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	l := start(t, target, "users=400", "groups=200", "load=only")
	require.Eventually(t, func() bool {
		overwrite(t, target)
		select {
		case <-l.Done():
			return true
		default:
			return false
		}
	}, 5*time.Minute, time.Millisecond)
	o := finish(t, l)
	require.ErrorContains(t, o.Err, "somebody else's data is where item")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(o.Err))
}

// A batch that cannot be marked as stored is an error of the item that it follows, which
// all who watch the run see.
func TestAMarkThatFailsIsCounted(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	c, middle := caseOf(target, "users=400", "groups=200", "loadBatch=50", "threads=1", "load=only").Amid(t, "load-0-0", 120)
	l, err := c.Start(t.Context(), t)
	require.NoError(t, err)
	middle.Do(t, func() { replaceMarks(t, target) })
	o := finish(t, l)
	require.ErrorContains(t, o.Err, "somebody else's data is where item")
	assert.Equal(t, map[string]int64{"wrong type": 1}, classes(&o.Run))
}

func TestLoadNeverWantsALoad(t *testing.T) {
	for _, set := range [][]string{{"load=never"}, {"load=never", "mode=user-profile"}} {
		_, err := tryStart(t, labtest.Redis(t).URL(), set...)
		assert.ErrorContains(t, err, "no earlier run has loaded these data")
	}
}

// What a warm-up does counts nowhere, and takes nothing away from what is measured.
func TestWarmUpCountsNowhere(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	for _, set := range [][]string{{"sweepLimit=300", "tests=valid,sweep,mix", "mixOps=200"}, {"mode=user-profile"}} {
		set = append(set, "users=100", "groups=40", "warmup=300ms", "threads=2")
		o := finish(t, start(t, target, set...))
		require.NoError(t, o.Err)
		f := profiletest.Facts[report.Facts](t, o)
		got := map[string]int64{}
		for _, st := range append(f.Phases[0].Load, f.Phases[0].Tests...) {
			got[st.Name] = st.Total
		}
		if f.Mode == "user-profile" {
			assert.Equal(t, map[string]int64{"users": 100, "profileSections": 200, "profile": 100}, got)
			continue
		}
		assert.Equal(t, map[string]int64{
			"users": 100, "groups": int64(f.Dataset.Groups), "memberships": int64(f.Dataset.Memberships),
			"valid": int64(f.Dataset.Memberships), "sweep": 300, "mix": 200,
		}, got)
	}
}

// Who reads decides what is shown, and every store agrees with that.
func TestReadersOfProfiles(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	shown := map[string]int64{}
	for _, viewer := range []string{"owner", "admin", "loggedin", "anonymous", "mixed"} {
		o := finish(t, start(t, target, "mode=user-profile", "users=80", "viewer="+viewer))
		require.NoError(t, o.Err, viewer)
		assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
		assert.Equal(t, "profiles", o.Run.Unit)
		f := profiletest.Facts[report.Facts](t, o)
		st := f.Phases[0].Tests[0]
		assert.EqualValues(t, 160, st.Allowed+st.Denied)
		shown[viewer] = st.Allowed
	}
	assert.EqualValues(t, 160, shown["owner"])
	assert.EqualValues(t, 160, shown["admin"])
	assert.Less(t, shown["loggedin"], shown["owner"])
	assert.Less(t, shown["anonymous"], shown["loggedin"])
}

// A store that is killed in the middle of twenty tenants ends the run, not each of them.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	t.Run("tenants", func(t *testing.T) {
		t.Parallel()
		caseOf("", "users=400", "groups=200").Gone(t, "runs=20")
	})
	t.Run("profiles", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the tenants")
		caseOf("", "mode=user-profile", "users=400", "groups=200").Gone(t, "runs=20")
	})
}
