package run

import (
	"context"
	"fmt"
	"strconv"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// grounds are the structures that the run claims, and what is recorded of them.
type grounds struct {
	w     *work
	claim *ownership.Claim
}

// claims returns the structures to claim: those that are written or emptied must be
// ours.
func (g *grounds) claims() []ownership.Space {
	out := []ownership.Space{}
	for _, st := range g.w.structures.all {
		if k := st.op.Kind; k == model.KindTopic || k == model.KindSTopic {
			continue
		}
		reads, from := !st.writes && !st.removes, fmt.Sprintf("%s: operation %s", st.op.Where, st.op.Name)
		sp := ownership.Space{Space: st.space, Reads: reads, Counted: !reads, From: from, Kind: st.op.Kind.RedisType(), Parts: forms(g.w.s, st)}
		if st.op.Table {
			sp.Tables = map[string]store.Table{"": st.op.Factory.Entity.Needs()}
		}
		out = append(out, sp)
		if g.sweeps(st) {
			out = append(out, ownership.Space{Space: g.timesOf(st), Reads: reads, From: from, Kind: "zset"})
		}
	}
	return out
}

// sweeps says whether the times at which the entries of a structure expire are kept
// beside it.
func (g *grounds) sweeps(st *stock) bool {
	x, ok := g.w.layer.(model.Expirer)
	return st.op.Kind == model.KindCache && st.removes && !(ok && x.Expires())
}

// timesOf returns the space of the sorted set that belongs to a cache.
func (g *grounds) timesOf(st *stock) store.Space {
	return store.Space{Namespace: st.space.Namespace, Name: model.Timeouts(st.space), Shape: "zset"}
}

// Admit notes what exists, and decides what is to be loaded and so written.
func (g *grounds) Admit(ctx context.Context, c *ownership.Claim) error {
	g.claim = c
	for _, st := range g.w.structures.all {
		if k := st.op.Kind; k == model.KindTopic || k == model.KindSTopic {
			continue
		}
		spot := c.Spot(st.space)
		st.made, st.seed, st.half = spot.Recorded, spot.Earlier.Params["seed"], spot.Earlier.Params[loadingMark] != ""
		st.filled = spot.Found.Exists && spot.Found.Size != 0
		st.before = max(spot.Found.Size, 0)
		g.measure(st, spot)
		loads := g.w.loads(st)
		if spot.State == ownership.Ours && st.op.Table && st.op.Object() != nil {
			if err := g.fits(ctx, st.op); err != nil {
				return err
			}
		}
		// A table that is read but missing is created, whether or not it is loaded.
		makes := loads || st.op.Table && spot.State == ownership.Fresh
		if makes && !st.writes && !st.removes {
			if err := c.Write(st.space); err != nil {
				return err
			}
			if g.sweeps(st) {
				if err := c.Write(g.timesOf(st)); err != nil {
					return err
				}
			}
		}
		if err := g.record(ctx, st, loads); err != nil {
			return err
		}
	}
	return nil
}

// measure looks how large the values are that an earlier run of a group has left. Where they are read
// and are not what this run would load, they are to be loaded again; where that cannot be, it says so.
func (g *grounds) measure(st *stock, spot ownership.Spot) {
	st.was, st.resizes = nil, false
	if !st.filled {
		return
	}
	st.was = ownership.SizesOf(spot.Earlier.Params)
	sizes := g.w.sizes(st)
	if _, is := g.claim.Resized(st.space, sizes); !is || len(st.was) == 0 { // other profiles say nothing
		return
	}
	if spot.State == ownership.Ours && !st.writes && !st.removes && g.w.s.Load != model.LoadNever {
		st.filled, st.resizes = false, true
		return
	}
	g.claim.Note(fmt.Sprintf("%s holds values of %s, which run %s left: reads find them, too, beside those of %s that this run asks for",
		ownership.Name(st.space), st.was.Words(), spot.Earlier.Run, sizes.Words()))
}

// resize deletes what is to be loaded again.
func (g *grounds) resize(ctx context.Context) error {
	var all []ownership.Resizing
	for _, st := range g.w.structures.all {
		if st.resizes {
			all = append(all, ownership.Resizing{Space: st.space, Asked: g.w.sizes(st)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := g.claim.Resize(ctx, all); err != nil {
		return err
	}
	for _, st := range g.w.structures.all {
		if !st.resizes {
			continue
		}
		st.was, st.resizes, st.half, st.before = nil, false, false, 0
	}
	return nil
}

// end writes down with which sizes the run has written, of which some may have been set as it went.
func (g *grounds) end(ctx context.Context) {
	if g.claim == nil {
		return
	}
	for _, st := range g.w.structures.all {
		if st.writes && !st.op.Kind.Topic() {
			_ = g.record(ctx, st, false) // as they were asked for is written down
		}
	}
}

// fits rejects a table of ours, made for an earlier definition, that does not fit.
func (g *grounds) fits(ctx context.Context, o *model.Op) error {
	if f, ok := g.w.layer.(model.Fitter); ok {
		return f.Fits(ctx, o)
	}
	return nil
}

// loadingMark is the name under which a record says that a load is in progress. If it
// is still there, the load was not completed.
const loadingMark = "loading"

// record updates the record of a structure, and of the sorted set that belongs to a
// cache.
func (g *grounds) record(ctx context.Context, st *stock, loading bool) error {
	params := map[string]string{"structure": string(st.op.Kind), "seed": strconv.FormatInt(g.w.s.Seed, 10)}
	if loading {
		params[loadingMark] = "on"
	}
	g.w.sizes(st).With(st.was...).In(params)
	if err := g.claim.Update(ctx, st.space, params); err != nil || !g.sweeps(st) {
		return err
	}
	return g.claim.Update(ctx, g.timesOf(st), params)
}
