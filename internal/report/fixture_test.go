package report

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

var update = flag.Bool("update", false, "write the fixture and the golden files anew")

const fixtureDir = "../../testdata/runs/open-loop"

// fixture loads the run folder that the golden files were made of.
func fixture(t *testing.T) *rundir.Folder {
	t.Helper()
	f, err := rundir.Load(fixtureDir)
	require.NoError(t, err)
	return f
}

// generator makes up an open-loop run of two maps: two seconds of warm-up, ten
// measured, a live change after five. The same seed gives the same run.
type generator struct {
	rnd      *rand.Rand
	ops      []measure.Operation
	sums     [3]map[int][4]*hdrhistogram.Histogram // whole run, segment 0, segment 1
	res      measure.Result
	segments [2][]measure.Totals
}

// histograms returns those of response, service and wait time and of lateness.
func histograms() (h [4]*hdrhistogram.Histogram) {
	for i := range h {
		h[i] = measure.NewHistogram()
	}
	return h
}

func newGenerator() *generator {
	g := &generator{
		rnd: rand.New(rand.NewPCG(20, 26)),
		ops: []measure.Operation{{Track: "eligibility", Op: "putall"}, {Track: "profile", Op: "put"}},
	}
	for i := range g.sums {
		g.sums[i] = map[int][4]*hdrhistogram.Histogram{}
	}
	for _, o := range g.ops {
		g.res.Ops = append(g.res.Ops, measure.Totals{Operation: o})
		g.segments[0] = append(g.segments[0], measure.Totals{Operation: o})
		g.segments[1] = append(g.segments[1], measure.Totals{Operation: o})
	}
	return g
}

func (g *generator) second(t int) *measure.Second {
	segment, threads := 0, 4
	if t >= 5 {
		segment, threads = 1, 8
	}
	s := &measure.Second{T: t, Length: 1, Warmup: t < 0}
	for i, op := range g.ops {
		h := histograms()
		calls := int64(40*threads + g.rnd.IntN(40))
		for range calls {
			service, wait := int64(2e5+g.rnd.ExpFloat64()*3e5), int64(g.rnd.ExpFloat64()*2e4)
			for k, v := range []int64{service + wait, service, wait, wait / 4} {
				_ = h[k].RecordValue(v)
			}
		}
		units := calls
		if i == 0 {
			units *= 100
		}
		r := measure.Summarize(h[0])
		s.Rows = append(s.Rows, measure.Row{
			T: t, Op: i, Count: units, Seconds: 1, ResponseP50: r.P50, ResponseP99: r.P99, ResponseMax: r.Max,
			ServiceP99: measure.Summarize(h[1]).P99,
			Gauge:      measure.Gauge{Backlog: int64(g.rnd.IntN(5)), Threads: threads, Payload: 1024, Batch: 100, Rate: 20000, Segment: segment},
		})
		if s.Warmup {
			continue
		}
		s.Intervals = append(s.Intervals, measure.Interval{Op: op, Response: h[0], Service: h[1], Wait: h[2], Lateness: h[3]})
		g.add(&g.res.Ops[i], 0, i, units, h)
		g.add(&g.segments[segment][i], 1+segment, i, units, h)
	}
	if !s.Warmup {
		g.settle(t)
	}
	s.Result = &g.res
	return s
}

func (g *generator) add(o *measure.Totals, sum, op int, units int64, h [4]*hdrhistogram.Histogram) {
	all, ok := g.sums[sum][op]
	if !ok {
		all = histograms()
		g.sums[sum][op] = all
	}
	for k := range h {
		all[k].Merge(h[k])
	}
	o.Count += units
	o.Calls += h[0].TotalCount()
	o.Active += time.Second
	o.Response, o.Service, o.Wait = measure.Summarize(all[0]), measure.Summarize(all[1]), measure.Summarize(all[2])
	o.Lateness, o.Slowest = measure.Summarize(all[3]), measure.SlowestOf(all[0])
}

// settle brings what is not per operation up to the end of second t.
func (g *generator) settle(t int) {
	end := time.Duration(t+1) * time.Second
	g.res.Measured = end
	set := func(threads float64) map[string]float64 {
		return map[string]float64{"threads": threads, "payload": 1024, "rate": 20000}
	}
	g.res.Segments = []measure.Segment{{To: min(end, 5*time.Second), Settings: set(4), Ops: g.segments[0]}}
	if t < 5 {
		return
	}
	g.res.Segments = append(g.res.Segments, measure.Segment{From: 5 * time.Second, To: end, Settings: set(8), Ops: g.segments[1]})
	g.res.Shares = []measure.Shares{
		{Track: "eligibility", Threads: 4, Others: 4, Min: 612, Median: 631, Max: 655, Mean: 632.25, Deviation: 0.0253},
		{Track: "profile", Threads: 4, Others: 4, Min: 588, Median: 640, Max: 671, Mean: 634.5, Deviation: 0.0512},
	}
	g.res.Changes = []measure.Change{{At: 5 * time.Second, Name: "threads", From: 4, To: 8, By: "timetable", Segment: 1}}
	g.res.Ops[1].Errors, g.res.Ops[1].Unstarted = 3, 2
	g.segments[1][1].Errors, g.segments[1][1].Unstarted = 3, 2
	g.res.Errors = []measure.ErrorCount{{Operation: g.ops[1], Class: "timeout", Count: 3}}
	g.res.Messages = []measure.Message{{Operation: g.ops[1], Class: "timeout", Text: "read 127.0.0.1:6379: i/o timeout | <again>\n"}}
}

