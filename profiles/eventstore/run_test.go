package eventstore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

func TestProfile(t *testing.T) { profiletest.Run(t, eventstore.Profile()) }

// caseOf is a run as a user would ask for it.
// caseOf is a case that gives the store's calls the time that the target has, where that is patient.
func caseOf(target string, set ...string) profiletest.Case {
	if strings.HasSuffix(target, labtest.Patience) {
		for _, name := range []string{"timeout=", "drain="} {
			if !slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name) }) {
				set = append(slices.Clip(set), name+"2m")
			}
		}
	}
	return profiletest.Case{Profile: eventstore.Profile(), Formats: report.Formats(), Target: target, Set: set}
}

func start(t *testing.T, target string, set ...string) (*session.Driven, error) {
	t.Helper()
	return caseOf(target, set...).Start(t.Context(), t)
}

// finish waits for the end of a run and returns it with its facts.
func finish(t *testing.T, l *session.Driven) (*session.Concluded, *report.Facts) {
	t.Helper()
	o := profiletest.Finish(t, l)
	f := profiletest.Facts[report.Facts](t, o)
	return o, &f
}

func run(t *testing.T, target string, set ...string) (*session.Concluded, *report.Facts) {
	t.Helper()
	l, err := start(t, target, set...)
	require.NoError(t, err)
	return finish(t, l)
}

func operation(r *rundir.Run, track, op string) (count, errs int64) {
	for _, o := range r.Operations {
		if o.Track == track && o.Op == op {
			count, errs = count+o.Count, errs+o.Errors
		}
	}
	return count, errs
}

// Every store keeps every event exactly once, and gives it back by range, by id and
// by parent.
func TestStores(t *testing.T) {
	t.Parallel()
	shapes := map[string][]string{
		"single root": {"treeDepth=2", "childCount=2", "failureRate=30"},
		"mixed":       {"generationMode=MIXED", "roots=3", "bodyKind=randomText", "descriptionLength=20", "attachedMessages=2"},
	}
	cassandra := labtest.Cassandra(t)
	for name, c := range map[string]struct {
		target string
		set    []string
	}{
		"embedded":  {"embedded:", nil},
		"gorm":      {"embedded:", []string{"insert=gorm"}},
		"memory":    {"memory:", []string{"compression=zstd"}},
		"redis":     {labtest.Redis(t).URL(), []string{"shards=3"}},
		"cluster":   {labtest.Cluster(t).URL(), []string{"bucket=200ms", "compression=zlib"}},
		"mariadb":   {labtest.MariaDB(t).URL(), nil},
		"postgres":  {labtest.Postgres(t).URL(), []string{"compression=none"}},
		"cassandra": {cassandra.Patient(), []string{"namespace=lean", "shards=2"}},
		"cradle":    {cassandra.Patient(), []string{"namespace=cradle", "schema=cradle"}},
	} {
		for shape, more := range shapes {
			// What is generated is the same on all stores; how it is laid out there depends on the schema.
			if shape == "mixed" && !slices.Contains([]string{"embedded", "memory", "postgres", "cradle"}, name) {
				continue
			}
			t.Run(name+" "+shape, func(t *testing.T) {
				if shape == "mixed" && name != "memory" && name != "embedded" {
					tier.Full(t, "the single root on "+name+", and mixed in the process")
				}
				set := append(append([]string{"events=3000", "batch=100", "queries=30", "payload=300", "seed=3"}, c.set...), more...)
				var o *session.Concluded
				if c.target == cassandra.Patient() { // where tables are slow to make, and kept for the other shape
					o = caseOf(c.target, set...).Run(t)
					assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
				} else {
					o = profiletest.Drive(t, caseOf(c.target, set...)).Concluded
				}
				require.NoError(t, o.Err)
				f := profiletest.Facts[report.Facts](t, o)
				n, errs := operation(&o.Run, "events", "publish")
				assert.EqualValues(t, 3000, n)
				assert.Zero(t, errs)
				trees, _ := operation(&o.Run, "events", "tree")
				assert.Positive(t, trees)
				assert.Equal(t, 3000+trees, f.Ledger.Once)
				assert.Equal(t, f.Ledger.Once, f.Ledger.Acked)
				assert.True(t, f.Ledger.Read)
				for _, c := range o.Run.Verification.Checks {
					assert.EqualValues(t, f.Ledger.Once, c.Of, "%s is a finding among all events, not among none", c.Name)
				}
				queried(t, &o.Run, 30)
				assert.Empty(t, slices.DeleteFunc(f.Errors, func(e report.Error) bool { // and tried again
					return c.target == cassandra.Patient() && strings.Contains(e.Text, "timed out")
				}))
				assert.NotEmpty(t, f.Durability)
				if name == "cassandra" {
					assert.Equal(t, 1, slices.IndexFunc(f.Processes, func(p report.Process) bool { return p.Role == "cassandra" && len(p.JavaArgs) > 0 }), "the options of its JVM")
				}
				if shape == "single root" { // 30 of a thousand
					assert.InDelta(t, 90, total(&f, func(s *report.Step) int64 { return *s.Failed }), 60, "stored events with status FAILED")
				}
			})
		}
	}
}

