package rundir

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestFinishedRunReadsBack(t *testing.T) {
	o := options(t)
	o.Formats = []Format{{ID: "note", Encode: func(f *Folder) ([]File, error) {
		return []File{{Name: "note.txt", Data: []byte(f.Run.EndedBy)}}, nil
	}}}
	j := start(t, o)
	j.Update(func(r *Run) { r.Notices = []string{"Not a real server."} })
	f := newFakeRun(1)
	for s := -2; s < 5; s++ {
		j.Sampled([]Sample{{s - 1, OfStore, "10.0.0.1:6379", "cpu_cores", 0.5}, {s - 1, OfProcess, "", "a, b", 1234567890123}, {s - 1, OfStore, "", "nothing", math.NaN()}})
		require.NoError(t, j.Second(f.second(s)))
	}
	j.Sampled([]Sample{{4, OfClient, "", "cpu_cores", 1.0 / 3}})
	finish(t, j, f)

	assert.Equal(t, "260304-050607-ingestion-embedded", filepath.Base(j.Dir()))
	got, err := Load(j.Dir())
	require.NoError(t, err)
	assert.Equal(t, "count", got.Run.EndedBy)
	assert.EqualValues(t, 5, got.Run.MeasuredS)
	assert.Len(t, got.Series, 14)
	assert.True(t, got.Series[0].Warmup)
	assert.Equal(t, -2, got.Series[0].T)
	assert.Equal(t, "profile, x", got.Series[1].Track)
	assert.JSONEq(t, `{"loaders":4}`, string(got.Run.Facts))
	assert.Equal(t, []string{"i/o timeout"}, got.Run.Errors[0].Messages)
	assert.Len(t, got.Histograms, 8)
	consistent(t, got)

	var names []string
	files, err := os.ReadDir(j.Dir())
	require.NoError(t, err)
	for _, f := range files {
		names = append(names, f.Name())
	}
	assert.Equal(t, []string{"NOTICE.txt", "latency.hlog", "note.txt", "run.json", "series.csv", "store.csv"}, names)
	require.Len(t, got.Samples, 15)
	assert.Equal(t, []Sample{{3, OfStore, "10.0.0.1:6379", "cpu_cores", 0.5}, {3, OfProcess, "", "a, b", 1234567890123}, {4, OfClient, "", "cpu_cores", 0.333}}, got.Samples[12:])
	data, err := os.ReadFile(filepath.Join(j.Dir(), SamplesFile))
	require.NoError(t, err)
	assert.Equal(t, string(SamplesCSV(got.Samples)), string(data))
	assert.EqualValues(t, len(data), got.Run.Journal.SamplesBytes)
	notice, err := os.ReadFile(filepath.Join(j.Dir(), NoticeFile))
	require.NoError(t, err)
	assert.Equal(t, "Not a real server.\n", string(notice))
}

func TestFoldersOfTheSameSecondAreNumbered(t *testing.T) {
	o := options(t)
	a, b, c := start(t, o), start(t, o), start(t, o)
	assert.Equal(t, a.Dir()+"-2", b.Dir())
	assert.Equal(t, a.Dir()+"-3", c.Dir())
}

func TestKilledRunIsCutBackToItsLastSecond(t *testing.T) {
	j := start(t, options(t))
	f := newFakeRun(2)
	for s := range 4 {
		j.Sampled([]Sample{{s, OfStore, "", "cpu_cores", 1}})
		require.NoError(t, j.Second(f.second(s)))
	}
	dir := kill(t, j)
	// The process died after it had appended the next second, before run.json.
	for _, name := range []string{HlogFile, SeriesFile, SamplesFile} {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteString("Tag=eligibility.put.response,4.000,1.000,0.5,HISTFAAAA")
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	got, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, CutShort, got.Run.EndedBy)
	assert.Equal(t, verdict.Degraded, got.Run.Verdict.State)
	assert.Contains(t, got.Run.Verdict.Causes, string(verdict.Unfinished))
	assert.EqualValues(t, 4, got.Run.Journal.Seconds)
	assert.Contains(t, strings.Join(got.Run.Remarks(), " "), "cut short")
	consistent(t, got)
	info, err := os.Stat(filepath.Join(dir, HlogFile))
	require.NoError(t, err)
	assert.Equal(t, got.Run.Journal.HlogBytes, info.Size())
	assert.Len(t, got.Samples, 4)
	info, err = os.Stat(filepath.Join(dir, SamplesFile))
	require.NoError(t, err)
	assert.Equal(t, got.Run.Journal.SamplesBytes, info.Size())
	assert.NoFileExists(t, filepath.Join(dir, reserveFile))
}

