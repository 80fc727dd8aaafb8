// Package store is what profiles know about data stores: how a target is written, what
// a connection can do (small interfaces named by shape), and the classes of errors.
// Each store has a folder below this one; this package knows none of them.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/proxy"
)

// ErrUnsupported is wrapped by errors about features that a store does not have.
var ErrUnsupported = errors.New("not supported by this store")

// Conn is an open connection to a store, or a pool of them. It is safe for use by
// several goroutines. What else it can do is shown by the interfaces of shapes.go that
// it or one of its components implements; use As to get them.
type Conn interface {
	// Info asks the store for its details. It is cheap enough to call at the start and
	// end.
	Info(ctx context.Context) (Info, error)
	// Classify returns the class of an operation's error, Worked for nil. It is called
	// on the workers' goroutines.
	Classify(err error) Class
	// Close releases everything; it may take as long as pending calls do.
	Close() error
}

// Composite is implemented by connections that are made of components, each of which owns
// one state: the maps, the records of what was made, the leases, what the servers report.
type Composite interface {
	// Components returns those that implement interfaces of this package. If several
	// implement the same one, the first counts.
	Components() []any
}

// Info describes a store as it answered.
type Info struct {
	// Name is the product: "redis", "valkey", "miniredis". Version is as reported.
	Name, Version string
	// Topology is "standalone", "cluster of 3 masters", "sentinel", "in process".
	Topology string
	// FreeBytes is how much memory it may still fill; 0 if unknown.
	FreeBytes int64
	// InHeap means that the data are kept in the heap of the server's JVM, which dies
	// when the heap is full.
	InHeap bool
	// NoFigure, when set, is a sentence saying that results do not describe a real
	// server; every report repeats it.
	NoFigure string
	// Warnings are sentences worth reading before trusting a result.
	Warnings []string
	// Details holds further facts for the report: eviction policy, persistence …
	Details map[string]string
}

// PoolStats are the statistics of a connection pool. Waiting for a connection is
// latency that users would blame on the store.
type PoolStats struct {
	Size, Open, Idle int
	// Waits is how often a caller had to wait for a connection, WaitNs for how long in
	// total.
	Waits, WaitNs int64
	// Redirects is how often a server sent a call to another.
	Redirects int64
	// Polled is the processor time that the client has taken to look for replies before it
	// slept: it would have been idle otherwise, so it is no work.
	Polled time.Duration
}

// Pooled is implemented by connections that have statistics of a pool.
type Pooled interface {
	Pool() PoolStats
}

// Driver opens connections to one kind of store.
type Driver struct {
	// Name is the id and product label: "redis", "cassandra", "mysql", "embedded".
	Name string
	// Title is for people: "Redis".
	Title string
	// Schemes are the URL schemes it answers to.
	Schemes []string
	// Example is an example of a target.
	Example string
	// Port is the port of its servers unless the target gives one; 0 if it has none.
	Port int
	// Params are the URL parameters it knows.
	Params []string
	// Breaks says which faults of connections it can have.
	Breaks Breaks
	// Fresh means that what its targets without a name open is new and empty, within this process, and ends
	// when it is closed.
	Fresh bool
	// Traits are the abilities that its servers are asked for.
	Traits []Trait
	// Open connects and makes sure that the store answers and accepts us. Errors
	// carry a hint and fault.CodeStore, and never a password.
	Open func(ctx context.Context, t Target, o OpenOptions) (Conn, error)
}

// Breaks says which faults a driver's connections can have.
type Breaks int

// What faults can be of.
const (
	BreaksNothing Breaks = iota // it has no connections, and its calls wait for nothing
	BreaksCalls                 // its calls, which are within this process
	BreaksConnections
)

// Listens returns the addresses at which the servers of a target listen; none if that is not
// known from it.
func (d *Driver) Listens(t Target) []string {
	if d.Port == 0 || strings.Contains(t.Scheme, "sentinel") {
		return nil
	}
	var out []string
	for _, h := range t.Hosts {
		out = append(out, HostPort(h, d.Port))
	}
	return out
}

