// Package inmemory is the data layer within this process, for memory: and null:.
package inmemory

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/model"
)

// rows keeps rows in this process, for memory:, or nothing at all, for null:.
type rows struct {
	nothing bool
	serve   func(context.Context) error
	mu      sync.Mutex
	rows    map[model.Key]*model.Record
	order   []model.Key
	sorted  bool
	counts  map[model.Frame]model.Amount
}

// New opens the layer; if nothing is set, it keeps nothing. serve is called for each call.
func New(nothing bool, serve func(context.Context) error) model.Adapter {
	return &rows{nothing: nothing, serve: serve, rows: map[model.Key]*model.Record{}, counts: map[model.Frame]model.Amount{}}
}

func (h *rows) Prepare(context.Context) (model.Traits, error) {
	return model.Traits{Writers: 4, Group: 64, Durability: "kept in this process only", Forgets: h.nothing}, nil
}

func (h *rows) Store(ctx context.Context, rs []*model.Record) (int, error) {
	if err := h.serve(ctx); err != nil || h.nothing {
		return 1, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		k := model.Key{Start: r.Start, ID: string(r.ID)}
		if h.rows[k] != nil {
			continue
		}
		h.rows[k] = copyOf(r)
		h.order, h.sorted = append(h.order, k), false
	}
	return 1, nil
}

// copyOf returns a record as it would be read back.
func copyOf(r *model.Record) *model.Record {
	w := *r
	for _, b := range []*[]byte{&w.ID, &w.Parent, &w.Name, &w.Kind, &w.Body, &w.Links} {
		*b = bytes.Clone(*b)
	}
	return &w
}

func (h *rows) Flush(_ context.Context, t *model.Tallies) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, a := range t.Frames {
		b := h.counts[f]
		h.counts[f] = model.Amount{Count: a.Count + b.Count, Bytes: a.Bytes + b.Bytes}
	}
	return nil
}

// between returns the keys that start in [from, to], in order.
func (h *rows) between(from, to int64) []model.Key {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.sorted {
		slices.SortFunc(h.order, func(a, b model.Key) int {
			if a.Start != b.Start {
				return int(max(min(a.Start-b.Start, 1), -1))
			}
			return bytes.Compare([]byte(a.ID), []byte(b.ID))
		})
		h.sorted = true
	}
	lo, _ := slices.BinarySearchFunc(h.order, from, func(k model.Key, t int64) int { return int(max(min(k.Start-t, 1), -1)) })
	hi, _ := slices.BinarySearchFunc(h.order, to+1, func(k model.Key, t int64) int { return int(max(min(k.Start-t, 1), -1)) })
	return slices.Clone(h.order[lo:hi])
}

func (h *rows) at(k model.Key) *model.Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rows[k]
}

func (h *rows) Scan(ctx context.Context, from, to int64, visit func(*model.Record) error) error {
	if err := h.serve(ctx); err != nil {
		return err
	}
	for _, k := range h.between(from, to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(h.at(k)); err != nil {
			return model.Enough(err)
		}
	}
	return nil
}

func (h *rows) Get(ctx context.Context, k model.Key, visit func(*model.Record) error) error {
	if err := h.serve(ctx); err != nil {
		return err
	}
	if r := h.at(k); r != nil {
		return model.Enough(visit(r))
	}
	return nil
}

func (h *rows) Children(ctx context.Context, parent []byte, from, to int64, visit func(*model.Record) error) error {
	return h.Scan(ctx, from, to, func(r *model.Record) error {
		if !bytes.Equal(r.Parent, parent) {
			return nil
		}
		return visit(r)
	})
}