func TestRunInProgressIsReadAndLeftAlone(t *testing.T) {
	if !CanLock {
		t.Skip("this system has no locks to tell a living run by")
	}
	j := start(t, options(t))
	f := newFakeRun(3)
	require.NoError(t, j.Second(f.second(0)))
	settled(t, j)
	assert.True(t, Alive(j.Dir()))
	live, err := Load(j.Dir())
	require.NoError(t, err)
	assert.Equal(t, StillRunning, live.Run.EndedBy)
	assert.Equal(t, []string{"This run is still going. All figures cover its first 1 s."}, live.Run.Remarks())
	assert.FileExists(t, filepath.Join(j.Dir(), reserveFile))
	require.NoError(t, j.Second(f.second(1)))
	finish(t, j, f)
	assert.False(t, Alive(j.Dir()))
	got, err := Load(j.Dir())
	require.NoError(t, err)
	consistent(t, got)
}

func TestTruncatedFilesStayConsistent(t *testing.T) {
	j := start(t, options(t))
	f := newFakeRun(4)
	for s := -1; s < 4; s++ {
		j.Sampled([]Sample{{s, OfStore, "", "cpu_cores", float64(s)}})
		require.NoError(t, j.Second(f.second(s)))
	}
	rnd := rand.New(rand.NewPCG(9, 9))
	for range 40 {
		dir := kill(t, j)
		for _, name := range []string{HlogFile, SeriesFile, SamplesFile} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			require.NoError(t, err)
			if rnd.IntN(3) > 0 {
				require.NoError(t, os.Truncate(path, rnd.Int64N(info.Size()+1)))
			}
		}
		first, err := Load(dir)
		require.NoError(t, err)
		consistent(t, first)
		again, err := Load(dir)
		require.NoError(t, err)
		assert.Equal(t, first.Run.Operations, again.Run.Operations)
		assert.Equal(t, first.Run.Notices, again.Run.Notices, "a repaired folder needs no second repair")
		assert.Equal(t, first.Samples, again.Samples)
		for i, s := range first.Samples {
			assert.Equal(t, Sample{i - 1, OfStore, "", "cpu_cores", float64(i - 1)}, s)
			assert.Less(t, float64(s.T), first.Run.Journal.Seconds)
		}
	}
}

func TestFailedVerificationLeavesNoThroughput(t *testing.T) {
	j := start(t, options(t))
	f := newFakeRun(5)
	for s := range 3 {
		require.NoError(t, j.Second(f.second(s)))
	}
	r := j.Run()
	SetResult(&r, &f.total)
	r.EndedBy = "count"
	r.Verification = workload.Verification{State: workload.Failed, Summary: "3 entries are missing"}
	require.NoError(t, j.Finish(r))
	got, err := Load(j.Dir())
	require.NoError(t, err)
	for _, o := range append(got.Run.Operations, got.Run.Segments[0].Operations...) {
		assert.Nil(t, o.Throughput)
	}
	for _, row := range got.Series {
		assert.True(t, math.IsNaN(row.Throughput))
	}
	data, err := os.ReadFile(filepath.Join(j.Dir(), SeriesFile))
	require.NoError(t, err)
	assert.Equal(t, 6, strings.Count(string(data), ",NaN,"))
	consistent(t, got)
}

func TestDiscardRemovesTheFolder(t *testing.T) {
	j := start(t, options(t))
	require.NoError(t, j.Discard())
	assert.NoDirExists(t, j.Dir())
}

func TestRunWithoutASecondHasACompleteFolder(t *testing.T) {
	j := start(t, options(t))
	r := j.Run()
	r.EndedBy = "interrupt"
	require.NoError(t, j.Finish(r))
	got, err := Load(j.Dir())
	require.NoError(t, err)
	assert.Empty(t, got.Histograms)
	assert.Empty(t, got.Series)
}

func TestSecondOfUnknownOperationIsKept(t *testing.T) {
	o := options(t)
	o.Operations = []measure.Operation{{Track: "a", Op: "b"}}
	j := start(t, o)
	require.NoError(t, j.Second(&measure.Second{T: -1, Length: 1, Warmup: true, Rows: []measure.Row{{Op: 0}, {Op: 1}}}))
	r := j.Run()
	r.EndedBy = "interrupt"
	require.NoError(t, j.Finish(r))
	got, err := Load(j.Dir())
	require.NoError(t, err)
	require.Len(t, got.Series, 2)
	assert.Equal(t, "a", got.Series[0].Track)
	assert.Equal(t, "op1", got.Series[1].Op)
}