// In Cradle's tables a batch is one statement, once its scope and a duration are
// written down, and takes as many bytes as were measured.
func TestCradleTakesOneStatementForABatch(t *testing.T) {
	t.Parallel()
	o, f := run(t, labtest.Cassandra(t).Patient(), "schema=cradle", "failureRate=0", "namespace=statements", "events=3000", "batch=300", "query=off")
	require.NoError(t, o.Err)
	accounted(t, o, f, 3000)
	rows := total(f, func(s *report.Step) int64 { return s.Rows })
	assert.EqualValues(t, 10+2, rows, "each batch, and a root of each generator")
	assert.Equal(t, rows+4, total(f, func(s *report.Step) int64 { return s.Statements }), "and once two for a duration, the scope and the page's scope")
	stored := total(f, func(s *report.Step) int64 { return s.CompressedBytes + s.LinkBytes })
	assert.InEpsilon(t, 354, float64(stored)/3000, 0.02, "bytes of content and links")
}

// total adds up a figure of all steps.
func total(f *report.Facts, of func(*report.Step) int64) (n int64) {
	for i := range f.Steps {
		n += of(&f.Steps[i])
	}
	return n
}

// Events with status FAILED are those that the generators made so and that are stored;
// what is rejected counts in batches and in events, apart from them.
func TestFailedIsNotRejected(t *testing.T) {
	t.Parallel()
	failed := func(s *report.Step) int64 { return *s.Failed }
	batches := func(s *report.Step) int64 { return *s.DeadBatches }
	events := func(s *report.Step) int64 { return s.DeadLettered }
	_, f := run(t, "memory:", "events=10000", "batch=350", "failureRate=100", "payload=100", "query=off")
	assert.InDelta(t, 1000, total(f, failed), 150)
	assert.Zero(t, total(f, batches))
	_, f = run(t, "memory:", "events=10000", "batch=350", "failureRate=1000", "payload=100", "query=off", "maxTestEventBatchSize=8KiB")
	assert.EqualValues(t, 10002, total(f, failed), "every one, in however many rows")
	_, f = run(t, "memory:", "events=10500", "batch=350", "failureRate=0", "payload=100", "query=off", "compat=on", "threads=2")
	assert.Contains(t, []int64{1, 2}, total(f, batches), "the first batch of each generator: on a busy machine one may make them all")
	assert.Equal(t, 350*total(f, batches), total(f, events), "no batch is smaller, not even the last")
	assert.Less(t, total(f, failed), int64(50), "compat=on makes one in a thousand")
}

// amid begins a run that is paced and does not end by itself, calls f once more than so
// many events are stored, and ends it when as many again are.
func amid(t *testing.T, target string, more int64, set []string, f func()) (*session.Concluded, *report.Facts) {
	t.Helper()
	l, err := start(t, target, append([]string{"rate=4000", "events=100000000", "batch=50", "payload=300", "timeout=1s", "query=off"}, set...)...)
	require.NoError(t, err)
	comes := func(n int64) {
		require.Eventually(t, func() bool { return l.Snapshot().Done > n }, 5*time.Minute, 5*time.Millisecond)
	}
	comes(more)
	f()
	comes(l.Snapshot().Done + more)
	l.Stop(session.ErrStopped)
	return finish(t, l)
}

