package authz

import (
	"context"
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// onRedis keeps a tenant's keys under one hash tag, so that a check touches one
// node of a cluster. Hashes: pr accounts, rg groups and rx other resources that a
// principal has a role on, mg groups and mu users with a role on a resource; sets:
// mc closures and mi what is indirect in them; hashes: pc kept permissions, pf sections; set: ld the load's marks.
type onRedis struct {
	c         goredis.UniversalClient
	namespace string
	prefix    string // "perfbench:authz:"
}

func newRedis(c redis.Typed, namespace string) *onRedis {
	prefix := "authz:"
	if namespace != "" {
		prefix = namespace + ":authz:"
	}
	return &onRedis{c.Client(), namespace, prefix}
}

// spaces lists where the keys are, as one space.
func (r *onRedis) spaces() []place.Space {
	return []place.Space{{Space: store.Space{Namespace: r.namespace, Name: "authz", Shape: store.Keys, Grouped: true}, Parts: redisKeys}}
}

// redisKeys are the forms of all keys.
var redisKeys = []string{
	"{*}:pr:*", "{*}:rg:*", "{*}:rx:*", "{*}:mg:*", "{*}:mu:*", "{*}:mc:*", "{*}:mi:*", "{*}:pc:*", "{*}:pf:*", "{*}:ld",
}

// key is the key of kind k for an id, "g:tenant:local".
func (r *onRedis) key(k, id string) string {
	_, rest, _ := strings.Cut(id, ":")
	tenant, _, _ := strings.Cut(rest, ":")
	return r.prefix + "{" + tenant + "}:" + k + ":" + id
}

func (r *onRedis) load(tenant string) string { return r.prefix + "{" + tenant + "}:ld" }

func (r *onRedis) up(id, resource string) string {
	if isGroup(resource) {
		return r.key("rg", id)
	}
	return r.key("rx", id)
}

func (r *onRedis) down(resource, member string) string {
	if isGroup(member) {
		return r.key("mg", resource)
	}
	return r.key("mu", resource)
}

func (r *onRedis) prepare(context.Context) error { return nil }

func none(err error) error {
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

func (r *onRedis) account(ctx context.Context, w *work, id string) (account, bool, error) {
	w.statements++
	m, err := r.c.HGetAll(ctx, r.key("pr", id)).Result()
	a := account{id: id, tenant: m["tenant"], kind: m["kind"], visibility: m["visibility"], first: m["first_name"], last: m["last_name"], title: m["title"]}
	a.describe(m["description"])
	return a, len(m) > 0, err
}

func (r *onRedis) putAccount(ctx context.Context, w *work, a account) error {
	w.statements++
	fields := make([]any, 0, 2*len(accountColumns))
	for i, v := range a.values()[1:] {
		fields = append(fields, accountColumns[i+1], v)
	}
	return r.c.HSet(ctx, r.key("pr", a.id), fields...).Err()
}

func (r *onRedis) role(ctx context.Context, w *work, principal, resource string) (string, error) {
	w.statements++
	role, err := r.c.HGet(ctx, r.up(principal, resource), resource).Result()
	return role, none(err)
}

func (r *onRedis) setMember(ctx context.Context, w *work, g grant) error {
	w.statements++
	return r.c.HSet(ctx, r.down(g.resource, g.member), g.member, g.role).Err()
}

func (r *onRedis) setRole(ctx context.Context, w *work, g grant) error {
	w.statements++
	return r.c.HSet(ctx, r.up(g.member, g.resource), g.resource, g.role).Err()
}

func (r *onRedis) change(ctx context.Context, w *work, gs []grant) error {
	w.statements++
	_, err := r.c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		for _, g := range gs {
			if g.role == "" {
				p.HDel(ctx, r.down(g.resource, g.member), g.member)
				p.HDel(ctx, r.up(g.member, g.resource), g.resource)
				continue
			}
			p.HSet(ctx, r.down(g.resource, g.member), g.member, g.role)
			p.HSet(ctx, r.up(g.member, g.resource), g.resource, g.role)
		}
		return nil
	})
	return err
}

func (r *onRedis) parents(ctx context.Context, w *work, principals []string) ([]held, error) {
	w.statements += int64(len(principals))
	cmds, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, id := range principals {
			p.HGetAll(ctx, r.key("rg", id))
		}
		return nil
	})
	var out []held
	for _, cmd := range cmds {
		if m, ok := cmd.(*goredis.MapStringStringCmd); ok {
			out = append(out, pairs(m.Val())...)
		}
	}
	return out, err
}

