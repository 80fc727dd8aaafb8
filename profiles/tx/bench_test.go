package tx

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/ab"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// benchmarkServer answers the published URL as dtm's benchmark server does, every tenth
// time as one does whose store makes trouble. It is no dtm: where one is to be had, name
// it as for BenchmarkSagaAgainstDTM.
func benchmarkServer(t *testing.T) (target string) {
	t.Helper()
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, body := http.StatusOK, ab.SuccessReply
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
	in.Driver = ab.Driver
	return in
}

func TestSagasOnTheBenchmarkServer(t *testing.T) {
	for _, keep := range []string{"off", "on"} {
		t.Run("keepAlive="+keep, func(t *testing.T) {
			p, _ := ready(t, benchmarkServer(t), benchInputs("threads=1", "transactions=100", "keepAlive="+keep))
			res := profiletest.Work(t, p)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Skipped, v.State)
			f := p.Facts(nil).(*saga.Facts)
			assert.Equal(t, [4]int64{70, 0, 10, 20}, [4]int64{f.Done, f.Undone, f.Undecided, f.Unknown})
			b := f.Bench
			assert.Equal(t, map[string]int64{"409": 10, "500": 10}, b.Statuses)
			assert.Equal(t, [3]int64{0, 10, 20}, [3]int64{b.NoConnection, b.NoReply, b.Non2xx})
			assert.Equal(t, "/api/busi_bench/benchEmptyUrl", b.Path)
			assert.Equal(t, len(ab.SuccessReply), b.Length)
			assert.Equal(t, int64(70*24+10*24+10*22), b.Body)
			assert.Greater(t, b.Bytes, b.Body)
			if keep == "off" {
				assert.Equal(t, int64(100), b.Connections)
			} else {
				assert.Equal(t, int64(11), b.Connections, "one, and one after each that was cut")
			}
			good, bad := res.Ops[ab.OpRequest].Calls, res.Ops[ab.OpRequest].Errors
			assert.Equal(t, [2]int64{70, 30}, [2]int64{good, bad})
			replies := res.Ops[ab.OpWaiting].Calls
			connects := res.Ops[ab.OpConnect].Calls
			assert.EqualValues(t, 90, replies)
			assert.LessOrEqual(t, connects, b.Connections)
		})
	}
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
	in.Driver = ab.Driver
	p, err := Design(in)
	require.NoError(t, err)
	_, err = p.Bind(t.Context(), ab.Driver, open(t, target), "")
	require.ErrorContains(t, err, "mode=baseline does not run on dtm's benchmark server")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	p = bound(t, open(t, target+"/api/busi_bench/bench"), ab.Driver, benchInputs())
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
		profiletest.Work(t, p)
		f := p.Facts(nil).(*saga.Facts)
		assert.Equal(t, int64(200), f.Done)
		assert.Equal(t, int64(200*len(ab.SuccessReply)), f.Bench.Body)
		assert.Equal(t, map[string]int64{"off": 200, "on": 4}[keep], f.Bench.Connections)
	}
}
