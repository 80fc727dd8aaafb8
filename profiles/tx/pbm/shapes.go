package pbm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// shapes reads and writes through the plain shapes of a store, which every store that
// supports ingestion has.
type shapes struct {
	s       *Spec
	get     store.Getter
	getAll  store.BatchGetter
	grouped store.GroupPutter
}

func newShapes(c store.Conn, s *Spec) (*shapes, error) {
	var errs [3]error
	h := &shapes{s: s}
	h.get, errs[0] = store.As[store.Getter](c)
	h.getAll, errs[1] = store.As[store.BatchGetter](c)
	h.grouped, errs[2] = store.As[store.GroupPutter](c)
	return h, errors.Join(errs[:]...)
}

// GetProfile reads one entry.
func (h *shapes) GetProfile(ctx context.Context, at string, group []byte) (bool, error) {
	if h.s.grouped() {
		got, err := h.grouped.GetGroup(ctx, h.s.space(at), group, [][]byte{group})
		return err == nil && got[0] != nil, err
	}
	_, found, err := h.get.Get(ctx, h.s.space(at), group, nil)
	return found, err
}

// GetProfiles reads several entries, in one call if the layout allows it.
func (h *shapes) GetProfiles(ctx context.Context, at string, groups [][]byte) (int, error) {
	if h.s.grouped() {
		return h.Each(ctx, at, groups, groups)
	}
	return h.all(ctx, at, groups)
}

// GetMembers reads several entries, in one call if the layout allows it.
func (h *shapes) GetMembers(ctx context.Context, groups, keys [][]byte) (int, error) {
	if h.s.grouped() {
		return h.Each(ctx, padogrid.Eligibility, groups, keys)
	}
	return h.all(ctx, padogrid.Eligibility, keys)
}

func (h *shapes) all(ctx context.Context, name string, keys [][]byte) (int, error) {
	got, err := h.getAll.GetAll(ctx, h.s.space(name), keys)
	return count(got), err
}

// Each reads the entries of one group after the other.
func (h *shapes) Each(ctx context.Context, name string, groups, keys [][]byte) (int, error) {
	n := 0
	for i := 0; i < len(keys); {
		j := i
		for j < len(keys) && string(groups[j]) == string(groups[i]) {
			j++
		}
		got, err := h.grouped.GetGroup(ctx, h.s.space(name), groups[i], keys[i:j])
		if err != nil {
			return 0, err
		}
		n += count(got)
		i = j
	}
	return n, nil
}

func count(vals [][]byte) int {
	n := 0
	for _, v := range vals {
		if v != nil {
			n++
		}
	}
	return n
}

// memoryLayer runs transactions on the maps of this process, one at a time. The shapes
// cannot list a group's member keys, so it computes them.
type memoryLayer struct {
	*shapes
	mu sync.Mutex
}

// Summarize reads the group's members and writes the summary under one lock.
func (h *memoryLayer) Summarize(ctx context.Context, group, filling []byte) (summary, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, err := h.GetProfile(ctx, padogrid.Profiles, group)
	if err != nil || !found {
		return summary{}, false, err
	}
	sum, err := h.members(ctx, group)
	if err != nil {
		return summary{}, false, err
	}
	val := binary.BigEndian.AppendUint64(make([]byte, 0, 16+len(filling)), uint64(sum.Members))
	val = append(binary.BigEndian.AppendUint64(val, uint64(sum.Bytes)), filling...)
	return sum, true, h.grouped.PutGroup(ctx, h.s.space(padogrid.Summaries), group, group, val)
}

// Summary reads what Summarize wrote.
func (h *memoryLayer) Summary(ctx context.Context, group []byte) (kept, bool, error) {
	got, err := h.grouped.GetGroup(ctx, h.s.space(padogrid.Summaries), group, [][]byte{group})
	if err != nil || got[0] == nil {
		return kept{}, false, err
	}
	sum := summary{int64(binary.BigEndian.Uint64(got[0])), int64(binary.BigEndian.Uint64(got[0][8:]))}
	return kept{sum, string(got[0][16:])}, true, nil
}

// nullLayer does nothing, immediately.
type nullLayer struct{ *shapes }

func (nullLayer) Summarize(context.Context, []byte, []byte) (summary, bool, error) {
	return summary{}, false, nil
}

func (nullLayer) Summary(context.Context, []byte) (kept, bool, error) { return kept{}, false, nil }

// onCassandra connects a plan to Cassandra, which supports look-ups only.
func (s *Spec) onCassandra(_ context.Context, b *workload.Bound) error {
	if s.tx() {
		return fault.Input(fmt.Errorf("%s.testCase=%s does not run on Cassandra: it cannot read a group's members and write its summary in one step", padogrid.Eligibility, caseTx),
			"--set testCase=getall, or use redis://, postgres: or embedded:")
	}
	h, err := newShapes(b.Conn, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	return bind(b.Conn, b.Plan, s, lookups{h})
}

// lookups has no transactions.
type lookups struct{ *shapes }

// Summarize is not supported.
func (lookups) Summarize(context.Context, []byte, []byte) (summary, bool, error) {
	return summary{}, false, store.ErrUnsupported
}

// Summary is not supported.
func (lookups) Summary(context.Context, []byte) (kept, bool, error) {
	return kept{}, false, store.ErrUnsupported
}