func pairs(m map[string]string) []held {
	out := make([]held, 0, len(m))
	for id, role := range m {
		out = append(out, held{id, role})
	}
	return out
}

func (r *onRedis) rolesOn(ctx context.Context, w *work, resource string, principals []string) ([]held, error) {
	var out []held
	for _, kind := range []bool{true, false} {
		var ids []string
		for _, id := range principals {
			if isGroup(id) == kind {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		w.statements++
		vals, err := r.c.HMGet(ctx, r.down(resource, ids[0]), ids...).Result()
		if err != nil {
			return nil, err
		}
		for i, v := range vals {
			if role, ok := v.(string); ok {
				out = append(out, held{ids[i], role})
			}
		}
	}
	return out, nil
}

func (r *onRedis) memberGroups(ctx context.Context, w *work, resource string) ([]held, error) {
	w.statements++
	m, err := r.c.HGetAll(ctx, r.key("mg", resource)).Result()
	return pairs(m), err
}

func (r *onRedis) members(ctx context.Context, w *work, resource, after string, limit int) ([]held, error) {
	w.statements += 2
	var g, u *goredis.MapStringStringCmd
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		g, u = p.HGetAll(ctx, r.key("mg", resource)), p.HGetAll(ctx, r.key("mu", resource))
		return nil
	})
	var out []held
	for _, m := range append(pairs(g.Val()), pairs(u.Val())...) {
		if m.id > after {
			out = append(out, m)
		}
	}
	return page(out, limit), err
}

func (r *onRedis) closure(ctx context.Context, w *work, principal string, among []string) ([]string, bool, error) {
	w.statements += 2
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

func (r *onRedis) putClosure(ctx context.Context, w *work, principal string, groups []string, direct int) error {
	indirect := groups[direct:]
	if len(groups) == 0 {
		groups = []string{emptyClosure}
	}
	w.statements++
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		if len(indirect) > 0 {
			w.statements++
			p.SAdd(ctx, r.key("mi", principal), indirect)
		}
		p.SAdd(ctx, r.key("mc", principal), groups)
		return nil
	})
	return err
}

func (r *onRedis) dropClosures(ctx context.Context, w *work, principals []string) error {
	if err := r.unlink(ctx, w, "mc", principals); err != nil {
		return err
	}
	return r.unlink(ctx, w, "mi", principals)
}

func (r *onRedis) unlink(ctx context.Context, w *work, kind string, ids []string) error {
	w.statements += int64(len(ids))
	_, err := r.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, id := range ids {
			p.Del(ctx, r.key(kind, id))
		}
		return nil
	})
	return err
}

func (r *onRedis) permitted(ctx context.Context, w *work, principal, resource, role string) (bool, error) {
	w.statements++
	return r.c.HExists(ctx, r.key("pc", principal), resource+"\x00"+role).Result()
}

func (r *onRedis) permit(ctx context.Context, w *work, principal, resource, role string) error {
	w.statements++
	return r.c.HSet(ctx, r.key("pc", principal), resource+"\x00"+role, "1").Err()
}

// forbid drops all kept permissions of the principals: which roles were kept on a
// resource nothing but a scan of the hash would tell.
func (r *onRedis) forbid(ctx context.Context, w *work, _ string, principals []string) error {
	return r.unlink(ctx, w, "pc", principals)
}

func (r *onRedis) section(ctx context.Context, w *work, principal, name string) (string, string, bool, error) {
	w.statements++
	vals, err := r.c.HMGet(ctx, r.key("pf", principal), name+"#visibility", name+"#data").Result()
	if err != nil {
		return "", "", false, err
	}
	vis, ok := vals[0].(string)
	data, _ := vals[1].(string)
	return vis, data, ok, nil
}

func (r *onRedis) putSection(ctx context.Context, w *work, principal, name, visibility, data string) error {
	w.statements++
	return r.c.HSet(ctx, r.key("pf", principal), name+"#visibility", visibility, name+"#data", data).Err()
}

func (r *onRedis) marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := r.c.SMembers(ctx, r.load(tenant)).Result()
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

func (r *onRedis) mark(ctx context.Context, tenant, batch string) error {
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

func (r *onRedis) hasRole(ctx context.Context, w *work, principal, resource, role string) (bool, error) {
	w.statements++
	key := r.key("", principal)
	prefix := key[:strings.Index(key, "}:")+2]
	n, err := walkUp.Run(ctx, r.c, []string{r.up(principal, resource)}, principal, resource, role, prefix).Int()
	return n == 1, err
}
