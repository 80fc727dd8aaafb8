// Package embedded is the store that needs no server: miniredis in this process,
// accessed over loopback TCP as a real server would be. It is for trying things out and
// for tests; measurements on it say nothing about Redis.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// NoFigure is what reports say about a run on this store.
const NoFigure = "The store was miniredis, embedded in perfbench; these numbers do not describe a real Redis server."

// The keys of miniredis do not expire by themselves: its clock is advanced every tick, or less often
// where that takes longer than one part in clockParts of the time, since it sorts all keys and answers
// nobody meanwhile.
const (
	tick       = 100 * time.Millisecond
	clockParts = 20
)

// Driver starts an embedded store; each Open starts its own.
var Driver = store.Driver{
	Name:    "embedded",
	Title:   "Embedded (no server needed)",
	Schemes: []string{"embedded"},
	Breaks:  store.BreaksConnections,
	Fresh:   true,
	Example: "embedded:",
	Params:  []string{"connections", "protocol", "pipelining"},
	Open:    open,
}

// patience is how long an answer may take. A server within this process does not go away; it only waits
// for a processor, for seconds on a busy machine.
const patience = time.Minute

var _ redis.Typed = (*Conn)(nil)

// Conn is a pool of connections to a miniredis of its own. Everything else comes from
// package redis.
type Conn struct {
	*redis.Conn
	server *miniredis.Miniredis
	stop   func()
	clock  sync.WaitGroup
	once   sync.Once
	err    error
}

// someFiles is how many files and connections a run on the server needs at least.
const someFiles = 16

func open(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	if t.Path != "" {
		return nil, fault.Input(fmt.Errorf("embedded: takes no name, and %q was given", t.Path), "write  embedded:")
	}
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		return nil, fault.Store(fmt.Errorf("embedded: listen on loopback: %w", err), "--target memory: needs no port")
	}
	if fault.FewerFiles(someFiles) { // otherwise it would fail to answer later
		server.Close()
		return nil, fault.Store(fmt.Errorf("embedded: the server within perfbench needs two for each connection: %w", fault.ErrFiles), "")
	}
	params := maps.Clone(t.Params)
	if params == nil {
		params = url.Values{}
	}
	params.Set("read_timeout", patience.String())
	params.Set("busy_poll", "off") // who waits for this server must leave it the processor
	inner, err := redis.Open(ctx, store.Target{Scheme: "redis", Hosts: []string{server.Addr()}, Params: params}, o)
	if err != nil {
		if fault.OutOfFiles() { // the server in here has none left for the connection
			err = fault.Code(fault.Sentence("embedded: the server within perfbench could not take the connection: "+fault.ErrFiles.Error(), err), fault.CodeStore)
		}
		server.Close()
		return nil, err
	}
	c := &Conn{Conn: inner, server: server}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	// Ends with Close.
	c.clock.Go(fault.Guarded(func() { keepTime(background, server.FastForward) }))
	return c, nil
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any { return append([]any{meter{c.Meter}}, c.Conn.Components()...) }

// meter reads what miniredis reports about itself.
type meter struct{ *redis.Meter }

// Usage reports nothing, since what the server uses is this process's own.
func (meter) Usage(context.Context) store.Usage { return store.Untold() }

// keepTime advances a clock by the time that passes, until ctx ends.
func keepTime(ctx context.Context, advance func(time.Duration)) {
	last := time.Now()
	timer := time.NewTimer(tick)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			now := time.Now()
			advance(now.Sub(last))
			last = now
			timer.Reset(max(tick, clockParts*time.Since(now)))
		case <-ctx.Done():
			return
		}
	}
}

// Info describes the store. It never fails.
func (c *Conn) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "miniredis", Topology: "in process", FreeBytes: store.FreeMemory(), NoFigure: NoFigure}, nil
}

// Close ends the server and discards all its data.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.stop()
		c.clock.Wait()
		c.err = errors.Join(c.err, c.Conn.Close())
		c.server.Close()
	})
	return c.err
}
