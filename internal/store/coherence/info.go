package coherence

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/store"
)

// Info describes the server and the connection to it.
func (c *Conn) Info(ctx context.Context) (store.Info, error) {
	if _, err := onCache(ctx, c.sessions, "count", madeName(""), func(ctx context.Context, m counting) (int, error) { return m.Size(ctx) }); err != nil {
		return store.Info{}, c.sessions.explain(ctx, err)
	}
	topology := "behind one gRPC proxy"
	if n := len(c.sessions.hosts); n > 1 {
		topology = fmt.Sprintf("behind %d gRPC proxies", n)
	}
	return store.Info{
		Name: "coherence", Version: c.sessions.version, Topology: topology, InHeap: true,
		Details: map[string]string{
			"client sessions": fmt.Sprintf("%d, each with one stream, used in turn", len(c.sessions.links)),
			"protocol":        "gRPC v1, values as JSON: bytes take a third more as base64",
			"retry policy":    "none: an operation is one attempt",
			"call time-out":   c.sessions.opts.read.String(),
		},
	}, nil
}

// Answer asks for the size of one of our own caches.
func (c *Conn) Answer(ctx context.Context) error {
	_, err := onCache(ctx, c.sessions, "count", madeName(""), func(ctx context.Context, m counting) (int, error) { return m.Size(ctx) })
	return err
}
