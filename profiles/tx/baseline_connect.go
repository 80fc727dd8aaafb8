package tx

import (
	"context"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/sqltx"
)

// Connector connects a plan of mode=baseline to stores of a driver.
func (s *baselineSpec) Connector(driver string) workload.Connector {
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

func (s *baselineSpec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	var sagas *sagaLayer
	if s.saga != nil {
		s.saga.begin(b.RunID)
		sagas = newRedisSagas(c, s.saga).layer()
	}
	return bindBaseline(b.Conn, b.Plan, s, newRedisPrimitives(s, c), sagas, meterOf(c))
}

func (s *baselineSpec) onPlain(_ context.Context, b *workload.Bound) error {
	sagas := nullSagas{}.layer()
	if s.saga != nil {
		s.saga.begin(b.RunID)
		if !store.Forgets(b.Conn) {
			sagas = memorySagasOf(b.Conn, s.saga).layer()
		}
	}
	return bindBaseline(b.Conn, b.Plan, s, plainPrimitives{s, b.Conn}, sagas, meter{})
}

func (s *baselineSpec) onSQL(_ context.Context, c sqlstore.Typed, b *workload.Bound) error {
	d := sqltx.New(c)
	var sagas *sagaLayer
	if s.saga != nil {
		s.saga.begin(b.RunID)
		s.saga.shards = 1
		sagas = newSQLSagas(d, s.saga).layer()
	}
	return bindSQLBaseline(b.Conn, b.Plan, sqlPrimitives{d, s, &atomic.Int64{}}, sagas)
}
