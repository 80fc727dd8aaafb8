// Package layer is the application's data layer: what every kind of store does with the
// batches of events, and what of it is the same for all.
package layer

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Layer is the application's data layer: how batches are kept in one kind of store.
// Its methods may be called from any goroutine, after Prepare.
type Layer interface {
	Intake
	Lookup
}

// Intake takes records in.
type Intake interface {
	// Prepare makes tables and writes down book and page, and tells what the store stage
	// must know.
	Prepare(ctx context.Context) (Traits, error)
	// Store makes records durable; all of them or an error, after which storing them
	// again does no harm. It returns how many statements it took.
	Store(ctx context.Context, rs []*Record) (statements int, err error)
	// Flush writes statistics, scopes and durations.
	Flush(ctx context.Context, s *Tallies) error
}

// Lookup finds records again.
type Lookup interface {
	// Scan visits the records of this run whose earliest event starts in [from, to], in
	// order of their start within a partition. The record is valid during the visit.
	// visit returns ErrEnough to end it.
	Scan(ctx context.Context, from, to int64, visit func(*Record) error) error
	// Get reads the record with this key.
	Get(ctx context.Context, k Key, visit func(*Record) error) error
	// Children visits the records under a parent whose earliest event starts in [from,
	// to].
	Children(ctx context.Context, parent []byte, from, to int64, visit func(*Record) error) error
}

// Looker is a layer that can tell, before anything is made, whether the tables that
// are there will do.
type Looker interface {
	// Look returns an error that names the first table that will not do.
	Look(ctx context.Context, c *place.Claim) error
}

// Options are what a layer is told of the run.
type Options struct {
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

// Keys is the space of layers that keep all they have in one.
func (o *Options) Keys() store.Space {
	return store.Space{Namespace: o.Namespace, Name: "events", Shape: store.Keys, Grouped: true}
}

// Traits are what the store stage must know of a layer.
type Traits struct {
	// Writers is how many calls may be under way at once, Group how many records one
	// call is given at most.
	Writers, Group int
	// LinksRaw says that links are kept as they are, PlainSingle that a single event's
	// content is its body.
	LinksRaw, PlainSingle bool
	// Durability says in words when a write counts as durable.
	Durability string
	// Forgets says that nothing is kept.
	Forgets bool
}

// Key finds a record.
type Key struct {
	Start int64
	ID    string
}

// ErrEnough ends a visit early, without being an error of it.
var ErrEnough = errors.New("enough")

// Enough makes of the error of a visit that was ended early none.
func Enough(err error) error {
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// BucketOf is the number of the bucket of a time.
func BucketOf(ns int64, size time.Duration) int { return int(ns / int64(size)) }

// BucketAt is the number of the partition of a row: its bucket of time, and which of
// the bucket's shards.
func (o *Options) BucketAt(start int64, id []byte) int {
	n := BucketOf(start, o.Bucket)
	if o.Shards == 1 {
		return n
	}
	h := uint32(2166136261)
	for _, c := range Trunk(id) {
		h = (h ^ uint32(c)) * 16777619
	}
	return n*o.Shards + int(h%uint32(o.Shards))
}

// Buckets are the partitions that rows between two starts can lie in.
func (o *Options) Buckets(from, to int64) (first, last int) {
	return BucketOf(from, o.Bucket) * o.Shards, BucketOf(to, o.Bucket)*o.Shards + o.Shards - 1
}

// Flag is a condition as a number.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ErrPermanent is wrapped by errors of a layer that no retry mends.
var ErrPermanent = errors.New("cannot be stored")

// Tallies are what the store stage has counted since the last flush.
type Tallies struct {
	// Frames counts events and bytes by kind and start of frame.
	Frames map[Frame]Amount
	// first and Longest are of the scope: when it began, and how long its longest
	// batch lasts in milliseconds.
	first   int64
	Longest int64
}

// Frames are the intervals that statistics are kept for.
var Frames = []int64{100e6, 1e9, 60e9, 3600e9}

// Frame is an interval that statistics are kept for.
type Frame struct {
	Kind  int8  // 1..4, as in frames
	Start int64 // ns since 1970
}

// Amount is what was stored within a frame: events, and bytes of content.
type Amount struct{ Count, Bytes int64 }

// Add counts the events of a batch, aggregated: they have few different starts.
func (t *Tallies) Add(es []wire.Event) {
	for i := 0; i < len(es); {
		start, n, size := es[i].ID.Start.NS(), int64(0), int64(0)
		for ; i < len(es) && es[i].ID.Start.NS() == start; i++ {
			n++
			size += int64(wire.RecordSize(&es[i]))
		}
		for k, d := range Frames {
			f := Frame{int8(k + 1), start - start%d}
			a := t.Frames[f]
			t.Frames[f] = Amount{a.Count + n, a.Bytes + size}
		}
		if t.first == 0 || start < t.first {
			t.first = start
		}
	}
}
