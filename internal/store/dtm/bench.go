package dtm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// BenchDriver opens connections to the server of dtm's own benchmark, which makes dtm
// carry out a transaction for each request.
var BenchDriver = store.Driver{
	Name:    "dtm-bench",
	Title:   "dtm's benchmark server",
	Schemes: []string{"dtm+bench"},
	Breaks:  store.BreaksConnections,
	Example: "dtm+bench://localhost:8083",
	Params:  []string{"dial_timeout", "read_timeout"},
	Open:    openBench,
}

const (
	benchPort = 8083
	benchBase = "/api/busi_bench/"
	// benchURL is the one requested by the published command.
	benchURL = "benchEmptyUrl"
)

// benchURLs are the URLs below benchBase that carry out a transaction. Others wipe the
// server's tables, or its whole store.
var benchURLs = []string{benchURL, "bench", "benchFlashSales"}

// Bench is a benchmark server. It is safe for use by several goroutines.
type Bench struct {
	addr, host, path string
	times            store.TimeoutSet
	proxy            *proxy.Proxy
}

func openBench(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	if len(t.Hosts) != 1 {
		return nil, fault.Input(errors.New("dtm+bench: name exactly one host"), "for example dtm+bench://localhost:8083")
	}
	name := strings.TrimPrefix("/"+t.Path, benchBase)
	if t.Path == "" {
		name = benchURL
	}
	if !slices.Contains(benchURLs, name) {
		return nil, fault.Input(fmt.Errorf("dtm+bench: /%s is not a URL that carries out a transaction", t.Path),
			"leave it out for "+benchURL+", or use one of "+benchBase+strings.Join(benchURLs, ", "+benchBase))
	}
	times, err := store.Timeouts(t)
	if err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	if times.Dial == 0 {
		times.Dial = dialTimeout
	}
	if times.Read == 0 {
		times.Read = readTimeout
	}
	b := &Bench{host: t.Hosts[0], path: benchBase + name, times: times, addr: store.HostPort(t.Hosts[0], benchPort), proxy: o.Proxy}
	// Names are looked up once, not for each connection.
	if b.addr, err = b.reach(ctx); err != nil {
		return nil, fault.Store(fmt.Errorf("dtm+bench: %w", err), "is dtm's benchmark server running there? its port is 8083 by default")
	}
	return b, nil
}

// reach connects, and returns the address that answered.
func (b *Bench) reach(ctx context.Context) (string, error) {
	c, err := (&net.Dialer{Timeout: b.times.Dial}).DialContext(ctx, "tcp", b.addr)
	if err != nil {
		return "", err
	}
	return c.RemoteAddr().String(), c.Close()
}

// Path returns the path of the URL that is requested.
func (b *Bench) Path() string { return b.path }

// Info describes the server, which does not report its version.
func (b *Bench) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "dtm-bench", Topology: "benchmark server and coordinator in one process"}, nil
}

// Answer makes sure that the server can be reached. A request would be a transaction.
func (b *Bench) Answer(ctx context.Context) error {
	_, err := b.reach(ctx)
	return err
}

// Close does nothing: connections belong to their clients.
func (b *Bench) Close() error { return nil }

// ReplyError is a reply other than success, described by its status and body.
type ReplyError struct {
	Status int
	Body   string
}

// Error describes the reply.
func (e *ReplyError) Error() string {
	return fmt.Sprintf("the server answered with status %d: %s", e.Status, e.Body)
}

// Undecided reports whether the transaction was not carried out, or not yet.
func (e *ReplyError) Undecided() bool {
	return e.Status == http.StatusConflict || e.Status == http.StatusTooEarly || strings.Contains(e.Body, wordFailure) || strings.Contains(e.Body, wordOngoing)
}

// Words in the body of an unsuccessful reply, whatever its status.
const (
	wordFailure = "FAILURE"
	wordOngoing = "ONGOING"
)

// Classify returns the class of a request's error, for a reply by its status and body.
func (b *Bench) Classify(err error) store.Class {
	reply, ok := errors.AsType[*ReplyError](err)
	switch {
	case !ok:
		return classify(err)
	case reply.Undecided():
		return store.Conflict
	case reply.Status == http.StatusNotFound:
		return store.Missing
	case reply.Status == http.StatusUnauthorized, reply.Status == http.StatusForbidden:
		return store.Refused
	case reply.Status == http.StatusTooManyRequests, reply.Status == http.StatusServiceUnavailable:
		return store.Overloaded
	case reply.Status == http.StatusRequestTimeout, reply.Status == http.StatusGatewayTimeout:
		return store.Timeout
	}
	return store.Other
}

// Client returns a client for one goroutine. Without keepAlive it opens a new
// connection for each request, as ab does without -k.
func (b *Bench) Client(keepAlive bool) *BenchClient {
	text := "GET " + b.path + " HTTP/1.0\r\n"
	if keepAlive {
		text += "Connection: Keep-Alive\r\n"
	}
	text += "Host: " + b.host + "\r\nUser-Agent: perfbench\r\nAccept: */*\r\n\r\n"
	return &BenchClient{bench: b, keep: keepAlive, request: []byte(text), dialer: net.Dialer{Timeout: b.times.Dial, KeepAlive: -1}}
}