// Opens converts a function that opens connections of a specific type into a driver's
// Open.
func Opens[C Conn](open func(context.Context, Target, OpenOptions) (C, error)) func(context.Context, Target, OpenOptions) (Conn, error) {
	return func(ctx context.Context, t Target, o OpenOptions) (Conn, error) {
		c, err := open(ctx, t, o)
		if err != nil {
			return nil, err // without c, which as an interface would not be nil
		}
		return c, nil
	}
}

// OpenOptions is what a driver is given in addition to the target.
type OpenOptions struct {
	// Threads is the highest number of operations that may be in progress at once: the
	// size of the pool unless the target has connections=.
	Threads int
	// Existing means that a file that is missing is not made: the error then is
	// fs.ErrNotExist.
	Existing bool
	// Log takes warnings about what may spoil a result; never nil.
	Log *slog.Logger
	// Agent is the URL of the Jolokia agent of a single Java server; empty if none is
	// known.
	Agent string
	// Fence is what all writes of the connections pass; nil: none.
	Fence *Fence
	// Proxy is what all connections go through, and what stores of this process wait for; nil:
	// the run has no faults.
	Proxy *proxy.Proxy
}

// As returns what implements T, the connection itself or one of its components, or an
// error that names T and wraps ErrUnsupported.
func As[T any](c Conn) (T, error) {
	v, ok := Has[T](c)
	if !ok {
		return v, fmt.Errorf("%v: %w", reflect.TypeFor[T](), ErrUnsupported)
	}
	return v, nil
}

// Has is As for what a connection may do without; false if it does.
func Has[T any](c Conn) (T, bool) {
	if v, ok := c.(T); ok {
		return v, true
	}
	if made, ok := c.(Composite); ok {
		for _, part := range made.Components() {
			if v, ok := part.(T); ok {
				return v, true
			}
		}
	}
	var none T
	return none, false
}

// Class is the class of an operation's error.
type Class uint8

// Classes of errors. Worked means no error.
const (
	Worked Class = iota
	Timeout
	Unreachable
	Refused
	ReadOnly
	OutOfMemory
	Overloaded
	Conflict
	Missing
	WrongType
	Canceled
	Panicked
	Other
	// Lost is that of ErrLost.
	Lost
)

// ErrLost is wrapped by the error of a call that the store answered, but not with a record that it
// had acknowledged before: one that was loaded or written, and that nobody has deleted since.
var ErrLost = errors.New("a record that was acknowledged is not there")

// ClassOf is the class of an operation's error: Lost whatever the store, and otherwise what the store
// of conn says.
func ClassOf(conn Conn, err error) Class {
	if errors.Is(err, ErrLost) {
		return Lost
	}
	return conn.Classify(err)
}

// ClassNames are the names of the classes, by value.
var ClassNames = []string{
	"ok", "timeout", "unreachable", "refused", "read-only", "out of memory", "overloaded",
	"conflict", "missing", "wrong type", "canceled", "panic", "other", "lost",
}

// Retryable reports whether callers may try again what failed with an error of a class, by its
// value: what may work the next time.
func Retryable(class uint8) bool {
	switch Class(class) {
	case Timeout, Unreachable, ReadOnly, Overloaded, Conflict:
		return true
	}
	return false
}

// Unanswered reports whether it is not known what became of a call that failed with an error of the
// class: it was sent and not answered. A connection that could not even be made sent nothing.
func (c Class) Unanswered(err error) bool {
	switch c {
	case Timeout, Unreachable, Canceled, Panicked, Other:
	default:
		return false
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "dial"
}

// String returns the name shown to users.
func (c Class) String() string {
	if int(c) < len(ClassNames) {
		return ClassNames[c]
	}
	return "other"
}
