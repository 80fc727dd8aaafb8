package ownership

import (
	"context"
	"fmt"
	"maps"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Held is what a claim found, for another process that continues the run if this
// one dies: by then the spaces hold what the run has written.
type Held struct {
	Made  []store.Made `json:"made"`
	Spots []HeldSpot   `json:"spots"`
}

// HeldSpot is what was found in one space.
type HeldSpot struct {
	Space    store.Space `json:"space"`
	State    State       `json:"state"`
	Found    store.Found `json:"found"`
	Recorded bool        `json:"recorded"`
	Earlier  store.Made  `json:"earlier"`
}

// Held returns what the claim found, for another process.
func (a *spaces) Held() Held {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := Held{Made: a.made}
	for _, s := range a.spots {
		h.Spots = append(h.Spots, HeldSpot{s.Space.Space, s.State, s.Found, s.Recorded, s.Earlier})
	}
	return h
}

// Resume claims spaces for a run that continues after the process with the
// original claim has died. What that claim found counts, not what is there now.
// If somebody else is using the namespace by now, Resume fails with the code of
// bad input. The claim must be released.
func Resume(ctx context.Context, conn store.Conn, w Want, h Held) (*Claim, error) {
	keep, err := store.As[store.Keeper](conn)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("%s: %w", w.Profile, err), "")
	}
	c := &Claim{conn: conn, keep: keep, want: w, held: &h}
	if err := c.inspect(ctx); err != nil {
		return nil, c.rather(ctx, err)
	}
	if !c.writes() {
		return c, nil
	}
	if err := c.hold(ctx); err != nil {
		return nil, c.explain(ctx, err)
	}
	c.spaces.mu.Lock()
	c.written = true
	c.spaces.mu.Unlock()
	return c, fault.Code(c.Restore(ctx), fault.CodeStore)
}

// spot returns what the process that has died found in a space.
func (h *Held) spot(sp Space) (*Spot, error) {
	sp.Params = maps.Clone(sp.Params)
	for _, s := range h.Spots {
		if s.Space == sp.Space {
			return &Spot{Space: sp, State: s.State, Found: s.Found, Recorded: s.Recorded, Earlier: s.Earlier}, nil
		}
	}
	return nil, fmt.Errorf("%s was not claimed when the run began", Name(sp.Space))
}
