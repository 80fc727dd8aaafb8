package eventstore

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
	"github.com/perfbench/perfbench/internal/workload"
)

var update = goflag.Bool("update", false, "write the golden files anew")

func encoded(t *testing.T, folder *rundir.Folder) map[string]string {
	t.Helper()
	files, err := encodeReport(folder)
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Data)
	}
	again, err := encodeReport(folder)
	require.NoError(t, err)
	assert.Equal(t, files, again, "the same folder gives the same bytes")
	return out
}

func TestReportHasEveryTableOfTheOriginal(t *testing.T) {
	t.Parallel()
	files := encoded(t, folderOf(t, sampleFacts()))
	golden := filepath.Join("testdata", "th2-report.golden.md")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(golden, []byte(files[reportFile]), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), files[reportFile])

	for name, text := range files {
		switch filepath.Ext(name) {
		case ".svg":
			assert.Contains(t, files[reportFile], "("+name+")", "every chart is shown in the report")
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
	folder := folderOf(t, &Facts{Transport: viaDirect})
	folder.Run.Facts, folder.Run.Operations = nil, nil
	files := encoded(t, folder)
	assert.Len(t, files, 2, "no charts, but the drawing")
	report := files[reportFile]
	for _, want := range []string{"### Heap of perfbench\n\nn/a: ", "### Latency\n\nn/a: ", "### Read-back\n\nn/a: ", "n/a: nothing was read back", "No errors."} {
		assert.Contains(t, report, want)
	}
	assert.NotContains(t, report, "NaN")
	assert.NotContains(t, report, "### Sustainable rate")
	folder.Run.Facts = json.RawMessage(`[]`)
	_, err := encodeReport(folder)
	assert.ErrorContains(t, err, "facts of run 260102-030405-event-store-cassandra: ")
}

func TestReportOfAFailedVerificationHasNoRates(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, sampleFacts())
	folder.Run.Verification.State = workload.Failed
	folder.Run.Verdict = rundir.Verdict{State: "INVALID", Reasons: []string{"3 events are missing"}}
	report := encoded(t, folder)[reportFile]
	assert.Contains(t, report, "Verdict: **INVALID** (3 events are missing)")
	assert.Contains(t, report, "| 1 | 300 | 438 KiB | 1.46 KiB | NaN |")
}

func TestWindowsSettlingAndSlopes(t *testing.T) {
	t.Parallel()
	s := &StepFacts{FromNs: 0, ToNs: int64(200 * time.Second)}
	var all []timed
	for i := 1; i <= 200; i++ {
		v := 10.0
		switch {
		case i <= 30:
			v = 1000 // settling
		case i == 100:
			v = 610
		}
		all = append(all, timed{int64(i) * int64(time.Second), v})
	}
	got := over(s, all)
	assert.InDelta(t, 10+600.0/170, got.mean, 1e-9)
	assert.InDelta(t, 1000, got.peak, 0)
	assert.InDelta(t, 530, got.top, 30, "half a window of 1000 and half of 10")
	assert.InDelta(t, 0, slope(s, []timed{{1e9, 5}, {2e9, 5}, {3e9, 5}}), 1e-9)
	assert.InDelta(t, 7, slope(s, []timed{{1e9, 5}, {2e9, 12}, {3e9, 19}}), 1e-9)
	assert.True(t, math.IsNaN(slope(s, all[:2])))
	assert.Equal(t, "n/a", three(over(s, nil).mean))
}

func TestCollectionsCountOverTheTimeSinceTheHeapWasAskedFor(t *testing.T) {
	t.Parallel()
	p := &ProcessFacts{}
	for second := range 21 {
		x := ResourcePoint{AtNs: int64(second) * 1e9}
		if second%10 == 0 {
			x.Heap = new(int64(1))
			if second > 0 {
				x.YoungGCs = new(int64(5))
			}
		}
		p.Points = append(p.Points, x)
	}
	for i, v := range p.perMinute(func(x *ResourcePoint) *int64 { return x.YoungGCs }) {
		if i == 10 || i == 20 {
			assert.InDelta(t, 30, v.value, 1e-9, "5 in 10 s")
			continue
		}
		assert.True(t, math.IsNaN(v.value))
	}
}
