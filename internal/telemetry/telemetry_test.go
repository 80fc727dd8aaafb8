package telemetry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/ingestion"
)

// soon bounds what a test waits for, on a machine that is busy.
const soon = time.Minute

func TestMain(m *testing.M) { labtest.Run(m) }

func open(t testing.TB, o telemetry.Options) *telemetry.Outlet {
	t.Helper()
	out, err := telemetry.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { out.Close() })
	return out
}

// start starts a run of ingestion whose figures leave.
func start(t testing.TB, out *telemetry.Outlet, target string, values ...string) *session.Driven {
	t.Helper()
	r := session.Request{Profile: "ingestion", Target: target, Out: t.TempDir(), Formats: []string{"json"}, Values: workload.Values{}}
	for i := 0; i < len(values); i += 2 {
		r.Values.Set(workload.Value{Name: values[i], Text: values[i+1], Origin: workload.OriginFlag})
	}
	p, err := session.Prepare(t.Context(), session.Env{
		Profiles: []workload.Profile{ingestion.Profile()}, Drivers: store.Drivers{redis.Driver, memory.Driver, null.Driver}, Version: "test", Outlet: out, Formats: report.All(),
		Resolve: func(target string) (string, error) { return target, nil },
	}, r)
	require.NoError(t, err)
	l, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	return l
}

// served is where an outlet serves.
func served(out *telemetry.Outlet) string {
	for _, line := range out.Where() {
		if at, ok := strings.CutPrefix(line, "metrics are served at "); ok {
			return at
		}
	}
	return ""
}

func get(t testing.TB, at string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", data)
	return data
}

// scrape reads what is served, by the name of each metric.
func scrape(t testing.TB, out *telemetry.Outlet) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(get(t, served(out)))))
	require.NoError(t, err)
	return families
}

// prometheus asks a Prometheus.
type prometheus struct {
	t  testing.TB
	at string
}

// ask returns the values that an expression has now.
func (p prometheus) ask(expr string) []float64 {
	p.t.Helper()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value [2]any }
		}
	}
	require.NoError(p.t, json.Unmarshal(get(p.t, p.at+"/api/v1/query?query="+url.QueryEscape(expr)), &answer))
	require.Equal(p.t, "success", answer.Status, "%s: %s", expr, answer.Error)
	var out []float64
	for _, r := range answer.Data.Result {
		v, err := strconv.ParseFloat(r.Value[1].(string), 64)
		require.NoError(p.t, err)
		out = append(out, v)
	}
	return out
}

// await waits until an expression has a value: it has none while Prometheus was too late to
// read what is served.
func (p prometheus) await(expr string) float64 {
	p.t.Helper()
	var last []float64
	require.Eventually(p.t, func() bool { last = p.ask(expr); return len(last) > 0 && !math.IsNaN(last[0]) }, soon, 50*time.Millisecond, "%s has no value", expr)
	return last[0]
}

