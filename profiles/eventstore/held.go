package eventstore

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// held keeps rows in this process, or nothing at all: memory: and null:.
type held struct {
	nothing bool
	mu      sync.Mutex
	rows    map[key]*record
	order   []key
	sorted  bool
	counts  map[frame]amount
}

// newHeld opens the layer; of nothing, it keeps none of what it is given.
func newHeld(nothing bool) layer {
	return &held{nothing: nothing, rows: map[key]*record{}, counts: map[frame]amount{}}
}

func (h *held) prepare(context.Context) (traits, error) {
	return traits{writers: 4, group: 64, durability: "kept in this process only", forgets: h.nothing}, nil
}

func (h *held) store(ctx context.Context, rs []*record) (int, error) {
	if h.nothing {
		return 1, ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		k := key{r.start, string(r.id)}
		if h.rows[k] != nil {
			continue
		}
		h.rows[k] = copyOf(r)
		h.order, h.sorted = append(h.order, k), false
	}
	return 1, nil
}

// copyOf is a record as it would be read back.
func copyOf(r *record) *record {
	w := *r
	for _, b := range []*[]byte{&w.id, &w.parent, &w.name, &w.kind, &w.body, &w.links} {
		*b = bytes.Clone(*b)
	}
	return &w
}

func (h *held) flush(_ context.Context, t *tallies) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, a := range t.frames {
		b := h.counts[f]
		h.counts[f] = amount{a.count + b.count, a.bytes + b.bytes}
	}
	return nil
}

// between returns the keys that start in [from, to], in order.
func (h *held) between(from, to int64) []key {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.sorted {
		slices.SortFunc(h.order, func(a, b key) int {
			if a.start != b.start {
				return int(max(min(a.start-b.start, 1), -1))
			}
			return bytes.Compare([]byte(a.id), []byte(b.id))
		})
		h.sorted = true
	}
	lo, _ := slices.BinarySearchFunc(h.order, from, func(k key, t int64) int { return int(max(min(k.start-t, 1), -1)) })
	hi, _ := slices.BinarySearchFunc(h.order, to+1, func(k key, t int64) int { return int(max(min(k.start-t, 1), -1)) })
	return slices.Clone(h.order[lo:hi])
}

func (h *held) at(k key) *record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rows[k]
}

func (h *held) scan(ctx context.Context, from, to int64, visit func(*record) error) error {
	for _, k := range h.between(from, to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(h.at(k)); err != nil {
			return enough(err)
		}
	}
	return nil
}

func (h *held) get(_ context.Context, k key, visit func(*record) error) error {
	if r := h.at(k); r != nil {
		return enough(visit(r))
	}
	return nil
}

func (h *held) children(ctx context.Context, parent []byte, from, to int64, visit func(*record) error) error {
	return h.scan(ctx, from, to, func(r *record) error {
		if !bytes.Equal(r.parent, parent) {
			return nil
		}
		return visit(r)
	})
}
