package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// probeField is a field that no profile uses.
const probeField = "\x00perfbench-probe"

// Probe reports whether the server would accept a run's writes to s. It writes and
// removes a key of our own, and removes a field that the space does not have, which
// changes nothing but needs every permission.
func (c *Conn) Probe(ctx context.Context, s store.Space) error {
	tiny := store.Space{Namespace: s.Namespace, Name: strings.TrimPrefix(probeKey(s.Namespace), s.Namespace+":")}
	key := probeKey(s.Namespace)
	steps := []struct {
		command string
		run     func() error
	}{
		{"HSET", func() error { return c.Set(ctx, tiny, []byte("f"), []byte("v")) }},
		{"HMSET", func() error { return c.PutAll(ctx, tiny, []store.Entry{{Key: []byte("f"), Val: []byte("v")}}) }},
		{"EVALSHA", func() error { return c.Put(ctx, tiny, []byte("f"), []byte("v")) }},
		{"HGET", func() error { _, _, err := c.Get(ctx, tiny, []byte("f"), nil); return err }},
		{"UNLINK", func() error { _, err := unlink(ctx, c.client, key); return err }},
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
	if problem != nil {
		return problem
	}
	own := KeyOf(s)
	if s.Grouped {
		own = groupKey(own, []byte("_probe"))
	}
	if err := c.client.HDel(ctx, own, probeField).Err(); err != nil {
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
