package saga

import (
	"context"

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

// Binding connects a plan to stores.
type Binding struct {
	*model.Spec
	stake workload.Stake // for the clients
}

// Connector connects the plan to stores of a driver.
func (s Binding) Connector(driver string) workload.Connector {
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

// Needs says that on Redis every step of a saga is a script, and that XA prepares branches.
func (s Binding) Needs(driver string) []store.Need {
	if s.Kind.Name == model.TransXA && (driver == "mysql" || driver == "postgres") {
		return []store.Need{{Ability: store.TwoPhase, For: "transType=xa", Instead: "use --set transType=saga, tcc or msg"}}
	}
	return onredis.Needs(driver, s.Spec)
}

func (s Binding) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	s.Begin(b.RunID)
	return bindSaga(b.Conn, b.Plan, s, onredis.New(c, s.Spec).Layer(), common.Of(c))
}

func (s Binding) onPlain(_ context.Context, b *workload.Bound) error {
	s.Begin(b.RunID)
	if store.Forgets(b.Conn) {
		return bindSaga(b.Conn, b.Plan, s, onmemory.Null{}.Layer(), common.Meter{})
	}
	return bindSaga(b.Conn, b.Plan, s, onmemory.New(b.Conn, s.Spec).Layer(), common.Meter{})
}

func (s Binding) onSQL(ctx context.Context, c sqlstore.Typed, b *workload.Bound) error {
	s.Begin(b.RunID)
	s.Shards = 1 // the tables have only one index
	d := common.New(c)
	st := onsql.New(d, s.Spec)
	if err := st.Ready(ctx); err != nil {
		return err
	}
	return bindSaga(b.Conn, b.Plan, s, st.Layer(), common.Of(d.Conn))
}