// A store that is killed and comes back costs retries and time, and no event.
func TestStoreKilledInMidRun(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		srv := labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
		o, f := amid(t, srv.URL(), 2000, nil, func() { srv.Kill(); srv.Restart() })
		wentOn(t, o)
		accounted(t, o, f, f.Ledger.Generated-2)
	})
	t.Run("cassandra", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the case redis, and a load of authz on Cassandra that is killed")
		srv := labtest.ToKill(t, "cassandra")
		o, f := amid(t, srv.URL()+"?dial_timeout=2m&read_timeout=5s", 2000, []string{"namespace=killed", "drain=3m"}, func() { srv.Kill(); srv.Restart() })
		wentOn(t, o)
		accounted(t, o, f, f.Ledger.Generated-2)
		retries := int64(0)
		for _, s := range f.Steps {
			retries += s.Retries
		}
		assert.Positive(t, retries)
		assert.NotEmpty(t, f.Errors)
	})
}

// wentOn checks that a run ended as it was told to. How many of its calls failed on the way is
// up to the machine: if most did, the run says that its figures are no use, and nothing else.
func wentOn(t *testing.T, o *session.Concluded) {
	t.Helper()
	if o.Err != nil {
		require.Equal(t, fault.CodeThreshold, fault.CodeOf(o.Err), "%v", o.Err)
	}
}

func accounted(t *testing.T, o *session.Concluded, f *report.Facts, n int64) {
	t.Helper()
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, n+2, f.Ledger.Once, "with a root for each of two generators")
	assert.Zero(t, f.Ledger.Missing)
	assert.Zero(t, f.Ledger.Duplicated)
	assert.Zero(t, f.Ledger.DeadLettered)
}

// A store stage that ends without notice, again and again, loses nothing and stores
// nothing twice: what it had not acknowledged is delivered again under the same ids.
func TestStoreStageKilledInMidRun(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"embedded": "embedded:", "redis": labtest.Redis(t).URL()} {
		t.Run(name, func(t *testing.T) {
			if name == "redis" {
				tier.Full(t, "the same adapter on embedded")
			}
			o, f := run(t, target, "rate=8000", "events=16000", "batch=50", "payload=300", "crash=150ms", "query=during")
			require.NoError(t, o.Err)
			accounted(t, o, f, 16000)
			assert.NotEmpty(t, f.Crashes)
		})
	}
}

// What somebody takes away behind the run's back is missed: exit 4.
func TestLossIsFound(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	o, f := amid(t, srv.URL(), 4000, nil, func() { flush(t, srv.Addr()) })
	require.Error(t, o.Err)
	assert.Equal(t, fault.CodeVerification, fault.CodeOf(o.Err))
	assert.Equal(t, workload.Failed, o.Run.Verification.State)
	assert.Positive(t, f.Ledger.Missing)
	assert.NotEmpty(t, f.Ledger.Examples["missing"])
}

// An event that is larger than what one row may have is kept in parts, and comes back
// whole.
func TestOversizedEventsAreKeptInParts(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"embedded": "embedded:", "cassandra": labtest.Cassandra(t).Patient(), "redis": labtest.Redis(t).URL()} {
		t.Run(name, func(t *testing.T) {
			if name == "redis" {
				tier.Full(t, "the same adapter on embedded")
			}
			set := []string{"events=6", "batch=2", "payload=200KB", "compressibility=1.1", "maxTestEventBatchSize=64KiB", "queries=6", "namespace=parts"}
			o, f := run(t, target, set...)
			require.NoError(t, o.Err)
			accounted(t, o, f, 6)
			rows := int64(0)
			for _, s := range f.Steps {
				rows += s.Rows
			}
			assert.Greater(t, rows, int64(8*2), "each event takes several rows")
		})
	}
}

// Batches over the limit are cut between events.
func TestBatchesOverTheLimitAreCut(t *testing.T) {
	t.Parallel()
	o, f := run(t, "embedded:", "events=2000", "batch=1000", "maxTestEventBatchSize=100KiB")
	require.NoError(t, o.Err)
	accounted(t, o, f, 2000)
	rows := int64(0)
	for _, s := range f.Steps {
		rows += s.Rows
	}
	assert.Greater(t, rows, int64(20))
}

// What compat loses, it counts.
func TestCompatCountsItsLosses(t *testing.T) {
	t.Parallel()
	o, f := run(t, "memory:", "compat=on", "events=2000", "batch=300", "rate=1000", "tickRate=3", "threads=2", "payload=300", "treeDepth=2", "childCount=2")
	require.NoError(t, o.Err)
	assert.EqualValues(t, 2*166, f.Losses.RootRejected, "the first batch of each generator")
	assert.Equal(t, f.Losses.RootRejected, f.Ledger.DeadLettered)
	assert.Zero(t, f.Ledger.Missing)
	assert.Equal(t, 2000-f.Losses.RootRejected, f.Ledger.Once)
	assert.Equal(t, "ticked", f.Pacing)

	o, f = run(t, "memory:", "compat=on", "events=4000", "batch=2000", "maxTestEventBatchSize=100KiB")
	assert.Equal(t, fault.CodeThreshold, o.Code(), "nothing of what was sent was kept: %v", o.Err)
	assert.EqualValues(t, 4000, f.Losses.RootRejected+f.Losses.Oversized)
	assert.Zero(t, f.Ledger.Once)
}

