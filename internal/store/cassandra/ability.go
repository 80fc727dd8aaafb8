package cassandra

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
)

// abilities are what nodes are asked that speak the protocol. Nothing is written.
var abilities = []store.Question[*cluster]{
	{
		Trait: store.Trait{
			Ability: store.Conditional, Title: "lightweight transactions",
			Without: "the lease is a row of each that asks for it, at quorum; schema=cradle of event-store refuses",
		},
		Ask: func(ctx context.Context, k *cluster) error { return k.unconditionally(ctx) },
	},
	{
		Trait: store.Trait{Ability: "protocol 5", Title: "version 5 of the protocol", Without: "version 4 is spoken, whose frames have no checksums"},
		Ask: func(_ context.Context, k *cluster) error {
			if k.opts.protocol >= 5 {
				return nil
			}
			return fmt.Errorf("version %d is spoken", k.opts.protocol)
		},
	},
	{
		Trait: store.Trait{Ability: "routing by shard", Title: "calls that go to the core of their key", Without: "nodes pass most calls on between their cores"},
		Ask: func(_ context.Context, k *cluster) error {
			if k.product != "scylladb" {
				return store.ErrPointless
			}
			return errors.New("the driver is that of Cassandra")
		},
	},
}

// Facts returns what the nodes can do, as far as they have been asked.
func (k *cluster) Facts(ctx context.Context) (store.Facts, error) {
	all, err := store.Ask(ctx, &k.asked, abilities, k)
	if err != nil {
		return store.Facts{}, k.explain(ctx, err)
	}
	return store.Facts{Where: "cassandra: " + k.where(), All: all}, nil
}

// unconditionally returns why the nodes make no conditional writes: they have refused one,
// or are of a version that is known to.
func (k *cluster) unconditionally(ctx context.Context) error {
	if why := k.unconditional.Load(); why != nil {
		return *why
	}
	if k.opts.keyspace == "" || !k.tablets(ctx) {
		return nil
	}
	var tablets int
	err := k.own.Query("SELECT initial_tablets FROM system_schema.scylla_keyspaces WHERE keyspace_name = ?", k.opts.keyspace).Consistency(gocql.One).ScanContext(ctx, &tablets)
	if err != nil || !older(k.version, 2025, 4) {
		return nil //nolint:nilerr // a keyspace without tablets has no row there
	}
	return fmt.Errorf("the keyspace %s has tablets, with which ScyllaDB before 2025.4 makes none", k.opts.keyspace)
}

// older reports whether a version is below another, given by its first two numbers.
func older(version string, major, minor int) bool {
	var a, b int
	if n, err := fmt.Sscanf(version, "%d.%d", &a, &b); n < 2 || err != nil {
		return false
	}
	return a < major || a == major && b < minor
}

// refusesConditions reports whether an error means that conditional writes are refused, and
// remembers it.
func (k *cluster) refusesConditions(err error) bool {
	reply, ok := errors.AsType[gocql.RequestError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(reply.Message())
	if !strings.Contains(text, "lwt") && !strings.Contains(text, "lightweight transaction") {
		return false
	}
	why := errors.New(reply.Message())
	k.unconditional.Store(&why)
	return true
}
