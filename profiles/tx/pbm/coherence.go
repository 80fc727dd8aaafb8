package pbm

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// atomicReplace is the name in facts of a transaction on Coherence.
const atomicReplace = "replace"

// howCoherence is a notice for every run with tx on Coherence.
const howCoherence = "tx on Coherence reads the profile, the members and the old summary of a group, one call each, and stores the new summary if the old one is " +
	"still there (replace of a mapping, or putIfAbsent): only this last step is atomic on the server, because Oracle's Go client has no entry processor that reads " +
	"other caches. A summary that another transaction has replaced meanwhile is a conflict, and the transaction is tried again; a member written meanwhile is not noticed"

// onCoherence connects a plan to Coherence.
func (s *Spec) onCoherence(_ context.Context, c *coherence.Conn, b *workload.Bound) error {
	s.runID = b.RunID
	h, err := newShapes(c, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	if s.tx() {
		s.atomic = atomicReplace
	}
	return bind(c, b.Plan, s, &coherenceLayer{shapes: h, maps: c.Maps})
}

// coherenceLayer reads, and replaces what it has read unless somebody else has changed
// it.
type coherenceLayer struct {
	*shapes
	maps   *coherence.Maps
	stamps atomic.Int64
}

// Summarize tries the transaction once.
func (h *coherenceLayer) Summarize(ctx context.Context, group, filling []byte) (summary, bool, error) {
	found, err := h.profile(ctx, group)
	if err != nil || !found {
		return summary{}, false, err
	}
	at := h.s.space(padogrid.Summaries)
	old, err := h.grouped.GetGroup(ctx, at, group, [][]byte{group})
	if err != nil {
		return summary{}, false, err
	}
	sum, err := h.members(ctx, group)
	if err != nil {
		return summary{}, false, err
	}
	g := string(group)
	val, err := json.Marshal(stamped{groupSummary{g, g, g, sum.Members, sum.Bytes, time.Now().UnixMilli(), string(filling)}, h.stamps.Add(1), h.s.runID})
	if err != nil {
		return summary{}, false, err
	}
	done, err := h.maps.Replace(ctx, at, group, group, old[0], val)
	if err == nil && !done {
		err = errConflict
	}
	return sum, true, err
}

// profile reports whether a group has a profile.
func (h *coherenceLayer) profile(ctx context.Context, group []byte) (bool, error) {
	at := h.s.space(padogrid.Profiles)
	if h.s.grouped() {
		return h.maps.HasGroup(ctx, at, group, group)
	}
	return h.maps.Has(ctx, at, group)
}

// stamped is a summary that differs from every other one, so that it can be replaced
// only by somebody who has read it.
type stamped struct {
	groupSummary
	Nth int64  `json:"nth"`
	Run string `json:"run"`
}

// Summary reads what was written.
func (h *coherenceLayer) Summary(ctx context.Context, group []byte) (kept, bool, error) {
	got, err := h.grouped.GetGroup(ctx, h.s.space(padogrid.Summaries), group, [][]byte{group})
	if err != nil || got[0] == nil {
		return kept{}, false, err
	}
	return parseSummary(group, got[0])
}
