package tx

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// abReport is what a reader of ab's reports takes from one.
type abReport struct {
	host, path                      string
	concurrency, complete, failures int64
	non2xx, documentLength          int64
	seconds, perSecond              float64
	perRequest                      []float64
	times                           map[string][]float64 // min mean sd median max
	served                          map[int]int64
}

// readAB reads a report of ab 2.3 as its layout has it: the banner, labels in
// columns of 24 in their order, the table of times and the percentages. It knows
// nothing of perfbench.
func readAB(text string) (r abReport, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	next := func() string {
		if len(lines) == 0 {
			return ""
		}
		l := lines[0]
		lines = lines[1:]
		return l
	}
	want := func(pattern string) []string {
		l := next()
		m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(l)
		if m == nil && err == nil {
			err = fmt.Errorf("%q instead of %s", l, pattern)
		}
		fields := make([]string, 8) // enough for every line, and empty where it was none
		copy(fields, m)
		return fields
	}
	number := func(s string) float64 {
		v, _ := strconv.ParseFloat(s, 64)
		return v
	}
	label := func(name, pattern string) []string {
		return want(regexp.QuoteMeta(fmt.Sprintf("%-24s", name)) + pattern)
	}
	maybe := func(name, pattern string) []string {
		if len(lines) == 0 || !strings.HasPrefix(lines[0], name) {
			return make([]string, 8)
		}
		return label(name, pattern)
	}
	want(`This is ApacheBench, Version 2\.3 <\$Revision(: \d+ )?\$>`)
	want(`Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www\.zeustech\.net/`)
	want(`Licensed to The Apache Software Foundation, http://www\.apache\.org/`)
	want("")
	want(`Benchmarking \S+ \(be patient\)\.\.\.\.\.done`)
	want("")
	want("")
	label("Server Software:", ".*")
	r.host = label("Server Hostname:", "(.*)")[1]
	label("Server Port:", `\d*`)
	want("")
	r.path = label("Document Path:", `(\S+)`)[1]
	r.documentLength = int64(number(label("Document Length:", `(\d+) bytes`)[1]))
	want("")
	r.concurrency = int64(number(label("Concurrency Level:", `(\d+)`)[1]))
	r.seconds = number(label("Time taken for tests:", `(\d+\.\d{3}) seconds`)[1])
	r.complete = int64(number(label("Complete requests:", `(\d+)`)[1]))
	r.failures = int64(number(label("Failed requests:", `(\d+)`)[1]))
	if r.failures > 0 {
		want(`   \(Connect: \d+, Receive: \d+, Length: \d+, Exceptions: \d+\)`)
	}
	maybe("Write errors:", `(\d+)`)
	r.non2xx = int64(number(maybe("Non-2xx responses:", `(\d+)`)[1]))
	label("Total transferred:", `\d+ bytes`)
	label("HTML transferred:", `\d+ bytes`)
	r.perSecond = number(label("Requests per second:", `(\d+\.\d\d) \[#/sec\] \(mean\)`)[1])
	r.perRequest = []float64{
		number(label("Time per request:", `(\d+\.\d{3}) \[ms\] \(mean\)`)[1]),
		number(label("Time per request:", `(\d+\.\d{3}) \[ms\] \(mean, across all concurrent requests\)`)[1]),
	}
	label("Transfer rate:", `\d+\.\d\d \[Kbytes/sec\] received`)
	want("")
	want(`Connection Times \(ms\)`)
	want(`              min  mean\[\+/-sd\] median   max`)
	r.times = map[string][]float64{}
	for _, name := range []string{"Connect:", "Processing:", "Waiting:", "Total:"} {
		m := want(regexp.QuoteMeta(fmt.Sprintf("%-12s", name)) + `([ \d]{5}) ([ \d]{4}) ([ \d.]{5}) ([ \d]{6}) ([ \d]{7})`)
		for _, v := range m[1:6] {
			r.times[name] = append(r.times[name], number(strings.TrimSpace(v)))
		}
	}
	for len(lines) > 0 && (strings.HasPrefix(lines[0], "WARNING: ") || strings.HasPrefix(lines[0], "ERROR: ")) {
		want(`(WARNING|ERROR): The median and mean for the (initial connection|processing|waiting|total) time are .*`)
		want(` {7,8}\S.*`)
	}
	want("")
	want(`Percentage of the requests served within a certain time \(ms\)`)
	r.served = map[int]int64{}
	for _, p := range []int{50, 66, 75, 80, 90, 95, 98, 99} {
		r.served[p] = int64(number(strings.TrimSpace(want(fmt.Sprintf(`  %d%%  ([ \d]{5})`, p))[1])))
	}
	r.served[100] = int64(number(strings.TrimSpace(want(` 100%  ([ \d]{5}) \(longest request\)`)[1])))
	if len(lines) > 0 && err == nil {
		err = fmt.Errorf("%q after the end", lines[0])
	}
	return r, err
}

