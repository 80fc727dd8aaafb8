// Package drivers lists every driver of this version and opens targets with them. It is
// only a list: what a driver does is in its own folder.
package drivers

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/store/embedded"
	"github.com/perfbench/perfbench/internal/store/memcached"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// All returns every driver, in the order to show them.
func All() store.Drivers {
	return store.Drivers{
		embedded.Driver,
		redis.Driver,
		cassandra.Driver,
		coherence.Driver,
		memcached.Driver,
		sqlstore.MySQL,
		sqlstore.Postgres,
		sqlstore.SQLite,
		dtm.Driver,
		dtm.BenchDriver,
		memory.Driver,
		null.Driver,
	}
}

// ByScheme returns the driver for the targets of a scheme, as [store.Drivers.ByScheme] does.
func ByScheme(scheme string) (store.Driver, error) { return All().ByScheme(scheme) }

// Parse reads a --target and returns the driver too, as [store.Drivers.Parse] does.
func Parse(s string) (store.Target, store.Driver, error) { return All().Parse(s) }

// Open opens a target with its driver, as [store.Drivers.Open] does.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	return All().Open(ctx, t, o)
}
