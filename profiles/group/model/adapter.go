package model

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// Adapter is what one kind of store can do for a plan.
type Adapter interface {
	// Caller returns what carries out the calls of an operation; one worker uses it.
	Caller(o *Op) (Caller, error)
	// Size returns how many elements a structure has, -1 if unknown.
	Size(ctx context.Context, o *Op) (int64, error)
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

// Optional interfaces of adapters.
type (
	// Closer has opened something.
	Closer interface {
		// Close releases it.
		Close() error
	}
	// Subscriber has topics.
	Subscriber interface {
		// Subscribe starts to listen to a topic, until what it returns is called.
		Subscribe(ctx context.Context, o *Op, to Inbox) (stop func() error, err error)
	}
	// Preparer prepares what a run needs once its places are claimed.
	Preparer interface {
		// Prepare is called once, before any caller is made.
		Prepare(ctx context.Context, claim *ownership.Claim) error
	}
	// Fitter rejects a table of ours that does not fit the objects of an operation.
	Fitter interface {
		// Fits returns an error that says which column is missing or of another type.
		Fits(ctx context.Context, o *Op) error
	}
	// Finder finds out which rows of a table exist.
	Finder interface {
		// Present returns those of ids whose rows exist.
		Present(ctx context.Context, o *Op, ids []string) (map[string]bool, error)
	}
	// Expirer stores expiry times with the entries, rather than separately.
	Expirer interface {
		// Expires reports whether it does.
		Expires() bool
	}
	// Nearer reads through client-side caching.
	Nearer interface {
		// NearFacts returns what the caching did; nil if it was not requested.
		NearFacts() *NearFacts
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
	Op     *Op
	Action Action
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

// NearFacts is what client-side caching did.
type NearFacts struct {
	Hits          int64 `json:"hits"`
	Misses        int64 `json:"misses"`
	Invalidations int64 `json:"invalidations"`
	// HitRate is the fraction of reads that were hits. HitNS and MissNS are the mean
	// times of an entry that came from memory and from the server; Improvement is how
	// many times as long the reads would have taken without the cache. All are for
	// Coherence only, whose client does not report invalidations.
	HitRate     float64 `json:"hit_rate,omitempty"`
	HitNS       int64   `json:"hit_ns,omitempty"`
	MissNS      int64   `json:"miss_ns,omitempty"`
	Improvement float64 `json:"improvement,omitempty"`
}

// Says is what the near cache did in a sentence, as one of Coherence knows it.
func (f *NearFacts) Says() string {
	if f.Hits+f.Misses == 0 {
		return "near cache: nothing was read through it"
	}
	s := fmt.Sprintf("near cache: %.1f %% of %d reads came from memory", 100*f.HitRate, f.Hits+f.Misses)
	if f.Improvement > 0 {
		s += fmt.Sprintf(", in %s each instead of %s: reads took 1/%.1f of their time", units.Duration(time.Duration(f.HitNS)), units.Duration(time.Duration(f.MissNS)), f.Improvement)
	}
	return s
}
