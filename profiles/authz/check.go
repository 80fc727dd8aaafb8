package authz

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Strategies of a check.
const (
	Ancestry         = "ancestry"
	PermCache        = "ancestry+permcache"
	MembershipsCache = "memberships-cache"
	Level            = "level"
	Server           = "server"
)

// Strategies are all the strategies.
var Strategies = []string{Ancestry, PermCache, MembershipsCache, Level, Server}

// Checker decides by one strategy over a layer. It belongs to one worker.
type Checker struct {
	Layer    *model.Adapter
	Strategy string
	Work     model.Work
	// Invalidate means that changes drop what is cached for those concerned.
	Invalidate bool
	// Sentinel means that empty closures are cached too, which the original did not do.
	Sentinel bool
	// Exists reads the principal's account before walking up, as the original's first
	// version did, and treats a missing one as an error.
	Exists bool
	// Seen is called with every account that was read; may be nil.
	Seen func(model.Account)
	// Memory holds what this worker has decided recently; nil unless requested.
	Memory *Memory
}

// Memory caches decisions in this process for a time, as the processes of a site may
// do. It is not notified of others' changes. It belongs to one checker.
type Memory struct {
	ttl  time.Duration
	kept map[question]decision
}

type question struct{ principal, resource, role string }

type decision struct {
	ok    bool
	until time.Time
}

// memoryLimit is the largest number of cached decisions.
const memoryLimit = 10_000

// NewMemory returns a memory that caches decisions for ttl; nil if ttl is 0.
func NewMemory(ttl time.Duration) *Memory {
	if ttl <= 0 {
		return nil
	}
	return &Memory{ttl: ttl, kept: map[question]decision{}}
}

func (m *Memory) find(q question) (ok, known bool) {
	d, known := m.kept[q]
	if known && time.Now().After(d.until) {
		delete(m.kept, q)
		return false, false
	}
	return d.ok, known
}

func (m *Memory) keep(q question, ok bool) {
	if len(m.kept) >= memoryLimit {
		for old := range m.kept { // an arbitrary one: a map has no order
			delete(m.kept, old)
			break
		}
	}
	m.kept[q] = decision{ok, time.Now().Add(m.ttl)}
}

// Allowed reports whether a principal has a role on a resource, directly or through
// groups of groups.
func (c *Checker) Allowed(ctx context.Context, principal, resource, role string) (bool, error) {
	if c.Memory == nil {
		return c.decide(ctx, principal, resource, role)
	}
	q := question{principal, resource, role}
	ok, known := c.Memory.find(q)
	if c.Work.Looked(known); known {
		return ok, nil
	}
	ok, err := c.decide(ctx, principal, resource, role)
	if err == nil {
		c.Memory.keep(q, ok)
	}
	return ok, err
}

// decide asks the store.
func (c *Checker) decide(ctx context.Context, principal, resource, role string) (bool, error) {
	switch c.Strategy {
	case Server:
		if w := c.Layer.Walker; w != nil {
			return w.HasRole(ctx, &c.Work, principal, resource, role)
		}
	case MembershipsCache:
		return c.byClosure(ctx, principal, resource, role)
	case PermCache:
		ok, err := c.Layer.Permissions.Permitted(ctx, &c.Work, principal, resource, role)
		if err == nil {
			c.Work.Looked(ok)
		}
		if ok || err != nil {
			return ok, err
		}
		ok, err = c.byAncestry(ctx, principal, resource, role, false)
		if ok && err == nil {
			err = c.Layer.Permissions.Permit(ctx, &c.Work, principal, resource, role)
		}
		return ok, err
	}
	return c.byAncestry(ctx, principal, resource, role, c.Strategy == Level)
}

// byAncestry reads the direct role and then walks up level by level; each group is
// visited once, so that cycles end. With early, the groups of a level are tried before
// the next level is read; otherwise all of them at the end.
func (c *Checker) byAncestry(ctx context.Context, principal, resource, role string, early bool) (bool, error) {
	direct, err := c.Layer.Graph.Role(ctx, &c.Work, principal, resource)
	if err != nil || direct == role {
		return err == nil, err
	}
	if c.Exists {
		a, ok, err := c.Layer.Accounts.Account(ctx, &c.Work, principal)
		if err != nil || !ok {
			if err == nil {
				err = fmt.Errorf("there is no principal %s", principal)
			}
			return false, err
		}
		if c.Seen != nil {
			c.Seen(a)
		}
	}
	seen := map[string]bool{principal: true}
	var all []string
	for frontier := []string{principal}; len(frontier) > 0; {
		up, err := c.Layer.Graph.Parents(ctx, &c.Work, frontier)
		if err != nil {
			return false, err
		}
		frontier = frontier[:0:0]
		for _, g := range up {
			if !seen[g.ID] {
				seen[g.ID] = true
				frontier = append(frontier, g.ID)
			}
		}
		all = append(all, frontier...)
		if early && len(frontier) > 0 {
			if ok, err := c.anyOn(ctx, resource, role, frontier); ok || err != nil {
				return ok, err
			}
		}
	}
	if early || len(all) == 0 {
		return false, nil
	}
	return c.anyOn(ctx, resource, role, all)
}

