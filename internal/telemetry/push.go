package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/perfbench/perfbench/internal/fault"
)

// Interval is how often figures are pushed.
const Interval = 5 * time.Second

// Schemes are the schemes of URLs that can be pushed to.
var Schemes = []string{"http", "https", "grpc", "grpcs"}

// endpoint is where to push to.
type endpoint struct {
	// url is in the form for the exporter, shown as given by the user.
	url, shown string
	grpc       bool
}

// endpointOf parses the URL of --otlp; an empty text gives no endpoint.
func endpointOf(text string) (endpoint, error) {
	if text == "" {
		return endpoint{}, nil
	}
	input := func(hint, format string, args ...any) (endpoint, error) {
		return endpoint{}, fault.Field("otlp", fault.Input(fmt.Errorf("otlp: "+format, args...), hint))
	}
	const usual = "write it like --otlp http://localhost:4318, or grpc://localhost:4317"
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "" && u.Opaque == "":
		return input(usual, "not a URL of an OpenTelemetry receiver")
	case !slices.Contains(Schemes, u.Scheme):
		hint := usual
		if near := fault.Nearest(u.Scheme, Schemes); near != "" {
			hint = "did you mean " + near + "://?"
		}
		return input(hint, "%s:// is not among %s", u.Scheme, strings.Join(Schemes, ", "))
	case u.Hostname() == "":
		return input(usual, "%q names no host", u.Redacted())
	case u.User != nil:
		return input("put them into the environment variable OTEL_EXPORTER_OTLP_HEADERS, like authorization=Basic%20…", "%s: a URL with a user or a password would be seen by others", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return input(usual, "%q: nothing comes after the path", u.Redacted())
	}
	to := endpoint{shown: u.String(), grpc: strings.HasPrefix(u.Scheme, "grpc")}
	if to.grpc {
		if strings.Trim(u.Path, "/") != "" {
			return input(usual, "%s: a grpc URL has no path", text)
		}
		u.Scheme, u.Path = "http"+strings.TrimPrefix(u.Scheme, "grpc"), ""
		if u.Port() == "" {
			u.Host += ":4317"
		}
	} else {
		if u.Port() == "" {
			u.Host += ":4318"
		}
		if strings.Trim(u.Path, "/") == "" {
			u.Path = "/v1/metrics"
		}
	}
	to.url = u.String()
	return to, nil
}

// exporter is what is needed of OpenTelemetry's exporters, which are made for its
// metric.MeterProvider. Without that, this package need not compile the SDK's generics again.
type exporter interface {
	Export(ctx context.Context, m *metricdata.ResourceMetrics) error
	Shutdown(ctx context.Context) error
}

// pusher pushes figures. A nil pusher does nothing.
type pusher struct {
	to     endpoint
	from   metric.Producer
	by     exporter
	sender *resource.Resource
	tell   atomic.Pointer[func(string)]
	stop   context.CancelFunc
	done   chan struct{} // closed once nothing is pushed but what close pushes

	mu             sync.Mutex
	pushed, failed int
	last           error
}

// push starts pushing what from gathers.
func push(ctx context.Context, o Options, from prometheus.Gatherer) (*pusher, error) {
	to, err := endpointOf(o.URL)
	if err != nil {
		return nil, err
	}
	var by exporter
	if to.grpc {
		by, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(to.url), otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}), otlpmetricgrpc.WithTimeout(patience), otlpmetricgrpc.WithCompressor("gzip"))
	} else {
		by, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to.url), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithTimeout(patience), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	if err != nil {
		return nil, fault.Field("otlp", fault.Input(fmt.Errorf("otlp: cannot push to %s: %w", to.shown, err), "variables named OTEL_EXPORTER_OTLP_… count too"))
	}
	p := &pusher{to: to, from: bridge.NewMetricProducer(bridge.WithGatherer(from)), by: by}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(p.note)) // partial failures at the receiver are reported only here
	// Like the SDK: what the environment says counts unless we say otherwise.
	if p.sender, err = resource.Merge(resource.Environment(), describe(o.Version)); err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	p.start(ctx)
	return p, nil
}

// start pushes every Interval until p is closed, also when ctx has ended.
func (p *pusher) start(ctx context.Context) {
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.done = make(chan struct{})
	fault.Go(func() {
		defer close(p.done)
		ticker := time.NewTicker(Interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.push(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// describe identifies the sender.
func describe(version string) *resource.Resource {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return resource.NewSchemaless(
		attribute.String("service.name", "perfbench"), attribute.String("service.version", cmp.Or(version, "unknown")),
		attribute.String("service.instance.id", rand.Text()), attribute.String("host.name", host), attribute.Int("process.pid", os.Getpid()),
	)
}

// push pushes the current figures. A failure is noted, unless ctx has ended: then close
// pushes them.
func (p *pusher) push(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	scopes, err := p.from.Produce(within)
	if err == nil && len(scopes) == 0 {
		return // no run yet
	}
	if err == nil {
		dress(scopes)
		err = p.by.Export(within, &metricdata.ResourceMetrics{Resource: p.sender, ScopeMetrics: scopes})
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
	case err != nil:
		p.note(err)
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pushed++
	}
}

// note records a failed push.
func (p *pusher) note(err error) {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err // the address is already in the text
	}
	p.mu.Lock()
	p.failed++
	first := p.failed == 1
	p.last = err
	p.mu.Unlock()
	if tell := p.tell.Load(); first && tell != nil {
		(*tell)(fmt.Sprintf("metrics do not reach %s: %v", p.to.shown, err))
	}
}

// close pushes the last figures, and says how many pushes failed.
func (p *pusher) close() string {
	if p == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the command's context may have ended
	defer cancel()
	p.stop()
	<-p.done
	p.push(ctx)
	if err := p.by.Shutdown(ctx); err != nil {
		p.note(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed == 0:
		return ""
	case p.pushed == 0:
		return fmt.Sprintf("no metrics reached %s: %v", p.to.shown, p.last)
	}
	return fmt.Sprintf("%d of %d pushes of metrics to %s failed; the last: %v", p.failed, p.failed+p.pushed, p.to.shown, p.last)
}
