package authz

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Strategies of a check.
const (
	strategyAncestry = "ancestry"
	strategyPerm     = "ancestry+permcache"
	strategyClosure  = "memberships-cache"
	strategyLevel    = "level"
	strategyServer   = "server"
)

var strategies = []string{strategyAncestry, strategyPerm, strategyClosure, strategyLevel, strategyServer}

// checker decides by one strategy over a layer. It belongs to one worker.
type checker struct {
	l        layer
	strategy string
	work     work
	// invalidate says that changes drop what is kept of those whom they concern.
	invalidate bool
	// sentinel keeps empty closures too; the original did not.
	sentinel bool
	// exists reads the principal's account before it walks up, as the original's
	// first version did, and takes one that is not there for an error.
	exists bool
	// seen is told of every account that was read; nil: nobody is.
	seen func(account)
	// memory holds what this worker has decided lately, nil unless asked for.
	memory *memory
}

// memory keeps decisions in this process for a time, as the processes of a site
// may do. Nobody tells it what others change. It belongs to one checker.
type memory struct {
	ttl  time.Duration
	kept map[question]decision
}

type question struct{ principal, resource, role string }

type decision struct {
	ok    bool
	until time.Time
}

// memoryLimit is the most decisions that a memory keeps.
const memoryLimit = 10_000

func newMemory(ttl time.Duration) *memory {
	if ttl <= 0 {
		return nil
	}
	return &memory{ttl: ttl, kept: map[question]decision{}}
}

func (m *memory) look(q question) (ok, known bool) {
	d, known := m.kept[q]
	if known && time.Now().After(d.until) {
		delete(m.kept, q)
		return false, false
	}
	return d.ok, known
}

func (m *memory) keep(q question, ok bool) {
	if len(m.kept) >= memoryLimit {
		for old := range m.kept { // any: a map has no order
			delete(m.kept, old)
			break
		}
	}
	m.kept[q] = decision{ok, time.Now().Add(m.ttl)}
}

// allowed says whether a principal has a role on a resource, directly or through
// groups of groups.
func (c *checker) allowed(ctx context.Context, principal, resource, role string) (bool, error) {
	if c.memory == nil {
		return c.decide(ctx, principal, resource, role)
	}
	q := question{principal, resource, role}
	ok, known := c.memory.look(q)
	if c.work.looked(known); known {
		return ok, nil
	}
	ok, err := c.decide(ctx, principal, resource, role)
	if err == nil {
		c.memory.keep(q, ok)
	}
	return ok, err
}

// decide asks the store.
func (c *checker) decide(ctx context.Context, principal, resource, role string) (bool, error) {
	switch c.strategy {
	case strategyServer:
		if s, ok := c.l.(server); ok {
			return s.hasRole(ctx, &c.work, principal, resource, role)
		}
	case strategyClosure:
		return c.byClosure(ctx, principal, resource, role)
	case strategyPerm:
		ok, err := c.l.permitted(ctx, &c.work, principal, resource, role)
		if err == nil {
			c.work.looked(ok)
		}
		if ok || err != nil {
			return ok, err
		}
		ok, err = c.byAncestry(ctx, principal, resource, role, false)
		if ok && err == nil {
			err = c.l.permit(ctx, &c.work, principal, resource, role)
		}
		return ok, err
	}
	return c.byAncestry(ctx, principal, resource, role, c.strategy == strategyLevel)
}

