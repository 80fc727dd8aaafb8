package compare

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

var day = time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)

// read is what comparisons see of a made-up run.
func read(t *testing.T, f *rundir.Folder) *Run {
	t.Helper()
	r, err := Of(f)
	require.NoError(t, err)
	return r
}

func one(r *Run) Set { return Set{Runs: []*Run{r}} }

// verdicts are those on each figure of a part.
func verdicts(p Pair) map[Figure]string {
	out := map[Figure]string{}
	for _, f := range p.Findings {
		out[f.Figure] = f.Words()
	}
	return out
}

// judged is the finding on one figure that some runs a side have these values of.
func judged(figure Figure, a, b []Estimate) Finding {
	measured := func(es []Estimate) []Measured {
		var out []Measured
		for _, e := range es {
			out = append(out, Measured{Figures: map[Figure]Estimate{figure: e}})
		}
		return out
	}
	for _, f := range findings("", measured(a), measured(b), nil, nil, DefaultTolerance) {
		if f.Figure == figure {
			return f
		}
	}
	return Finding{}
}

func TestJudge(t *testing.T) {
	about := func(v, by float64) []Estimate { return []Estimate{{Value: v, SE: by, DF: math.Inf(1)}} }
	runs := func(vals ...float64) (out []Estimate) {
		for _, v := range vals {
			out = append(out, Estimate{Value: v, SE: math.NaN()})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		figure Figure
		a, b   []Estimate
		want   string
	}{
		{"clearly more throughput is better", Throughput, about(100, 1), about(120, 1), "better"},
		{"clearly less throughput is worse", Throughput, about(120, 1), about(100, 1), "worse"},
		{"clearly less time is better", P99, about(10, .2), about(5, .2), "better"},
		{"clearly more time is worse", P99, about(5, .2), about(10, .2), "worse"},
		{"chance explains it", Throughput, about(100, 10), about(120, 10), "unsure"},
		{"less than one per cent is the same, however sure", Throughput, about(100, 0.01), about(100.5, 0.01), "same within 1 %"},
		{"a little at most", Throughput, about(100, 0.8), about(100.5, 0.8), "same within 3 %"},
		{"equal and wide is unsure", Throughput, about(100, 9), about(100, 9), "unsure"},
		{"what cannot be said is not judged", P99, []Estimate{none}, about(1, 0), ""},
		{"runs that scatter little", P50, runs(100, 101, 99), runs(110, 111, 109), "worse"},
		{"runs that scatter much", P50, runs(100, 130, 70), runs(110, 140, 80), "unsure"},
		{"one run against several", P50, runs(130), runs(100, 101, 99, 100), "better"},
		{"one run each, and nothing tells its error", ClientCPU, runs(100), runs(200), "unsure"},
		{"no errors at all", Errors, about(0, 0), about(0, 0), "same"},
		{"few errors", Errors, about(3e-3, 1.7e-3), about(4e-3, 2e-3), "unsure"},
		{"errors that nobody would notice", Errors, about(0, 0), about(1e-4, 1e-4), "same within 0.1 points"},
		{"many errors", Errors, about(0, 0), about(0.1, 0.01), "worse"},
		{"the largest value is chance", Max, about(5, 0), about(10, 0), ""},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, judged(c.figure, c.a, c.b).Words()) })
	}
}

// Looking at many figures must not make one of them look like a change.
func TestRangesOfManyFiguresAreWider(t *testing.T) {
	e := Estimate{Value: 100, SE: 1, DF: math.Inf(1)}
	some := []Measured{{Figures: map[Figure]Estimate{Throughput: e, P50: e, P90: e, P99: e}}}
	assert.Greater(t, findings("", some, some, nil, nil, DefaultTolerance)[0].Hi, judged(Throughput, []Estimate{e}, []Estimate{e}).Hi*1.2)
}