func (c *Checker) anyOn(ctx context.Context, resource, role string, principals []string) (bool, error) {
	roles, err := c.Layer.Graph.RolesOn(ctx, &c.Work, resource, principals)
	return slices.ContainsFunc(roles, func(h model.Held) bool { return h.Role == role }), err
}

// Explode walks all the way up and returns the groups, the direct ones first.
func (c *Checker) Explode(ctx context.Context, principal string) (all []string, direct int, err error) {
	seen := map[string]bool{principal: true}
	for frontier := []string{principal}; len(frontier) > 0; {
		up, err := c.Layer.Graph.Parents(ctx, &c.Work, frontier)
		if err != nil {
			return nil, 0, err
		}
		first := len(all) == 0
		frontier = frontier[:0:0]
		for _, g := range up {
			if !seen[g.ID] {
				seen[g.ID] = true
				frontier = append(frontier, g.ID)
				all = append(all, g.ID)
			}
		}
		if first {
			direct = len(all)
		}
	}
	return all, direct, nil
}

// byClosure looks up which groups have the role, and whether any of them is among the
// principal's cached groups.
func (c *Checker) byClosure(ctx context.Context, principal, resource, role string) (bool, error) {
	direct, err := c.Layer.Graph.RolesOn(ctx, &c.Work, resource, []string{principal})
	if err != nil || len(direct) > 0 && direct[0].Role == role {
		return err == nil, err
	}
	groups, err := c.Layer.Graph.MemberGroups(ctx, &c.Work, resource)
	if err != nil || len(groups) == 0 {
		return false, err
	}
	wanted := make([]string, 0, len(groups))
	for _, g := range groups {
		if g.Role == role {
			wanted = append(wanted, g.ID)
		}
	}
	mine, known, err := c.Layer.Closures.Closure(ctx, &c.Work, principal, wanted)
	if err != nil {
		return false, err
	}
	if c.Work.Looked(known); known {
		return len(mine) > 0, nil
	}
	mine, n, err := c.Explode(ctx, principal)
	if err == nil && (len(mine) > 0 || c.Sentinel) {
		err = c.Layer.Closures.PutClosure(ctx, &c.Work, principal, mine, n)
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(wanted, func(g string) bool { return slices.Contains(mine, g) }), nil
}

// Change grants or revokes a role, and drops what is cached for those concerned: the
// member and, if it is a group, everybody below it.
func (c *Checker) Change(ctx context.Context, g model.Grant) error {
	if err := c.Layer.Edges.Change(ctx, &c.Work, []model.Grant{g}); err != nil || !c.Invalidate {
		return err
	}
	if c.Memory != nil {
		clear(c.Memory.kept)
	}
	if c.Strategy != PermCache && c.Strategy != MembershipsCache {
		return nil
	}
	concerned, err := c.Below(ctx, g.Member)
	if err != nil {
		return err
	}
	if c.Strategy == PermCache {
		resource := g.Resource
		if model.IsGroup(resource) { // someone who leaves a group may lose any permission
			resource = ""
		}
		return c.Layer.Permissions.Forbid(ctx, &c.Work, resource, concerned)
	}
	if model.IsGroup(g.Resource) {
		return c.Layer.Closures.DropClosures(ctx, &c.Work, concerned)
	}
	return nil
}

// Below returns a principal and all that are in it.
func (c *Checker) Below(ctx context.Context, principal string) ([]string, error) {
	out, seen := []string{principal}, map[string]bool{principal: true}
	for i := 0; i < len(out); i++ {
		if !model.IsGroup(out[i]) {
			continue
		}
		for after := ""; ; {
			ms, err := c.Layer.Graph.Members(ctx, &c.Work, out[i], after, 1000)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				if !seen[m.ID] {
					seen[m.ID] = true
					out = append(out, m.ID)
				}
			}
			if len(ms) < 1000 {
				break
			}
			after = ms[len(ms)-1].ID
		}
	}
	return out, nil
}
