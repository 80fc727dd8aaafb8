package tx

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// benchmarkServer answers the published URL as dtm's benchmark server does, every tenth
// time as one does whose store makes trouble. It is no dtm: where one is to be had, name
// it as for BenchmarkSagaAgainstDTM.
func benchmarkServer(t *testing.T) (target string) {
	t.Helper()
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, body := http.StatusOK, successReply
		switch {
		case req.Method != http.MethodGet || req.URL.Path != "/api/busi_bench/benchEmptyUrl":
			status, body = http.StatusNotFound, "404 page not found"
		case n.Add(1)%10 == 4:
			status, body = http.StatusConflict, `{"dtm_result":"FAILURE"}`
		case n.Load()%10 == 7:
			status, body = http.StatusInternalServerError, `{"message":"no store"}`
		case n.Load()%10 == 9:
			panic(http.ErrAbortHandler) // hangs up
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return strings.Replace(srv.URL, "http", "dtm+bench", 1)
}

// benchInputs are those of a run on dtm's benchmark server.
func benchInputs(flags ...string) workload.Inputs {
	in := inputs(given(append([]string{"mode=saga", "accounts=off"}, flags...)...))
	in.Driver = driverBench
	return in
}

func TestSagasOnTheBenchmarkServer(t *testing.T) {
	for _, keep := range []string{"off", "on"} {
		t.Run("keepAlive="+keep, func(t *testing.T) {
			p, _ := ready(t, benchmarkServer(t), benchInputs("threads=1", "transactions=100", "keepAlive="+keep))
			rec := drive(t.Context(), t, p, nil)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Skipped, v.State)
			f := p.Facts().(*SagaFacts)
			assert.Equal(t, [4]int64{70, 0, 10, 20}, [4]int64{f.Done, f.Undone, f.Undecided, f.Unknown})
			b := f.Bench
			assert.Equal(t, map[string]int64{"409": 10, "500": 10}, b.Statuses)
			assert.Equal(t, [3]int64{0, 10, 20}, [3]int64{b.NoConnection, b.NoReply, b.Non2xx})
			assert.Equal(t, "/api/busi_bench/benchEmptyUrl", b.Path)
			assert.Equal(t, len(successReply), b.Length)
			assert.Equal(t, int64(70*24+10*24+10*22), b.Body)
			assert.Greater(t, b.Bytes, b.Body)
			if keep == "off" {
				assert.Equal(t, int64(100), b.Connections)
			} else {
				assert.Equal(t, int64(11), b.Connections, "one, and one after each that was cut")
			}
			good, bad := rec.ops(opRequest)
			assert.Equal(t, [2]int{70, 30}, [2]int{good, bad})
			replies, _ := rec.ops(opWaiting)
			connects, _ := rec.ops(opConnect)
			assert.Equal(t, 90, replies)
			assert.LessOrEqual(t, connects, int(b.Connections))
		})
	}
}

// The document is ab's, with what ab shows of HTTP.
func TestABOfTheBenchmarkServer(t *testing.T) {
	facts, err := json.Marshal(SagaFacts{
		Mode: modeSaga, Done: 90, Undecided: 6, Unknown: 4, Bench: &BenchFacts{
			Path: "/api/busi_bench/benchEmptyUrl", KeepAlive: true, Length: 24, Connections: 13, NoConnection: 2, NoReply: 1, Statuses: map[string]int64{"409": 6, "500": 1},
			Non2xx: 7, Bytes: 14_550, Body: 2_338,
		},
	})
	require.NoError(t, err)
	files, err := encodeAB(&rundir.Folder{Run: rundir.Run{
		ID: "1", Mode: modeSaga, Facts: facts, MeasuredS: 2, Target: "dtm+bench://localhost:8083", Settings: map[string]float64{"threads": 10},
		Store: rundir.Store{Name: "dtm-bench"},
	}, Histograms: map[string]*hdrhistogram.Histogram{
		"saga.saga.response": histogram(t, 3000, 4000, 40000), "saga.connect.service": histogram(t, 1000),
		"saga.processing.service": histogram(t, 2000, 4000, 40000), "saga.waiting.service": histogram(t, 2000, 3000, 3000),
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

func TestWhatTheBenchmarkServerDoesNotRun(t *testing.T) {
	for flag, name := range map[string]string{
		"accounts=on": "accounts", "branches=3": "branches", "failRate=0.1": "failRate", "ongoingRate=0.1": "ongoingRate", "errorRate=0.1": "errorRate",
		"duplicateRate=0.1": "duplicateRate", "delay=1ms": "delay", "timeout=1s": "timeout", "ackLog=x": "ackLog", "transType=tcc": "transType",
	} {
		_, err := Design(benchInputs(flag))
		require.ErrorContains(t, err, name+": ", flag)
		require.ErrorContains(t, err, "dtm's benchmark server", flag)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), flag)
	}
	target := benchmarkServer(t)
	in := inputs(given("mode=baseline"))
	in.Driver = driverBench
	p, err := Design(in)
	require.NoError(t, err)
	_, err = p.Bind(t.Context(), driverBench, open(t, target), "")
	require.ErrorContains(t, err, "mode=baseline does not run on dtm's benchmark server")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	p = bound(t, open(t, target+"/api/busi_bench/bench"), driverBench, benchInputs())
	err = p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "GET /api/busi_bench/bench before the run: the server answered with status 404")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}

// Where a real one is named, the published URL is asked for there.
func TestSagasOnTheOriginalsBenchmarkServer(t *testing.T) {
	url := os.Getenv("PERFBENCH_TEST_DTM_BENCH")
	if url == "" {
		t.Skip("PERFBENCH_TEST_DTM_BENCH names no benchmark server of dtm")
	}
	for _, keep := range []string{"off", "on"} {
		p, _ := ready(t, strings.Replace(url, "http", "dtm+bench", 1), benchInputs("threads=4", "transactions=200", "keepAlive="+keep))
		drive(t.Context(), t, p, nil)
		f := p.Facts().(*SagaFacts)
		assert.Equal(t, int64(200), f.Done)
		assert.Equal(t, int64(200*len(successReply)), f.Bench.Body)
		assert.Equal(t, map[string]int64{"off": 200, "on": 4}[keep], f.Bench.Connections)
	}
}
