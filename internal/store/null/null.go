// Package null is a store that does nothing, immediately, and keeps nothing: what is
// measured on it is the ceiling of the harness itself.
package null

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// NoFigure is what reports say about a run on this store.
const NoFigure = "Nothing was stored; these numbers are the ceiling of perfbench itself and do not describe a real server."

// Driver opens a store that does nothing.
var Driver = store.Driver{
	Name:    "null",
	Title:   "null (stores nothing)",
	Schemes: []string{"null"},
	Example: "null:",
	Breaks:  store.BreaksCalls,
	Fresh:   true,
	Open: func(_ context.Context, _ store.Target, o store.OpenOptions) (store.Conn, error) {
		return Conn{o.Proxy}, nil
	},
}

var _ interface {
	store.Maps
	store.Forgetful
} = Conn{}

// Conn accepts every write and finds nothing. It is safe for use by several
// goroutines.
type Conn struct{ proxy *proxy.Proxy }

// Info describes the store.
func (Conn) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "null", Topology: "in process", NoFigure: NoFigure}, nil
}

// Classify knows the errors of contexts and of faults; nothing here returns any other.
func (Conn) Classify(err error) store.Class {
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return store.Timeout
	case errors.Is(err, proxy.ErrRefused):
		return store.Unreachable
	}
	return store.Other
}

// Close does nothing.
func (Conn) Close() error { return nil }

// Forgets reports that nothing is kept.
func (Conn) Forgets() bool { return true }

// Serve takes no time but what faults take.
func (c Conn) Serve(ctx context.Context) error { return c.proxy.Wait(ctx) }

// Probe accepts every write.
func (Conn) Probe(context.Context, store.Space) error { return nil }

// Put does nothing.
func (c Conn) Put(ctx context.Context, _ store.Space, _, _ []byte) error { return c.proxy.Wait(ctx) }

// Set does nothing.
func (c Conn) Set(ctx context.Context, _ store.Space, _, _ []byte) error { return c.proxy.Wait(ctx) }

// PutAll does nothing.
func (c Conn) PutAll(ctx context.Context, _ store.Space, _ []store.Entry) error {
	return c.proxy.Wait(ctx)
}

// Get finds nothing.
func (c Conn) Get(ctx context.Context, _ store.Space, _, buf []byte) ([]byte, bool, error) {
	return buf[:0], false, c.proxy.Wait(ctx)
}

// absent is what GetAll returns for batches up to its length, to avoid allocating. It
// is never modified.
var absent [1024][]byte

func nothing(n int) [][]byte {
	if n <= len(absent) {
		return absent[:n:n]
	}
	return make([][]byte, n)
}

// GetAll finds nothing. The result must not be modified.
func (c Conn) GetAll(ctx context.Context, _ store.Space, keys [][]byte) ([][]byte, error) {
	return nothing(len(keys)), c.proxy.Wait(ctx)
}

// Count returns 0.
func (Conn) Count(context.Context, store.Space) (int64, error) { return 0, nil }

// PutGroup does nothing.
func (c Conn) PutGroup(ctx context.Context, _ store.Space, _, _, _ []byte) error {
	return c.proxy.Wait(ctx)
}

// PutGroups does nothing.
func (c Conn) PutGroups(ctx context.Context, _ store.Space, _ []store.Group) error {
	return c.proxy.Wait(ctx)
}

// GetGroup finds nothing. The result must not be modified.
func (c Conn) GetGroup(ctx context.Context, _ store.Space, _ []byte, keys [][]byte) ([][]byte, error) {
	return nothing(len(keys)), c.proxy.Wait(ctx)
}

// Inspect finds nothing.
func (Conn) Inspect(context.Context, store.Space, ...string) (store.Found, error) {
	return store.Found{}, nil
}

// Record does nothing.
func (Conn) Record(context.Context, store.Made) error { return nil }

// Made lists nothing.
func (Conn) Made(context.Context, string) ([]store.Made, error) { return nil, nil }

// Drop removes nothing.
func (Conn) Drop(context.Context, store.Space, func(done int64)) (int64, error) { return 0, nil }

// Hold grants the lease to everybody, as there is nothing to compete for.
func (Conn) Hold(_ context.Context, _ string, l store.Lease, _ time.Duration) (store.Lease, store.Hold, error) {
	return l, store.Renewed, nil
}

// Holder returns nobody.
func (Conn) Holder(context.Context, string) (store.Lease, bool, error) {
	return store.Lease{}, false, nil
}

// Swap always does.
func (Conn) Swap(context.Context, string, store.Lease, store.Lease, time.Duration) (bool, error) {
	return true, nil
}

// Free does nothing.
func (Conn) Free(context.Context, string, store.Lease) error { return nil }
