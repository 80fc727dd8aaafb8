// Package drivers lists every driver of this version and opens targets with
// them. It is a list: what a driver does is in its own folder.
package drivers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/store/embedded"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// All returns every driver, in the order to show them.
func All() []store.Driver {
	return []store.Driver{
		embedded.Driver,
		redis.Driver,
		cassandra.Driver,
		coherence.Driver,
		sqlstore.MySQL,
		sqlstore.Postgres,
		sqlstore.SQLite,
		dtm.Driver,
		dtm.BenchDriver,
		memory.Driver,
		null.Driver,
	}
}

// missing says of schemes that are known and have no driver yet what works
// instead.
var missing = map[string]string{
	"amqp":  brokerHint,
	"amqps": brokerHint,
	"lab":   "start the lab first with  perfbench lab up,  or use embedded:",
}

// A broker is no store.
const brokerHint = "it is on the way to one: --profile event-store --target embedded: --set via=…"

// ByScheme returns the driver for the targets of a scheme. The error has the code
// of bad input and names what works instead.
func ByScheme(scheme string) (store.Driver, error) {
	for _, d := range All() {
		if slices.Contains(d.Schemes, scheme) {
			return d, nil
		}
	}
	if hint, ok := missing[scheme]; ok {
		if scheme == "lab" {
			return store.Driver{}, fault.Input(fmt.Errorf("lab: this target was not resolved to a running server"), hint)
		}
		return store.Driver{}, fault.Input(fmt.Errorf("%s: this version cannot speak to such a store", scheme), hint)
	}
	_, err := store.ParseTarget(scheme + ":")
	return store.Driver{}, err
}

// Parse reads a --target and checks its parameters against those of its driver.
// It returns the driver too. Nothing is connected.
func Parse(s string) (store.Target, store.Driver, error) {
	t, err := store.ParseTarget(s)
	if err != nil {
		return store.Target{}, store.Driver{}, err
	}
	d, err := ByScheme(t.Scheme)
	if err != nil {
		return store.Target{}, store.Driver{}, err
	}
	return t, d, store.CheckParams(t, d.Params)
}

// Open opens a target with its driver. Threads below 1 count as 1, and a nil Log
// discards.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	d, err := ByScheme(t.Scheme)
	if err != nil {
		return nil, err
	}
	if err := store.CheckParams(t, d.Params); err != nil {
		return nil, err
	}
	o.Threads = max(o.Threads, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return d.Open(ctx, t, o)
}
