package report_test

import (
	"encoding/json"
	"encoding/xml"
	goflag "flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

var update = goflag.Bool("update", false, "write the golden files anew")

func encoded(t *testing.T, folder *rundir.Folder) map[string]string {
	t.Helper()
	files, err := report.Encode(folder)
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Data)
	}
	again, err := report.Encode(folder)
	require.NoError(t, err)
	assert.Equal(t, files, again, "the same folder gives the same bytes")
	return out
}

func TestReportHasEveryTableOfTheOriginal(t *testing.T) {
	t.Parallel()
	files := encoded(t, eventstoretest.Folder(t, eventstoretest.Facts()))
	golden := filepath.Join("testdata", "th2-report.golden.md")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(golden, []byte(files[report.ReportFile]), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), files[report.ReportFile])

	for name, text := range files {
		switch filepath.Ext(name) {
		case ".svg":
			assert.Contains(t, files[report.ReportFile], "("+name+")", "every chart is shown in the report")
			d := xml.NewDecoder(strings.NewReader(text))
			for err = nil; err == nil; {
				_, err = d.Token()
			}
			require.ErrorIs(t, err, io.EOF, name)
			assert.NotContains(t, text, "NaN", name)
		case ".csv":
			assert.Contains(t, text, "\n5.000,event-rate,received,99000\n")
		}
	}
	assert.GreaterOrEqual(t, len(files), 25)
}

func TestReportOfNothingSaysSoEverywhere(t *testing.T) {
	t.Parallel()
	folder := eventstoretest.Folder(t, &report.Facts{Transport: report.ViaDirect})
	folder.Run.Facts, folder.Run.Operations = nil, nil
	files := encoded(t, folder)
	assert.Len(t, files, 2, "no charts, but the drawing")
	page := files[report.ReportFile]
	for _, want := range []string{"### Heap of perfbench\n\nn/a: ", "### Latency\n\nn/a: ", "### Read-back\n\nn/a: ", "n/a: nothing was read back", "No errors."} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "NaN")
	assert.NotContains(t, page, "### Sustainable rate")
	folder.Run.Facts = json.RawMessage(`[]`)
	_, err := report.Encode(folder)
	assert.ErrorContains(t, err, "facts of run 260102-030405-event-store-cassandra: ")
}

func TestReportOfAFailedVerificationHasNoRates(t *testing.T) {
	t.Parallel()
	folder := eventstoretest.Folder(t, eventstoretest.Facts())
	folder.Run.Verification.State = workload.Failed
	folder.Run.Verdict = rundir.Verdict{State: "INVALID", Reasons: []string{"3 events are missing"}}
	page := encoded(t, folder)[report.ReportFile]
	assert.Contains(t, page, "Verdict: **INVALID** (3 events are missing)")
	assert.Contains(t, page, "| 1 | 300 | 438 KiB | 1.46 KiB | NaN |")
}

func TestWindowsSettlingAndSlopes(t *testing.T) {
	t.Parallel()
	s := &report.Step{FromNs: 0, ToNs: int64(200 * time.Second)}
	var all []report.Timed
	for i := 1; i <= 200; i++ {
		v := 10.0
		switch {
		case i <= 30:
			v = 1000 // settling
		case i == 100:
			v = 610
		}
		all = append(all, report.Timed{AtNs: int64(i) * int64(time.Second), Value: v})
	}
	got := report.Over(s, all)
	assert.InDelta(t, 10+600.0/170, got.Mean, 1e-9)
	assert.InDelta(t, 1000, got.Peak, 0)
	assert.InDelta(t, 530, got.Top, 30, "half a window of 1000 and half of 10")
	assert.InDelta(t, 0, report.Slope(s, []report.Timed{{AtNs: 1e9, Value: 5}, {AtNs: 2e9, Value: 5}, {AtNs: 3e9, Value: 5}}), 1e-9)
	assert.InDelta(t, 7, report.Slope(s, []report.Timed{{AtNs: 1e9, Value: 5}, {AtNs: 2e9, Value: 12}, {AtNs: 3e9, Value: 19}}), 1e-9)
	assert.True(t, math.IsNaN(report.Slope(s, all[:2])))
	assert.Equal(t, "n/a", report.Three(report.Over(s, nil).Mean))
}

func TestCollectionsCountOverTheTimeSinceTheHeapWasAskedFor(t *testing.T) {
	t.Parallel()
	p := &report.Process{}
	for second := range 21 {
		x := report.ResourcePoint{AtNs: int64(second) * 1e9}
		if second%10 == 0 {
			x.Heap = new(int64(1))
			if second > 0 {
				x.YoungGCs = new(int64(5))
			}
		}
		p.Points = append(p.Points, x)
	}
	for i, v := range p.PerMinute(func(x *report.ResourcePoint) *int64 { return x.YoungGCs }) {
		if i == 10 || i == 20 {
			assert.InDelta(t, 30, v.Value, 1e-9, "5 in 10 s")
			continue
		}
		assert.True(t, math.IsNaN(v.Value))
	}
}
