package coherence

import (
	"context"
	"sync"

	"github.com/perfbench/perfbench/internal/store"
)

// batchBytes is the largest total size of keys and values in one message.
const batchBytes = 2 << 20

// batch is the content of one message. It holds copies, because the client may still be
// using them when the caller has left.
type batch struct {
	entries map[string]Value
	keys    []string
	values  []byte // of all entries, in one slice
}

// spare holds batches that the client has finished with.
var spare = sync.Pool{New: func() any { return &batch{entries: map[string]Value{}} }}

// free returns a batch for reuse. Only the caller of the client may do so, as it knows
// that the client has finished.
func (b *batch) free() {
	clear(b.entries)
	clear(b.keys)
	b.keys, b.values = b.keys[:0], b.values[:0]
	spare.Put(b)
}

// fill copies entries from number i on, as many as fit into a message, and returns the
// number of the first that does not fit.
func (b *batch) fill(i, n int, entry func(i int) (string, []byte)) (int, error) {
	end, size, room := i, 0, 0
	for ; end < n; end++ {
		k, v := entry(end)
		if err := fits(v); err != nil {
			return i, err
		}
		if size += len(k) + len(v); size > batchBytes && end > i {
			break
		}
		b.keys, room = append(b.keys, k), room+len(v)
	}
	if cap(b.values) < room || b.values == nil {
		b.values = make([]byte, 0, room)
	}
	for j, k := range b.keys {
		_, v := entry(i + j)
		from := len(b.values)
		b.values = append(b.values, v...)
		b.entries[k] = b.values[from:len(b.values):len(b.values)]
	}
	return end, nil
}

// batches sends entries, as many per message as fit.
func (ms *Maps) batches(ctx context.Context, s store.Space, n int, entry func(i int) (string, []byte),
	send func(ctx context.Context, m writing, entries map[string]Value) error,
) error {
	for i := 0; i < n; {
		b := spare.Get().(*batch)
		next, err := b.fill(i, n, entry)
		if err != nil {
			return err
		}
		i = next
		if _, err := on(ctx, ms.sessions, "put all", s, func(ctx context.Context, m writing) (none, error) {
			defer b.free()
			return none{}, send(ctx, m, b.entries)
		}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
