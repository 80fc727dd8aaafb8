package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

func printed(t *testing.T, f *rundir.Folder, id string) string {
	t.Helper()
	formats, err := rundir.Pick(All(), []string{id}, f.Run.Profile)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Print(&b, f, formats[0]))
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, format := range All() {
		t.Run(format.ID, func(t *testing.T) {
			f := fixture(t)
			got := printed(t, f, format.ID)
			assert.Equal(t, got, printed(t, f, format.ID), "the same folder gives the same bytes")
			expect(t, format.ID, got)
		})
	}
}

func TestEveryFormatIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		assert.False(t, seen[f.ID], f.ID)
		seen[f.ID] = true
		assert.NotEmpty(t, f.Title, f.ID)
		assert.True(t, strings.HasPrefix(f.Doc, "# "+f.ID+": "), f.ID)
		assert.Contains(t, f.Doc, "\n```\n", "an example of "+f.ID)
	}
}

// recomputed reads the fixture's log with the library's own reader.
func recomputed(t *testing.T, f *rundir.Folder) map[string]measure.Summary {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir, rundir.HlogFile))
	require.NoError(t, err)
	r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(data))
	sums := map[string]*hdrhistogram.Histogram{}
	for {
		h, err := r.NextIntervalHistogram()
		require.NoError(t, err)
		if h == nil {
			break
		}
		if sums[h.Tag()] == nil {
			sums[h.Tag()] = measure.NewHistogram()
		}
		require.Zero(t, sums[h.Tag()].Merge(h))
	}
	out := map[string]measure.Summary{}
	for tag, h := range sums {
		out[tag] = measure.Summarize(h)
	}
	return out
}

