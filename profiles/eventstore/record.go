package eventstore

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/eventstore/dice"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// record is what becomes one row, or one entry of a stream: a batch, a part of one
// that was over the limit, or a single event. Records are pooled.
type record struct {
	job *job
	// id names the batch, or the event if single. It depends on its events alone, so
	// that storing it twice is storing it once.
	id []byte
	// start is the earliest start of its events, end the latest end, last the latest
	// start: nanoseconds since 1970.
	start, end, last int64
	// parent is the id of the parent as text, empty for roots.
	parent []byte
	ok     bool
	count  int
	failed int // of its events: those with status FAILED
	// single is an event stored alone; then name and kind are its.
	single     bool
	name, kind []byte
	codec      byte
	raw        int // length of the content before compression
	body       []byte
	links      []byte
	rawLinks   int // length of the links before compression
	// size is what it counts for at the gate, worked how long it took to make.
	size   int64
	worked int64
}

var records = sync.Pool{New: func() any { return new(record) }}

func newRecord() *record { return records.Get().(*record) }

func (r *record) release() {
	*r = record{id: r.id[:0], parent: r.parent[:0], name: r.name[:0], kind: r.kind[:0], body: r.body[:0], links: r.links[:0]}
	records.Put(r)
}

// job is one delivery in the store stage; it is settled when all its records are.
type job struct {
	d      *transport.Delivery
	from   transport.Receiver
	left   atomic.Int32
	failed atomic.Bool
}

func itoa(n int) string { return strconv.Itoa(n) }

// appendBatchID writes an id that follows from the first and the last event of a
// batch and their number: a UUID of their hash, and the number.
func appendBatchID(dst []byte, es []wire.Event) []byte {
	h := func(seed uint64) uint64 {
		d := dice.Dice(seed)
		for _, id := range [][]byte{es[0].ID.ID, es[len(es)-1].ID.ID} {
			for _, c := range id {
				d = (d ^ dice.Dice(c)) * 0x100000001B3
			}
			d ^= dice.Dice(len(id)) << 32
		}
		d ^= dice.Dice(es[0].ID.Start.NS())
		return d.Next()
	}
	dst = dice.AppendUUID(dst, h(0xCBF29CE484222325), h(0x84222325CBF29CE4))
	return strconv.AppendInt(append(dst, '-'), int64(len(es)), 10)
}
