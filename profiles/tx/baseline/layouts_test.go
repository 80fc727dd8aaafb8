package baseline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// csvRow splits a line of redis-benchmark's --csv as a reader does that knows that
// the tool does not double quotes: from the right, seven fields of numbers.
func csvRow(line string) (title string, numbers []float64, ok bool) {
	line, ok = strings.CutPrefix(line, `"`)
	if !ok {
		return "", nil, false
	}
	numbers = make([]float64, 7)
	for i := 6; i >= 0; i-- {
		at := strings.LastIndex(line, `","`)
		if at < 0 {
			return "", nil, false
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(line[at+3:], `"`), 64)
		if err != nil {
			return "", nil, false
		}
		numbers[i], line = v, line[:at]
	}
	return line, numbers, true
}

// Both kinds of reader of the tool's CSV, and the usual one of -q, get the rows.
func TestRedisBenchmarkIsReadByWhatReadsIt(t *testing.T) {
	facts, err := json.Marshal(Facts{Mode: Mode, Rows: []RowFacts{
		{Row: "set", Title: "SET abcdefg ddddddd", PerSecond: 100000.126},
		{Row: "cjson10", Title: `EVAL x 1 k {"id":1,"n":[1]}`, PerSecond: 5},
	}})
	require.NoError(t, err)
	files, err := encodeBenchmark(&rundir.Folder{Run: rundir.Run{Mode: Mode, Facts: facts}, Histograms: map[string]*hdrhistogram.Histogram{
		"set.call.service": histogram(t, 100, 200, 300), "cjson10.call.service": histogram(t, 1000),
	}})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(files[1].Data)), "\n")
	require.Len(t, lines, 3)
	title, n, ok := csvRow(lines[1])
	require.True(t, ok)
	assert.Equal(t, "SET abcdefg ddddddd", title)
	assert.Equal(t, []float64{100000.13, 0.2, 0.1, 0.2, 0.3, 0.3, 0.3}, n)
	title, n, ok = csvRow(lines[2])
	require.True(t, ok)
	assert.Equal(t, `EVAL x 1 k {""id"":1,""n"":[1]}`, title, "quotes are doubled, which the tool does not do")
	assert.InDelta(t, 5, n[0], 1e-9)
	quiet := regexp.MustCompile(`^(.+): (\d+\.\d\d) requests per second, p50=(\d+\.\d{3}) msec$`)
	for i, l := range strings.Split(strings.TrimSpace(string(files[0].Data)), "\n") {
		m := quiet.FindStringSubmatch(l)
		require.NotNil(t, m, l)
		assert.Equal(t, []string{"100000.13", "5.00"}[i], m[2])
	}
}

// A row with errors has no rate, in the facts and in the page of the ceiling.
func TestRowWithErrorsIsInvalid(t *testing.T) {
	r := RowFacts{Row: "set", Title: "SET a b", PerSecond: 5000, Errors: 2, CV: -1}
	r.judge()
	assert.Equal(t, "2 calls failed", r.Invalid)
	assert.Zero(t, r.PerSecond)
	data, err := json.Marshal(Facts{Mode: Mode, Rows: []RowFacts{r}})
	require.NoError(t, err)
	files, err := encodeCeiling(&rundir.Folder{Run: rundir.Run{Mode: Mode, Facts: data}})
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "| set | invalid | – | 2 |")
	good := RowFacts{PerSecond: 5000}
	good.judge()
	assert.Equal(t, RowFacts{PerSecond: 5000}, good)
}
