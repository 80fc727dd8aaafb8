package telemetry_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	"github.com/perfbench/perfbench/internal/telemetry"
)

// receiver takes what is pushed, by the protocol's own definition.
type receiver struct {
	pb.UnimplementedMetricsServiceServer
	mu     sync.Mutex
	last   *pb.ExportMetricsServiceRequest
	zipped bool // what came by gRPC was compressed; other HTTP is not accepted
}

func (r *receiver) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (r *receiver) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (r *receiver) HandleConn(context.Context, stats.ConnStats)                       {}
func (r *receiver) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.zipped = h.Compression == "gzip"
	}
}

func (r *receiver) Export(_ context.Context, m *pb.ExportMetricsServiceRequest) (*pb.ExportMetricsServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = m
	return &pb.ExportMetricsServiceResponse{}, nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var m pb.ExportMetricsServiceRequest
	var data []byte
	body, err := gzip.NewReader(q.Body)
	if err == nil {
		data, err = io.ReadAll(body)
	}
	if err != nil || q.Header.Get("Content-Encoding") != "gzip" || q.URL.Path != "/v1/metrics" || proto.Unmarshal(data, &m) != nil {
		http.Error(w, "not metrics", http.StatusBadRequest)
		return
	}
	_, _ = r.Export(q.Context(), &m) // it does not fail
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// byName are the metrics that came last.
func (r *receiver) byName(t *testing.T) map[string]*metrics.Metric {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotNil(t, r.last, "something was pushed")
	out := map[string]*metrics.Metric{}
	for _, m := range r.last.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		out[m.Name] = m
	}
	assert.Contains(t, r.last.ResourceMetrics[0].Resource.String(), `"perfbench"`)
	return out
}

// What is pushed by either protocol is what the run has come to.
func TestWhatIsPushedIsWhatTheRunCameTo(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=blue")
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			r := &receiver{}
			var at string
			if protocol == "http" {
				s := httptest.NewServer(r)
				t.Cleanup(s.Close)
				at = s.URL
			} else {
				l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // for the test
				require.NoError(t, err)
				s := grpc.NewServer(grpc.StatsHandler(r))
				pb.RegisterMetricsServiceServer(s, r)
				go func() { _ = s.Serve(l) }() // it ends with Stop
				t.Cleanup(s.Stop)
				at = "grpc://" + l.Addr().String()
			}
			out := open(t, telemetry.Options{URL: at, Version: "1.2.3"})
			assert.Equal(t, []string{"metrics are pushed to " + at}, out.Where())
			o := start(t, out, "memory:", "count", "2000").Conclude(t.Context())
			require.NoError(t, o.Err)
			assert.Empty(t, out.Close())

			got := r.byName(t)
			for i, op := range o.Run.Operations {
				sum := got["perfbench_units"].GetSum()
				assert.True(t, sum.IsMonotonic)
				assert.Equal(t, float64(op.Count), sum.DataPoints[i].GetAsDouble())
				h := got["perfbench_response_time_seconds"].GetExponentialHistogram().DataPoints[i]
				assert.EqualValues(t, op.Calls, h.Count)
				n := h.ZeroCount
				for _, c := range h.Positive.BucketCounts {
					n += c
				}
				assert.Equal(t, h.Count, n)
			}
			assert.Equal(t, "s", got["perfbench_response_time_seconds"].Unit)
			assert.Equal(t, "{unit}", got["perfbench_units"].Unit)
			assert.Equal(t, protocol == "grpc", r.zipped, "what is pushed is compressed")
			assert.Contains(t, r.last.ResourceMetrics[0].Resource.String(), "service.instance.id")
			assert.Contains(t, r.last.ResourceMetrics[0].Resource.String(), `"blue"`, "what the environment says is passed on")
			assert.Equal(t, 1.0, got["perfbench_ended"].GetGauge().DataPoints[0].GetAsDouble())
		})
	}
}

// A receiver that takes nothing spoils nothing, and is named.
func TestAReceiverThatTakesNothingIsNamed(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	out := open(t, telemetry.Options{URL: s.URL + "/elsewhere"})
	var told []string
	out.OnTrouble(func(sentence string) { told = append(told, sentence) })
	require.NoError(t, start(t, out, "memory:", "count", "100").Conclude(t.Context()).Err)
	sentence := out.Close()
	assert.Contains(t, sentence, "no metrics reached "+s.URL+"/elsewhere: ")
	assert.Contains(t, sentence, "404")
	require.Len(t, told, 1, "it is told once while runs go")
	assert.Contains(t, told[0], "metrics do not reach ")
}
