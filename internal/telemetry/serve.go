package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/perfbench/perfbench/internal/fault"
)

// path is where figures are served.
const path = "/metrics"

// server serves figures. A nil server does nothing.
type server struct {
	listener net.Listener
	http     *http.Server
}

const addrHint = "write it like --metrics-addr :9400, or 127.0.0.1:9400 for this machine alone"

// checkAddr returns an error for an invalid address to listen on; an empty one is
// valid.
func checkAddr(addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port) // a number or a name of the system's list
	}
	if err != nil {
		return fault.Field("metrics-addr", fault.Input(fmt.Errorf("metrics-addr: %q is not HOST:PORT", addr), addrHint))
	}
	return nil
}

// serve listens and serves.
func serve(ctx context.Context, addr string, from prometheus.Gatherer) (*server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fault.Field("metrics-addr", fault.Input(fmt.Errorf("metrics-addr: cannot listen on %s: %s", addr, reason(err)), hintFor(err)))
	}
	mux := http.NewServeMux()
	mux.Handle(path, promhttp.HandlerFor(from, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4}))
	mux.Handle("/{$}", http.RedirectHandler(path, http.StatusSeeOther))
	s := &server{l, &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 1 << 16}}
	fault.Go(func() { _ = s.http.Serve(l) }) // it ends with close
	return s, nil
}

// reason returns the system's text for why it cannot listen.
func reason(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "there is no host " + dns.Name
	}
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no.Error()
	}
	return err.Error()
}

func hintFor(err error) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "something listens there already, perhaps another perfbench: choose another port, or :0 for any that is free"
	}
	return addrHint
}

// url returns the URL of the figures.
func (s *server) url() string {
	addr := s.listener.Addr().String()
	if host, port, err := net.SplitHostPort(addr); err == nil && net.ParseIP(host).IsUnspecified() {
		addr = net.JoinHostPort("localhost", port)
	}
	return "http://" + addr + path
}

func (s *server) close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the command's context may have ended
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}
