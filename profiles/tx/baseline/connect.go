package baseline

import (
	"context"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
	"github.com/perfbench/perfbench/profiles/tx/saga/onsql"
)

// Connector connects a plan of mode=baseline to stores of a driver.
func (s *Spec) Connector(driver string) workload.Connector {
	switch driver {
	case "embedded", "redis":
		return workload.On(s.onRedis)
	case "memory", "null":
		return s.onPlain
	case "mysql", "postgres", "sqlite":
		return workload.On(s.onSQL)
	}
	return nil
}

// Needs returns what the sagas need that the ceiling is compared with.
func (s *Spec) Needs(driver string) []store.Need {
	if s.saga == nil {
		return nil
	}
	return onredis.Needs(driver, s.saga)
}

func (s *Spec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	var sagas *model.Adapter
	if s.saga != nil {
		s.saga.Begin(b.RunID)
		sagas = onredis.New(c, s.saga).Layer()
	}
	return bind(b.Conn, b.Plan, s, newRedisPrimitives(s, c), sagas, common.Of(c))
}

func (s *Spec) onPlain(_ context.Context, b *workload.Bound) error {
	sagas := onmemory.Null{}.Layer()
	if s.saga != nil {
		s.saga.Begin(b.RunID)
		if !store.Forgets(b.Conn) {
			sagas = onmemory.New(b.Conn, s.saga).Layer()
		}
	}
	return bind(b.Conn, b.Plan, s, plainPrimitives{s, b.Conn}, sagas, common.Meter{})
}

func (s *Spec) onSQL(_ context.Context, c sqlstore.Typed, b *workload.Bound) error {
	d := common.New(c)
	var sagas *model.Adapter
	if s.saga != nil {
		s.saga.Begin(b.RunID)
		s.saga.Shards = 1
		sagas = onsql.New(d, s.saga).Layer()
	}
	return bindSQL(b.Conn, b.Plan, sqlPrimitives{d, s, &atomic.Int64{}}, sagas)
}
