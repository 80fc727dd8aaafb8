package tx

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/workload"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded", New: bindRedis},
		{Driver: "redis", New: bindRedis},
		{Driver: "memory", New: bindPlain},
		{Driver: "null", New: bindPlain},
		{Driver: "cassandra", New: bindCassandra, Note: "pbm: get, getall"},
		{Driver: "mysql", New: bindSQL},
		{Driver: "postgres", New: bindSQL},
		{Driver: "sqlite", New: bindSQL},
		{Driver: "coherence", New: bindCoherence, Note: "pbm"},
		{Driver: "dtm", New: bindDTM, Note: "saga"},
		{Driver: driverBench, New: bindBench, Note: "saga, without accounts"},
	}
}

var errStranger = errors.New("tx: the plan is of another profile")

// bindRedis connects a plan to Redis or to what speaks its protocol.
func bindRedis(_ context.Context, c store.Conn, p *workload.Plan) error {
	typed, err := store.As[redis.Typed](c)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	switch sp := p.Private.(type) {
	case *pbmSpec:
		st, err := newRedisPBM(typed, sp)
		if err != nil {
			return err
		}
		return bindPBM(c, p, sp, st)
	case *sagaSpec:
		return bindSaga(c, p, sp, newRedisSagas(typed, sp), meterOf(typed))
	case *baselineSpec:
		var sagas sagaStore
		if sp.saga != nil {
			sagas = newRedisSagas(typed, sp.saga)
		}
		return bindBaseline(c, p, sp, newRedisPrimitives(sp, typed), sagas, meterOf(typed))
	}
	return errStranger
}

// meterOf returns the meter of a Redis; one within this process cannot be told
// from it.
func meterOf(c redis.Typed) meter {
	if _, ok := c.(*redis.Conn); ok {
		return redisMeter{c}
	}
	return plainMeter{}
}

// bindPlain connects a plan to a store that has nothing but the plain shapes: the
// maps of this process, and the one that does nothing.
func bindPlain(_ context.Context, c store.Conn, p *workload.Plan) error {
	f, _ := c.(store.Forgetful)
	forgets := f != nil && f.Forgets()
	switch sp := p.Private.(type) {
	case *pbmSpec:
		h, err := newShapeStore(c, sp)
		if err != nil {
			return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
		}
		if forgets {
			return bindPBM(c, p, sp, nullPBM{h})
		}
		return bindPBM(c, p, sp, &memoryPBM{shapeStore: h})
	case *sagaSpec:
		if forgets {
			return bindSaga(c, p, sp, nullSagas{}, plainMeter{})
		}
		return bindSaga(c, p, sp, memorySagasOf(c, sp), plainMeter{})
	case *baselineSpec:
		var sagas sagaStore = nullSagas{}
		if sp.saga != nil && !forgets {
			sagas = memorySagasOf(c, sp.saga)
		}
		return bindBaseline(c, p, sp, plainPrimitives{sp, c}, sagas, plainMeter{})
	}
	return errStranger
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
func (p plainPrimitives) spaces(map[string]string) []place.Space {
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

// bindSQL connects a plan to a SQL store.
func bindSQL(ctx context.Context, c store.Conn, p *workload.Plan) error {
	typed, err := store.As[sqlstore.Typed](c)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use mysql:, postgres: or sqlite:")
	}
	d := newDatabase(typed)
	switch sp := p.Private.(type) {
	case *pbmSpec:
		st, err := newSQLPBM(typed, sp)
		if err != nil {
			return err
		}
		return bindPBM(c, p, sp, st)
	case *sagaSpec:
		sp.shards = 1 // the tables have one index
		st := newSQLSagas(d, sp)
		if err := st.ready(ctx); err != nil {
			return err
		}
		return bindSaga(c, p, sp, st, sqlMeter{d})
	case *baselineSpec:
		var sagas sagaStore
		if sp.saga != nil {
			sp.saga.shards = 1
			sagas = newSQLSagas(d, sp.saga)
		}
		return bindSQLBaseline(c, p, sqlPrimitives{d, sp, &atomic.Int64{}}, sagas)
	}
	return errStranger
}

// bindDTM connects a plan to a dtm server.
func bindDTM(_ context.Context, c store.Conn, p *workload.Plan) error {
	typed, err := store.As[*dtm.Conn](c)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use dtm+http://")
	}
	if sp, ok := p.Private.(*sagaSpec); ok {
		return bindCoordinated(typed, p, sp)
	}
	return fault.Input(fmt.Errorf("mode=%s does not run on a dtm server: it coordinates sagas and stores nothing else", p.Mode), "use --set mode=saga, or redis://")
}
