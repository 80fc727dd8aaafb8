package ab

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
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

func abOf(t *testing.T, facts saga.Facts, h *hdrhistogram.Histogram) string {
	t.Helper()
	facts.Mode = saga.Mode
	data, err := json.Marshal(facts)
	require.NoError(t, err)
	files, err := encode(&rundir.Folder{Run: rundir.Run{
		ID: "1", Mode: saga.Mode, Facts: data, MeasuredS: 2, Target: "redis://localhost:6379", Settings: map[string]float64{"threads": 10},
		Store: rundir.Store{Name: "redis", Version: "7"},
	}, Histograms: map[string]*hdrhistogram.Histogram{"saga.saga.response": h}})
	require.NoError(t, err)
	require.Len(t, files, 1)
	return string(files[0].Data)
}

// What reads a report of the tool reads ours, and the figures are where they belong.
func TestABIsReadByWhatReadsAB(t *testing.T) {
	theirs, err := readAB(sample.Text("ab/ab-2.3.txt"))
	require.NoError(t, err, "the reader is one of the tool's reports")
	assert.Equal(t, int64(200), theirs.complete)
	assert.Equal(t, int64(19), theirs.non2xx)
	assert.Equal(t, []float64{0, 3, 2.1, 3, 14}, theirs.times["Processing:"])
	assert.Equal(t, int64(14), theirs.served[100])

	ours, err := readAB(abOf(t, saga.Facts{Done: 90, Undone: 8, Undecided: 1, Unknown: 1}, spreadOf(t, 1000, 2000, 40000)))
	require.NoError(t, err)
	assert.Equal(t, abReport{
		host: "localhost", path: "/tx/saga", concurrency: 10, complete: 100, failures: 10, non2xx: 9, documentLength: 24, seconds: 2, perSecond: 50,
		perRequest: []float64{200, 20},
		times:      map[string][]float64{"Connect:": {0, 0, 0, 0, 0}, "Processing:": {1, 14, 18.2, 2, 40}, "Waiting:": {1, 14, 18.2, 2, 40}, "Total:": {1, 14, 18.2, 2, 40}},
		served:     map[int]int64{50: 2, 66: 2, 75: 2, 80: 2, 90: 40, 95: 40, 98: 40, 99: 40, 100: 40},
	}, ours)

	// No failure: the lines of failures are not there. Mean and median that are rounded
	// apart: warnings are.
	text := abOf(t, saga.Facts{Done: 9}, spreadOf(t, 1400, 1400, 1400, 1400, 1400, 1700, 1700, 1700, 1700))
	assert.Contains(t, text, "ERROR: The median and mean for the processing time are more than twice the standard\n       deviation apart.")
	ours, err = readAB(text)
	require.NoError(t, err)
	assert.Zero(t, ours.failures)
	_, err = readAB(strings.Replace(text, "Failed requests", "Failed Requests", 1))
	require.Error(t, err, "the reader is strict")
}

func TestAB(t *testing.T) {
	facts, err := json.Marshal(saga.Facts{Mode: saga.Mode, Done: 90, Undone: 8, Undecided: 1, Unknown: 1})
	require.NoError(t, err)
	f := &rundir.Folder{Run: rundir.Run{
		ID: "1", Mode: saga.Mode, Facts: facts, MeasuredS: 2, Target: "redis://localhost:6379", Settings: map[string]float64{"threads": 10},
		Store: rundir.Store{Name: "redis", Version: "7"}, Started: time.Now(),
	}, Histograms: map[string]*hdrhistogram.Histogram{"saga.saga.response": spreadOf(t, 1000, 2000, 40000)}}
	files, err := encode(f)
	require.NoError(t, err)
	assert.Equal(t, `This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

Benchmarking localhost (be patient).....done


Server Software:        redis 7
Server Hostname:        localhost
Server Port:            6379

Document Path:          /tx/saga
Document Length:        24 bytes

Concurrency Level:      10
Time taken for tests:   2.000 seconds
Complete requests:      100
Failed requests:        10
   (Connect: 0, Receive: 1, Length: 9, Exceptions: 0)
Non-2xx responses:      9
Total transferred:      2400 bytes
HTML transferred:       2400 bytes
Requests per second:    50.00 [#/sec] (mean)
Time per request:       200.000 [ms] (mean)
Time per request:       20.000 [ms] (mean, across all concurrent requests)
Transfer rate:          1.17 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.0      0       0
Processing:     1   14  18.2      2      40
Waiting:        1   14  18.2      2      40
Total:          1   14  18.2      2      40

Percentage of the requests served within a certain time (ms)
  50%      2
  66%      2
  75%      2
  80%      2
  90%     40
  95%     40
  98%     40
  99%     40
 100%     40 (longest request)
`, string(files[0].Data))

	facts, err = json.Marshal(saga.Facts{Mode: saga.Mode, Kind: model.TransTCC})
	require.NoError(t, err)
	f.Run.Facts = facts
	files, err = encode(f)
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "Document Path:          /tx/tcc\n")
}

func spreadOf(t *testing.T, us ...int64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, 3_600_000_000_000, 3)
	for _, v := range us {
		require.NoError(t, h.RecordValue(v*1000))
	}
	return h
}

// The document is ab's, with what ab shows of HTTP.
func TestABOfTheBenchmarkServer(t *testing.T) {
	facts, err := json.Marshal(saga.Facts{
		Mode: saga.Mode, Done: 90, Undecided: 6, Unknown: 4, Bench: &saga.BenchFacts{
			Path: "/api/busi_bench/benchEmptyUrl", KeepAlive: true, Length: 24, Connections: 13, NoConnection: 2, NoReply: 1, Statuses: map[string]int64{"409": 6, "500": 1},
			Non2xx: 7, Bytes: 14_550, Body: 2_338,
		},
	})
	require.NoError(t, err)
	files, err := encode(&rundir.Folder{Run: rundir.Run{
		ID: "1", Mode: saga.Mode, Facts: facts, MeasuredS: 2, Target: "dtm+bench://localhost:8083", Settings: map[string]float64{"threads": 10},
		Store: rundir.Store{Name: "dtm-bench"},
	}, Histograms: map[string]*hdrhistogram.Histogram{
		"saga.saga.response": spreadOf(t, 3000, 4000, 40000), "saga.connect.service": spreadOf(t, 1000),
		"saga.processing.service": spreadOf(t, 2000, 4000, 40000), "saga.waiting.service": spreadOf(t, 2000, 3000, 3000),
	}})
	require.NoError(t, err)
	text := string(files[0].Data)
	for _, line := range []string{
		"Server Software:        dtm-bench\n", "Server Port:            8083\n", "Failed requests:        10\n   (Connect: 2, Receive: 1, Length: 7, Exceptions: 0)\n",
		"Non-2xx responses:      7\nKeep-Alive requests:    85\nTotal transferred:      14550 bytes\nHTML transferred:       2338 bytes\n",
		"Transfer rate:          7.10 [Kbytes/sec] received\n",
		"Connect:        0    0   0.5      0       1\n", "Processing:     2   15  17.5      4      40\n", "Waiting:        2    3   0.5      3       3\n", "Total:          3   16  17.2      4      40\n",
	} {
		assert.Contains(t, text, line)
	}
	r, err := readAB(strings.Replace(text, "Keep-Alive requests:    85\n", "", 1)) // the reader is one of reports without -k
	require.NoError(t, err)
	assert.Equal(t, "/api/busi_bench/benchEmptyUrl", r.path)
	assert.Equal(t, int64(7), r.non2xx)
}