// byAncestry reads the direct role and then walks up level by level; each group is
// visited once, so that a cycle ends. With early, the groups of a level are tried
// before the next level is read; else all of them at the end.
func (c *checker) byAncestry(ctx context.Context, principal, resource, role string, early bool) (bool, error) {
	direct, err := c.l.role(ctx, &c.work, principal, resource)
	if err != nil || direct == role {
		return err == nil, err
	}
	if c.exists {
		a, ok, err := c.l.account(ctx, &c.work, principal)
		if err != nil || !ok {
			if err == nil {
				err = fmt.Errorf("there is no principal %s", principal)
			}
			return false, err
		}
		if c.seen != nil {
			c.seen(a)
		}
	}
	seen := map[string]bool{principal: true}
	var all []string
	for frontier := []string{principal}; len(frontier) > 0; {
		up, err := c.l.parents(ctx, &c.work, frontier)
		if err != nil {
			return false, err
		}
		frontier = frontier[:0:0]
		for _, g := range up {
			if !seen[g.id] {
				seen[g.id] = true
				frontier = append(frontier, g.id)
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

func (c *checker) anyOn(ctx context.Context, resource, role string, principals []string) (bool, error) {
	roles, err := c.l.rolesOn(ctx, &c.work, resource, principals)
	return slices.ContainsFunc(roles, func(h held) bool { return h.role == role }), err
}

// explode walks all the way up and lists the groups, the direct ones first.
func (c *checker) explode(ctx context.Context, principal string) (all []string, direct int, err error) {
	seen := map[string]bool{principal: true}
	for frontier := []string{principal}; len(frontier) > 0; {
		up, err := c.l.parents(ctx, &c.work, frontier)
		if err != nil {
			return nil, 0, err
		}
		first := len(all) == 0
		frontier = frontier[:0:0]
		for _, g := range up {
			if !seen[g.id] {
				seen[g.id] = true
				frontier = append(frontier, g.id)
				all = append(all, g.id)
			}
		}
		if first {
			direct = len(all)
		}
	}
	return all, direct, nil
}

// byClosure looks up which groups have the role, and whether the kept groups of
// the principal are among them.
func (c *checker) byClosure(ctx context.Context, principal, resource, role string) (bool, error) {
	direct, err := c.l.rolesOn(ctx, &c.work, resource, []string{principal})
	if err != nil || len(direct) > 0 && direct[0].role == role {
		return err == nil, err
	}
	groups, err := c.l.memberGroups(ctx, &c.work, resource)
	if err != nil || len(groups) == 0 {
		return false, err
	}
	wanted := make([]string, 0, len(groups))
	for _, g := range groups {
		if g.role == role {
			wanted = append(wanted, g.id)
		}
	}
	mine, known, err := c.l.closure(ctx, &c.work, principal, wanted)
	if err != nil {
		return false, err
	}
	if c.work.looked(known); known {
		return len(mine) > 0, nil
	}
	mine, n, err := c.explode(ctx, principal)
	if err == nil && (len(mine) > 0 || c.sentinel) {
		err = c.l.putClosure(ctx, &c.work, principal, mine, n)
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(wanted, func(g string) bool { return slices.Contains(mine, g) }), nil
}

// change grants or revokes a role, and drops what is kept of those concerned:
// the member and, of a group, everybody below it.
func (c *checker) change(ctx context.Context, g grant) error {
	if err := c.l.change(ctx, &c.work, []grant{g}); err != nil || !c.invalidate {
		return err
	}
	if c.memory != nil {
		clear(c.memory.kept)
	}
	if c.strategy != strategyPerm && c.strategy != strategyClosure {
		return nil
	}
	concerned, err := c.below(ctx, g.member)
	if err != nil {
		return err
	}
	if c.strategy == strategyPerm {
		resource := g.resource
		if isGroup(resource) { // who leaves a group may lose anything
			resource = ""
		}
		return c.l.forbid(ctx, &c.work, resource, concerned)
	}
	if isGroup(g.resource) {
		return c.l.dropClosures(ctx, &c.work, concerned)
	}
	return nil
}

// below lists a principal and all that are in it.
func (c *checker) below(ctx context.Context, principal string) ([]string, error) {
	out, seen := []string{principal}, map[string]bool{principal: true}
	for i := 0; i < len(out); i++ {
		if !isGroup(out[i]) {
			continue
		}
		for after := ""; ; {
			ms, err := c.l.members(ctx, &c.work, out[i], after, 1000)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				if !seen[m.id] {
					seen[m.id] = true
					out = append(out, m.id)
				}
			}
			if len(ms) < 1000 {
				break
			}
			after = ms[len(ms)-1].id
		}
	}
	return out, nil
}
