package pbm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

const golden = `******************************************
Transaction Test
******************************************

                     Product: redis
                   Test Case: tx
                         Map: eligibility
              Test Run Count: 5
    Test Run Interval (msec): 0
   Total Entry Count Per Run: 1000
                Thread Count: 4
                      Prefix: x
      Entry Count per Thread: 250

Start Time: Mon Mar 03 09:12:40 UTC 2025

         Actual Total Number of Transactions: 5000
Total Number of Transactions on Missing Data: 250

Missing Data represents the number of transaction operations that are performed on
non-existing co-located data. This may occur if there are not enough ClientProfile
objects ingested. To avoid this, increase the number of profile objects by setting
'profile.totalEntryCount' in the ingestion properties file and rerun the ingestion test.
This value must be greater than or equal to 'eligibility.totalEntryCount'.

Time unit: msec
   Thread 1: 1204
   Thread 2: 1187
   Thread 3: 1251
   Thread 4: 1233

                Max Time (msec): 1251
            Throughput (tx/sec): 3996.803
 Latency per transaction (msec): 0.25

Stop Time: Mon Mar 03 09:12:42 UTC 2025

`

func pbmFolder(t *testing.T, m MapFacts) *rundir.Folder {
	t.Helper()
	start, stop := time.Date(2025, 3, 3, 9, 12, 40, 0, time.UTC), time.Date(2025, 3, 3, 9, 12, 42, 0, time.UTC)
	m.Started, m.Stopped = &start, &stop
	facts, err := json.Marshal(Facts{Schema: 1, Mode: Mode, Zone: "UTC", Prefix: "x", TestCount: 5, Maps: []MapFacts{m}})
	require.NoError(t, err)
	return &rundir.Folder{Run: rundir.Run{Profile: "tx", Mode: Mode, Store: rundir.Store{Name: "redis"}, Facts: facts}}
}

func TestTextByteForByte(t *testing.T) {
	m := MapFacts{
		Map: padogrid.Eligibility, TestCase: caseTx, TotalEntryCount: 1000, PerThread: 250, ThreadCount: 4, BatchSize: 7,
		Done: 5000, Missing: 250, ThreadMS: []int64{1204, 1187, 1251, 1233},
	}
	files, err := encode(pbmFolder(t, m))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "tx-eligibility-redis-250303-091240_x.txt", files[0].Name)
	assert.Equal(t, golden, string(files[0].Data))

	m.TestCase = caseGetAll
	files, err = encode(pbmFolder(t, m))
	require.NoError(t, err)
	want := strings.Replace(golden, "Case: tx\n                         Map: eligibility\n", "Case: getall\n                         Map: eligibility\n           GetAll Batch Size: 7\n", 1)
	assert.Equal(t, want, string(files[0].Data))

	f := pbmFolder(t, m)
	f.Run.Verification.State = workload.Failed
	files, err = encode(f)
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "(tx/sec): NaN\n")
	files, err = encode(&rundir.Folder{Run: rundir.Run{Mode: "saga", Facts: []byte("{}")}})
	require.NoError(t, err)
	assert.Empty(t, files)
}

var pbmTargets = map[string]func(t *testing.T) string{
	"mariadb":  func(t *testing.T) string { return labtest.Shared(t, "mariadb").URL() },
	"postgres": func(t *testing.T) string { return labtest.Shared(t, "postgres").URL() },
	"sqlite":   func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/tx.db" },
	"embedded": func(*testing.T) string { return "embedded:" },
	"memory":   func(*testing.T) string { return "memory:" },
	"redis":    func(t *testing.T) string { return labtest.Redis(t).URL() },
	"cluster":  func(t *testing.T) string { return labtest.Shared(t, "redis-cluster").URL() },
}

func TestTransactionsWriteSummaries(t *testing.T) {
	for name, start := range pbmTargets {
		for _, how := range []string{atomicScript, atomicFunction, atomicWatch, atomicNone} {
			if how == atomicFunction && name == "embedded" || how != atomicScript && name != "redis" && name != "cluster" && name != "embedded" {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) {
				target := start(t)
				o := profiletest.Drive(t, mode.Case(target, append(small, "atomic="+how, "testCase=tx")...))
				f := profiletest.Facts[Facts](t, o.Concluded)
				require.Len(t, f.Maps, 2)
				assert.Equal(t, int64(200), f.Maps[0].Done)
				// Groups 1..50, 11..60, 21..70, 31..80 are visited; there are 99 profiles.
				assert.Zero(t, f.Maps[0].Missing)
				assert.Equal(t, int64(99), f.Maps[1].Done, "one of 100 is left over")
				assert.Zero(t, f.Maps[1].Missing)
				p, _ := ready(t, target, alone(given(append(small, "atomic="+how, "testCase=tx")...)))
				fillings(t, p)
			})
		}
	}
}