func TestPercentilesOfEveryFormatAreThoseOfTheLog(t *testing.T) {
	f := fixture(t)
	want := recomputed(t, f)
	require.Len(t, want, 8)

	var run rundir.Run
	require.NoError(t, json.Unmarshal([]byte(printed(t, f, "json")), &run))
	text, markdown, page := printed(t, f, "text"), printed(t, f, "markdown"), printed(t, f, "html")
	for _, o := range run.Operations {
		for what, got := range map[string]rundir.Latency{hlog.Response: o.Response, hlog.Service: o.Service, hlog.Wait: o.Wait, hlog.Lateness: o.Lateness} {
			w := want[hlog.Tag(o.Track, o.Op, what)]
			assert.Equal(t, rundir.LatencyOf(w), got)
			cells := []string{o.Track, o.Op, what}
			w = w.Shown()
			for _, v := range []int64{int64(math.Round(w.Mean)), w.Min, w.P50, w.P90, w.P95, w.P99, w.P999, w.P9999, w.Max} {
				if v == measure.Hidden {
					cells = append(cells, "–")
					continue
				}
				cells = append(cells, units.Duration(time.Duration(v)))
			}
			assert.Contains(t, squeezed(text), strings.Join(cells, " "))
			assert.Contains(t, markdown, "| "+strings.Join(cells, " | ")+" |")
			assert.Contains(t, page, strings.Join(cells[3:], `</td><td class="n">`))
		}
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestSeriesPercentilesAreThoseOfTheLog(t *testing.T) {
	f := fixture(t)
	rows, err := csv.NewReader(strings.NewReader(printed(t, f, "csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, rundir.SeriesColumns, strings.Join(rows[0], ","))
	series := map[string][]string{}
	for _, row := range rows[1:] {
		series[row[0]+row[1]+"."+row[2]] = row
	}
	require.Len(t, series, 24)
	r := hdrhistogram.NewHistogramLogReader(strings.NewReader(printed(t, f, "hlog")))
	intervals := 0
	for h, err := r.NextIntervalHistogram(); h != nil; h, err = r.NextIntervalHistogram() {
		require.NoError(t, err)
		intervals++
		second := h.StartTimeMs()/1000 - f.Run.Measured.Unix()
		op, what, _ := cutLast(h.Tag())
		row := series[fmt.Sprint(second)+op]
		s := measure.Summarize(h)
		switch what {
		case hlog.Response:
			assert.Equal(t, fmt.Sprint(s.P50, s.P99, s.Max), fmt.Sprint(row[6], " ", row[7], " ", row[8]))
		case hlog.Service:
			assert.Equal(t, fmt.Sprint(s.P99), row[9])
		}
	}
	assert.Equal(t, 80, intervals)
}

func cutLast(tag string) (string, string, bool) {
	i := strings.LastIndex(tag, ".")
	return tag[:i], tag[i+1:], true
}

func TestPercentileFilesEndAtTheMaximum(t *testing.T) {
	f := fixture(t)
	files, err := hgrmFormat.Encode(f)
	require.NoError(t, err)
	require.Len(t, files, 8)
	want := recomputed(t, f)
	for _, file := range files {
		s := want[strings.TrimSuffix(file.Name, ".hgrm")]
		assert.Contains(t, squeezed(string(file.Data)), fmt.Sprintf("%.3f 1.000000 %d inf", float64(s.Max)/1e6, s.Count))
	}
}

func TestFailedVerificationShowsNoThroughput(t *testing.T) {
	f := fixture(t)
	f.Run.Verification = workload.Verification{State: workload.Failed, Summary: "3 entries are missing"}
	for i := range f.Run.Operations {
		f.Run.Operations[i].Throughput = nil
	}
	for i := range f.Series {
		f.Series[i].Throughput = math.NaN()
	}
	assert.Contains(t, printed(t, f, "csv"), ",NaN,")
	assert.Contains(t, printed(t, f, "json"), `"throughput_per_s": null`)
	for _, id := range []string{"text", "markdown", "html", "junit"} {
		doc := printed(t, f, id)
		assert.Equal(t, 1, strings.Count(strings.ReplaceAll(doc, "\n", " "), "3 entries are missing"), id)
		assert.NotContains(t, doc, "entries per second\n", id)
	}
	assert.Contains(t, squeezed(printed(t, f, "text")), "eligibility putall "+fmt.Sprint(f.Run.Operations[0].Count)+" NaN")
}

func TestEveryReportForPeopleRepeatsTheNotices(t *testing.T) {
	f := fixture(t)
	f.Run.EndedBy = rundir.CutShort
	for _, id := range []string{"text", "markdown", "html", "junit"} {
		doc := squeezed(strings.ReplaceAll(printed(t, f, id), "\n ", " "))
		assert.Contains(t, doc, "These numbers do not describe a real server", id)
		assert.Contains(t, doc, "This run was cut short", id)
	}
}

func TestReportsOfARunWithoutAnything(t *testing.T) {
	f := &rundir.Folder{Dir: t.TempDir(), Run: rundir.Run{Profile: "ingestion"}}
	for _, format := range All() {
		files, err := format.Encode(f)
		require.NoError(t, err, format.ID)
		for _, file := range files {
			assert.NotContains(t, string(file.Data), "%!", format.ID)
		}
	}
}

func TestStrangersInNamesDoNoHarm(t *testing.T) {
	f := fixture(t)
	f.Run.Operations[0].Track = "<script>|\x1b[31m../..\n"
	page := printed(t, f, "html")
	assert.Equal(t, 1, strings.Count(page, "<script"), "the page's own")
	assert.NotContains(t, printed(t, f, "text"), "\x1b")
	assert.NotContains(t, printed(t, f, "markdown"), "<script")
	f.Histograms["../a/b.put.wait"] = measure.NewHistogram()
	f.Histograms["../a:b.put.wait"] = measure.NewHistogram()
	files, err := hgrmFormat.Encode(f)
	require.NoError(t, err)
	require.Len(t, files, 10)
	names := map[string]bool{}
	for _, file := range files {
		assert.True(t, filepath.IsLocal(file.Name))
		assert.Equal(t, file.Name, filepath.Base(file.Name))
		names[file.Name] = true
	}
	assert.Len(t, names, 10)
}

func TestHTMLNeedsNothingElse(t *testing.T) {
	page := strings.ReplaceAll(printed(t, fixture(t), "html"), "'http://www.w3.org/2000/svg'", "")
	for _, s := range []string{"<script src", "http://", "https://", "url(", "@import", "src="} {
		assert.NotContains(t, page, s)
	}
	assert.Contains(t, page, "prefers-color-scheme: dark")
	drawings := regexp.MustCompile(`(?s)<figure .*?</figure>`).FindAllString(page, -1)
	assert.Len(t, drawings, 9, "throughput, bands, heat map, processors, memory, three counters, percentiles")
	for _, drawing := range drawings {
		assert.NotContains(t, drawing, "NaN")
		var parsed struct{}
		assert.NoError(t, xml.Unmarshal([]byte(drawing), &parsed))
	}
}

func TestJUnitCountsItsFailures(t *testing.T) {
	f := fixture(t)
	f.Run.Verification.Checks = append(f.Run.Verification.Checks, workload.Check{Name: "sample", Want: "a", Got: "b", Examples: []string{"key 1"}})
	f.Run.EndedBy = rundir.CutShort
	var got testSuites
	require.NoError(t, xml.Unmarshal([]byte(printed(t, f, "junit")), &got))
	assert.Equal(t, 6, got.Tests)
	assert.Equal(t, 3, got.Failures)
	assert.Len(t, got.Suites[0].Cases, 6)
	assert.Equal(t, "key 1", got.Suites[0].Cases[5].Failure.Text)
	f.Run.Verification.State = workload.Skipped
	assert.Contains(t, printed(t, f, "junit"), "<skipped ")
}

func TestJUnitFailsForAVerdictWhereThatWasAskedFor(t *testing.T) {
	verdictOf := func(f *rundir.Folder) testCase {
		c := junit(&f.Run).Suites[0].Cases[1]
		require.Equal(t, "verdict", c.Name)
		return c
	}
	f := fixture(t)
	require.Equal(t, "VALID", f.Run.Verdict.State, "a live change is no doubt")
	f.Run.Verdict = rundir.Verdict{State: "DEGRADED", Reasons: []string{"too few samples"}, Causes: []string{"samples"}}
	c := verdictOf(f)
	require.Nil(t, c.Failure)
	require.NotNil(t, c.Skipped)
	assert.Contains(t, c.Skipped.Message, "DEGRADED: too few samples")
	f.Run.Parameters["require-valid"] = "on"
	require.NotNil(t, verdictOf(f).Failure)
	f.Run.Parameters["require-valid"] = "off"
	f.Run.Verdict.State = "INVALID"
	require.NotNil(t, verdictOf(f).Failure, "what is worth nothing fails anyhow")
	f.Run.Verdict = rundir.Verdict{State: "VALID"}
	c = verdictOf(f)
	assert.Nil(t, c.Failure)
	assert.Nil(t, c.Skipped)
}

func TestJUnitHasACaseForEachThreshold(t *testing.T) {
	f := fixture(t)
	f.Run.Verdict.Thresholds = []rundir.Threshold{{Expr: "p99<1ms", Got: "1.6 ms"}, {Expr: "errors<1%", OK: true, Got: "0.2 %"}}
	var got testSuites
	require.NoError(t, xml.Unmarshal([]byte(printed(t, f, "junit")), &got))
	var met, broken testCase
	for _, c := range got.Suites[0].Cases {
		switch c.Name {
		case "threshold: errors<1%":
			met = c
		case "threshold: p99<1ms":
			broken = c
		}
	}
	assert.Nil(t, met.Failure)
	assert.Equal(t, "it was 0.2 %", met.Out)
	require.NotNil(t, broken.Failure)
	assert.Equal(t, "it was 1.6 ms", broken.Failure.Message)
	assert.Equal(t, 1, got.Failures, "the missed threshold alone: the verdict is another thing")
}

func TestPick(t *testing.T) {
	own := rundir.Format{ID: "padogrid", Profile: "ingestion", Encode: func(*rundir.Folder) ([]rundir.File, error) {
		return []rundir.File{{Name: "a.txt", Data: []byte("a\n")}, {Name: "b.txt", Data: []byte("b\n")}}, nil
	}}
	formats := All(own)
	got, err := rundir.Pick(formats, []string{"json", "padogrid", "json"}, "ingestion")
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "padogrid", got[1].ID)

	_, err = rundir.Pick(formats, []string{"markdwon"}, "ingestion")
	assert.ErrorContains(t, err, `unknown format "markdwon"`)
	assert.Contains(t, fault.HintOf(err), "did you mean markdown")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	_, err = rundir.Pick(formats, []string{"zzzz"}, "ingestion")
	assert.Regexp(t, "^one of: .*html.*; "+fault.SeeFormats+"$", fault.HintOf(err), "all, where none is like it")
	_, err = rundir.Pick(formats, []string{"padogrid"}, "authz")
	assert.ErrorContains(t, err, "is a document of profile ingestion, and the run is of authz")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	var b bytes.Buffer
	require.NoError(t, Print(&b, fixture(t), own))
	assert.Equal(t, "==> a.txt <==\na\n\n==> b.txt <==\nb\n", b.String())
	own.Profile = "authz"
	assert.ErrorContains(t, Print(&b, fixture(t), own), "is a document of profile authz")
}

func TestWriteElsewhere(t *testing.T) {
	f := fixture(t)
	dir := filepath.Join(t.TempDir(), "new")
	bad := rundir.Format{ID: "bad", Encode: func(*rundir.Folder) ([]rundir.File, error) {
		return []rundir.File{{Name: "../escape", Data: []byte("x")}}, nil
	}}
	names, err := Write(f, append([]rundir.Format{bad}, All()...), dir)
	assert.ErrorContains(t, err, "leads out of the folder")
	assert.Len(t, names, 20)
	for _, name := range append(names, rundir.NoticeFile) {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.NoFileExists(t, filepath.Join(filepath.Dir(dir), "escape"))
	copied, err := rundir.Load(dir)
	require.NoError(t, err, "json, csv, store and hlog make a run folder again")
	assert.Equal(t, f.Run, copied.Run)
	assert.Equal(t, f.Series, copied.Series)
	assert.Equal(t, f.Samples, copied.Samples)
}

func TestWriteIntoTheRunFolderLeavesItsSources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(fixtureDir)))
	f, err := rundir.Load(dir)
	require.NoError(t, err)
	f.Run.Seed++
	names, err := Write(f, []rundir.Format{jsonFormat, textFormat}, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"run.json", "report.txt"}, names)
	assert.FileExists(t, filepath.Join(dir, "report.txt"))
	again, err := rundir.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, fixture(t).Run, again.Run)
}

