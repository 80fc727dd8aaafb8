package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Leases are who uses each namespace, and which of them were asked for here.
type Leases struct {
	servers *servers
	asked   sync.Map // keys of leases
}

// The lease of a namespace is a key that expires, set by SET NX PX, which only its
// holder may extend or remove. Servers without scripts get the same by WATCH and MULTI; see
// watched.go. KEYS: the lease; ARGV: its text, its TTL in ms.
var (
	holdScript = goredis.NewScript(`
local now = redis.call('GET', KEYS[1])
if not now then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  return {1, ARGV[1]}
end
if now == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {2, now}
end
return {0, now}`)
	swapScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)
	freeScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)
	// registerScript enters a lease into the register. If it was taken just now, all others
	// there are told of it. KEYS: the register; ARGV: the key of the lease, its text, 1 if it
	// was taken, the TTL of the register in ms.
	registerScript = goredis.NewScript(`
local all = redis.call('HGETALL', KEYS[1])
if ARGV[3] == '1' then
  for i = 1, #all, 2 do
    if all[i] ~= ARGV[1] then redis.call('HSET', KEYS[1], all[i], ARGV[2]) end
  end
end
redis.call('HSETNX', KEYS[1], ARGV[1], '')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1`)
)

// register is the key of a hash with a field for the key of each lease on these servers,
// and the lease that was taken last since that one was: so a run learns of another that
// came and went. It is gone with the last of the leases.
const register = "_perfbench_leases"

// Hold takes or renews the lease of a namespace.
func (ls *Leases) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	key := leaseKey(namespace)
	ls.asked.Store(key, true)
	text, err := json.Marshal(l)
	if err != nil {
		return l, store.Denied, fmt.Errorf("lease %s: %w", key, err)
	}
	hold, now, err := ls.hold(ctx, key, string(text), ttl)
	if err != nil {
		return l, store.Denied, leaseError(key, err)
	}
	if hold != store.Denied {
		_ = ls.register(ctx, key, string(text), hold == store.Taken, 2*ttl) // who may not write there is seen only while its lease lasts
	}
	holder, err := leaseOf(key, now)
	return holder, hold, err
}

// hold takes the lease or renews it, and returns its text as it is now.
func (ls *Leases) hold(ctx context.Context, key, text string, ttl time.Duration) (how store.Hold, now string, err error) {
	if ls.servers.unscripted != nil {
		return ls.holdWatched(ctx, key, text, ttl)
	}
	got, err := ls.beside(ctx, holdScript, key, text, ttl.Milliseconds()).Slice()
	if err != nil {
		return store.Denied, "", err
	}
	n, _ := got[0].(int64)
	now, _ = got[1].(string)
	return []store.Hold{store.Denied, store.Taken, store.Renewed}[n], now, nil
}

// register enters a lease into the register.
func (ls *Leases) register(ctx context.Context, key, text string, taken bool, ttl time.Duration) error {
	if ls.servers.unscripted != nil {
		return ls.registerWatched(ctx, key, text, taken, ttl)
	}
	err := ls.beside(ctx, registerScript, register, key, text, taken, ttl.Milliseconds()).Err()
	if goredis.HasErrorPrefix(err, "NOPERM") { // the server counts no call
		ls.servers.ours.Add(-1)
	}
	return err
}

// Swap replaces the lease old.
func (ls *Leases) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	key := leaseKey(namespace)
	was, err1 := json.Marshal(old)
	text, err2 := json.Marshal(l)
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("lease %s: %w", key, err)
	}
	if ls.servers.unscripted != nil {
		done, err := ls.ifStill(ctx, key, string(was), func(p goredis.Pipeliner) error { return p.Set(ctx, key, text, ttl).Err() })
		return done, leaseError(key, err)
	}
	n, err := ls.beside(ctx, swapScript, key, was, text, ttl.Milliseconds()).Int()
	return n == 1, leaseError(key, err)
}

// beside calls a script that is not part of the application's work, and counts it so
// that Usage can leave it out.
func (ls *Leases) beside(ctx context.Context, s *goredis.Script, key string, args ...any) *goredis.Cmd {
	ls.servers.ours.Add(1)
	got := s.EvalSha(ctx, ls.servers.client, []string{key}, args...)
	if goredis.HasErrorPrefix(got.Err(), "NOSCRIPT") {
		ls.servers.ours.Add(1)
		got = s.Eval(ctx, ls.servers.client, []string{key}, args...)
	}
	return got
}

// Holder returns who has the lease of a namespace.
func (ls *Leases) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	key := leaseKey(namespace)
	text, err := ls.servers.client.Get(ctx, key).Result()
	if errors.Is(err, goredis.Nil) {
		return store.Lease{}, false, nil
	}
	if err != nil {
		return store.Lease{}, false, leaseError(key, err)
	}
	l, err := leaseOf(key, text)
	return l, err == nil, err
}

// leaseForm is the form of the keys of all leases.
const leaseForm = "*_lease"

// Neighbours returns the leases of other namespaces on the same servers, and the last of
// those that were taken since ours was. A key that is named like one and is none is passed
// over.
func (ls *Leases) Neighbours(ctx context.Context) (out []store.Lease, err error) {
	err = ls.servers.scanFor(ctx, leaseForm, func(m link.Client, keys []string) error {
		for _, key := range keys {
			if _, own := ls.asked.Load(key); own {
				continue
			}
			text, err := m.Get(ctx, key).Result()
			if err != nil && !errors.Is(err, goredis.Nil) && !goredis.HasErrorPrefix(err, "WRONGTYPE") {
				return err
			}
			if l, err := leaseOf(key, text); err == nil && l.Token != "" {
				out = append(out, l)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for other leases: %w", err)
	}
	ls.asked.Range(func(key, _ any) bool {
		text, err := ls.servers.client.HGet(ctx, register, key.(string)).Result()
		if l, wrong := leaseOf(register, text); err == nil && wrong == nil && !slices.Contains(out, l) {
			out = append(out, l)
		}
		return true
	})
	return out, nil
}

// Free gives up the lease. The records are a hash, which disappears with the last of
// them.
func (ls *Leases) Free(ctx context.Context, namespace string, l store.Lease) error {
	key := leaseKey(namespace)
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("lease %s: %w", key, err)
	}
	var freed bool
	if ls.servers.unscripted != nil {
		freed, err = ls.ifStill(ctx, key, string(text), func(p goredis.Pipeliner) error { return p.Del(ctx, key).Err() })
	} else {
		var n int
		n, err = ls.beside(ctx, freeScript, key, text).Int()
		freed = n > 0
	}
	if freed {
		_ = ls.servers.client.HDel(ctx, register, key).Err() // as above
	}
	return leaseError(key, err)
}

func leaseOf(key, text string) (store.Lease, error) {
	var l store.Lease
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, store.NotOurs("redis: "+key, "lease")
	}
	return l, nil
}

func leaseError(key string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("lease of the namespace (%s): %w", key, err)
	if Classify(err) == store.WrongType {
		return fault.Store(err, "something else is under this key; use another --namespace")
	}
	return err
}