func TestMissingProfilesAreCounted(t *testing.T) {
	p, _ := ready(t, labtest.Redis(t).URL(), inputs(given("mode=pbm", "memberSetSize=5", "eligibility.totalEntryCount=200", "eligibility.threadCount=1",
		"profile.totalEntryCount=30", "payloadSize=10")))
	profiletest.Work(t, p)
	f := p.Facts(nil).(*Facts)
	assert.Equal(t, int64(200), f.Maps[0].Done)
	assert.Equal(t, int64(170), f.Maps[0].Missing)
}

// All clients want the same group: with WATCH they meet, and what they lose is
// tried again and counted.
func TestContentionIsCounted(t *testing.T) {
	p, _ := ready(t, labtest.Redis(t).URL(), inputs(given("mode=pbm", "memberSetSize=5", "eligibility.totalEntryCount=800", "eligibility.threadCount=8",
		"profile.totalEntryCount=200", "payloadSize=10", "zipf=5", "atomic=watch", "attempts=10000")))
	res := profiletest.Work(t, p)
	f := p.Facts(nil).(*Facts).Maps[0]
	assert.Equal(t, int64(800), f.Done)
	assert.Positive(t, f.Conflicts)
	timed := res.Ops[opConflict].Calls
	assert.Equal(t, f.Conflicts, timed)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

func TestLookUps(t *testing.T) {
	for name, start := range pbmTargets {
		for _, layout := range []string{layoutMap, layoutGroup} {
			t.Run(name+" "+layout, func(t *testing.T) { lookUps(t, start(t), layout) })
		}
	}
}

func TestLookUpsOnCassandra(t *testing.T) {
	target := profiletest.Target(t, "cassandra")
	for _, layout := range []string{layoutMap, layoutGroup} {
		lookUps(t, target, layout)
	}
}

func lookUps(t *testing.T, target, layout string) {
	t.Helper()
	o := profiletest.Drive(t, mode.Case(target, append(small, "eligibility.testCase=getall", "profile.testCase=get", "layout="+layout)...))
	f := profiletest.Facts[Facts](t, o.Concluded)
	assert.Equal(t, []int64{200, 99}, []int64{f.Maps[0].Done, f.Maps[1].Done})
	assert.Zero(t, f.Maps[0].Missing+f.Maps[1].Missing)
}

func TestNothingIsFoundInNothing(t *testing.T) {
	p, _ := ready(t, "null:", inputs(given(append(small, "testCase=tx")...)))
	profiletest.Work(t, p)
	assert.Equal(t, workload.Skipped, p.Verify(t.Context()).State)
	assert.Equal(t, int64(200), p.Facts(nil).(*Facts).Maps[0].Done)
}

// What is there is taken as it is, or refused with the way to load it anew.
func TestDataOfOthers(t *testing.T) {
	srv := labtest.Redis(t)
	ready(t, srv.URL(), inputs(given(append(small, "testCase=getall", "layout=map", "load=only")...)))
	try := func(words ...string) error {
		c := open(t, srv.URL())
		return bound(t, c, "redis", inputs(given(append(small, words...)...))).Setup(t.Context(), nil)
	}
	require.NoError(t, try("testCase=getall", "load=never"), "layout=auto finds the layout that is there")
	require.NoError(t, try("testCase=tx", "load=never"), "transactions do so, too")
	err := try("testCase=tx", "layout=group")
	require.ErrorContains(t, err, "layout=map, and this plan needs layout=group")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	for _, part := range []string{"perfbench data delete", "--profile ingestion", "layout=group", "eligibility.totalEntryCount=200", "eligibility.threadCount=4", "eligibility.payloadSize=100", "profile.payloadSize=100"} {
		assert.Contains(t, fault.HintOf(err), part)
	}
	err = try("testCase=getall", "memberSetSize=10")
	require.ErrorContains(t, err, "memberSetSize=5, and this plan needs 10")
	err = try("testCase=getall", "prefix=y")
	require.ErrorContains(t, err, "prefix=x, and this plan needs y")
	err = try("testCase=getall", "payloadSize=2KiB")
	require.ErrorContains(t, err, "has values of 100 B, and this plan asks for 2 KiB (payloadSize)")
	assert.Contains(t, fault.HintOf(err), "eligibility.payloadSize=2048")
	c := open(t, srv.URL())
	require.NoError(t, c.(redis.Typed).Client().HDel(t.Context(), "t:profile", "x3").Err())
	err = try("testCase=getall")
	require.ErrorContains(t, err, "98 of 99 entries")
}

func TestStrangersAreLeftAlone(t *testing.T) {
	srv := labtest.Redis(t)
	client := open(t, srv.URL()).(redis.Typed).Client()
	require.NoError(t, client.Set(t.Context(), "t:eligibility:{x1}", "of others", 0).Err())
	c := open(t, srv.URL())
	err := bound(t, c, "redis", inputs(given(small...))).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "t:eligibility already exists and is a string, not a hash")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	require.NoError(t, client.Del(t.Context(), "t:eligibility:{x1}").Err())
	err = bound(t, c, "redis", inputs(given(append(small, "load=never")...))).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "load=never")
}