func fixtureRun() rundir.Run {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return rundir.Run{
		Profile: "ingestion", Unit: "entries", Target: "embedded:", Seed: 42, WarmupS: 2, Tags: map[string]string{"build": "1.4.2", "branch": "main"},
		Store:   rundir.Store{Name: "embedded", Product: "miniredis", Version: "2.40.0", Topology: "standalone"},
		Started: at, Measured: at.Add(2 * time.Second),
		Settings:    map[string]float64{"threads": 4, "payload": 1024, "rate": 20000},
		Parameters:  map[string]string{"profile.testCase": "put", "eligibility.testCase": "putall", "threads": "4"},
		Origins:     map[string]string{"threads": "flag", "payload": "preset", "rate": "flag", "profile.testCase": "file", "eligibility.testCase": "file"},
		Environment: map[string]any{"cpus": 2, "version": "0.1.0"},
		Notices:     []string{"These numbers do not describe a real server: embedded: is a small imitation inside perfbench."},
	}
}

// sampled is what was sampled of second s: the store is saved in seconds 6 and 7.
func sampled(s int) []rundir.Sample {
	saving := 0.0
	if s == 6 || s == 7 {
		saving = 1
	}
	return []rundir.Sample{
		{T: s, Source: rundir.OfClient, Name: "cpu_cores", Value: 0.25 + float64(s)/16},
		{T: s, Source: rundir.OfMachine, Name: "load_per_core", Value: 0.5},
		{T: s, Source: rundir.OfProcess, Name: "cpu_cores", Value: 0.75 + saving},
		{T: s, Source: rundir.OfStore, Name: "memory_bytes", Value: float64(1<<20 + s*1000)},
		{T: s, Source: rundir.OfStore, Name: "saving", Value: saving},
	}
}

// generate writes the run into a fresh folder.
func generate(t *testing.T) string {
	t.Helper()
	j, err := rundir.Create(rundir.Options{
		Out: t.TempDir(), Run: fixtureRun(), Facts: func() any { return map[string]any{"loaders": 8} },
	})
	require.NoError(t, err)
	g := newGenerator()
	for s := -2; s < 10; s++ {
		require.NoError(t, j.Second(g.second(s)))
		j.Sampled(sampled(s))
	}
	r := j.Run()
	rundir.SetResult(&r, &g.res)
	r.Ended = r.Measured.Add(10 * time.Second)
	r.EndedBy = "duration"
	r.Observed = &verdict.Observed{Seconds: 10, Cores: 4, CPU: 0.5, Noted: []verdict.Noted{
		{AtS: 6, Event: "fork", ForMs: 12}, {AtS: 6, Command: "HMSET", Key: "perfbench:eligibility", ForMs: 10.5},
		{AtS: 7, Command: "HMSET", Key: "perfbench:eligibility", ForMs: 31.25}, {AtS: 7, Command: "KEYS", ForMs: 14},
	}, NotedMore: 3}
	r.Verification = workload.Verification{State: workload.Passed, Summary: "all acknowledged entries are stored", Checks: []workload.Check{
		{Name: "entries in profile", OK: true, Want: "2340", Got: "2340"},
	}}
	r.Verdict.Thresholds = []rundir.Threshold{{Expr: "p99<1ms", Got: "1.6 ms"}}
	r.Verdict = r.Judge()
	require.NoError(t, j.Finish(r))
	return j.Dir()
}

func TestFixtureIsWhatTheGeneratorMakes(t *testing.T) {
	dir := generate(t)
	if *update {
		require.NoError(t, os.RemoveAll(fixtureDir))
		require.NoError(t, os.CopyFS(fixtureDir, os.DirFS(dir)))
	}
	for _, name := range []string{rundir.SeriesFile, rundir.SamplesFile, rundir.NoticeFile} {
		want, err := os.ReadFile(filepath.Join(fixtureDir, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
	}
	// Compressed bytes may differ between versions of Go; what they say may not.
	fresh, err := rundir.Load(dir)
	require.NoError(t, err)
	kept := fixture(t)
	fresh.Run.Journal.HlogBytes = kept.Run.Journal.HlogBytes
	require.Equal(t, kept.Run, fresh.Run)
	require.Len(t, fresh.Histograms, 8)
	for tag, h := range kept.Histograms {
		require.True(t, h.Equals(fresh.Histograms[tag]), tag)
	}
}
