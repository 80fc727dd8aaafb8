package report

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// What reads YCSB's output takes every line apart at its commas.
func TestLinesAsYCSBPrintsThem(t *testing.T) {
	f := fixture(t)
	f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "profile", Op: "never"})
	form := regexp.MustCompile(`^\[([A-Z-]+)\], ([^,]+), (\S+)$`)
	figures := map[string]float64{}
	for line := range strings.Lines(printed(t, f, "ycsb")) {
		m := form.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		require.NotNil(t, m, line)
		v, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err)
		figures[m[1]+" "+m[2]] = v
	}
	for _, o := range f.Run.Operations[:2] {
		op := strings.ToUpper(o.Op)
		assert.InDelta(t, o.Calls, figures[op+" Operations"], 0)
		assert.InDelta(t, o.Response.Mean/1000, figures[op+" AverageLatency(us)"], 1)
		assert.InDelta(t, float64(o.Response.P99)/1000, figures[op+" 99thPercentileLatency(us)"], 1)
		assert.InDelta(t, o.Calls-o.Errors, figures[op+" Return=OK"], 0)
	}
	assert.InDelta(t, 3, figures["PUT Return=ERROR"], 0)
	assert.InDelta(t, float64(f.Run.Operations[0].Calls+f.Run.Operations[1].Calls)/f.Run.MeasuredS, figures["OVERALL Throughput(ops/sec)"], 0.001)
	assert.NotContains(t, figures, "NEVER Operations")
	assert.Equal(t, "READ-MODIFY-WRITE", ycsbName("readmodifywrite"))
}

func TestNumbersAsJavaPrintsThem(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 98.911968: "98.911968", 0.001: "0.001", 0.0005: "5.0E-4", 9999999: "9999999.0", 1e7: "1.0E7", 12345678.5: "1.23456785E7", -2.5: "-2.5", math.Inf(1): "NaN",
	} {
		assert.Equal(t, want, javaDouble(v))
	}
	assert.Equal(t, "NaN", javaDouble(math.NaN()))
}

func TestJSONAsMemtierWritesIt(t *testing.T) {
	f := fixture(t)
	type block struct {
		Count       int64
		Rate        float64                          `json:"Ops/sec"`
		Hits        float64                          `json:"Hits/sec"`
		Misses      float64                          `json:"Misses/sec"`
		Average     float64                          `json:"Average Latency"`
		Seconds     map[string]struct{ Count int64 } `json:"Time-Serie"`
		Percentiles struct {
			P99       float64 `json:"p99.00"`
			Histogram struct {
				Text string `json:"Compressed Histogram"`
			} `json:"Histogram log format"`
		} `json:"Percentile Latencies"`
	}
	var doc struct {
		Stats map[string]json.RawMessage `json:"ALL STATS"`
	}
	require.NoError(t, json.Unmarshal([]byte(printed(t, f, "memtier")), &doc))
	total := int64(0)
	for _, o := range f.Run.Operations {
		var b block
		require.NoError(t, json.Unmarshal(doc.Stats[map[string]string{"put": "Puts", "putall": "Putalls"}[o.Op]], &b))
		assert.Equal(t, o.Calls, b.Count)
		assert.InDelta(t, float64(o.Calls)/f.Run.MeasuredS, b.Rate, 0.01)
		assert.InDelta(t, o.Response.Mean/1e6, b.Average, 0.001)
		assert.InDelta(t, float64(o.Response.P99)/1e6, b.Percentiles.P99, 0.001)
		h, err := hdrhistogram.Decode([]byte(b.Percentiles.Histogram.Text))
		require.NoError(t, err)
		assert.Equal(t, o.Calls, h.TotalCount())
		assert.InEpsilon(t, float64(o.Response.P99)/1e3, h.ValueAtPercentile(99), 0.01)
		inSeconds := int64(0)
		for _, s := range b.Seconds {
			inSeconds += s.Count
		}
		assert.Equal(t, o.Calls, inSeconds)
		total += o.Calls
	}
	var all block
	require.NoError(t, json.Unmarshal(doc.Stats[totals], &all))
	assert.Equal(t, total, all.Count)
	assert.Len(t, all.Seconds, 10)

	f.Run.Facts = json.RawMessage(`{"hits": 900, "misses": 100}`)
	doc.Stats = nil
	require.NoError(t, json.Unmarshal([]byte(printed(t, f, "memtier")), &doc))
	require.NoError(t, json.Unmarshal(doc.Stats[totals], &all))
	assert.InDelta(t, 900/f.Run.MeasuredS, all.Hits, 0.01)
	assert.InDelta(t, 100/f.Run.MeasuredS, all.Misses, 0.01)
}

func TestForeignLayoutsOfAFailedVerificationHaveNoRates(t *testing.T) {
	f := fixture(t)
	f.Run.Verification = workload.Verification{State: workload.Failed, Summary: "3 entries are missing"}
	assert.Contains(t, printed(t, f, "ycsb"), "[OVERALL], Throughput(ops/sec), NaN\n")
	doc := printed(t, f, "memtier")
	assert.Equal(t, 3, strings.Count(doc, `"Ops/sec": null`))
	assert.True(t, json.Valid([]byte(doc)))
}

// The answers to a replay have a page of their own, and a section of every report for people.
func TestAnswersThatDiffer(t *testing.T) {
	f := fixture(t)
	assert.NotContains(t, printed(t, f, "text"), "Answers\n")
	assert.Nil(t, AnswersOf(&f.Run))
	_, err := AnswersFormat.Documents(f)
	require.ErrorContains(t, err, "compared no answers")
	f.Run.Facts = json.RawMessage(`{"replay": {"answers": {"server": "Redis 7.0.15", "compared": 4000, "compared_by_kind": 12, "differ": 3, "new_errors": 1,
		"commands": [{"command": "GET", "compared": 3000, "differ": 2}, {"command": "OBJECT", "compared": 50, "differ": 1}],
		"examples": ["call 7, GET <k>: nothing; before, a value of size 5"]}}}`)
	for _, id := range []string{"text", "html", "markdown"} {
		got := printed(t, f, id)
		assert.Contains(t, got, "Compared: 3 of 4000 answers differ from those of Redis 7.0.15 (GET 2, OBJECT 1).")
		assert.Contains(t, got, "Of 12 only the kind was compared")
		assert.Contains(t, got, "New errors: 1; errors that are gone: 0.")
	}
	files, err := AnswersFormat.Documents(f)
	require.NoError(t, err)
	got := string(files[0].Data)
	assert.Contains(t, got, "beside those of Redis 7.0.15")
	assert.Contains(t, got, "call 7, GET &lt;k&gt;: nothing; before, a value of size 5")
	assert.Contains(t, got, "0.06667 %")
}