func TestLoadThatWasCutShortIsDoneAgain(t *testing.T) {
	srv := labtest.Redis(t)
	p, conn := ready(t, srv.URL(), inputs(given(append(small, "load=only")...)))
	keep, err := store.As[store.Keeper](conn)
	require.NoError(t, err)
	made, err := keep.Made(t.Context(), "t")
	require.NoError(t, err)
	for _, m := range made {
		if m.Name == padogrid.Profiles {
			m.Params["state"] = "loading"
			require.NoError(t, keep.Record(t.Context(), m))
		}
	}
	q, _ := ready(t, srv.URL(), inputs(given(small...)))
	assert.Equal(t, int64(99), q.Facts(nil).(*Facts).Loaded.Entries)
	assert.Equal(t, int64(299), p.Facts(nil).(*Facts).Loaded.Entries)

	// What the load of another plan has left in the groups is no fault of the store.
	for _, m := range made {
		m.Params["state"] = "loading"
		require.NoError(t, keep.Record(t.Context(), m))
	}
	q, _ = ready(t, srv.URL(), inputs(given(append(small, "testCase=tx", "eligibility.totalEntryCount=40", "eligibility.threadCount=1")...)))
	profiletest.Work(t, q)
	assert.Equal(t, workload.Passed, q.Verify(t.Context()).State, "%+v", q.Verify(t.Context()))
}

func TestFewerThreadsThanMapsRunEachWithOne(t *testing.T) {
	p, err := mode.Plan(inputs(given("mode=pbm", "mapNames=eligibility,profile", "threads=1")))
	require.NoError(t, err)
	for _, tr := range p.Tracks() {
		assert.Equal(t, 1, tr.Start.Threads, tr.Name)
	}
	assert.Equal(t, []string{"threads=1 (flag --set) is the total over the 2 maps, too few for one each: each has at least one, so 2 run"}, p.Warnings)
	_, err = mode.Plan(inputs(given("mode=pbm", "mapNames=eligibility,profile", "threads=0")))
	assert.ErrorContains(t, err, `threads: "0" (flag --set) is not in 1..4096`)
}

// With all clients on one group, serializable transactions of PostgreSQL meet: what
// it undoes is done again, counted and timed.
func TestGroupsMeet(t *testing.T) {
	url := labtest.Shared(t, "postgres").URL() + "?isolation=serializable"
	p, _ := ready(t, url, apart("groups", "mode=pbm", "memberSetSize=5", "eligibility.totalEntryCount=400", "eligibility.threadCount=8",
		"profile.totalEntryCount=100", "payloadSize=10", "zipf=5", "attempts=100000"))
	res := profiletest.Work(t, p)
	f := p.Facts(nil).(*Facts).Maps[0]
	assert.Equal(t, int64(400), f.Done)
	assert.Positive(t, f.Conflicts)
	timed := res.Ops[opConflict].Calls
	assert.Equal(t, f.Conflicts, timed)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

// The embedded store has no functions, and says what to use instead.
func TestNoFunctionsInTheEmbeddedStore(t *testing.T) {
	for _, words := range [][]string{append(small, "testCase=tx", "atomic=function")} {
		err := bound(t, open(t, "embedded:"), "embedded", inputs(given(words...))).Setup(t.Context(), nil)
		require.ErrorContains(t, err, "load the functions")
		assert.Less(t, len(err.Error()), 150, "the reply of the server holds the library")
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		assert.Regexp(t, "--set (script=evalsha|atomic=script)", fault.HintOf(err))
	}
}
