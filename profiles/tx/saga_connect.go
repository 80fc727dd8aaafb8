package tx

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/sqltx"
)

// Connector connects a plan of mode=saga to stores of a driver.
func (s *sagaSpec) Connector(driver string) workload.Connector {
	switch driver {
	case "embedded", "redis":
		return workload.On(s.onRedis)
	case "memory", "null":
		return s.onPlain
	case "mysql", "postgres", "sqlite":
		return workload.On(s.onSQL)
	case "dtm":
		return workload.On(s.onDTM)
	}
	return nil
}

// begin gives ids of transactions the run's.
func (s *sagaSpec) begin(runID string) { s.stamp = stampOf(runID, s.seed) }

func (s *sagaSpec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	s.begin(b.RunID)
	return bindSaga(b.Conn, b.Plan, s, newRedisSagas(c, s).layer(), meterOf(c))
}

func (s *sagaSpec) onPlain(_ context.Context, b *workload.Bound) error {
	s.begin(b.RunID)
	if store.Forgets(b.Conn) {
		return bindSaga(b.Conn, b.Plan, s, nullSagas{}.layer(), meter{})
	}
	return bindSaga(b.Conn, b.Plan, s, memorySagasOf(b.Conn, s).layer(), meter{})
}

func (s *sagaSpec) onSQL(ctx context.Context, c sqlstore.Typed, b *workload.Bound) error {
	s.begin(b.RunID)
	s.shards = 1 // the tables have one index
	d := sqltx.New(c)
	st := newSQLSagas(d, s)
	if err := st.ready(ctx); err != nil {
		return err
	}
	return bindSaga(b.Conn, b.Plan, s, st.layer(), meterOf(d.Conn))
}
