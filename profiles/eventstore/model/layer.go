// Package model is the application's data layer: what every kind of store does with
// batches of events, and what is common to all.
package model

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Adapter is the application's data layer: how batches are kept in one kind of store. Its
// methods may be called from any goroutine, after Prepare.
type Adapter interface {
	Intake
	Lookup
}

// Intake stores records.
type Intake interface {
	// Prepare creates tables, records book and page, and returns what the store stage
	// must know.
	Prepare(ctx context.Context) (Traits, error)
	// Store makes records durable: all of them, or it returns an error, in which case
	// storing them again does no harm. It returns how many statements it needed.
	Store(ctx context.Context, rs []*Record) (statements int, err error)
	// Flush writes statistics, scopes and durations.
	Flush(ctx context.Context, s *Tallies) error
}

// Lookup finds records again.
type Lookup interface {
	// Scan visits the records of this run whose earliest event starts in [from, to],
	// ordered by start within a partition. The record is valid during the visit. visit
	// returns ErrEnough to stop.
	Scan(ctx context.Context, from, to int64, visit func(*Record) error) error
	// Get reads the record with this key.
	Get(ctx context.Context, k Key, visit func(*Record) error) error
	// Children visits the records under a parent whose earliest event starts in [from,
	// to].
	Children(ctx context.Context, parent []byte, from, to int64, visit func(*Record) error) error
}

// Checker is a layer that can check, before anything is created, whether existing tables
// are suitable.
type Checker interface {
	// Check returns an error that names the first unsuitable table.
	Check(ctx context.Context, c *ownership.Claim) error
}

// Options are what a layer needs to know about the run.
type Options struct {
	// Namespace is the prefix of everything created.
	Namespace string
	// Book, Page and Scope say where the events are: the run is one page, which began
	// Born nanoseconds after 1970.
	Book, Page, Scope string
	Born              int64
	// Bucket is how much time a partition covers, in each of Shards shards.
	Bucket time.Duration
	Shards int
	// PageSize is how many rows one page of a query may have, QueryLimit how many
	// events it returns.
	PageSize, QueryLimit int
	// Gorm makes SQL databases be used through gorm.
	Gorm bool
	// Params are recorded with what is created.
	Params map[string]string
}

// Keys returns the space for layers that keep everything in one.
func (o *Options) Keys() store.Space {
	return store.Space{Namespace: o.Namespace, Name: "events", Shape: store.Keys, Grouped: true}
}

// Traits are the properties of a layer that the store stage must know.
type Traits struct {
	// Writers is how many calls may be in progress at once, Group how many records one
	// call may get.
	Writers, Group int
	// LinksRaw means that links are stored as they are, PlainSingle that a single
	// event's content is its body.
	LinksRaw, PlainSingle bool
	// Durability says in words when a write counts as durable.
	Durability string
	// Forgets means that nothing is kept.
	Forgets bool
}

// Key identifies a record.
type Key struct {
	Start int64
	ID    string
}

// ErrEnough stops a visit early; it is not reported as an error.
var ErrEnough = errors.New("enough")

// Enough returns nil for the error of a visit that was stopped early.
func Enough(err error) error {
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// BucketOf returns the number of the bucket for a time.
func BucketOf(ns int64, size time.Duration) int { return int(ns / int64(size)) }

// BucketAt returns the number of the partition for a row, which combines its time
// bucket and the shard.
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

// Buckets returns the partitions in which rows between two starts can lie.
func (o *Options) Buckets(from, to int64) (first, last int) {
	return BucketOf(from, o.Bucket) * o.Shards, BucketOf(to, o.Bucket)*o.Shards + o.Shards - 1
}

// Flag returns a condition as a number.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ErrPermanent is wrapped by errors of a layer that no retry can cure.
var ErrPermanent = errors.New("cannot be stored")

// Tallies are what the store stage has counted since the last flush.
type Tallies struct {
	// Frames counts events and bytes by kind and start of frame.
	Frames map[Frame]Amount
	// First and Longest are about the scope: when it began, and the duration of its
	// longest batch in milliseconds.
	first   int64
	Longest int64
}

// Frames are the intervals for which statistics are kept.
var Frames = []int64{100e6, 1e9, 60e9, 3600e9}

// Frame is an interval for which statistics are kept.
type Frame struct {
	Kind  int8  // 1..4, as in Frames
	Start int64 // ns since 1970
}

// Amount is what was stored within a frame: events, and bytes of content.
type Amount struct{ Count, Bytes int64 }

// Add counts the events of a batch in aggregate, since they have few different starts.
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
