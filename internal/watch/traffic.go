package watch

import (
	"context"
	"net"
	"sync/atomic"
)

// Traffic counts the bytes of connections as seen by this process. Any goroutine may
// use it; a nil Traffic counts nothing.
type Traffic struct{ in, out atomic.Int64 }

// In returns how many bytes have been read so far.
func (t *Traffic) In() int64 { return t.in.Load() }

// Out returns how many bytes have been written so far.
func (t *Traffic) Out() int64 { return t.out.Load() }

// Conn returns c with its bytes counted.
func (t *Traffic) Conn(c net.Conn) net.Conn {
	if t == nil {
		return c
	}
	return &counted{c, t}
}

// Dial wraps a dialer so that its connections are counted, in the form that drivers
// take.
func (t *Traffic) Dial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return t.Conn(c), nil
	}
}

type counted struct {
	net.Conn
	t *Traffic
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.t.in.Add(int64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.t.out.Add(int64(n))
	return n, err
}