// dashboard is what the dashboard for Grafana asks for.
func dashboard(t testing.TB) (exprs []string) {
	t.Helper()
	data, err := os.ReadFile("../../docs/grafana.json")
	require.NoError(t, err)
	var d struct {
		Annotations struct{ List []struct{ Expr string } }
		Panels      []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.Unmarshal(data, &d))
	for _, a := range d.Annotations.List {
		exprs = append(exprs, a.Expr)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	require.Greater(t, len(exprs), 20)
	return exprs
}

// quiet are the metrics that a run without fault has nothing to tell of.
var quiet = []string{"perfbench_errors_total", "perfbench_unstarted_units_total", "perfbench_verdict_cause"}

// A real Prometheus reads all that is served, native histograms with it, and answers all
// that the dashboard asks for.
func TestPrometheusReadsWhatIsServed(t *testing.T) {
	tier.Full(t, "TestNamesFollowTheConventions reads what is served")
	out := open(t, telemetry.Options{Addr: "127.0.0.1:0"})
	at := served(out)
	p := prometheus{t, labtest.Prometheus(t, strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/metrics"))}
	l := start(t, out, labtest.Redis(t).URL(), "duration", "10m", "threads", "2")
	l.Change("workbench", -1, func(s workload.Settings) workload.Settings { s.Threads = 4; return s })
	l.Mark("a note")

	p.await(`histogram_count(perfbench_response_time_seconds{op="putall"}) > 0`)
	p.await(`perfbench_store_cpu_cores`)
	p.await(`perfbench_note_timestamp_seconds{note="a note"} > 0`)
	p.await(`perfbench_setting{setting="threads"} == 4`)
	p.await(`time() - perfbench_change_timestamp_seconds{setting="threads",from="2",to="4",by="workbench"} < 600`)

	names := slices.Collect(func(yield func(string) bool) {
		for name := range scrape(t, out) {
			if !yield(name) {
				return
			}
		}
	})
	names = append(names, quiet...)
	for _, expr := range dashboard(t) {
		asked := strings.NewReplacer("$__rate_interval", "1m", "$run", l.Opened.ID()).Replace(expr)
		for _, name := range regexp.MustCompile(`perfbench_\w+`).FindAllString(asked, -1) {
			if family := strings.TrimSuffix(name, "_bucket"); name != "perfbench_store_" {
				assert.Contains(t, names, family, "the dashboard asks for it")
			}
		}
		// One with native histograms keeps no classic ones beside them.
		if !slices.ContainsFunc(append(quiet, "sum by (le) (rate"), func(q string) bool { return strings.Contains(asked, q) }) {
			p.await(asked)
		}
	}

	l.Stop(session.ErrStopped)
	o := l.Conclude(t.Context())
	require.NoError(t, o.Err)
	p.await(`perfbench_ended == 1`)
	for _, op := range o.Run.Operations {
		labels := `{track="` + op.Track + `",op="` + op.Op + `"}`
		assert.InDelta(t, op.Count, p.await("perfbench_units_total"+labels), 0)
		assert.InDelta(t, op.Calls, p.await("histogram_count(perfbench_response_time_seconds"+labels+")"), 0)
		assert.InEpsilon(t, op.Response.Mean*float64(op.Calls)/1e9, p.await("histogram_sum(perfbench_response_time_seconds"+labels+")"), 1e-6)
		// A native bucket is 4.4 % wide; and of few calls, a percentile is one or the next, far from it.
		const wide = 1.045
		p99, call := float64(op.Response.P99)/1e9, 1/float64(op.Calls)
		below := func(seconds float64) float64 {
			return p.await(fmt.Sprintf("histogram_fraction(0, %g, perfbench_response_time_seconds%s)", seconds, labels))
		}
		assert.LessOrEqual(t, below(p99/wide), 0.99+call)
		assert.GreaterOrEqual(t, below(p99*wide), 0.99-call)
		assert.Positive(t, p.await("histogram_quantile(0.99, perfbench_response_time_seconds"+labels+")"))
	}
}

// Names and units are as Prometheus' own linter wants them, and a share of a second is
// given in seconds.
func TestNamesFollowTheConventions(t *testing.T) {
	out := open(t, telemetry.Options{Addr: "127.0.0.1:0"})
	at := served(out)
	l := start(t, out, labtest.Redis(t).URL(), "duration", "10m", "threads", "2")
	defer func() {
		l.Stop(session.ErrStopped)
		assert.NoError(t, l.Conclude(t.Context()).Err)
	}()
	for scrape(t, out)["perfbench_store_commands_per_second"] == nil {
		require.NoError(t, t.Context().Err())
	}
	text := get(t, at)
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
	if promtool, err := exec.LookPath("promtool"); err == nil {
		check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		check.Stdin = bytes.NewReader(text)
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Empty(t, string(out))
	}
	assert.Contains(t, scrape(t, out), "perfbench_store_latest_fork_seconds")
}

// What is served as text has classic histograms, which add up.
func TestClassicHistogramsAddUp(t *testing.T) {
	out := open(t, telemetry.Options{Addr: "127.0.0.1:0"})
	l := start(t, out, "memory:?service=1ms", "count", "400", "rate", "2000", "threads", "4")
	o := l.Conclude(t.Context())
	require.NoError(t, o.Err)
	families := scrape(t, out)
	for i, op := range o.Run.Operations {
		for name, l := range map[string]int64{"response": op.Response.Max, "service": op.Service.Max, "wait": op.Wait.Max, "lateness": op.Lateness.Max} {
			h := families["perfbench_"+name+"_time_seconds"].Metric[i].Histogram
			assert.EqualValues(t, op.Calls, h.GetSampleCount())
			for j, b := range h.Bucket {
				if j > 0 {
					assert.GreaterOrEqual(t, b.GetCumulativeCount(), h.Bucket[j-1].GetCumulativeCount())
				}
				if b.GetUpperBound() >= float64(l)/1e9 {
					assert.EqualValues(t, op.Calls, b.GetCumulativeCount(), "%s: none took longer than %d ns", name, l)
				}
				if name == "service" && b.GetUpperBound() < 1e-3 {
					assert.Zero(t, b.GetCumulativeCount(), "each took a millisecond")
				}
			}
		}
	}
	assert.Equal(t, []string{"DEGRADED", "INVALID", "VALID"}, labelsOf(families["perfbench_verdict"], "state"))
}

func labelsOf(f *dto.MetricFamily, name string) (out []string) {
	for _, m := range f.Metric {
		for _, l := range m.Label {
			if l.GetName() == name {
				out = append(out, l.GetValue())
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestBadWaysOutAreRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // for the test
	require.NoError(t, err)
	defer taken.Close()
	for _, c := range []struct {
		o    telemetry.Options
		want string
	}{
		{telemetry.Options{Addr: "9400"}, `metrics-addr: "9400" is not HOST:PORT`},
		{telemetry.Options{Addr: "localhost:94000"}, `metrics-addr: "localhost:94000" is not HOST:PORT`},
		{telemetry.Options{Addr: taken.Addr().String()}, "metrics-addr: cannot listen on " + taken.Addr().String() + ": address already in use"},
		{telemetry.Options{URL: "localhost"}, "otlp: not a URL of an OpenTelemetry receiver"},
		{telemetry.Options{URL: "grcp://localhost"}, "otlp: grcp:// is not among http, https, grpc, grpcs"},
		{telemetry.Options{URL: "http://:4318"}, `otlp: "http://:4318" names no host`},
		{telemetry.Options{URL: "http://me:secret@localhost"}, "otlp: http://me:xxxxx@localhost: a URL with a user or a password would be seen by others"},
		{telemetry.Options{URL: "grpc://localhost/v1"}, "otlp: grpc://localhost/v1: a grpc URL has no path"},
		{telemetry.Options{URL: "http://localhost?a=b"}, `otlp: "http://localhost?a=b": nothing comes after the path`},
	} {
		_, err := telemetry.Open(t.Context(), c.o)
		require.EqualError(t, err, c.want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.NotEmpty(t, fault.HintOf(err), c.want)
	}
	out, err := telemetry.Open(t.Context(), telemetry.Options{Version: "1"})
	require.NoError(t, err)
	assert.Nil(t, out, "nothing was asked for")
	assert.Empty(t, out.Where())
	assert.Empty(t, out.Close())
	out.Begin(telemetry.Source{}).Second(&measure.Second{})
}
