// Package layer is what the operations of a group ask of a store: one interface, what
// is handed over, and maps through the shapes that every store has.
package group

import (
	"context"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
)

// engineRoom is what one kind of store can do for a plan.
type engineRoom interface {
	// hand returns what carries out the calls of an operation; one worker uses it.
	hand(o *opSpec) (hand, error)
	// subscribe starts to listen to a topic; nil where there is none.
	subscribe(ctx context.Context, o *opSpec, to mailbox) (func() error, error)
	// size tells how many elements a structure has, -1 when it cannot be told.
	size(ctx context.Context, o *opSpec) (int64, error)
	close() error
}

// hand carries out the calls of one operation for one worker.
type hand interface {
	do(ctx context.Context, c *call) (result, error)
}

// mailbox takes in what a topic delivers. Any goroutine may call it.
type mailbox interface {
	// put takes in a message, fail that receiving has failed.
	put(body []byte)
	fail(err error)
}

// What some layers have beside.
type (
	// preparer makes ready what a run needs once its places are claimed.
	preparer interface {
		prepare(ctx context.Context, claim *place.Claim) error
	}
	// fitter refuses a table of ours into which the objects of an operation do not go.
	fitter interface {
		fits(ctx context.Context, o *opSpec) error
	}
	// finder tells which rows of a table are there.
	finder interface {
		present(ctx context.Context, o *opSpec, ids []string) (map[string]bool, error)
	}
	// expirer keeps the times at which entries expire with them, not beside.
	expirer interface{ expires() }
	// nearer reads through client-side caching: what that did, nil when it was not asked
	// for.
	nearer interface{ nearFacts() *NearFacts }
	// speaker has something to say beside the verification.
	speaker interface{ says() string }
	// owner keeps what is written in a store of its own, which is handed over: whoever
	// takes it closes it. nil: it is the run's.
	owner interface{ own() store.Conn }
)

// call is what one operation of one invocation works with. It is kept for the next.
type call struct {
	o    *opSpec
	act  action
	warm bool
	// numbers, ids, tags and entries are of the same length: what is written or read.
	numbers []int64
	tags    [][]byte // where children lie with their parents
	entries []store.Entry
	objects []record
	// got and row are what the last get found: a value, or the struct of a row.
	got     []byte
	row     any
	payload int
}

// result is what a call came to.
type result struct {
	// entries were written or found, misses were asked for and not there.
	entries, misses int64
}

func found(n int64, ok bool) result {
	if ok {
		return result{entries: n}
	}
	return result{misses: n}
}

func hits(vals [][]byte) result {
	var r result
	for _, v := range vals {
		if v == nil {
			r.misses++
		} else {
			r.entries++
		}
	}
	return r
}

func keysInto(keys [][]byte, c *call) [][]byte {
	keys = keys[:0]
	for _, e := range c.entries {
		keys = append(keys, e.Key)
	}
	return keys
}