// An unsure figure passes, passes with a warning, or fails, as asked.
func TestWhatAnUnsureFigureIsToAGate(t *testing.T) {
	e := func(v, se float64) []Estimate { return []Estimate{{Value: v, SE: se, DF: math.Inf(1)}} }
	unsure := []Pair{{Findings: []Finding{judged(Throughput, e(100, 10), e(120, 10)), judged(ClientCPU, e(100, 10), e(120, 10))}}}
	require.Equal(t, Unsure, unsure[0].Findings[1].Verdict)
	for policy, want := range map[Policy]struct{ warnings, code int }{"": {0, fault.CodeOK}, Pass: {0, fault.CodeOK}, Warn: {1, fault.CodeOK}, Fail: {0, fault.CodeThreshold}} {
		c := Comparison{A: Set{Runs: []*Run{{}}}, B: Set{Runs: []*Run{{}}}, Tolerance: DefaultTolerance, Unsure: policy, Parts: unsure}
		assert.Len(t, c.Warnings(), want.warnings, policy)
		assert.Equal(t, want.code, fault.CodeOf(c.Err()), policy)
		if err := c.Err(); err != nil {
			assert.ErrorContains(t, err, "unsure")
		}
		c.Parts = []Pair{{Findings: []Finding{judged(Throughput, e(100, 0.1), e(100, 0.1))}}}
		assert.Empty(t, c.Warnings())
		assert.NoError(t, c.Err(), policy)
	}
	_, err := ParsePolicy("fails")
	require.ErrorContains(t, err, `unsure: "fails" is not one of pass, warn, fail`)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	p, err := ParsePolicy("")
	require.NoError(t, err)
	assert.Equal(t, Pass, p)
}

func TestWorseThanTheTolerance(t *testing.T) {
	e := func(v float64) []Estimate { return []Estimate{{Value: v, SE: v / 1000, DF: math.Inf(1)}} }
	for b, want := range map[float64]int{90: 1, 96: 0, 120: 0} {
		c := Comparison{Tolerance: DefaultTolerance, Parts: []Pair{{Findings: []Finding{judged(Throughput, e(100), e(b))}}}}
		assert.Len(t, c.Worse(), want, "%v", b)
	}
	errors := judged(Errors, []Estimate{{DF: math.Inf(1)}}, []Estimate{{Value: 0.02, SE: 0.001, DF: math.Inf(1)}})
	c := Comparison{Tolerance: 3, Parts: []Pair{{Findings: []Finding{errors}}}}
	assert.Len(t, c.Worse(), 1, "errors where there were none are beyond any tolerance")
}

func TestEveryDifferenceIsNamed(t *testing.T) {
	a := Conditions{
		Profile: "ingestion", Store: rundir.Store{Name: "redis", Version: "7.2"}, Unit: "entries", State: verdict.Valid,
		Settings: map[string]float64{"threads": 16, "payload": 1024}, Parameters: map[string]string{"testCase": "put"}, Machine: map[string]string{"cpus": "8"},
	}
	b := a
	assert.Empty(t, Differences(&a, &b))
	b.Settings = map[string]float64{"threads": 32, "payload": 1024, "batch": 10}
	b.Parameters = map[string]string{"testCase": "get"}
	b.Store.Version = "8.0"
	b.Machine = map[string]string{"cpus": "4"}
	diffs := Differences(&a, &b)
	assert.Equal(t, []Difference{{"version", "7.2", "8.0"}, {"batch", "–", "10"}, {"threads", "16", "32"}, {"testCase", "put", "get"}, {"cpus", "8", "4"}}, diffs)
	x, y := one(&Run{Conditions: a}), one(&Run{Conditions: b})
	assert.Equal(t, []string{"A and B differ in version, batch, threads, testCase and cpus: the change has more than one cause"}, cautions(x, y, diffs))
	assert.Empty(t, cautions(x, y, diffs[:1]), "one difference is what was asked about")
	assert.Empty(t, refusals(x, y))
	y.Runs[0].Conditions.Segments = 3
	assert.Equal(t, []string{"B changed settings mid-run, so that figures mix 3 segments"}, cautions(x, y, diffs[:1]))
}

// What a side does a second, and what each costs, says nothing where the other side counts other things.
func TestOtherUnitsAreNotCompared(t *testing.T) {
	run := func(unit string, rate float64) *Run {
		return &Run{Conditions: Conditions{Unit: unit}, Parts: []Measured{{Figures: map[Figure]Estimate{
			Throughput: {Value: rate, SE: 1, DF: 100}, P99: {Value: rate, SE: 1, DF: 100}, ClientCPU: {Value: rate, SE: 1, DF: 100}, StoreCPU: {Value: rate, SE: 1, DF: 100},
		}}}}
	}
	of := func(unit string) *Comparison { return Sets(one(run("entries", 100)), one(run(unit, 900)), Options{}) }
	alike, other := of("entries"), of("checks")
	assert.NotEqual(t, "", verdicts(alike.Parts[0])[Throughput])
	for _, f := range []Figure{Throughput, ClientCPU, StoreCPU} {
		assert.Empty(t, verdicts(other.Parts[0])[f], f)
	}
	assert.Equal(t, verdicts(alike.Parts[0])[P99], verdicts(other.Parts[0])[P99], "times are times")
	assert.Equal(t, []string{"entries", "units"}, []string{alike.Unit(nil), other.Unit(nil)})
	assert.Contains(t, other.Notes, "Units are entries in A and checks in B, so neither throughput nor what a unit costs is compared.")
	assert.NotContains(t, other.Answer(other.Parts[0]), "/s")
}

