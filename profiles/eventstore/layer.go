package eventstore

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// layer is the application's data layer: how batches are kept in one kind of store.
// Its methods may be called from any goroutine, after Prepare.
type layer interface {
	intake
	lookup
}

// intake takes records in.
type intake interface {
	// prepare makes tables and writes down book and page, and tells what the store stage
	// must know.
	prepare(ctx context.Context) (traits, error)
	// store makes records durable; all of them or an error, after which storing them
	// again does no harm. It returns how many statements it took.
	store(ctx context.Context, rs []*record) (statements int, err error)
	// flush writes statistics, scopes and durations.
	flush(ctx context.Context, s *tallies) error
}

// lookup finds records again.
type lookup interface {
	// scan visits the records of this run whose earliest event starts in [from, to], in
	// order of their start within a partition. The record is valid during the visit.
	// visit returns errEnough to end it.
	scan(ctx context.Context, from, to int64, visit func(*record) error) error
	// get reads the record with this key.
	get(ctx context.Context, k key, visit func(*record) error) error
	// children visits the records under a parent whose earliest event starts in [from,
	// to].
	children(ctx context.Context, parent []byte, from, to int64, visit func(*record) error) error
}

// looker is a layer that can tell, before anything is made, whether the tables that
// are there will do.
type looker interface {
	look(ctx context.Context, c *place.Claim) error
}

// options are what a layer is told of the run.
type options struct {
	// Namespace is the prefix of everything made.
	Namespace string
	// Book, Page and Scope are where the events are: the run is one page, which was born
	// that many nanoseconds after 1970.
	Book, Page, Scope string
	Born              int64
	// Bucket is how much time a partition holds, in each of so many shards.
	Bucket time.Duration
	Shards int
	// PageSize is how many rows one page of a query has at most, QueryLimit how many
	// events it returns.
	PageSize, QueryLimit int
	// Gorm has SQL spoken by gorm.
	Gorm bool
	// Params are written down with what is made.
	Params map[string]string
}

// keys is the space of layers that keep all they have in one.
func (o *options) keys() store.Space {
	return store.Space{Namespace: o.Namespace, Name: "events", Shape: store.Keys, Grouped: true}
}

// traits are what the store stage must know of a layer.
type traits struct {
	// writers is how many calls may be under way at once, group how many records one
	// call is given at most.
	writers, group int
	// linksRaw says that links are kept as they are, plainSingle that a single event's
	// content is its body.
	linksRaw, plainSingle bool
	// durability says in words when a write counts as durable.
	durability string
	// forgets says that nothing is kept.
	forgets bool
}

// key finds a record.
type key struct {
	start int64
	id    string
}

// errEnough ends a visit early, without being an error of it.
var errEnough = errors.New("enough")

func enough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// bucketOf is the number of the bucket of a time.
func bucketOf(ns int64, size time.Duration) int { return int(ns / int64(size)) }

// bucketAt is the number of the partition of a row: its bucket of time, and which of
// the bucket's shards.
func (o *options) bucketAt(start int64, id []byte) int {
	n := bucketOf(start, o.Bucket)
	if o.Shards == 1 {
		return n
	}
	h := uint32(2166136261)
	for _, c := range trunk(id) {
		h = (h ^ uint32(c)) * 16777619
	}
	return n*o.Shards + int(h%uint32(o.Shards))
}

// buckets are the partitions that rows between two starts can lie in.
func (o *options) buckets(from, to int64) (first, last int) {
	return bucketOf(from, o.Bucket) * o.Shards, bucketOf(to, o.Bucket)*o.Shards + o.Shards - 1
}

// flag is a condition as a number.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// errPermanent is wrapped by errors of a layer that no retry mends.
var errPermanent = errors.New("cannot be stored")

// tallies are what the store stage has counted since the last flush.
type tallies struct {
	// frames counts events and bytes by kind and start of frame.
	frames map[frame]amount
	// firstBucket and longest are of the scope: when it began, and how long its longest
	// batch lasts in milliseconds.
	first   int64
	longest int64
}

// Frames are the intervals that statistics are kept for.
var frames = []int64{100e6, 1e9, 60e9, 3600e9}

type frame struct {
	kind  int8  // 1..4, as in frames
	start int64 // ns since 1970
}

type amount struct{ count, bytes int64 }

// add counts the events of a batch, aggregated: they have few different starts.
func (t *tallies) add(es []wire.Event) {
	for i := 0; i < len(es); {
		start, n, size := es[i].ID.Start.NS(), int64(0), int64(0)
		for ; i < len(es) && es[i].ID.Start.NS() == start; i++ {
			n++
			size += int64(wire.RecordSize(&es[i]))
		}
		for k, d := range frames {
			f := frame{int8(k + 1), start - start%d}
			a := t.frames[f]
			t.frames[f] = amount{a.count + n, a.bytes + size}
		}
		if t.first == 0 || start < t.first {
			t.first = start
		}
	}
}
