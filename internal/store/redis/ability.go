package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// askedKey is a key that does not exist, named by questions that must name one.
const askedKey = "perfbench:{_asked}"

// abilities are what servers are asked that speak the protocol. Nothing is written: keys
// that are named do not exist, or are only looked for.
var abilities = []store.Question[*servers]{
	{
		Trait: store.Trait{
			Ability: store.Scripts, Title: "Lua scripts",
			Without: "the lease is kept with WATCH and MULTI, and put is HGET and HSET in a MULTI; profiles whose application is made of scripts refuse",
		},
		Ask: func(_ context.Context, v *servers) error { return v.unscripted },
	},
	{
		Trait: store.Trait{
			Ability: store.FreeKeys, Title: "scripts on keys that they do not declare",
			Without: "the scripts that walk from key to key refuse: those of authz, and the audit of sagas",
		},
		Ask: func(ctx context.Context, v *servers) error {
			if v.unscripted != nil {
				return v.unscripted
			}
			return v.lacks(ctx, "eval", link.Undeclared+"return redis.call('exists', ARGV[1])", 1, askedKey, askedKey+":")
		},
	},
	{
		Trait: store.Trait{Ability: store.Functions, Title: "functions", Without: "atomic=function and script=function refuse"},
		Ask: func(ctx context.Context, v *servers) error {
			return errors.Join(v.lacks(ctx, "function", "list"), v.lacks(ctx, "fcall", "_perfbench_none", 1, askedKey))
		},
	},
	{
		Trait: store.Trait{
			Ability: store.Transactions, Title: "WATCH and MULTI",
			Without: "atomic=watch refuses; a server without scripts cannot keep a lease either",
		},
		Ask: func(ctx context.Context, v *servers) error { return v.untransacted(ctx) },
	},
	{
		Trait: store.Trait{Ability: store.Streams, Title: "streams", Without: "event-store refuses, and so do reliable topics of group"},
		Ask:   asks("xlen", askedKey),
	},
	{
		Trait: store.Trait{Ability: "expiry", Title: "keys that expire", Without: "no lease can be kept"},
		Ask:   asks("pttl", askedKey),
	},
	{
		Trait: store.Trait{Ability: "scan", Title: "SCAN", Without: "grouped spaces cannot be counted, listed or deleted"},
		Ask:   asks("scan", "0", "count", "1"),
	},
	{
		Trait: store.Trait{Ability: "cluster", Title: "CLUSTER", Without: "redis+cluster:// does not find the nodes"},
		Ask: func(ctx context.Context, v *servers) error {
			if v.mode != cluster && inform(ctx, v.client, "server")["redis_mode"] != "cluster" {
				return store.ErrPointless
			}
			return v.lacks(ctx, "cluster", "slots")
		},
	},
	{
		Trait: store.Trait{Ability: "info", Title: "INFO", Without: "the product, its version, its memory and its load are unknown"},
		Ask:   asks("info", "server"),
	},
	{
		Trait: store.Trait{Ability: "config", Title: "CONFIG GET", Without: "what a write waits for is unknown: save, appendfsync"},
		Ask:   asks("config", "get", "save"),
	},
	{
		Trait: store.Trait{Ability: "slowlog", Title: "SLOWLOG", Without: "slow commands are not told"},
		Ask:   asks("slowlog", "get", "1"),
	},
	{
		Trait: store.Trait{Ability: "latency", Title: "LATENCY", Without: "the events of its latency monitor are not told"},
		Ask:   asks("latency", "latest"),
	},
}

// asks returns the question whether a command may be used.
func asks(args ...any) func(context.Context, *servers) error {
	return func(ctx context.Context, v *servers) error { return v.lacks(ctx, args...) }
}

// lacks sends a command that changes nothing, and returns why the server does not carry
// it out; nil if it does.
func (v *servers) lacks(ctx context.Context, args ...any) error {
	cmd, script := goredis.NewCmd(ctx, args...), false
	switch args[0] {
	case "eval", "evalsha", "fcall":
		cmd.SetFirstKeyPos(3)
		script = true
	}
	why := withholds(v.client.Process(ctx, cmd))
	if script && why == nil {
		v.ours.Add(1)
	}
	return why
}

// untransacted returns why the server has no transactions.
func (v *servers) untransacted(ctx context.Context) error {
	return withholds(link.Watch(ctx, v.client, func(tx goredis.Cmdable) error {
		_, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { return p.Exists(ctx, askedKey).Err() })
		return err
	}, askedKey))
}

// refusals are what replies contain that withhold a command, whatever its arguments.
var refusals = []string{
	"unknown command", "disabled", "not supported", "not allowed", "unsupported", "not implemented", "not available", "undeclared key",
	"unknown subcommand",
}

// withholds returns the reply by which a server withholds a command; nil if err is
// another, or none. A reply that only protects a key is another: a run may use its own.
// What is no reply does not answer the question.
func withholds(err error) error {
	var reply goredis.Error
	switch {
	case err == nil, errors.Is(err, goredis.Nil):
		return nil
	case !errors.As(err, &reply):
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	text := reply.Error()
	if strings.HasPrefix(text, "NOPERM") {
		if strings.Contains(text, "key") && !strings.Contains(text, "command") {
			return nil
		}
		return errors.New(text)
	}
	lower := strings.ToLower(text)
	for _, r := range refusals {
		if strings.Contains(lower, r) {
			first, _, _ := strings.Cut(text, ", with args beginning with") // which has our own text
			return errors.New(first)
		}
	}
	return nil
}

// askScripts finds out whether the server runs scripts, called in both ways. It is asked
// when a connection opens, because leases and maps depend on it.
func (v *servers) askScripts(ctx context.Context) {
	v.unscripted = v.lacks(ctx, "eval", "return 1", 1, askedKey)
	if v.unscripted == nil {
		v.unscripted = v.lacks(ctx, "evalsha", strings.Repeat("0", 40), 1, askedKey)
	}
	if errors.Is(v.unscripted, store.ErrUnknown) {
		v.unscripted = nil // what comes next will say what is wrong
	}
}

// Facts returns what the servers can do, as they answer; on a cluster, one of them.
func (v *servers) Facts(ctx context.Context) (store.Facts, error) {
	all, err := store.Ask(ctx, &v.asked, abilities, v)
	if err != nil {
		return store.Facts{}, v.explain(ctx, err)
	}
	return store.Facts{Where: "redis: " + v.where(), All: all}, nil
}
