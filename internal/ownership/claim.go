package ownership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Spot returns what was found in one of the wanted spaces; for any other space it
// is empty.
func (a *spaces) Spot(s store.Space) Spot {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.index(s); i >= 0 {
		return *a.spots[i]
	}
	return Spot{Space: Space{Space: s}}
}

// Theirs reports whether others made the table of a space, or one of its parts.
// Such a table is never altered.
func (a *spaces) Theirs(s store.Space, part string) bool {
	spot := a.Spot(s)
	return spot.State == Shared && (part == "" || spot.theirs(part))
}

func (a *spaces) index(s store.Space) int {
	return slices.IndexFunc(a.spots, func(t *Spot) bool { return t.Space.Space == s })
}

// Earlier returns what was recorded for a space before this claim; false if
// nothing was.
func (a *spaces) Earlier(s store.Space) (store.Made, bool) {
	for _, m := range a.Made() {
		if same(m, s) {
			return m, true
		}
	}
	return store.Made{}, false
}

// Made lists what was recorded under the namespace before this claim.
func (a *spaces) Made() []store.Made {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.made
}

// Inspect looks at any space, whether wanted or not.
func (c *Claim) Inspect(ctx context.Context, s store.Space, parts ...string) (store.Found, error) {
	return c.keep.Inspect(ctx, s, parts...)
}

// Add claims one more space. Only Admit may call it; it returns what was found
// there, or the refusal.
func (c *Claim) Add(ctx context.Context, sp Space) (Spot, error) {
	s, err := c.spot(ctx, sp)
	if err != nil {
		return Spot{}, c.explain(ctx, err)
	}
	if err := c.admissible(s); err != nil {
		return *s, err
	}
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	c.spots = append(c.spots, s)
	return *s, nil
}

// Leave gives up the claim to a space that will not be written after all; its data stay.
// Only Admit may call it.
func (a *spaces) Leave(s store.Space) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.index(s); i >= 0 {
		a.spots[i].Reads = true
	}
}

// Write claims a space for writing that was only to be read. It is refused on the
// same grounds as any other space. Only Admit may call it.
func (c *Claim) Write(s store.Space) error {
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	i := c.index(s)
	if i < 0 {
		return fmt.Errorf("%s was not claimed", Name(s))
	}
	c.spots[i].Reads = false
	return c.admissible(c.spots[i])
}

// Update changes what is recorded for a space that the run writes to. While the
// claim is being admitted, nothing is written yet.
func (c *Claim) Update(ctx context.Context, s store.Space, params map[string]string) error {
	if err := c.sure(ctx); err != nil {
		return err
	}
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	i := c.index(s)
	if i < 0 {
		return fmt.Errorf("%s was not claimed", Name(s))
	}
	spot := c.spots[i]
	spot.Params = maps.Clone(params)
	if !c.written || spot.Reads {
		return nil
	}
	return fault.Code(c.keep.Record(ctx, c.record(spot)), fault.CodeStore)
}

// Restore records again what is ours if the records are gone: a store that lost
// everything in the middle of a run has been written to since.
func (c *Claim) Restore(ctx context.Context) error {
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	if !c.written {
		return nil
	}
	if err := c.lease.lost(); err != nil {
		return err
	}
	made, err := c.keep.Made(ctx, c.want.Namespace)
	if err != nil {
		return err
	}
	for _, s := range c.spots {
		there := slices.ContainsFunc(made, func(m store.Made) bool { return same(m, s.Space.Space) })
		if there || s.Reads || s.gone {
			continue
		}
		if err := c.keep.Record(ctx, c.record(s)); err != nil {
			return err
		}
	}
	return nil
}

// Cleanup removes what this run has made, namely the spaces that were fresh. What
// was there before stays, and so does anything shared with others.
func (c *Claim) Cleanup(ctx context.Context) error {
	ctx, cancel := c.WhileOurs(ctx)
	defer cancel()
	if err := c.sure(ctx); err != nil {
		return err
	}
	if err := c.Restore(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	c.spaces.mu.Lock()
	defer c.spaces.mu.Unlock()
	if !c.written {
		return nil
	}
	return c.drop(ctx, c.spots)
}

func (c *Claim) drop(ctx context.Context, spots []*Spot) error {
	var fresh []*Spot
	for _, s := range spots {
		if !s.Reads && s.State == Fresh && !s.gone {
			fresh = append(fresh, s)
		}
	}
	return InTurn(fresh, func(s *Spot) error {
		if err := c.lease.lost(); err != nil {
			return err
		}
		if _, err := c.keep.Drop(ctx, s.Space.Space, nil); err != nil {
			return fmt.Errorf("delete %s: %w", Name(s.Space.Space), err)
		}
		s.gone = true
		return nil
	})
}

// InTurn removes each item of a list. Items that could not be removed are tried
// again after the others are gone, because a table that another one refers to
// must go after it. It returns the errors of the last round, joined.
func InTurn[T any](all []T, remove func(T) error) error {
	for {
		var left []T
		var errs []error
		for _, x := range all {
			if err := remove(x); err != nil {
				left, errs = append(left, x), append(errs, err)
			}
		}
		if len(left) == 0 || len(left) == len(all) {
			return errors.Join(errs...)
		}
		all = left
	}
}

// Delete removes a space that an earlier run has recorded, and its record, and
// returns how many keys, rows or tables were removed. A space shared with others
// is refused as long as it exists.
func (c *Claim) Delete(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	if err := c.sure(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := c.WhileOurs(ctx)
	defer cancel()
	m, ok := c.Earlier(s)
	if !ok {
		return 0, fault.Input(fmt.Errorf("%s was not made by perfbench", Name(s)), "only what perfbench made is deleted")
	}
	if m.Shared {
		found, err := c.keep.Inspect(ctx, m.Space, m.Parts...)
		if err != nil {
			return 0, fault.Code(err, fault.CodeStore)
		}
		if found.Exists {
			return 0, ErrShared
		}
	}
	return c.keep.Drop(ctx, m.Space, progress)
}

// Renew deletes what earlier runs have left in one of the wanted spaces, which is this run's from
// then on. What is shared with others is refused.
func (c *Claim) Renew(ctx context.Context, s store.Space) error {
	if c.Spot(s).State == Fresh {
		return nil
	}
	if _, err := c.Delete(ctx, s, nil); err != nil {
		return err
	}
	c.spaces.mu.Lock()
	if i := c.index(s); i >= 0 {
		c.spots[i].State = Fresh
	}
	c.spaces.mu.Unlock()
	return fault.Code(c.Restore(ctx), fault.CodeStore)
}

// ErrShared means that a space is shared with others.
var ErrShared = fault.Input(errors.New("it was there before perfbench wrote into it"), "delete it yourself")

// Abandon ends a claim whose run could not begin. If the input was bad, nothing
// that the claim made is left behind.
func (c *Claim) Abandon(ctx context.Context, because error) error {
	var err error
	if fault.CodeOf(because) == fault.CodeInput {
		err = c.Cleanup(ctx)
	}
	return errors.Join(err, c.Release(ctx))
}
