package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// claims returns the structures to claim: those that are written or emptied must be
// ours.
func (b *binding) claims() []ownership.Space {
	out := []ownership.Space{}
	for _, st := range b.inOrder() {
		if k := st.op.Kind; k == model.KindTopic || k == model.KindSTopic {
			continue
		}
		reads, from := !st.writes && !st.removes, fmt.Sprintf("%s: operation %s", st.op.Where, st.op.Name)
		sp := ownership.Space{Space: st.space, Reads: reads, Counted: !reads, From: from, Kind: st.op.Kind.RedisType(), Parts: b.forms(st)}
		if st.op.Table {
			sp.Tables = map[string]store.Table{"": st.op.Factory.Entity.Needs()}
		}
		out = append(out, sp)
		if b.sweeps(st) {
			out = append(out, ownership.Space{Space: b.timesOf(st), Reads: reads, From: from, Kind: "zset"})
		}
	}
	return out
}

// forms are those of the keys of a space that has one for each entry, or for each family of
// entries, whichever operation writes them; none for other spaces.
func (b *binding) forms(st *stock) (out []string) {
	if !st.space.Grouped {
		return nil
	}
	for _, o := range b.s.Order {
		if o.Space != st.space {
			continue
		}
		if !o.Kind.Many() { // the pieces of a map are those of families
			for o = b.kin(o); o.Parent != nil; {
				o = o.Parent
			}
		}
		form := store.FormOf(st.op.Kind.RedisType(), `\{`+o.KeyPattern()+`\}`)
		if !slices.Contains(out, form) {
			out = append(out, form)
		}
	}
	return out
}

// timesOf returns the space of the sorted set that belongs to a cache.
func (b *binding) timesOf(st *stock) store.Space {
	return store.Space{Namespace: st.space.Namespace, Name: model.Timeouts(st.space), Shape: "zset"}
}

// Admit notes what exists, and decides what is to be loaded and so written.
func (b *binding) Admit(ctx context.Context, c *ownership.Claim) error {
	b.claim = c
	for _, st := range b.inOrder() {
		if k := st.op.Kind; k == model.KindTopic || k == model.KindSTopic {
			continue
		}
		spot := c.Spot(st.space)
		st.made, st.seed, st.half = spot.Recorded, spot.Earlier.Params["seed"], spot.Earlier.Params[loadingMark] != ""
		st.filled = spot.Found.Exists && spot.Found.Size != 0
		st.before = max(spot.Found.Size, 0)
		loads := b.loads(st)
		if spot.State == ownership.Ours && st.op.Table && st.op.Object() != nil {
			if err := b.fits(ctx, st.op); err != nil {
				return err
			}
		}
		// A table that is read but missing is created, whether or not it is loaded.
		makes := loads || st.op.Table && spot.State == ownership.Fresh
		if makes && !st.writes && !st.removes {
			if err := c.Write(st.space); err != nil {
				return err
			}
			if b.sweeps(st) {
				if err := c.Write(b.timesOf(st)); err != nil {
					return err
				}
			}
		}
		if err := b.record(ctx, st, loads); err != nil {
			return err
		}
	}
	return nil
}

// fits rejects a table of ours, made for an earlier definition, that does not fit.
func (b *binding) fits(ctx context.Context, o *model.Op) error {
	if f, ok := b.layer.(layer.Fitter); ok {
		return f.Fits(ctx, o)
	}
	return nil
}

// inOrder returns the structures in the order in which the operations first name them.
func (b *binding) inOrder() []*stock {
	var out []*stock
	for _, o := range b.s.Order {
		if st := b.stocks[o.Space]; o.Kind != model.KindSleep && st != nil && !slices.Contains(out, st) {
			out = append(out, st)
		}
	}
	return out
}

// Setup loads what is read but does not exist, and makes receivers listen.
func (b *binding) Setup(ctx context.Context, progress func(done, total int64)) error {
	if r, ok := b.layer.(layer.Preparer); ok {
		if err := r.Prepare(ctx, b.claim); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if err := b.resume(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := b.loadAll(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for i := range b.s.Steps {
		for _, l := range b.s.Topics(i) {
			if b.s.Load == model.LoadOnly {
				continue
			}
			if _, err := b.receiver(ctx, b.topic(l.Op), b.s.Subscribers-1); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
	}
	return nil
}

// loadingMark is the name under which a record says that a load is in progress. If it
// is still there, the load was not completed.
const loadingMark = "loading"

// record updates the record of a structure, and of the sorted set that belongs to a
// cache.
func (b *binding) record(ctx context.Context, st *stock, loading bool) error {
	params := map[string]string{"structure": string(st.op.Kind), "seed": strconv.FormatInt(b.s.Seed, 10)}
	if loading {
		params[loadingMark] = "on"
	}
	if err := b.claim.Update(ctx, st.space, params); err != nil || !b.sweeps(st) {
		return err
	}
	return b.claim.Update(ctx, b.timesOf(st), params)
}
