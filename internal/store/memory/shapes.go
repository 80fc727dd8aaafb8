package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

var errClosed = errors.New("memory: the connection is closed")

// Classify returns the class of an error.
func (c *Conn) Classify(err error) store.Class {
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return store.Timeout
	case errors.Is(err, errClosed), errors.Is(err, proxy.ErrRefused):
		return store.Unreachable
	}
	return store.Other
}

// Serve takes as long as one call does.
func (c *Conn) Serve(ctx context.Context) error { return c.wait(ctx) }

func (c *Conn) wait(ctx context.Context) error {
	if c.closed.Load() {
		return errClosed
	}
	if err := c.proxy.Wait(ctx); err != nil {
		return err
	}
	return c.delay.wait(ctx)
}

// Put stores one entry. In memory the old value costs nothing to read, so this is Set.
func (c *Conn) Put(ctx context.Context, s store.Space, key, val []byte) error {
	return c.Set(ctx, s, key, val)
}

// Set stores one entry.
func (c *Conn) Set(ctx context.Context, s store.Space, key, val []byte) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.db.tableFor(s).of(key).set(nil, key, val)
	return nil
}

// PutAll stores entries. Others may see some of them before the rest.
func (c *Conn) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	t := c.db.tableFor(s)
	for _, e := range es {
		t.of(e.Key).set(nil, e.Key, e.Val)
	}
	return nil
}

// Get reads one value into buf.
func (c *Conn) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	if err := c.wait(ctx); err != nil {
		return buf[:0], false, err
	}
	t := c.db.table(s)
	if t == nil {
		return buf[:0], false, nil
	}
	v, ok := t.of(key).get(nil, key, buf[:0])
	return v, ok, nil
}

// GetAll reads the values of keys; absent ones are nil.
func (c *Conn) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	t := c.db.table(s)
	for i, k := range keys {
		if t == nil {
			break
		}
		if v, ok := t.of(k).get(nil, k, []byte{}); ok {
			out[i] = v
		}
	}
	return out, nil
}

// PutGroup stores one entry in one group.
func (c *Conn) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.db.tableFor(s).of(group).set(group, key, val)
	return nil
}

// PutGroups stores the entries of several groups.
func (c *Conn) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	t := c.db.tableFor(s)
	for _, g := range gs {
		sh := t.of(g.Name)
		for _, e := range g.Entries {
			sh.set(g.Name, e.Key, e.Val)
		}
	}
	return nil
}

// GetGroup reads the values of keys in one group; absent ones are nil.
func (c *Conn) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	t := c.db.table(s)
	for i, k := range keys {
		if t == nil {
			break
		}
		if v, ok := t.of(group).get(group, k, []byte{}); ok {
			out[i] = v
		}
	}
	return out, nil
}

// Count returns how many entries a space holds, over all groups.
func (c *Conn) Count(ctx context.Context, s store.Space) (int64, error) {
	if err := c.wait(ctx); err != nil {
		return 0, err
	}
	if t := c.db.table(s); t != nil {
		return t.size(), nil
	}
	return 0, nil
}

// Inspect looks at a space. What a profile keeps itself counts as existing if it is
// recorded; nothing more is known about it.
func (c *Conn) Inspect(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	n, err := c.Count(ctx, s)
	switch {
	case err != nil:
		return store.Found{}, err
	case n > 0:
		return store.Found{Exists: true, Kind: "map", Size: n}, nil
	case s.Shape == store.Keys && c.db.recorded(s):
		return store.Found{Exists: true, Kind: "keys", Size: -1}, nil
	}
	return store.Found{}, nil
}

// Record records that we made a space.
func (c *Conn) Record(ctx context.Context, m store.Made) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.db.record(m)
	return nil
}

// Made lists what is recorded under a namespace, by name.
func (c *Conn) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	return c.db.madeIn(namespace), nil
}

// Drop removes a recorded space and returns how many entries were removed.
func (c *Conn) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	if err := c.wait(ctx); err != nil {
		return 0, err
	}
	if !c.db.recorded(s) {
		return 0, fault.Input(fmt.Errorf("memory: %s was not made by perfbench", s.Name), "only what perfbench made is deleted")
	}
	var n int64
	if t := c.db.drop(s); t != nil {
		n = t.size()
	}
	if progress != nil {
		progress(n)
	}
	return n, nil
}
