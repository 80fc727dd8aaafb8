// Package inmemory is the layer in maps of this process.
package inmemory

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Adapter is a layer in maps of this process. If nothing is set, it keeps nothing.
type Adapter struct {
	nothing bool
	serve   func(context.Context) error

	mu       sync.RWMutex
	accounts map[string]model.Account
	up, down map[string]map[string]string
	cache    map[string][]string
	perms    map[string]bool
	sect     map[string][2]string
	done     map[string]map[string]bool
}

// New returns an empty layer; if nothing is set, it keeps nothing. serve is called for each call.
func New(nothing bool, serve func(context.Context) error) *model.Adapter {
	l := &Adapter{
		nothing: nothing, serve: serve, accounts: map[string]model.Account{}, up: map[string]map[string]string{}, down: map[string]map[string]string{},
		cache: map[string][]string{}, perms: map[string]bool{}, sect: map[string][2]string{}, done: map[string]map[string]bool{},
	}
	return &model.Adapter{Accounts: l, Graph: l, Edges: l, Closures: l, Permissions: l, Sections: l, Progress: l}
}

// read and write run f under the lock.
func (p *Adapter) read(ctx context.Context, w *model.Work, f func()) error {
	w.Statements++
	if err := p.serve(ctx); err != nil {
		return err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	f()
	return ctx.Err()
}

func (p *Adapter) write(ctx context.Context, w *model.Work, f func()) error {
	w.Statements++
	if err := p.serve(ctx); err != nil || p.nothing {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	return nil
}

// Account reads a principal, false if there is none.
func (p *Adapter) Account(ctx context.Context, w *model.Work, id string) (a model.Account, ok bool, err error) {
	err = p.read(ctx, w, func() { a, ok = p.accounts[id] })
	return a, ok, err
}

// PutAccount stores a principal.
func (p *Adapter) PutAccount(ctx context.Context, w *model.Work, a model.Account) error {
	return p.write(ctx, w, func() { p.accounts[a.ID] = a })
}

// Role returns the direct role of a principal on a resource, or "".
func (p *Adapter) Role(ctx context.Context, w *model.Work, principal, resource string) (r string, err error) {
	err = p.read(ctx, w, func() { r = p.up[principal][resource] })
	return r, err
}

func put(m map[string]map[string]string, a, b, v string) {
	if v == "" {
		delete(m[a], b)
		return
	}
	if m[a] == nil {
		m[a] = map[string]string{}
	}
	m[a][b] = v
}

// SetMember writes the downward direction of an edge.
func (p *Adapter) SetMember(ctx context.Context, w *model.Work, g model.Grant) error {
	return p.write(ctx, w, func() { put(p.down, g.Resource, g.Member, g.Role) })
}

// SetRole writes the upward direction of an edge.
func (p *Adapter) SetRole(ctx context.Context, w *model.Work, g model.Grant) error {
	return p.write(ctx, w, func() { put(p.up, g.Member, g.Resource, g.Role) })
}

// Change writes grants and revocations, both directions.
func (p *Adapter) Change(ctx context.Context, w *model.Work, gs []model.Grant) error {
	return p.write(ctx, w, func() {
		for _, g := range gs {
			put(p.down, g.Resource, g.Member, g.Role)
			put(p.up, g.Member, g.Resource, g.Role)
		}
	})
}

// Parents returns the groups that the principals are in.
func (p *Adapter) Parents(ctx context.Context, w *model.Work, principals []string) (out []model.Held, err error) {
	err = p.read(ctx, w, func() {
		for _, m := range principals {
			for id, role := range p.up[m] {
				if model.IsGroup(id) {
					out = append(out, model.Held{ID: id, Role: role})
				}
			}
		}
	})
	return out, err
}

// RolesOn reads the direct roles of several principals on a resource.
func (p *Adapter) RolesOn(ctx context.Context, w *model.Work, resource string, principals []string) (out []model.Held, err error) {
	err = p.read(ctx, w, func() {
		for _, m := range principals {
			if r := p.down[resource][m]; r != "" {
				out = append(out, model.Held{ID: m, Role: r})
			}
		}
	})
	return out, err
}

// MemberGroups returns the groups that are members of a resource.
func (p *Adapter) MemberGroups(ctx context.Context, w *model.Work, resource string) (out []model.Held, err error) {
	err = p.read(ctx, w, func() {
		for id, r := range p.down[resource] {
			if model.IsGroup(id) {
				out = append(out, model.Held{ID: id, Role: r})
			}
		}
	})
	return out, err
}

// Members returns members of a resource, ordered by id.
func (p *Adapter) Members(ctx context.Context, w *model.Work, resource, after string, limit int) (out []model.Held, err error) {
	err = p.read(ctx, w, func() {
		for id, r := range p.down[resource] {
			if id > after {
				out = append(out, model.Held{ID: id, Role: r})
			}
		}
	})
	return model.Page(out, limit), err
}

// Closure returns which of some groups are cached for a principal.
func (p *Adapter) Closure(ctx context.Context, w *model.Work, principal string, among []string) (gs []string, known bool, err error) {
	var all []string
	if err = p.read(ctx, w, func() { all, known = p.cache[principal] }); err != nil || !known {
		return nil, known, err
	}
	err = p.read(ctx, w, func() {
		for _, g := range among {
			if slices.Contains(all, g) {
				gs = append(gs, g)
			}
		}
	})
	return gs, known, err
}

// PutClosure caches the groups of a principal, the direct ones first.
func (p *Adapter) PutClosure(ctx context.Context, w *model.Work, principal string, groups []string, _ int) error {
	return p.write(ctx, w, func() { p.cache[principal] = append([]string(nil), groups...) })
}

// DropClosures drops the cached groups of principals.
func (p *Adapter) DropClosures(ctx context.Context, w *model.Work, principals []string) error {
	return p.write(ctx, w, func() {
		for _, id := range principals {
			delete(p.cache, id)
		}
	})
}

// Permitted reads a cached permission.
func (p *Adapter) Permitted(ctx context.Context, w *model.Work, principal, resource, role string) (ok bool, err error) {
	err = p.read(ctx, w, func() { ok = p.perms[principal+"\x00"+resource+"\x00"+role] })
	return ok, err
}

// Permit caches a permission.
func (p *Adapter) Permit(ctx context.Context, w *model.Work, principal, resource, role string) error {
	return p.write(ctx, w, func() { p.perms[principal+"\x00"+resource+"\x00"+role] = true })
}

// Forbid drops cached permissions of principals.
func (p *Adapter) Forbid(ctx context.Context, w *model.Work, resource string, principals []string) error {
	return p.write(ctx, w, func() {
		for key := range p.perms {
			for _, id := range principals {
				prefix := id + "\x00"
				if resource != "" {
					prefix += resource + "\x00"
				}
				if strings.HasPrefix(key, prefix) {
					delete(p.perms, key)
				}
			}
		}
	})
}

// Section reads a section of a profile, false if there is none.
func (p *Adapter) Section(ctx context.Context, w *model.Work, principal, name string) (vis, data string, ok bool, err error) {
	var s [2]string
	err = p.read(ctx, w, func() { s, ok = p.sect[principal+"#"+name] })
	return s[0], s[1], ok, err
}

// PutSection stores a section of a profile.
func (p *Adapter) PutSection(ctx context.Context, w *model.Work, principal, name, visibility, data string) error {
	return p.write(ctx, w, func() { p.sect[principal+"#"+name] = [2]string{visibility, data} })
}

// Marks returns the batches of a tenant's load that are done.
func (p *Adapter) Marks(ctx context.Context, tenant string) (out map[string]bool, err error) {
	out = map[string]bool{}
	err = p.read(ctx, &model.Work{}, func() {
		for b := range p.done[tenant] {
			out[b] = true
		}
	})
	return out, err
}

// Mark notes that a batch is done.
func (p *Adapter) Mark(ctx context.Context, tenant, batch string) error {
	return p.write(ctx, &model.Work{}, func() {
		if p.done[tenant] == nil {
			p.done[tenant] = map[string]bool{}
		}
		p.done[tenant][batch] = true
	})
}
