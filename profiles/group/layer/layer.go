// Package layer is what the operations of a group need of a store: one interface, the
// data passed to it, and maps through the shapes that every store has.
package layer

import (
	"context"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// Adapter is what one kind of store can do for a plan.
type Adapter interface {
	// Caller returns what carries out the calls of an operation; one worker uses it.
	Caller(o *model.Op) (Caller, error)
	// Subscribe starts to listen to a topic; it returns nil if there is none.
	Subscribe(ctx context.Context, o *model.Op, to Inbox) (func() error, error)
	// Size returns how many elements a structure has, -1 if unknown.
	Size(ctx context.Context, o *model.Op) (int64, error)
	// Close releases what the layer has opened.
	Close() error
}

// Caller carries out the calls of one operation for one worker.
type Caller interface {
	// Do carries out a call.
	Do(ctx context.Context, c *Call) (Result, error)
}

// Inbox receives what a topic delivers. Any goroutine may call it.
type Inbox interface {
	// Put receives a message.
	Put(body []byte)
	// Fail reports that receiving has failed.
	Fail(err error)
}

// Optional interfaces of layers.
type (
	// Preparer prepares what a run needs once its places are claimed.
	Preparer interface {
		// Prepare is called once, before any caller is made.
		Prepare(ctx context.Context, claim *ownership.Claim) error
	}
	// Fitter rejects a table of ours that does not fit the objects of an operation.
	Fitter interface {
		// Fits returns an error that says which column is missing or of another type.
		Fits(ctx context.Context, o *model.Op) error
	}
	// Finder finds out which rows of a table exist.
	Finder interface {
		// Present returns those of ids whose rows exist.
		Present(ctx context.Context, o *model.Op, ids []string) (map[string]bool, error)
	}
	// Expirer stores expiry times with the entries, rather than separately.
	Expirer interface {
		// Expires does nothing: implementing it is enough.
		Expires()
	}
	// Nearer reads through client-side caching.
	Nearer interface {
		// NearFacts returns what the caching did; nil if it was not requested.
		NearFacts() *report.NearFacts
	}
	// Speaker has something to add to the verification.
	Speaker interface {
		// Says returns one sentence, or "".
		Says() string
	}
	// Owner keeps what is written in a store of its own.
	Owner interface {
		// Own hands over that store, which the caller must close; nil: it is the run's.
		Own() store.Conn
	}
)

// Call is the data of one operation of one invocation. It is reused for the next.
type Call struct {
	Op     *model.Op
	Action model.Action
	Warm   bool
	// Numbers, Tags and Entries have the same length: what is written or read.
	Numbers []int64
	Tags    [][]byte // if children are stored with their parents
	Entries []store.Entry
	Objects []northwind.Record
	// Got and Row are what the last get found: a value, or the struct of a row.
	Got     []byte
	Row     any
	Payload int
}

// Result is the outcome of a call.
type Result struct {
	// Entries is how many were written or found, Misses how many were requested but not
	// found.
	Entries, Misses int64
}

// Found returns the result of a request for something that was there n times, or was
// not.
func Found(n int64, ok bool) Result {
	if ok {
		return Result{Entries: n}
	}
	return Result{Misses: n}
}

// Hits returns the result of a request for several values, of which nil ones are
// missing.
func Hits(vals [][]byte) Result {
	var r Result
	for _, v := range vals {
		if v == nil {
			r.Misses++
		} else {
			r.Entries++
		}
	}
	return r
}

// KeysInto returns the keys of a call, in the memory of keys.
func KeysInto(keys [][]byte, c *Call) [][]byte {
	keys = keys[:0]
	for _, e := range c.Entries {
		keys = append(keys, e.Key)
	}
	return keys
}
