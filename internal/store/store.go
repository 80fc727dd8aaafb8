// Package store is what profiles know of data stores: how a target is written,
// what a connection can do (small interfaces named by shape), and the classes of
// errors. One folder below it holds each store. It does not know any of them.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
)

// ErrUnsupported is wrapped by errors about what a store cannot do.
var ErrUnsupported = errors.New("not supported by this store")

// Conn is an open connection, or pool of them, to one store. It is safe for use
// by several goroutines. What it can do beyond this it says by implementing the
// interfaces of shapes.go; ask with As.
type Conn interface {
	// Info asks the store who it is. Cheap enough to call at the start and end.
	Info(ctx context.Context) (Info, error)
	// Classify puts an error of an operation in its class; Worked for nil. It is
	// called on the workers' goroutines.
	Classify(err error) Class
	// Close lets go of everything; it may take as long as open calls do.
	Close() error
}

// Info describes a store as it answered.
type Info struct {
	// Name is the product: "redis", "valkey", "miniredis". Version is its own word.
	Name, Version string
	// Topology is "standalone", "cluster of 3 masters", "sentinel", "in process".
	Topology string
	// FreeBytes is the memory that it may still fill; 0: not told.
	FreeBytes int64
	// InHeap says that what is stored lies in the heap of the server's JVM, which ends
	// when that is full.
	InHeap bool
	// NoFigure, when set, is a sentence saying that results do not describe a real
	// server; every report repeats it.
	NoFigure string
	// Warnings are sentences worth reading before trusting a result.
	Warnings []string
	// Details holds further facts for the report: eviction policy, persistence …
	Details map[string]string
}

// PoolStats is what a connection pool has to tell. Waits in it are latency that
// a user would blame on the store.
type PoolStats struct {
	Size, Open, Idle int
	// Waits is how often a caller had to wait for a connection, WaitNs for how long
	// in all.
	Waits, WaitNs int64
}

// Pooled is implemented by connections that can tell of their pool.
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
	// Example is a target to show.
	Example string
	// Port is where its servers listen unless the target says; 0: it has none.
	Port int
	// Params are the URL parameters it knows.
	Params []string
	// Open connects and makes sure that the store answers and accepts us. Errors
	// carry a hint and fault.CodeStore, and never a password.
	Open func(ctx context.Context, t Target, o OpenOptions) (Conn, error)
}

// Opens makes the Open of a driver of a function whose connections have a type of their
// own.
func Opens[C Conn](open func(context.Context, Target, OpenOptions) (C, error)) func(context.Context, Target, OpenOptions) (Conn, error) {
	return func(ctx context.Context, t Target, o OpenOptions) (Conn, error) {
		c, err := open(ctx, t, o)
		if err != nil {
			return nil, err // and no C, which would not be nil
		}
		return c, nil
	}
}

// OpenOptions is what a driver is told beside the target.
type OpenOptions struct {
	// Threads is the highest number of operations that may be under way at once:
	// the size of the pool unless the target says connections=.
	Threads int
	// Log takes what may spoil a result; never nil.
	Log *slog.Logger
	// Agent is the URL of the Jolokia agent of a sole Java server; empty: none is known.
	Agent string
}

// As returns c as T, or an error that names T and wraps ErrUnsupported.
func As[T any](c Conn) (T, error) {
	v, ok := c.(T)
	if !ok {
		return v, fmt.Errorf("%v: %w", reflect.TypeFor[T](), ErrUnsupported)
	}
	return v, nil
}

// Class is the class of an operation's error.
type Class uint8

// Classes of errors. Worked is no error.
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
)

// ClassNames are the names of the classes, by value.
var ClassNames = []string{
	"ok", "timeout", "unreachable", "refused", "read-only", "out of memory", "overloaded",
	"conflict", "missing", "wrong type", "canceled", "panic", "other",
}

// String returns the name shown to users.
func (c Class) String() string {
	if int(c) < len(ClassNames) {
		return ClassNames[c]
	}
	return "other"
}
