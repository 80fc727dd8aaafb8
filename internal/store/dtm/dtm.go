// Package dtm connects to a running dtm server, a coordinator of distributed
// transactions, over its HTTP interface. It stores nothing of ours; the profile that
// has transactions coordinated uses the typed connection.
package dtm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Driver opens connections to a dtm server.
var Driver = store.Driver{
	Name:    "dtm",
	Title:   "dtm server",
	Schemes: []string{"dtm+http"},
	Breaks:  store.BreaksConnections,
	Example: "dtm+http://localhost:36789",
	Port:    36789,
	Params:  []string{"dial_timeout", "read_timeout", "write_timeout", "connections"},
	Open:    open,
}

// Conn is a pool of HTTP connections to one server. It is safe for use by several
// goroutines.
type Conn struct {
	base   string
	client *http.Client
}

const (
	dialTimeout = 5 * time.Second
	readTimeout = 30 * time.Second // a submit waits for all branches
	mostBytes   = 16 << 20
)

func open(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	if len(t.Hosts) != 1 {
		return nil, fault.Input(errors.New("dtm+http: name exactly one host"), "for example dtm+http://localhost:36789")
	}
	times, err1 := store.Timeouts(t)
	n, err2 := store.Connections(t)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	if times.Dial == 0 {
		times.Dial = dialTimeout
	}
	if times.Read == 0 {
		times.Read = readTimeout
	}
	if n == 0 {
		n = o.Threads + 2
	}
	c := &Conn{
		base: "http://" + store.HostPort(t.Hosts[0], 36789) + "/api/dtmsvr/",
		client: &http.Client{Timeout: times.Read, Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				return o.Proxy.Dial(ctx, &net.Dialer{Timeout: times.Dial}, network, addr)
			},
			MaxIdleConns: n, MaxIdleConnsPerHost: n, MaxConnsPerHost: n, DisableCompression: true,
		}},
	}
	if _, err := c.Info(ctx); err != nil {
		return nil, fault.Store(fmt.Errorf("dtm: %w", err), "is a dtm server running there? its HTTP port is 36789 by default")
	}
	return c, nil
}

// Info asks the server for its version.
func (c *Conn) Info(ctx context.Context) (store.Info, error) {
	status, body, err := c.Call(ctx, http.MethodGet, "version", nil, nil)
	if err != nil {
		return store.Info{}, err
	}
	if status != http.StatusOK {
		return store.Info{}, fmt.Errorf("version: the server answered with status %d", status)
	}
	var v struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(body, &v) != nil {
		return store.Info{}, errors.New("version: this is not the answer of a dtm server")
	}
	return store.Info{Name: "dtm", Version: v.Version, Topology: "coordinator"}, nil
}

// Call sends a request to a path below the interface's base and returns status and
// body.
func (c *Conn) Call(ctx context.Context, method, path string, query url.Values, body []byte) (int, []byte, error) {
	u := c.base + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, u, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // all of it was read
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes))
	return resp.StatusCode, data, err
}

// Classify returns the class of a call's error.
func (c *Conn) Classify(err error) store.Class { return classify(err) }

func classify(err error) store.Class {
	var netErr net.Error
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return store.Timeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &netErr):
		return store.Unreachable
	}
	return store.Other
}

// Close closes idle connections.
func (c *Conn) Close() error {
	c.client.CloseIdleConnections()
	return nil
}
