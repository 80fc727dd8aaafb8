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
		{Driver: "memory", Refuse: later},
		{Driver: "null", Refuse: later},
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