func TestTheSizesOfAllTracksAreNamed(t *testing.T) {
	of := func(feed, other float64) Set {
		return one(&Run{Conditions: Conditions{Profile: "ingestion", Settings: map[string]float64{"feed.payload": feed, "other.payload": other}}})
	}
	assert.Equal(t, []string{"A has values of 1 KiB and 10 KiB and B of 4 KiB"}, refusals(of(1024, 10240), of(4096, 4096)))
	assert.Equal(t, []string{"A has values of 10 KiB and B of 4 KiB"}, refusals(of(4096, 10240), of(4096, 4096)))
}

func TestWhatIsNoPairIsRefused(t *testing.T) {
	same := Conditions{Profile: "ingestion", Unit: "entries", Store: rundir.Store{Name: "redis"}, DataBytes: 1 << 20, State: verdict.Valid, Settings: map[string]float64{"feed.payload": 1024, "rate": 9}}
	for want, change := range map[string]func(*Conditions){
		"A is a run of ingestion and B of group": func(c *Conditions) { c.Profile = "group" },
		"A counts entries and B checks":          func(c *Conditions) { c.Unit = "checks" },
		"A ran on redis and B on mysql":          func(c *Conditions) { c.Store.Name = "mysql" },
		"A stores 1 MiB of data and B 2 MiB":     func(c *Conditions) { c.DataBytes = 2 << 20 },
		"A has values of 1 KiB and B of 2 KiB": func(c *Conditions) {
			c.DataBytes, c.Settings = 2<<20, map[string]float64{"feed.payload": 2048, "rate": 9}
		},
		"A has arrivals even and B poisson": func(c *Conditions) { c.Parameters = map[string]string{"arrivals": "poisson"} },
		"":                                  func(c *Conditions) { c.DataBytes = 0 },
	} {
		other := same
		change(&other)
		got := refusals(one(&Run{Conditions: same}), one(&Run{Conditions: other}))
		if want == "" {
			assert.Empty(t, got, "an older run does not know how much it stores")
			continue
		}
		assert.Equal(t, []string{want}, got)
	}
	other := same
	other.Profile, other.Unit = "group", "invocations"
	assert.Equal(t, []string{"A is a run of ingestion and B of group", "A counts entries and B invocations"}, refusals(one(&Run{Conditions: same}), one(&Run{Conditions: other})))
	closed := same // of the workbench, where a rate may be set as it goes
	closed.Settings, closed.Parameters = map[string]float64{"feed.payload": 1024}, map[string]string{"arrivals": "poisson"}
	assert.Empty(t, refusals(one(&Run{Conditions: same}), one(&Run{Conditions: closed})), "a closed loop has no arrivals")
	larger := same
	larger.DataBytes = 1<<20 + 20_000
	assert.Empty(t, refusals(one(&Run{Conditions: same}), one(&Run{Conditions: larger})), "nobody cares for 2 %")
	assert.Equal(t, []Difference{{"rate", "9", "–"}}, Differences(&same, &closed))
	first, second, seed := same, same, same
	first.ID, second.ID, seed.Seed = "one", "two", 7
	second.Settings = map[string]float64{"feed.payload": 1024, "rate": 9, "threads": 3}
	assert.Equal(t, []string{"the runs of B are not repeats of the same run: one and two differ in threads"},
		refusals(one(&Run{Conditions: same}), Set{Runs: []*Run{{Conditions: first}, {Conditions: seed}, {Conditions: second}}}))
}

