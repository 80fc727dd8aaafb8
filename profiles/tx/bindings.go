package tx

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

func bindings() []workload.Binding {
	const later = "not in this version yet; use redis:// or embedded:"
	return []workload.Binding{
		{Driver: "embedded", New: bindRedis},
		{Driver: "redis", New: bindRedis},
		{Driver: "memory", New: bindPlain},
		{Driver: "null", New: bindPlain},
		{Driver: "cassandra", Refuse: later},
		{Driver: "mysql", Refuse: later},
		{Driver: "postgres", Refuse: later},
		{Driver: "sqlite", Refuse: later},
		{Driver: "coherence", Refuse: later},
		{Driver: "dtm", Refuse: later},
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
	}
	return errStranger
}
