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

// Prober tries whether the servers would accept the writes of a run.
type Prober struct {
	servers *servers
	maps    *Maps
}

// litter is how long a probe's key lives if its process dies before removing it.
const litter = time.Minute

// Probe reports whether the server would accept a run's writes to s. It writes a field
// of a drawn name under a key of a drawn name, and removes that field, and the key with
// it. Then it removes a key and a field that do not exist, which changes nothing but
// needs every permission.
func (p *Prober) Probe(ctx context.Context, s store.Space) error {
	field := []byte(store.Unlikely())
	tiny := store.Space{Namespace: s.Namespace, Name: probeName(s.Namespace)}
	key, absent := KeyOf(tiny), KeyOf(tiny)+"-"
	steps := []struct {
		command string
		run     func() error
	}{
		{"HSET", func() error { return p.maps.Set(ctx, tiny, field, []byte("v")) }},
		{"HMSET", func() error { return p.maps.PutAll(ctx, tiny, []store.Entry{{Key: field, Val: []byte("v")}}) }},
		{p.puts(), func() error { return p.maps.Put(ctx, tiny, field, []byte("v")) }},
		{"HGET", func() error { _, _, err := p.maps.Get(ctx, tiny, field, nil); return err }},
		{"", func() error { _ = p.servers.client.PExpire(ctx, key, litter).Err(); return nil }}, // it is removed below, unless we die
		{"HDEL", func() error { return p.servers.client.HDel(ctx, key, string(field)).Err() }},
		{"UNLINK", func() error { _, err := unlink(ctx, p.servers.client, absent); return err }},
	}
	var problem error
	for _, step := range steps {
		if err := step.run(); err != nil && problem == nil {
			problem = p.refusal(ctx, step.command, key, err)
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
	if err := p.servers.client.HDel(ctx, own, string(field)).Err(); err != nil {
		return p.refusal(ctx, "HDEL", own, err)
	}
	return nil
}

// puts names the command of a put.
func (p *Prober) puts() string {
	if p.servers.unscripted != nil {
		return "MULTI"
	}
	return "EVALSHA"
}

// refusal explains why a write was refused.
func (p *Prober) refusal(ctx context.Context, command, key string, err error) error {
	var reply goredis.Error
	if !errors.As(err, &reply) {
		return p.servers.explain(ctx, err)
	}
	text := p.servers.target.Scrub(reply).Error()
	say := func(what, hint string) error {
		return fault.Store(fault.Sentence("redis: "+p.servers.where()+": "+what, err), hint)
	}
	switch Classify(reply) {
	case store.Refused:
		rights := "+@read +@write +@scripting"
		if p.servers.unscripted != nil {
			rights = "+@read +@write +@scripting +@transaction"
		}
		who := p.servers.target.User
		if who == "" {
			who = "default"
		}
		return say(fmt.Sprintf("the user %q may not use %s on %s: %s", who, command, key, text),
			fmt.Sprintf("grant it:  ACL SETUSER %s ~%s* %s", who, prefixOf(key), rights))
	case store.ReadOnly:
		if strings.HasPrefix(text, "MISCONF") {
			return say("the server refuses writes because it could not save its data: "+text,
				"look at its log and disk, or turn saving off:  CONFIG SET save ''")
		}
		return say("the server is a read-only replica", "use its master:  "+p.servers.cli(err)+" role  names it")
	case store.OutOfMemory:
		return say("the server has reached maxmemory and refuses writes", "delete data, raise maxmemory, or choose an eviction policy")
	case store.WrongType:
		return fault.Input(fault.Sentence("redis: "+p.servers.where()+": "+key+" holds something that is not a hash", err),
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