func TestDoubtsAreCountedAndNamed(t *testing.T) {
	run := func(change func(*Conditions)) *Run {
		r := &Run{Conditions: Conditions{State: verdict.Valid}}
		change(&r.Conditions)
		return r
	}
	fine := run(func(*Conditions) {})
	failed := run(func(c *Conditions) { c.Failed, c.State = true, verdict.Invalid })
	cpu := run(func(c *Conditions) { c.State, c.Causes = verdict.Degraded, []string{"cpu"} })
	late := run(func(c *Conditions) { c.State, c.Causes = verdict.Invalid, []string{"lateness", "cpu"} })
	stopped := run(func(c *Conditions) {
		c.EndedBy, c.MeasuredS, c.Parameters = "interrupt", 12, map[string]string{"duration": "60s"}
	})
	byHand := run(func(c *Conditions) {
		*c = stopped.Conditions
		c.EndedBy, c.State, c.Causes = "user", verdict.Invalid, []string{"cpu"}
	})
	endless := run(func(c *Conditions) { c.EndedBy, c.Parameters = "user", map[string]string{"duration": workload.Forever} })
	assert.Empty(t, doubts("A", one(fine), false))
	assert.Empty(t, doubts("A", one(failed), false), "that is more than a doubt")
	assert.Equal(t, []string{"B failed verification"}, refusals(one(fine), one(failed)))
	assert.Equal(t, []string{"A was DEGRADED (cpu)"}, doubts("A", one(cpu), false))
	assert.Equal(t, []string{"one of the 5 runs of B was interrupted after 12 s of 60 s", "2 of the 5 runs of B were INVALID (cpu)"},
		doubts("B", Set{Runs: []*Run{fine, failed, cpu, late, stopped}}, false))
	assert.Equal(t, []string{"A was ended by hand after 12 s of 60 s", "A was INVALID (cpu)"}, doubts("A", one(byHand), false))
	assert.Empty(t, doubts("A", one(endless), false), "it had no other end")
}

