// Package onredis is the layer on Redis.
package onredis

import (
	"context"
	"strings"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Adapter keeps a tenant's keys under one hash tag, so that a check uses one node of a
// cluster. Hashes: pr for accounts, rg for groups and rx for other resources that a
// principal has a role on, mg for groups and mu for users with a role on a resource, pc
// for cached permissions, pf for sections. Sets: mc for closures and mi for their
// indirect groups, ld for the load's marks.
type Adapter struct {
	c link.Client // for rare operations
	// calls sends everything else.
	calls   *link.Batches
	scripts link.Scripts
	prefix  string // "perfbench:authz:"
}

// New returns the layer for a namespace. It changes nothing in the store.
func New(c redis.Typed, namespace string) *model.Adapter {
	prefix := "authz:"
	if namespace != "" {
		prefix = namespace + ":authz:"
	}
	lines := c.Lines(true)
	l := &Adapter{
		c: c.Client(), calls: link.NewBatches(lines), scripts: link.Scripts{Lines: lines, How: link.BySHA},
		prefix: prefix,
	}
	keys := store.Space{Namespace: namespace, Name: "authz", Shape: store.Keys, Grouped: true}
	return &model.Adapter{
		Spaces:   []ownership.Space{{Space: keys, Parts: redisKeys}},
		Accounts: l, Graph: l, Edges: l, Closures: l, Permissions: l, Sections: l, Progress: l, Walker: l,
	}
}

// redisKeys are the forms of all keys. An id names its tenant, as the hash tag does.
var redisKeys = []string{
	store.FormOf("hash", `\{([^{}:]+)\}:(?:pr|rg|rx|mg|mu|pc|pf):[a-z]+:([^{}:]+):.+`),
	store.FormOf("set", `\{([^{}:]+)\}:(?:mc|mi):[a-z]+:([^{}:]+):.+`),
	store.FormOf("set", `\{[^{}:]+\}:ld`),
}

// key returns the key of kind k for an id, "g:tenant:local".
func (r *Adapter) key(k, id string) string {
	_, rest, _ := strings.Cut(id, ":")
	tenant, _, _ := strings.Cut(rest, ":")
	return r.prefix + "{" + tenant + "}:" + k + ":" + id
}

func (r *Adapter) load(tenant string) string { return r.prefix + "{" + tenant + "}:ld" }

func (r *Adapter) up(id, resource string) string {
	if model.IsGroup(resource) {
		return r.key("rg", id)
	}
	return r.key("rx", id)
}

func (r *Adapter) down(resource, member string) string {
	if model.IsGroup(member) {
		return r.key("mg", resource)
	}
	return r.key("mu", resource)
}

// Account reads a principal, false if there is none.
func (r *Adapter) Account(ctx context.Context, w *model.Work, id string) (model.Account, bool, error) {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Command("HGETALL", r.key("pr", id))
	c.Reply.Keep = true
	err := b.Do(ctx)
	m := map[string]string{}
	for _, f := range pairs(nil, c, err) {
		m[f.ID] = f.Role
	}
	a := model.Account{ID: id, Tenant: m["tenant"], Kind: m["kind"], Visibility: m["visibility"], First: m["first_name"], Last: m["last_name"], Title: m["title"]}
	a.Describe(m["description"])
	return a, len(m) > 0, err
}

// PutAccount stores a principal.
func (r *Adapter) PutAccount(ctx context.Context, w *model.Work, a model.Account) error {
	fields := make([]string, 0, 2*len(model.AccountColumns))
	for i, v := range a.Values()[1:] {
		text, _ := v.(string)
		fields = append(fields, model.AccountColumns[i+1], text)
	}
	return r.set(ctx, w, r.key("pr", a.ID), fields...)
}

// set stores alternating fields and values of a hash.
func (r *Adapter) set(ctx context.Context, w *model.Work, key string, fields ...string) error {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	add(b.Command("HSET", key), fields)
	return b.Do(ctx)
}

// add appends arguments.
func add(c *link.Caller, args []string) {
	for _, a := range args {
		c.Add(a)
	}
}

// Role returns the direct role of a principal on a resource, or "".
func (r *Adapter) Role(ctx context.Context, w *model.Work, principal, resource string) (string, error) {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Command("HGET", r.up(principal, resource))
	c.Add(resource)
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return "", err
	}
	role, _ := c.Reply.At(0)
	return string(role), nil
}

// SetMember writes the downward direction of an edge.
func (r *Adapter) SetMember(ctx context.Context, w *model.Work, g model.Grant) error {
	return r.set(ctx, w, r.down(g.Resource, g.Member), g.Member, g.Role)
}

// SetRole writes the upward direction of an edge.
func (r *Adapter) SetRole(ctx context.Context, w *model.Work, g model.Grant) error {
	return r.set(ctx, w, r.up(g.Member, g.Resource), g.Resource, g.Role)
}

// Change writes grants and revocations, both directions, in one transaction.
func (r *Adapter) Change(ctx context.Context, w *model.Work, gs []model.Grant) error {
	w.Statements++
	if len(gs) == 0 {
		return nil
	}
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Call()
	c.Multi()
	for _, g := range gs {
		edge(c, r.down(g.Resource, g.Member), g.Member, g.Role)
		edge(c, r.up(g.Member, g.Resource), g.Resource, g.Role)
	}
	c.Exec()
	return b.Do(ctx)
}

// edge adds a command that writes one direction of an edge, or removes it.
func edge(c *link.Caller, key, to, role string) {
	if role == "" {
		c.Next("HDEL")
		add(c, []string{key, to})
		return
	}
	c.Next("HSET")
	add(c, []string{key, to, role})
}

