package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// litter is how long a probe's key lives if its process dies before removing it.
const litter = time.Minute

// Probe reports whether the server would accept a run's writes to s. It writes a field
// of a drawn name under a key of a drawn name, and removes that field, and the key with
// it. Then it removes a key and a field that do not exist, which changes nothing but
// needs every permission.
func (c *Conn) Probe(ctx context.Context, s store.Space) error {
	field := []byte(store.Unlikely())
	tiny := store.Space{Namespace: s.Namespace, Name: probeName(s.Namespace)}
	key, absent := KeyOf(tiny), KeyOf(tiny)+"-"
	steps := []struct {
		command string
		run     func() error
	}{
		{"HSET", func() error { return c.Set(ctx, tiny, field, []byte("v")) }},
		{"HMSET", func() error { return c.PutAll(ctx, tiny, []store.Entry{{Key: field, Val: []byte("v")}}) }},
		{"EVALSHA", func() error { return c.Put(ctx, tiny, field, []byte("v")) }},
		{"HGET", func() error { _, _, err := c.Get(ctx, tiny, field, nil); return err }},
		{"", func() error { _ = c.client.PExpire(ctx, key, litter).Err(); return nil }}, // it is removed below, unless we die
		{"HDEL", func() error { return c.client.HDel(ctx, key, string(field)).Err() }},
		{"UNLINK", func() error { _, err := unlink(ctx, c.client, absent); return err }},
	}
	var problem error
	for _, step := range steps {
		if err := step.run(); err != nil && problem == nil {
			problem = c.refusal(ctx, step.command, key, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if problem != nil || s.Name == "" {
		return problem
	}
	own := KeyOf(s)
	if s.Grouped {
		own = groupKey(own, field)
	}
	if err := c.client.HDel(ctx, own, string(field)).Err(); err != nil {
		return c.refusal(ctx, "HDEL", own, err)
	}
	return nil
}

// refusal explains why a write was refused.
func (c *Conn) refusal(ctx context.Context, command, key string, err error) error {
	var reply goredis.Error
	if !errors.As(err, &reply) {
		return c.explain(ctx, err)
	}
	text := c.target.Scrub(reply).Error()
	say := func(what, hint string) error {
		return fault.Store(fault.Sentence("redis: "+c.where()+": "+what, err), hint)
	}
	switch Classify(reply) {
	case store.Refused:
		who := c.target.User
		if who == "" {
			who = "default"
		}
		return say(fmt.Sprintf("the user %q may not use %s on %s: %s", who, command, key, text),
			fmt.Sprintf("grant it:  ACL SETUSER %s ~%s* +@read +@write +@scripting", who, prefixOf(key)))
	case store.ReadOnly:
		if strings.HasPrefix(text, "MISCONF") {
			return say("the server refuses writes because it could not save its data: "+text,
				"look at its log and disk, or turn saving off:  CONFIG SET save ''")
		}
		return say("the server is a read-only replica", "use its master:  redis-cli role  names it")
	case store.OutOfMemory:
		return say("the server has reached maxmemory and refuses writes", "delete data, raise maxmemory, or choose an eviction policy")
	case store.WrongType:
		return fault.Input(fault.Sentence("redis: "+c.where()+": "+key+" holds something that is not a hash", err),
			"use another --namespace, or delete it yourself")
	}
	return say(command+" on "+key+": "+text, "")
}

// prefixOf returns the part of a key that all keys of a run have in common.
func prefixOf(key string) string {
	if ns, _, ok := strings.Cut(key, ":"); ok {
		return ns + ":"
	}
	return ""
}