func TestSummaryIsTheTopOfTheText(t *testing.T) {
	s := Summary(fixture(t))
	for _, want := range []string{"do not describe a real server", "Operations", "eligibility", "Errors", "timeout"} {
		assert.Contains(t, s, want)
	}
	assert.NotContains(t, s, "Segments")
	assert.NotContains(t, s, "Times")
}

func FuzzGraph(f *testing.F) {
	f.Add(1.0, 2.0, 0, 3, false)
	f.Add(math.Inf(1), math.NaN(), -5, 2000, true)
	f.Fuzz(func(t *testing.T, a, b float64, first, n int, mean bool) {
		if n < 1 || n > 5000 || first < -n || first > 1e6 || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = []float64{a, b, math.NaN()}[i%3]
		}
		g := Graph{Chart: plot.Chart{Title: "x", From: float64(first), To: float64(first + n), Mean: mean, Log: !mean, Format: units.Number, Lines: []plot.Line{{Name: "p99", Values: values}}}}
		for i := range n {
			g.At = append(g.At, float64(first+i)+0.5)
		}
		assert.NotContains(t, g.Page(), ",NaN")
		assert.NotContains(t, g.File(), ",NaN")
		assert.NotContains(t, g.Text(ChartWidth, ChartHeight), "%!")
	})
}