func abOf(t *testing.T, facts SagaFacts, h *hdrhistogram.Histogram) string {
	t.Helper()
	facts.Mode = modeSaga
	data, err := json.Marshal(facts)
	require.NoError(t, err)
	files, err := encodeAB(&rundir.Folder{Run: rundir.Run{
		ID: "1", Mode: modeSaga, Facts: data, MeasuredS: 2, Target: "redis://localhost:6379", Settings: map[string]float64{"threads": 10},
		Store: rundir.Store{Name: "redis", Version: "7"},
	}, Histograms: map[string]*hdrhistogram.Histogram{"saga.saga.response": h}})
	require.NoError(t, err)
	require.Len(t, files, 1)
	return string(files[0].Data)
}

// What reads a report of the tool reads ours, and the figures are where they belong.
func TestABIsReadByWhatReadsAB(t *testing.T) {
	tool, err := os.ReadFile("testdata/ab-2.3.txt")
	require.NoError(t, err)
	theirs, err := readAB(string(tool))
	require.NoError(t, err, "the reader is one of the tool's reports")
	assert.Equal(t, int64(200), theirs.complete)
	assert.Equal(t, int64(19), theirs.non2xx)
	assert.Equal(t, []float64{0, 3, 2.1, 3, 14}, theirs.times["Processing:"])
	assert.Equal(t, int64(14), theirs.served[100])

	ours, err := readAB(abOf(t, SagaFacts{Done: 90, Undone: 8, Undecided: 1, Unknown: 1}, histogram(t, 1000, 2000, 40000)))
	require.NoError(t, err)
	assert.Equal(t, abReport{
		host: "localhost", path: "/tx/saga", concurrency: 10, complete: 100, failures: 10, non2xx: 9, documentLength: 24, seconds: 2, perSecond: 50,
		perRequest: []float64{200, 20},
		times:      map[string][]float64{"Connect:": {0, 0, 0, 0, 0}, "Processing:": {1, 14, 18.2, 2, 40}, "Waiting:": {1, 14, 18.2, 2, 40}, "Total:": {1, 14, 18.2, 2, 40}},
		served:     map[int]int64{50: 2, 66: 2, 75: 2, 80: 2, 90: 40, 95: 40, 98: 40, 99: 40, 100: 40},
	}, ours)

	// No failure: the lines of failures are not there. Mean and median that are rounded
	// apart: warnings are.
	text := abOf(t, SagaFacts{Done: 9}, histogram(t, 1400, 1400, 1400, 1400, 1400, 1700, 1700, 1700, 1700))
	assert.Contains(t, text, "ERROR: The median and mean for the processing time are more than twice the standard\n       deviation apart.")
	ours, err = readAB(text)
	require.NoError(t, err)
	assert.Zero(t, ours.failures)
	_, err = readAB(strings.Replace(text, "Failed requests", "Failed Requests", 1))
	require.Error(t, err, "the reader is strict")
}

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
	facts, err := json.Marshal(BaselineFacts{Mode: modeBaseline, Rows: []RowFacts{
		{Row: "set", Title: "SET abcdefg ddddddd", PerSecond: 100000.126},
		{Row: "cjson10", Title: `EVAL x 1 k {"id":1,"n":[1]}`, PerSecond: 5},
	}})
	require.NoError(t, err)
	files, err := encodeBenchmark(&rundir.Folder{Run: rundir.Run{Mode: modeBaseline, Facts: facts}, Histograms: map[string]*hdrhistogram.Histogram{
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
	data, err := json.Marshal(BaselineFacts{Mode: modeBaseline, Rows: []RowFacts{r}})
	require.NoError(t, err)
	files, err := encodeCeiling(&rundir.Folder{Run: rundir.Run{Mode: modeBaseline, Facts: data}})
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "| set | invalid | – | 2 |")
	good := RowFacts{PerSecond: 5000}
	good.judge()
	assert.Equal(t, RowFacts{PerSecond: 5000}, good)
}