// Parents returns the groups that the principals are in.
func (r *Adapter) Parents(ctx context.Context, w *model.Work, principals []string) ([]model.Held, error) {
	w.Statements += int64(len(principals))
	b := r.calls.Acquire()
	defer b.Release()
	for _, id := range principals {
		b.Command("HGETALL", r.key("rg", id)).Reply.Keep = true
	}
	return held(ctx, b)
}

// held sends calls of HGETALL and returns the roles.
func held(ctx context.Context, b *link.Batch) ([]model.Held, error) {
	err := b.Do(ctx)
	var out []model.Held
	for _, c := range b.Calls() {
		out = pairs(out, c, err)
	}
	return out, err
}

// pairs appends the reply to an HGETALL, or nothing after an error.
func pairs(out []model.Held, c *link.Caller, err error) []model.Held {
	if err != nil {
		return nil
	}
	for i := 0; i+1 < c.Reply.Len(); i += 2 {
		id, _ := c.Reply.At(i)
		role, _ := c.Reply.At(i + 1)
		out = append(out, model.Held{ID: string(id), Role: string(role)})
	}
	return out
}

// RolesOn reads the direct roles of several principals on a resource.
func (r *Adapter) RolesOn(ctx context.Context, w *model.Work, resource string, principals []string) ([]model.Held, error) {
	var out []model.Held
	for _, kind := range []bool{true, false} {
		var ids []string
		for _, id := range principals {
			if model.IsGroup(id) == kind {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		w.Statements++
		var err error
		if out, err = r.roles(ctx, out, r.down(resource, ids[0]), ids); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// roles appends the roles that a hash has for ids.
func (r *Adapter) roles(ctx context.Context, out []model.Held, key string, ids []string) ([]model.Held, error) {
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Command("HMGET", key)
	add(c, ids)
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if role, ok := c.Reply.At(i); ok {
			out = append(out, model.Held{ID: id, Role: string(role)})
		}
	}
	return out, nil
}

// MemberGroups returns the groups that are members of a resource.
func (r *Adapter) MemberGroups(ctx context.Context, w *model.Work, resource string) ([]model.Held, error) {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	b.Command("HGETALL", r.key("mg", resource)).Reply.Keep = true
	return held(ctx, b)
}

// Members returns members of a resource, ordered by id.
func (r *Adapter) Members(ctx context.Context, w *model.Work, resource, after string, limit int) ([]model.Held, error) {
	w.Statements += 2
	b := r.calls.Acquire()
	defer b.Release()
	b.Command("HGETALL", r.key("mg", resource)).Reply.Keep = true
	b.Command("HGETALL", r.key("mu", resource)).Reply.Keep = true
	all, err := held(ctx, b)
	out := all[:0]
	for _, m := range all {
		if m.ID > after {
			out = append(out, m)
		}
	}
	return model.Page(out, limit), err
}

// Section reads a section of a profile, false if there is none.
func (r *Adapter) Section(ctx context.Context, w *model.Work, principal, name string) (string, string, bool, error) {
	w.Statements++
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Command("HMGET", r.key("pf", principal))
	c.Add(name, "#visibility")
	c.Add(name, "#data")
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return "", "", false, err
	}
	vis, ok := c.Reply.At(0)
	data, _ := c.Reply.At(1)
	return string(vis), string(data), ok, nil
}

// PutSection stores a section of a profile.
func (r *Adapter) PutSection(ctx context.Context, w *model.Work, principal, name, visibility, data string) error {
	return r.set(ctx, w, r.key("pf", principal), name+"#visibility", visibility, name+"#data", data)
}

// Marks returns the batches of a tenant's load that are done.
func (r *Adapter) Marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := r.c.SMembers(ctx, r.load(tenant)).Result()
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

// Mark notes that a batch is done.
func (r *Adapter) Mark(ctx context.Context, tenant, batch string) error {
	return r.c.SAdd(ctx, r.load(tenant), batch).Err()
}

// walkUp walks the graph inside the server. All keys of a tenant are on one node; those
// of groups further up are built from the prefix, which the hash tag makes possible.
var walkUp = link.NewUndeclared("walk_up", `
local p, r, role, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local isgroup = string.sub(r, 1, 2) == 'g:'
if redis.call('hget', prefix .. (isgroup and 'rg:' or 'rx:') .. p, r) == role then return 1 end
local on = redis.call('hgetall', prefix .. 'mg:' .. r)
local want, any = {}, false
for i = 1, #on, 2 do if on[i + 1] == role then want[on[i]] = true; any = true end end
if not any then return 0 end
local seen, queue, at = {[p] = true}, {p}, 1
while at <= #queue do
  for _, g in ipairs(redis.call('hkeys', prefix .. 'rg:' .. queue[at])) do
    if want[g] then return 1 end
    if not seen[g] then seen[g] = true; queue[#queue + 1] = g end
  end
  at = at + 1
end
return 0`)

// HasRole walks the graph inside the server.
func (r *Adapter) HasRole(ctx context.Context, w *model.Work, principal, resource, role string) (bool, error) {
	w.Statements++
	key := r.key("", principal)
	prefix := key[:strings.Index(key, "}:")+2]
	b := r.calls.Acquire()
	defer b.Release()
	c := b.Call()
	r.scripts.Begin(&c.Request, walkUp, 1)
	add(c, []string{r.up(principal, resource), principal, resource, role, prefix})
	n, err := r.scripts.Finish(ctx, c, walkUp)
	return err == nil && n == 1, err
}
