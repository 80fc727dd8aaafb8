package rundir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// fakeRun hands a journal the seconds of a made-up run of two operations, just as
// the engine does.
type fakeRun struct {
	rnd   *rand.Rand
	ops   []measure.Operation
	sums  map[string]*hdrhistogram.Histogram
	total measure.Result
}

func newFakeRun(seed uint64) *fakeRun {
	f := &fakeRun{
		rnd:  rand.New(rand.NewPCG(seed, 1)),
		ops:  []measure.Operation{{Track: "eligibility", Op: "put"}, {Track: "profile, x", Op: "putall"}},
		sums: map[string]*hdrhistogram.Histogram{},
	}
	f.total.Ops = []measure.Totals{{Operation: f.ops[0]}, {Operation: f.ops[1]}}
	return f
}

// second returns the second that begins at t; a histogram of it is cleared by the
// next call, as the engine's are reused.
func (f *fakeRun) second(t int) *measure.Second {
	s := &measure.Second{T: t, Length: 1, Warmup: t < 0, Result: &f.total}
	for i, op := range f.ops {
		n := int64(50 + f.rnd.IntN(200))
		row := measure.Row{T: t, Op: i, Count: n, Seconds: 1, Gauge: measure.Gauge{Threads: 4, Payload: 1024, Batch: 10, Rate: 0.5}}
		iv := measure.Interval{Op: op, Response: measure.NewHistogram(), Service: measure.NewHistogram(), Wait: measure.NewHistogram(), Lateness: measure.NewHistogram()}
		for range n {
			service, wait := int64(1e5+f.rnd.ExpFloat64()*1e6), f.rnd.Int64N(1000)
			_ = iv.Service.RecordValue(service)
			_ = iv.Wait.RecordValue(wait)
			_ = iv.Lateness.RecordValue(wait / 2)
			_ = iv.Response.RecordValue(service + wait)
		}
		d := measure.Summarize(iv.Response)
		row.ResponseP50, row.ResponseP99, row.ResponseMax = d.P50, d.P99, d.Max
		row.ServiceP99 = measure.Summarize(iv.Service).P99
		s.Rows = append(s.Rows, row)
		if s.Warmup {
			continue
		}
		s.Intervals = append(s.Intervals, iv)
		f.add(i, n, iv)
	}
	if !s.Warmup {
		f.total.Measured += time.Second
		f.total.Segments = []measure.Segment{{To: f.total.Measured, Settings: map[string]float64{"threads": 4}, Ops: f.total.Ops}}
		f.total.Changes = []measure.Change{{At: time.Second, Name: "threads", From: 2, To: 4, By: "timetable"}}
		f.total.Errors = []measure.ErrorCount{{Operation: f.ops[0], Class: "timeout", Count: int64(t)}}
		f.total.Messages = []measure.Message{{Operation: f.ops[0], Class: "timeout", Text: "i/o timeout"}}
	}
	return s
}

func (f *fakeRun) add(i int, n int64, iv measure.Interval) {
	o := &f.total.Ops[i]
	o.Count += n
	o.Calls += n
	o.Active += time.Second
	digest := func(what string, h *hdrhistogram.Histogram) measure.Summary {
		tag := hlog.Tag(o.Track, o.Op, what)
		if f.sums[tag] == nil {
			f.sums[tag] = measure.NewHistogram()
		}
		f.sums[tag].Merge(h)
		return measure.Summarize(f.sums[tag])
	}
	o.Response, o.Service, o.Wait = digest(hlog.Response, iv.Response), digest(hlog.Service, iv.Service), digest(hlog.Wait, iv.Wait)
	o.Lateness = digest(hlog.Lateness, iv.Lateness)
}

func options(t *testing.T) Options {
	t.Helper()
	return Options{
		Out: filepath.Join(t.TempDir(), "results"),
		Run: Run{
			Profile: "ingestion", Unit: "entries", Target: "embedded:", Store: Store{Name: "embedded"}, Seed: 7,
			Started:  time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
			Settings: map[string]float64{"threads": 4}, Parameters: map[string]string{"testCase": "put"},
		},
		Facts: func() any { return map[string]int{"loaders": 4} },
	}
}

// start makes a journal that is discarded at the end of the test unless finished.
func start(t *testing.T, o Options) *Journal {
	t.Helper()
	j, err := Create(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.close(); _ = j.hlog.Close(); _ = j.series.Close() })
	return j
}

// finish ends a journal as a run that reached its count.
func finish(t *testing.T, j *Journal, f *fakeRun) {
	t.Helper()
	r := j.Run()
	SetResult(&r, &f.total)
	r.EndedBy = "count"
	r.Verdict = Verdict{State: verdict.Valid}
	r.Verification = workload.Verification{State: workload.Passed, Summary: "all there"}
	require.NoError(t, j.Finish(r))
}

// settled waits until all that the journal was given is on the disk.
func settled(t *testing.T, j *Journal) {
	t.Helper()
	want := j.Run().Journal
	require.Eventually(t, func() bool {
		r, err := readRun(j.Dir())
		return err == nil && r.Journal == want
	}, 10*time.Second, time.Millisecond)
}

// kill copies the folder of a run in progress: what a killed process leaves.
func kill(t *testing.T, j *Journal) string {
	t.Helper()
	settled(t, j)
	dir := filepath.Join(t.TempDir(), j.Run().ID)
	require.NoError(t, os.CopyFS(dir, os.DirFS(j.Dir())))
	return dir
}

// consistent checks that the figures of a folder are those of its log and that no
// file holds more than run.json says.
func consistent(t *testing.T, f *Folder) {
	t.Helper()
	log, err := os.Open(filepath.Join(f.Dir, HlogFile))
	if err == nil {
		defer func() { _ = log.Close() }()
		merged, err := hlog.Merge(log)
		require.NoError(t, err)
		require.Len(t, merged, len(f.Histograms))
	}
	for _, o := range f.Run.Operations {
		for what, got := range map[string]Latency{hlog.Response: o.Response, hlog.Service: o.Service, hlog.Wait: o.Wait, hlog.Lateness: o.Lateness} {
			d := measure.Summarize(f.Histograms[hlog.Tag(o.Track, o.Op, what)])
			require.Equal(t, LatencyOf(d), got, fmt.Sprint(o.Track, o.Op, what))
			require.Equal(t, o.Calls, d.Count)
		}
		var count int64
		for _, r := range f.Series {
			if r.Track == o.Track && r.Op == o.Op && !r.Warmup {
				count += r.Count
			}
		}
		require.Equal(t, o.Count, count)
	}
}
