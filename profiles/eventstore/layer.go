package eventstore

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// layer is the application's data layer: how batches are kept in one kind of store.
// Its methods may be called from any goroutine, after prepare.
type layer interface {
	// prepare makes tables and writes down book and page.
	prepare(ctx context.Context) error
	// store makes records durable; all of them or an error, after which storing them
	// again does no harm. It returns how many statements it took.
	store(ctx context.Context, rs []*record) (statements int, err error)
	// flush writes statistics, scopes and durations.
	flush(ctx context.Context, s *tallies) error

	// scan visits the rows of this run whose earliest event starts in [from, to], in
	// order of their start within a partition. The row is valid during the visit.
	// visit returns errEnough to end it.
	scan(ctx context.Context, from, to int64, visit func(*row) error) error
	// get reads the row with this key.
	get(ctx context.Context, k key, visit func(*row) error) error
	// children visits the rows under a parent whose earliest event starts in [from,
	// to].
	children(ctx context.Context, parent []byte, from, to int64, visit func(*row) error) error
	// traits tells what the store stage must know.
	traits() traits
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

// key finds a row.
type key struct {
	start int64
	id    string
}

// row is a stored record as it is read back.
type row struct {
	id               []byte
	start, end, last int64
	parent           []byte
	ok, single       bool
	name, kind       []byte
	count            int
	codec            byte
	raw              int
	body, links      []byte
	linksRaw         bool
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
