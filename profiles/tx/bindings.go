package tx

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra", Note: "pbm: get, getall"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "coherence", Note: "pbm"},
		{Driver: "dtm", Note: "saga"},
		{Driver: driverBench, Note: "saga, without accounts"},
	}
}

// Connector connects a plan of mode=pbm to stores of a driver.
func (s *pbmSpec) Connector(driver string) workload.Connector {
	switch driver {
	case "embedded", "redis":
		return workload.On(s.onRedis)
	case "memory", "null":
		return s.onPlain
	case "mysql", "postgres", "sqlite":
		return workload.On(s.onSQL)
	case "cassandra":
		return s.onCassandra
	case "coherence":
		return workload.On(s.onCoherence)
	}
	return refused(driver, modePBM)
}

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
	return refused(driver, modeSaga)
}

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
	return refused(driver, modeBaseline)
}

// refused says why a mode does not run on the stores of a driver; nil: of another
// driver nothing is known.
func refused(driver, mode string) workload.Connector {
	why, ok := map[string][2]string{
		"cassandra": {"Cassandra: it has no transactions over several rows", "use --set mode=pbm with get and getall, or redis://, postgres: or embedded:"},
		"coherence": {"Coherence: its Go client has neither transactions nor scripts over several entries", "use --set mode=pbm, or redis://"},
		"dtm":       {"a dtm server: it coordinates sagas and stores nothing else", "use --set mode=saga, or redis://"},
		driverBench: {"dtm's benchmark server: it carries out sagas and nothing else", "use --preset dtm, or redis://"},
	}[driver]
	if !ok {
		return nil
	}
	return func(context.Context, *workload.Bound) error {
		return fault.Input(fmt.Errorf("mode=%s does not run on %s", mode, why[0]), why[1])
	}
}

// begin gives ids of transactions the run's.
func (s *sagaSpec) begin(runID string) { s.stamp = stampOf(runID, s.seed) }

func (s *pbmSpec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	st, err := newRedisPBM(c, s)
	if err != nil {
		return err
	}
	return bindPBM(b.Conn, b.Plan, s, st)
}

func (s *sagaSpec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	s.begin(b.RunID)
	return bindSaga(b.Conn, b.Plan, s, newRedisSagas(c, s).layer(), meterOf(c))
}

func (s *baselineSpec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	var sagas *sagaLayer
	if s.saga != nil {
		s.saga.begin(b.RunID)
		sagas = newRedisSagas(c, s.saga).layer()
	}
	return bindBaseline(b.Conn, b.Plan, s, newRedisPrimitives(s, c), sagas, meterOf(c))
}

// The stores that have nothing but the plain shapes are the maps of this process, and
// the one that does nothing.

func forgets(c store.Conn) bool {
	f, ok := c.(store.Forgetful)
	return ok && f.Forgets()
}

func (s *pbmSpec) onPlain(_ context.Context, b *workload.Bound) error {
	h, err := newShapeStore(b.Conn, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	if forgets(b.Conn) {
		return bindPBM(b.Conn, b.Plan, s, nullPBM{h})
	}
	return bindPBM(b.Conn, b.Plan, s, &memoryPBM{shapeStore: h})
}

func (s *sagaSpec) onPlain(_ context.Context, b *workload.Bound) error {
	s.begin(b.RunID)
	if forgets(b.Conn) {
		return bindSaga(b.Conn, b.Plan, s, nullSagas{}.layer(), meter{})
	}
	return bindSaga(b.Conn, b.Plan, s, memorySagasOf(b.Conn, s).layer(), meter{})
}

func (s *baselineSpec) onPlain(_ context.Context, b *workload.Bound) error {
	sagas := nullSagas{}.layer()
	if s.saga != nil {
		s.saga.begin(b.RunID)
		if !forgets(b.Conn) {
			sagas = memorySagasOf(b.Conn, s.saga).layer()
		}
	}
	return bindBaseline(b.Conn, b.Plan, s, plainPrimitives{s, b.Conn}, sagas, meter{})
}

// plainPrimitives makes the calls of the suite on a store of the plain shapes:
// each is a put, or several.
type plainPrimitives struct {
	s *baselineSpec
	c store.Conn
}

func (p plainPrimitives) space() store.Space {
	return store.Space{Namespace: p.s.namespace, Name: baselineSpace, Shape: store.Map}
}

// spaces is the one map that the calls write.
func (p plainPrimitives) spaces() []place.Space {
	return []place.Space{{Space: p.space()}}
}

func (p plainPrimitives) create(context.Context) error { return nil }

func (p plainPrimitives) title(row *suiteRow) string { return row.name + " (as puts)" }
func (p plainPrimitives) note(*suiteRow) string {
	return "a store without commands: SET is a put, scripts are puts one after the other"
}

func (p plainPrimitives) caller(row *suiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	set, err := store.As[store.Setter](p.c)
	if err != nil {
		return nil, err
	}
	times := row.depth
	if row.name == "eval-loop10" || row.name == "cjson10" {
		times = 10
	}
	sp, key, value := p.space(), []byte(row.ownKey()), []byte(row.text())
	return func(ctx context.Context, _ *workload.Iteration) (int, error) {
		for range times {
			if err := set.Set(ctx, sp, key, value); err != nil {
				return row.depth, err
			}
		}
		return row.depth, nil
	}, nil
}

func (s *pbmSpec) onSQL(_ context.Context, c sqlstore.Typed, b *workload.Bound) error {
	st, err := newSQLPBM(c, s)
	if err != nil {
		return err
	}
	return bindPBM(b.Conn, b.Plan, s, st)
}

func (s *sagaSpec) onSQL(ctx context.Context, c sqlstore.Typed, b *workload.Bound) error {
	s.begin(b.RunID)
	s.shards = 1 // the tables have one index
	d := newDatabase(c)
	st := newSQLSagas(d, s)
	if err := st.ready(ctx); err != nil {
		return err
	}
	return bindSaga(b.Conn, b.Plan, s, st.layer(), meterOf(d.conn))
}

func (s *baselineSpec) onSQL(_ context.Context, c sqlstore.Typed, b *workload.Bound) error {
	d := newDatabase(c)
	var sagas *sagaLayer
	if s.saga != nil {
		s.saga.begin(b.RunID)
		s.saga.shards = 1
		sagas = newSQLSagas(d, s.saga).layer()
	}
	return bindSQLBaseline(b.Conn, b.Plan, sqlPrimitives{d, s, &atomic.Int64{}}, sagas)
}
