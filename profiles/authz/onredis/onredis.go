// Package onredis is the layer on Redis.
package onredis

import (
	"context"
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/profiles/authz/layer"
)

// Layer keeps a tenant's keys under one hash tag, so that a check touches one
// node of a cluster. Hashes: pr accounts, rg groups and rx other resources that a
// principal has a role on, mg groups and mu users with a role on a resource; sets:
// mc closures and mi what is indirect in them; hashes: pc kept permissions, pf sections; set: ld the load's marks.
type Layer struct {
	c         goredis.UniversalClient
	namespace string
	prefix    string // "perfbench:authz:"
}

// New returns the layer of a namespace. It changes nothing in the store.
func New(c redis.Typed, namespace string) *Layer {
	prefix := "authz:"
	if namespace != "" {
		prefix = namespace + ":authz:"
	}
	return &Layer{c.Client(), namespace, prefix}
}

// Spaces lists where the keys are, as one space.
func (r *Layer) Spaces() []place.Space {
	return []place.Space{{Space: store.Space{Namespace: r.namespace, Name: "authz", Shape: store.Keys, Grouped: true}, Parts: redisKeys}}
}

// redisKeys are the forms of all keys.
var redisKeys = []string{
	"{*}:pr:*", "{*}:rg:*", "{*}:rx:*", "{*}:mg:*", "{*}:mu:*", "{*}:mc:*", "{*}:mi:*", "{*}:pc:*", "{*}:pf:*", "{*}:ld",
}

// key is the key of kind k for an id, "g:tenant:local".
func (r *Layer) key(k, id string) string {
	_, rest, _ := strings.Cut(id, ":")
	tenant, _, _ := strings.Cut(rest, ":")
	return r.prefix + "{" + tenant + "}:" + k + ":" + id
}

func (r *Layer) load(tenant string) string { return r.prefix + "{" + tenant + "}:ld" }

func (r *Layer) up(id, resource string) string {
	if layer.IsGroup(resource) {
		return r.key("rg", id)
	}
	return r.key("rx", id)
}

func (r *Layer) down(resource, member string) string {
	if layer.IsGroup(member) {
		return r.key("mg", resource)
	}
	return r.key("mu", resource)
}

// Prepare has nothing to do: there are no tables.
func (r *Layer) Prepare(context.Context) error { return nil }

func none(err error) error {
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

// Account reads a principal, false when there is none.
func (r *Layer) Account(ctx context.Context, w *layer.Work, id string) (layer.Account, bool, error) {
	w.Statements++
	m, err := r.c.HGetAll(ctx, r.key("pr", id)).Result()
	a := layer.Account{ID: id, Tenant: m["tenant"], Kind: m["kind"], Visibility: m["visibility"], First: m["first_name"], Last: m["last_name"], Title: m["title"]}
	a.Describe(m["description"])
	return a, len(m) > 0, err
}

// PutAccount stores a principal.
func (r *Layer) PutAccount(ctx context.Context, w *layer.Work, a layer.Account) error {
	w.Statements++
	fields := make([]any, 0, 2*len(layer.AccountColumns))
	for i, v := range a.Values()[1:] {
		fields = append(fields, layer.AccountColumns[i+1], v)
	}
	return r.c.HSet(ctx, r.key("pr", a.ID), fields...).Err()
}

// Role is the direct role of a principal on a resource, or "".
func (r *Layer) Role(ctx context.Context, w *layer.Work, principal, resource string) (string, error) {
	w.Statements++
	role, err := r.c.HGet(ctx, r.up(principal, resource), resource).Result()
	return role, none(err)
}

// SetMember writes the direction of an edge that leads down.
func (r *Layer) SetMember(ctx context.Context, w *layer.Work, g layer.Grant) error {
	w.Statements++
	return r.c.HSet(ctx, r.down(g.Resource, g.Member), g.Member, g.Role).Err()
}

// SetRole writes the direction of an edge that leads up.
func (r *Layer) SetRole(ctx context.Context, w *layer.Work, g layer.Grant) error {
	w.Statements++
	return r.c.HSet(ctx, r.up(g.Member, g.Resource), g.Resource, g.Role).Err()
}

// Change writes grants and revocations, both directions.
func (r *Layer) Change(ctx context.Context, w *layer.Work, gs []layer.Grant) error {
	w.Statements++
	_, err := r.c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		for _, g := range gs {
			if g.Role == "" {
				p.HDel(ctx, r.down(g.Resource, g.Member), g.Member)
				p.HDel(ctx, r.up(g.Member, g.Resource), g.Resource)
				continue
			}
			p.HSet(ctx, r.down(g.Resource, g.Member), g.Member, g.Role)
			p.HSet(ctx, r.up(g.Member, g.Resource), g.Resource, g.Role)
		}
		return nil
	})
	return err
}

// Parents lists the groups that the principals are in.
func (r *Layer) Parents(ctx context.Context, w *layer.Work, principals []string) ([]layer.Held, error) {
	w.Statements += int64(len(principals))
	cmds, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, id := range principals {
			p.HGetAll(ctx, r.key("rg", id))
		}
		return nil
	})
	var out []layer.Held
	for _, cmd := range cmds {
		if m, ok := cmd.(*goredis.MapStringStringCmd); ok {
			out = append(out, pairs(m.Val())...)
		}
	}
	return out, err
}

func pairs(m map[string]string) []layer.Held {
	out := make([]layer.Held, 0, len(m))
	for id, role := range m {
		out = append(out, layer.Held{ID: id, Role: role})
	}
	return out
}

