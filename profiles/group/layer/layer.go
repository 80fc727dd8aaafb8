// Package layer is what the operations of a group ask of a store: one interface, what
// is handed over, and maps through the shapes that every store has.
package layer

import (
	"context"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// Layer is what one kind of store can do for a plan.
type Layer interface {
	// Caller returns what carries out the calls of an operation; one worker uses it.
	Caller(o *model.Op) (Caller, error)
	// Subscribe starts to listen to a topic; nil where there is none.
	Subscribe(ctx context.Context, o *model.Op, to Inbox) (func() error, error)
	// Size tells how many elements a structure has, -1 when it cannot be told.
	Size(ctx context.Context, o *model.Op) (int64, error)
	// Close ends what the layer has opened.
	Close() error
}

// Caller carries out the calls of one operation for one worker.
type Caller interface {
	// Do carries out a call.
	Do(ctx context.Context, c *Call) (Result, error)
}

// Inbox takes in what a topic delivers. Any goroutine may call it.
type Inbox interface {
	// Put takes in a message.
	Put(body []byte)
	// Fail takes in that receiving has failed.
	Fail(err error)
}

// What some layers have beside.
type (
	// Preparer makes ready what a run needs once its places are claimed.
	Preparer interface {
		// Prepare is called once, before any caller is made.
		Prepare(ctx context.Context, claim *place.Claim) error
	}
	// Fitter refuses a table of ours into which the objects of an operation do not go.
	Fitter interface {
		// Fits returns an error that says which column is missing or of another type.
		Fits(ctx context.Context, o *model.Op) error
	}
	// Finder tells which rows of a table are there.
	Finder interface {
		// Present has those of ids whose rows are there.
		Present(ctx context.Context, o *model.Op, ids []string) (map[string]bool, error)
	}
	// Expirer keeps the times at which entries expire with them, not beside.
	Expirer interface {
		// Expires does nothing: having it is the answer.
		Expires()
	}
	// Nearer reads through client-side caching.
	Nearer interface {
		// NearFacts is what that did; nil when it was not asked for.
		NearFacts() *report.NearFacts
	}
	// Speaker has something to say beside the verification.
	Speaker interface {
		// Says is one sentence, or "".
		Says() string
	}
	// Owner keeps what is written in a store of its own.
	Owner interface {
		// Own hands that store over, and whoever takes it closes it; nil: it is the run's.
		Own() store.Conn
	}
)

// Call is what one operation of one invocation works with. It is kept for the next.
type Call struct {
	Op     *model.Op
	Action model.Action
	Warm   bool
	// Numbers, tags and entries are of the same length: what is written or read.
	Numbers []int64
	Tags    [][]byte // where children lie with their parents
	Entries []store.Entry
	Objects []northwind.Record
	// Got and Row are what the last get found: a value, or the struct of a row.
	Got     []byte
	Row     any
	Payload int
}

// Result is what a call came to.
type Result struct {
	// Entries were written or found, misses were asked for and not there.
	Entries, Misses int64
}

// Found is the result of asking for something that was there n times, or was not.
func Found(n int64, ok bool) Result {
	if ok {
		return Result{Entries: n}
	}
	return Result{Misses: n}
}

// Hits is the result of asking for several values; nil is one that is not there.
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

// KeysInto lists the keys of a call, in the memory of keys.
func KeysInto(keys [][]byte, c *Call) [][]byte {
	keys = keys[:0]
	for _, e := range c.Entries {
		keys = append(keys, e.Key)
	}
	return keys
}
