package authz

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// plain is a layer in maps of this process. With nothing set it forgets it all.
type plain struct {
	nothing bool

	mu       sync.RWMutex
	accounts map[string]account
	up, down map[string]map[string]string
	cache    map[string][]string
	perms    map[string]bool
	sect     map[string][2]string
	done     map[string]map[string]bool
}

func newPlain(nothing bool) *plain {
	return &plain{
		nothing: nothing, accounts: map[string]account{}, up: map[string]map[string]string{}, down: map[string]map[string]string{},
		cache: map[string][]string{}, perms: map[string]bool{}, sect: map[string][2]string{}, done: map[string]map[string]bool{},
	}
}

// read and write run f under the lock.
func (p *plain) read(ctx context.Context, w *work, f func()) error {
	w.statements++
	p.mu.RLock()
	defer p.mu.RUnlock()
	f()
	return ctx.Err()
}

func (p *plain) write(ctx context.Context, w *work, f func()) error {
	w.statements++
	if p.nothing || ctx.Err() != nil {
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	return nil
}

func (p *plain) prepare(context.Context) error { return nil }

func (p *plain) account(ctx context.Context, w *work, id string) (a account, ok bool, err error) {
	err = p.read(ctx, w, func() { a, ok = p.accounts[id] })
	return a, ok, err
}

func (p *plain) putAccount(ctx context.Context, w *work, a account) error {
	return p.write(ctx, w, func() { p.accounts[a.id] = a })
}

func (p *plain) role(ctx context.Context, w *work, principal, resource string) (r string, err error) {
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

func (p *plain) setMember(ctx context.Context, w *work, g grant) error {
	return p.write(ctx, w, func() { put(p.down, g.resource, g.member, g.role) })
}

func (p *plain) setRole(ctx context.Context, w *work, g grant) error {
	return p.write(ctx, w, func() { put(p.up, g.member, g.resource, g.role) })
}

func (p *plain) change(ctx context.Context, w *work, gs []grant) error {
	return p.write(ctx, w, func() {
		for _, g := range gs {
			put(p.down, g.resource, g.member, g.role)
			put(p.up, g.member, g.resource, g.role)
		}
	})
}

func (p *plain) parents(ctx context.Context, w *work, principals []string) (out []held, err error) {
	err = p.read(ctx, w, func() {
		for _, m := range principals {
			for id, role := range p.up[m] {
				if isGroup(id) {
					out = append(out, held{id, role})
				}
			}
		}
	})
	return out, err
}

func (p *plain) rolesOn(ctx context.Context, w *work, resource string, principals []string) (out []held, err error) {
	err = p.read(ctx, w, func() {
		for _, m := range principals {
			if r := p.down[resource][m]; r != "" {
				out = append(out, held{m, r})
			}
		}
	})
	return out, err
}

func (p *plain) memberGroups(ctx context.Context, w *work, resource string) (out []held, err error) {
	err = p.read(ctx, w, func() {
		for id, r := range p.down[resource] {
			if isGroup(id) {
				out = append(out, held{id, r})
			}
		}
	})
	return out, err
}

func (p *plain) members(ctx context.Context, w *work, resource, after string, limit int) (out []held, err error) {
	err = p.read(ctx, w, func() {
		for id, r := range p.down[resource] {
			if id > after {
				out = append(out, held{id, r})
			}
		}
	})
	return page(out, limit), err
}

func (p *plain) closure(ctx context.Context, w *work, principal string, among []string) (gs []string, known bool, err error) {
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

func (p *plain) putClosure(ctx context.Context, w *work, principal string, groups []string, _ int) error {
	return p.write(ctx, w, func() { p.cache[principal] = append([]string(nil), groups...) })
}

func (p *plain) dropClosures(ctx context.Context, w *work, principals []string) error {
	return p.write(ctx, w, func() {
		for _, id := range principals {
			delete(p.cache, id)
		}
	})
}

func (p *plain) permitted(ctx context.Context, w *work, principal, resource, role string) (ok bool, err error) {
	err = p.read(ctx, w, func() { ok = p.perms[principal+"\x00"+resource+"\x00"+role] })
	return ok, err
}

func (p *plain) permit(ctx context.Context, w *work, principal, resource, role string) error {
	return p.write(ctx, w, func() { p.perms[principal+"\x00"+resource+"\x00"+role] = true })
}

func (p *plain) forbid(ctx context.Context, w *work, resource string, principals []string) error {
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

func (p *plain) section(ctx context.Context, w *work, principal, name string) (vis, data string, ok bool, err error) {
	var s [2]string
	err = p.read(ctx, w, func() { s, ok = p.sect[principal+"#"+name] })
	return s[0], s[1], ok, err
}

func (p *plain) putSection(ctx context.Context, w *work, principal, name, visibility, data string) error {
	return p.write(ctx, w, func() { p.sect[principal+"#"+name] = [2]string{visibility, data} })
}

func (p *plain) marks(ctx context.Context, tenant string) (out map[string]bool, err error) {
	out = map[string]bool{}
	err = p.read(ctx, &work{}, func() {
		for b := range p.done[tenant] {
			out[b] = true
		}
	})
	return out, err
}

func (p *plain) mark(ctx context.Context, tenant, batch string) error {
	return p.write(ctx, &work{}, func() {
		if p.done[tenant] == nil {
			p.done[tenant] = map[string]bool{}
		}
		p.done[tenant][batch] = true
	})
}