// The documented pace on null:, all of a tick at once: 166 batches of 300 and one of
// 200 a second for each generator, though 100 times slower here.
func TestTicksMakeTheDocumentedBatches(t *testing.T) {
	t.Parallel()
	o, f := run(t, "null:", "pacing=ticked", "rate=1000", "threads=2", "batch=300", "events=3000", "tickRate=1", "payload=100")
	require.NoError(t, o.Err)
	require.NotEmpty(t, f.Steps)
	s := f.Steps[0]
	assert.EqualValues(t, 3002, s.Sent.Events, "nothing is dropped")
	assert.EqualValues(t, 12+2, s.Sent.Batches, "ticks of 500 in batches of 300 and 200, and two roots")
	n, _ := operation(&o.Run, "events", "publish")
	assert.EqualValues(t, 3000, n)
}

// A store that is slower than the generators makes them wait; what is held stays
// within its limits.
func TestBackPressureBoundsMemory(t *testing.T) {
	o, f := run(t, "memory:", "events=20000", "batch=100", "payload=300", "maxTaskCount=4", "maxTaskDataSize=200KiB", "prefetchCount=8", "query=off")
	require.NoError(t, o.Err)
	accounted(t, o, f, 20000)
	assert.LessOrEqual(t, f.Limits.PeakTasks, int64(4))
	assert.LessOrEqual(t, f.Limits.PeakBytes, int64(200<<10))
	for _, p := range f.Series {
		assert.LessOrEqual(t, p.Ready+p.Unacked, int64(8))
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for want, set := range map[string][]string{
		"cuts a rate into ticks":         {"pacing=ticked"},
		"fewer than the 10 ticks":        {"pacing=ticked", "rate=5", "tickRate=10"},
		"more than 1000000 events":       {"treeDepth=20", "childCount=10"},
		"neither may be empty":           {"bookName="},
		"is neither direct":              {"via=redis://x"},
		"is a layout of Cassandra":       {"schema=cradle"},
		"compression: \"gzip\"":          {"compression=gzip"},
		"maxTaskCount":                   {"maxTaskCount=0"},
		"has implemented SINGLE_ROOT":    {"compat=on", "generationMode=MIXED"},
		"are more than a batch of 10":    {"compat=on", "treeDepth=4", "childCount=2", "batch=10"},
		"there is no rate to begin with": {"search=on"},
		"unknown scheme \"kafka\"":       {"via=kafka://x"},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := start(t, "embedded:", set...)
			require.ErrorContains(t, err, want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
	_, err := start(t, "redis://127.0.0.1:1")
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}

// Each query reads something, however far apart the bursts of events are and however few
// of the leaves have anything below them: what finds nothing tests nothing.
func TestQueriesReadWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]string{
		"short ranges and many leaves": {"events=300", "batch=100", "rate=400", "queryRange=1ms", "treeDepth=7", "childCount=2"},
		"one generator did it all":     {"events=100", "batch=100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := run(t, "memory:", append(set, "queries=60")...)
			require.NoError(t, o.Err)
			queried(t, &o.Run, 60)
		})
	}
}

// queried checks that so many queries were made, some of each kind, and that each of them
// read something. Those under way when the machine kept us from running, which are counted
// but not timed, are as many as the run says.
func queried(t *testing.T, r *rundir.Run, n int64) {
	t.Helper()
	timed, untimed := int64(0), int64(0)
	for _, op := range r.Operations {
		if op.Track == "query" {
			timed += op.Calls
			assert.Positive(t, op.Calls, op.Op)
			assert.GreaterOrEqual(t, op.Count, op.Calls, op.Op)
			assert.Zero(t, op.Errors, op.Op)
		}
	}
	if r.Observed != nil {
		for _, s := range r.Observed.Suspensions {
			untimed += s.Untimed
		}
	}
	assert.LessOrEqual(t, timed, n)
	assert.GreaterOrEqual(t, timed+untimed, n, "and %d that were not timed", untimed)
}