// RolesOn reads the direct roles of several principals on a resource.
func (r *Layer) RolesOn(ctx context.Context, w *layer.Work, resource string, principals []string) ([]layer.Held, error) {
	var out []layer.Held
	for _, kind := range []bool{true, false} {
		var ids []string
		for _, id := range principals {
			if layer.IsGroup(id) == kind {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		w.Statements++
		vals, err := r.c.HMGet(ctx, r.down(resource, ids[0]), ids...).Result()
		if err != nil {
			return nil, err
		}
		for i, v := range vals {
			if role, ok := v.(string); ok {
				out = append(out, layer.Held{ID: ids[i], Role: role})
			}
		}
	}
	return out, nil
}

// MemberGroups lists the groups that are members of a resource.
func (r *Layer) MemberGroups(ctx context.Context, w *layer.Work, resource string) ([]layer.Held, error) {
	w.Statements++
	m, err := r.c.HGetAll(ctx, r.key("mg", resource)).Result()
	return pairs(m), err
}

// Members lists members of a resource in the order of their ids.
func (r *Layer) Members(ctx context.Context, w *layer.Work, resource, after string, limit int) ([]layer.Held, error) {
	w.Statements += 2
	var g, u *goredis.MapStringStringCmd
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		g, u = p.HGetAll(ctx, r.key("mg", resource)), p.HGetAll(ctx, r.key("mu", resource))
		return nil
	})
	var out []layer.Held
	for _, m := range append(pairs(g.Val()), pairs(u.Val())...) {
		if m.ID > after {
			out = append(out, m)
		}
	}
	return layer.Page(out, limit), err
}

// Closure tells which of some groups are kept for a principal.
func (r *Layer) Closure(ctx context.Context, w *layer.Work, principal string, among []string) ([]string, bool, error) {
	w.Statements += 2
	key := r.key("mc", principal)
	members := make([]any, len(among))
	for i, g := range among {
		members[i] = g
	}
	var there *goredis.IntCmd
	var in *goredis.BoolSliceCmd
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		there = p.Exists(ctx, key)
		if len(members) > 0 {
			in = p.SMIsMember(ctx, key, members...)
		}
		return nil
	})
	if err != nil || there.Val() == 0 || in == nil {
		return nil, err == nil && there.Val() > 0, err
	}
	var out []string
	for i, ok := range in.Val() {
		if ok {
			out = append(out, among[i])
		}
	}
	return out, true, nil
}

// PutClosure keeps the groups of a principal, the direct ones first.
func (r *Layer) PutClosure(ctx context.Context, w *layer.Work, principal string, groups []string, direct int) error {
	indirect := groups[direct:]
	if len(groups) == 0 {
		groups = []string{layer.EmptyClosure}
	}
	w.Statements++
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		if len(indirect) > 0 {
			w.Statements++
			p.SAdd(ctx, r.key("mi", principal), indirect)
		}
		p.SAdd(ctx, r.key("mc", principal), groups)
		return nil
	})
	return err
}

// DropClosures forgets the groups of principals.
func (r *Layer) DropClosures(ctx context.Context, w *layer.Work, principals []string) error {
	if err := r.unlink(ctx, w, "mc", principals); err != nil {
		return err
	}
	return r.unlink(ctx, w, "mi", principals)
}

func (r *Layer) unlink(ctx context.Context, w *layer.Work, kind string, ids []string) error {
	w.Statements += int64(len(ids))
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, id := range ids {
			p.Del(ctx, r.key(kind, id))
		}
		return nil
	})
	return err
}

// Permitted reads a kept permission.
func (r *Layer) Permitted(ctx context.Context, w *layer.Work, principal, resource, role string) (bool, error) {
	w.Statements++
	return r.c.HExists(ctx, r.key("pc", principal), resource+"\x00"+role).Result()
}

// Permit keeps a permission.
func (r *Layer) Permit(ctx context.Context, w *layer.Work, principal, resource, role string) error {
	w.Statements++
	return r.c.HSet(ctx, r.key("pc", principal), resource+"\x00"+role, "1").Err()
}

// Forbid drops all kept permissions of the principals: which roles were kept on a
// resource nothing but a scan of the hash would tell.
func (r *Layer) Forbid(ctx context.Context, w *layer.Work, _ string, principals []string) error {
	return r.unlink(ctx, w, "pc", principals)
}

// Section reads a section of a profile, false when there is none.
func (r *Layer) Section(ctx context.Context, w *layer.Work, principal, name string) (string, string, bool, error) {
	w.Statements++
	vals, err := r.c.HMGet(ctx, r.key("pf", principal), name+"#visibility", name+"#data").Result()
	if err != nil {
		return "", "", false, err
	}
	vis, ok := vals[0].(string)
	data, _ := vals[1].(string)
	return vis, data, ok, nil
}

// PutSection stores a section of a profile.
func (r *Layer) PutSection(ctx context.Context, w *layer.Work, principal, name, visibility, data string) error {
	w.Statements++
	return r.c.HSet(ctx, r.key("pf", principal), name+"#visibility", visibility, name+"#data", data).Err()
}

// Marks lists the batches of a tenant's load that are done.
func (r *Layer) Marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := r.c.SMembers(ctx, r.load(tenant)).Result()
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

// Mark notes that a batch is done.
func (r *Layer) Mark(ctx context.Context, tenant, batch string) error {
	return r.c.SAdd(ctx, r.load(tenant), batch).Err()
}

// walkUp walks the graph inside the server. All keys of a tenant are on one node;
// those of groups further up are made from the prefix, as the hash tag allows.
var walkUp = goredis.NewScript(`
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
func (r *Layer) HasRole(ctx context.Context, w *layer.Work, principal, resource, role string) (bool, error) {
	w.Statements++
	key := r.key("", principal)
	prefix := key[:strings.Index(key, "}:")+2]
	n, err := walkUp.Run(ctx, r.c, []string{r.up(principal, resource)}, principal, resource, role, prefix).Int()
	return n == 1, err
}