func TestOneKnobOfSeveralTracksIsOneCause(t *testing.T) {
	a := Conditions{
		Settings:   map[string]float64{"threads": 4, "feed.threads": 2, "profile.threads": 2, "feed.payload": 1024},
		Parameters: map[string]string{"feed.threadCount": "2", "profile.threadCount": "2", "feed.payloadSize": "1KiB", "testCount": "60"},
	}
	b := a
	b.Settings = map[string]float64{"threads": 8, "feed.threads": 4, "profile.threads": 4, "feed.payload": 1024}
	b.Parameters = map[string]string{"feed.threadCount": "4", "profile.threadCount": "4", "feed.payloadSize": "1KiB", "testCount": "60"}
	got := Differences(&a, &b)
	assert.Equal(t, []Difference{{"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}}, got, "neither the total nor the file's words tell more")
	assert.Equal(t, []string{"threads"}, causes(got))
	b.Settings["feed.payload"] = 2048
	b.Parameters["feed.payloadSize"], b.Parameters["testCount"] = "2KiB", "61"
	got = Differences(&a, &b)
	assert.Equal(t, []Difference{{"feed.payload", "1 KiB", "2 KiB"}, {"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}, {"testCount", "60", "61"}}, got)
	assert.Equal(t, []string{"feed.payload", "threads", "testCount"}, causes(got))
}

// A plan of one track has knobs without its name, and a file's words with it.
func TestAKnobAndTheWordThatItComesFromAreOneCause(t *testing.T) {
	a := Conditions{
		Settings:   map[string]float64{"threads": 4, "payload": 1024},
		Parameters: map[string]string{"eligibility.threadCount": "4", "eligibility.payloadSize": "1KiB", "eligibility.totalEntryCount": "4"},
	}
	b := a
	b.Settings = map[string]float64{"threads": 8, "payload": 1024}
	b.Parameters = map[string]string{"eligibility.threadCount": "8", "eligibility.payloadSize": "1KiB", "eligibility.totalEntryCount": "4"}
	assert.Equal(t, []Difference{{"threads", "4", "8"}}, Differences(&a, &b))
	for _, text := range []string{"16KiB", "16384"} {
		c := b
		c.Settings = map[string]float64{"threads": 4, "payload": 16384}
		c.Parameters = map[string]string{"eligibility.threadCount": "4", "eligibility.payloadSize": text, "eligibility.totalEntryCount": "4"}
		assert.Equal(t, []Difference{{"payload", "1 KiB", "16 KiB"}}, Differences(&a, &c))
	}
	b.Parameters["eligibility.totalEntryCount"] = "8"
	assert.Equal(t, []string{"threads", "eligibility.totalEntryCount"}, causes(Differences(&a, &b)), "it has nothing to do with threads")
	b.Settings["threads"], b.Parameters["eligibility.totalEntryCount"] = 6, "4"
	assert.Equal(t, []string{"threads", "eligibility.threadCount"}, causes(Differences(&a, &b)), "it changed otherwise")
}

func TestWhatDoesNotCountIsComparedByItself(t *testing.T) {
	v := 10.0
	r := read(t, &rundir.Folder{Run: rundir.Run{MeasuredS: 10, Parts: []string{"g1.put"}, Operations: []rundir.Operation{
		{Track: "g1", Op: "invocation", Count: 100, Throughput: &v}, {Track: "g1", Op: "put", Count: 100, Throughput: &v},
	}}})
	assert.Nil(t, r.Parts[0].Operation)
	assert.InDelta(t, 10, r.Parts[0].Figures[Throughput].Value, 1e-9)
	assert.Equal(t, &measure.Operation{Track: "g1", Op: "put"}, r.Parts[2].Operation)
	assert.InDelta(t, 10, r.Parts[2].Figures[Throughput].Value, 1e-9, "of itself it has a rate")
}

func TestFourTimesTheThreadsIsMoreThroughputAndMoreTime(t *testing.T) {
	a, b := read(t, rundirtest.NewFolder(day, "redis", 4, 1)), read(t, rundirtest.NewFolder(day, "redis", 32, 2))
	c := Sets(one(a), one(b), Options{})
	require.Len(t, c.Parts, 3)
	assert.Nil(t, c.Parts[0].Operation, "all calls come first")
	assert.Equal(t, []string{"putall", "verify"}, []string{c.Parts[1].Operation.Op, c.Parts[2].Operation.Op})
	got := verdicts(c.Parts[1])
	assert.Equal(t, "better", got[Throughput])
	assert.Equal(t, "worse", got[P50])
	assert.Empty(t, got[Max], "the largest value is chance")
	back := verdicts(Sets(one(b), one(a), Options{}).Parts[1])
	assert.Equal(t, "worse", back[Throughput], "the other way round it is the other way round")
	assert.Equal(t, "better", back[P50])
	assert.Contains(t, c.Differences, Difference{"threads", "4", "32"})
	assert.Contains(t, c.Notes, Single)
}

func TestTheSameStoreTwiceIsNeitherBetterNorWorse(t *testing.T) {
	a, b := read(t, rundirtest.NewFolder(day, "redis", 16, 100)), read(t, rundirtest.NewFolder(day, "redis", 16, 200))
	for figure, words := range verdicts(Sets(one(a), one(b), Options{}).Parts[0]) {
		assert.NotContains(t, []string{"better", "worse"}, words, "%s", figure)
	}
}

func TestOperationsOfOneRunAloneAreNotCompared(t *testing.T) {
	a, b := rundirtest.NewFolder(day, "redis", 16, 1), rundirtest.NewFolder(day, "redis", 16, 2)
	b.Run.Operations = slices.Clone(b.Run.Operations)
	b.Run.Operations[1].Op = "count"
	c := Sets(one(read(t, a)), one(read(t, b)), Options{})
	require.Len(t, c.Parts, 2)
	assert.Equal(t, &measure.Operation{Track: "feed", Op: "putall"}, c.Parts[1].Operation)
}

func TestRunsWithoutAnythingMeasuredAreNotJudged(t *testing.T) {
	r := read(t, &rundir.Folder{Run: rundir.Run{Verification: workload.Verification{State: workload.Skipped}}})
	c := Sets(one(r), one(r), Options{})
	require.Len(t, c.Parts, 1)
	for figure, words := range verdicts(c.Parts[0]) {
		assert.Empty(t, words, "%s", figure)
	}
	assert.Equal(t, Unknown, c.Parts[0].Findings[0].Text(c.Parts[0].Findings[0].A, false))
}

func TestProcessorTimeComesFromWhatWasWatched(t *testing.T) {
	cores, used := 0.5, 3.0
	r := &rundir.Run{MeasuredS: 10, Operations: []rundir.Operation{{Track: "a", Op: "b", Count: 1000, Calls: 1000, Throughput: &used}}}
	figures := func() map[Figure]Estimate {
		m := Measured{Figures: map[Figure]Estimate{}}
		m.cpu(r)
		return m.Figures
	}
	assert.Empty(t, figures())
	r.Observed = &verdict.Observed{Seconds: 10, CPU: 0.2, Store: &verdict.Used{CPU: &used}}
	assert.InDelta(t, 2e6, figures()[ClientCPU].Value, 1e-6, "0.2 processors for 10 s and a thousand operations")
	assert.InDelta(t, 3e6, figures()[StoreCPU].Value, 1e-6, "the server's own word")
	r.Observed.Processes = []verdict.Process{{Role: "perfbench", CPU: &used}, {Role: "redis", CPU: &cores}}
	assert.InDelta(t, 5e6, figures()[StoreCPU].Value, 1e-6, "its process on this machine tells more")
	r.Observed.Processes = append(r.Observed.Processes, verdict.Process{Role: "redis at another"})
	r.Observed.Store = nil
	assert.NotContains(t, figures(), StoreCPU, "the processor time of some of its nodes is not that of the store")
}

// calls is a run of n calls of 1, 2, 3 … nanoseconds.
func calls(n int64) Measured {
	m := Measured{Figures: map[Figure]Estimate{}, Response: measure.NewHistogram(), Calls: n}
	for i := range n {
		_ = m.Response.RecordValue(i + 1)
	}
	return m
}

func TestAPercentileNeedsCallsBehindIt(t *testing.T) {
	few, some, many := calls(20), calls(1000), calls(100_000)
	for _, m := range []Measured{few, some, many} {
		m.percentiles(make([]counts, 30), make([]int, 30))
	}
	assert.True(t, few.Figures[P99].Vague)
	assert.Equal(t, Unsure, judged(P99, []Estimate{few.Figures[P99]}, []Estimate{many.Figures[P99]}).Verdict)
	assert.False(t, some.Figures[P50].Vague)
	assert.Greater(t, some.Figures[P50].SE/500, 5*many.Figures[P50].SE/50_000, "a hundred times the calls, a tenth of the error")
	assert.InDelta(t, 500, some.Figures[P50].Value, 2)
}

func TestBatchesThatDifferWidenAPercentile(t *testing.T) {
	batch := func(from, n int64) counts {
		var c counts
		for i := range n {
			c = append(c, count{from + i, 1})
		}
		return c
	}
	var calm, wild []counts
	for i := range int64(30) {
		calm, wild = append(calm, batch(500, 100)), append(wild, batch(100+i*7919%800, 100))
	}
	steady, rough := calls(3000), calls(3000)
	steady.percentiles(calm, make([]int, 30))
	rough.percentiles(wild, make([]int, 30))
	assert.Greater(t, rough.Figures[P50].SE, 2*steady.Figures[P50].SE)
	assert.Greater(t, rough.Figures[P999].SE, 2*steady.Figures[P999].SE, "a batch has no p99.9; the scatter of a lower one stands in")
}

// What was asked for mid-run is no scatter.
func TestLiveChangesAreTakenOut(t *testing.T) {
	var vals []float64
	var at []int
	for i := range 30 {
		vals, at = append(vals, 100+float64(i%2)+100*float64(i/15)), append(at, i/15)
	}
	assert.Less(t, stat.Successive(level(vals, at)).SE, 0.2)
	assert.Greater(t, stat.Successive(vals).SE, 5.0)
	short := append(slices.Repeat([]int{0}, 28), 1, 2)
	assert.InDelta(t, vals[29], level(vals, short)[29], 0, "two batches tell no level of their own")
}

// Nor is it scatter that a plan's phases do other things.
func TestPhasesAreStretchesOfTheirOwn(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Phases: []rundir.Phase{{Name: "load", To: 2.5}, {Name: "checks", From: 2.5, To: 6}, {Name: "profiles", From: 4, To: 6}}}}
	for at := range 6 {
		f.Series = append(f.Series, rundir.SeriesRow{T: at, Segment: at / 5})
	}
	got := segmentsOf(f, 6, 1)
	assert.Equal(t, []int{0, 0, 0, 1, 2, 3}, got, "load, load, load, checks, with profiles, a live change")
}

func TestRepeatsTellHowRunsVary(t *testing.T) {
	run := func(rate float64) *Run {
		return &Run{Parts: []Measured{{Figures: map[Figure]Estimate{Throughput: {Value: rate, SE: math.NaN()}, P99: {Value: 5, Vague: true}}}}}
	}
	got := Repeats(Set{Runs: []*Run{run(100), run(110), run(90)}})
	require.Len(t, got, 2)
	assert.Equal(t, []string{"entries/s", "99.7 ± 28.2", "90", "110", "10 %"}, got[0].Texts("entries"))
	assert.Equal(t, []string{"p99", "–", "–", "–", "–"}, got[1].Texts("entries"))
	assert.Equal(t, "–", Repeats(Set{Runs: []*Run{run(100)}})[0].Texts("entries")[4], "a single run varies from nothing")
}
